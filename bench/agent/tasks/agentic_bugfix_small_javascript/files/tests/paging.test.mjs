import assert from "node:assert/strict";
import test from "node:test";

import { links, page, pageCount } from "../pager/paging.mjs";

test("full pages", () => assert.equal(pageCount(20, 10), 2));
test("the last page may be short", () => assert.equal(pageCount(21, 10), 3));
test("a page", () => assert.deepEqual(page(["a", "b", "c"], 2, 2), ["c"]));
test("links in the middle", () => assert.deepEqual(links(5, 9, 3), [4, 5, 6]));
test("links at the end", () => assert.deepEqual(links(9, 9, 3), [7, 8, 9]));
