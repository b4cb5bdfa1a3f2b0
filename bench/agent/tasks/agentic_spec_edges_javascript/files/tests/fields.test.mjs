import assert from "node:assert/strict";
import test from "node:test";

import { BadLine, fields } from "../exchange/fields.mjs";

test("plain", () => assert.deepEqual(fields("a; b ;c"), ["a", "b", "c"]));
test("quoted", () => assert.deepEqual(fields('"a;b";c'), ["a;b", "c"]));
test("null and empty", () => assert.deepEqual(fields('a;;""'), ["a", null, ""]));
test("doubled quote", () => assert.deepEqual(fields('"say ""hi"""'), ['say "hi"']));
test("unclosed", () => assert.throws(() => fields('a;"b'), BadLine));
