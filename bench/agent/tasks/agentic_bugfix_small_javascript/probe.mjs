import * as paging from "../pager/paging.mjs";

export const page_count = (given) => paging.pageCount(given.total, given.size);
export const page = (given) => paging.page(given.articles, given.number, given.size);
export const links = (given) => paging.links(given.current, given.count, given.width);
