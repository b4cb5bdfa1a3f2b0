import * as exchange from "../exchange/fields.mjs";

export const fields = (line) => exchange.fields(line);
