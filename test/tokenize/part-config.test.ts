import assert from "node:assert/strict";
import { test } from "node:test";
import { word } from "../../src/plan/messages.ts";
import { UserError } from "../../src/plan/problem.ts";
import {
  pickPart,
  readFlag,
  readNumber,
  readOptionalText,
  readPart,
  readParts,
  readText,
  TokenizerFileError,
} from "../../src/tokenize/part-config.ts";

/** Reading the parts of a `tokenizer.json`. */

const CONFIG = { text: "x", empty: "", flag: false, number: 0, nothing: null, parts: [{ type: "A" }], mixed: [{}, 5] };

const read: readonly (readonly [what: string, value: unknown, expected: unknown])[] = [
  ["text", readText(CONFIG, "text", "y"), "x"],
  ["empty text", readText(CONFIG, "empty", "y"), ""],
  ["text that is null", readText(CONFIG, "nothing", "y"), "y"],
  ["text that is a number", readText(CONFIG, "number", "y"), "y"],
  ["optional text", readOptionalText(CONFIG, "text"), "x"],
  ["optional text that is null", readOptionalText(CONFIG, "nothing"), undefined],
  ["a flag", readFlag(CONFIG, "flag", true), false],
  ["a missing flag", readFlag(CONFIG, "other", true), true],
  ["a number", readNumber(CONFIG, "number", 5), 0],
  ["a missing number", readNumber(CONFIG, "other", 5), 5],
  ["a part", readPart(CONFIG, "model"), CONFIG],
  ["a part that is null", readPart(null, "model"), undefined],
  ["a part that is absent", readPart(undefined, "model"), undefined],
  ["parts", readParts(CONFIG, "parts"), [{ type: "A" }]],
  ["a known type", pickPart({ A: 1 }, { type: "A" }, "model"), 1],
];
for (const [what, value, expected] of read) {
  test(what, () => {
    assert.deepEqual(value, expected);
  });
}

const refused: readonly (readonly [what: string, use: () => unknown, reason: string])[] = [
  ["a part that is a list", () => readPart([], "model"), "model is not an object"],
  ["parts that are missing", () => readParts(CONFIG, "other"), "other is not a list of objects"],
  ["parts of another kind", () => readParts(CONFIG, "mixed"), "mixed is not a list of objects"],
  [
    "an unknown type",
    () => pickPart({ A: 1, B: 2 }, { type: "C" }, "model"),
    'model of type "C" is not supported (known: A, B)',
  ],
  [
    "a type that objects inherit",
    () => pickPart({ A: 1 }, { type: "toString" }, "model"),
    'model of type "toString" is not supported (known: A)',
  ],
  ["no type", () => pickPart({ A: 1 }, {}, "model"), 'model of type "" is not supported (known: A)'],
];
for (const [what, use, reason] of refused) {
  test(`${what} is refused`, () => {
    assert.throws(use, (error: unknown) => error instanceof TokenizerFileError && error.reason === reason);
  });
}

test("a file that cannot be used is one problem of the setting", () => {
  const error = new TokenizerFileError("it is odd");
  assert.ok(error instanceof UserError);
  assert.deepEqual(
    error.problems.map(({ path, message }) => [word(path), message]),
    [["inputs.tokenizer", "cannot be used: it is odd"]],
  );
});
