// Which articles stand on a page, and which pages are offered.

// How many pages hold `total` articles at `size` on a page. No articles need no page.
// `size` is at least 1, else RangeError.
export function pageCount(total, size) {
  if (size < 1) throw new RangeError("size");
  return Math.ceil(total / size);
}

// The articles on page `number`, counted from 1; an empty array beyond the last page.
// A number below 1 is a RangeError.
export function page(articles, number, size) {
  if (number < 1) throw new RangeError("number");
  const start = (number - 1) * size;
  return articles.slice(start, start + size);
}

// The numbers of the pages to link, ascending. There are `width` of them, or `count` if that is
// less. `current` stands in the middle; with an even width one more stands before it than after.
// Where that would leave 1 to `count`, the whole row is shifted, not shortened.
export function links(current, count, width) {
  const shown = Math.min(width, count);
  const middle = Math.max(1, current - Math.floor(width / 2));
  const first = Math.min(middle, count - shown + 1);
  return Array.from({ length: shown }, (_, index) => first + index);
}
