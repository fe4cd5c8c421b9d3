import assert from "node:assert/strict";
import { test } from "node:test";
import { word } from "../../src/plan/messages.ts";
import { UserError } from "../../src/plan/problem.ts";
import { isTruthy, parseResponseQuery } from "../../src/service/response-query.ts";
import { checkResponseRules, createResponseReader } from "../../src/service/response-reader.ts";

test("a syntax error names the character where the expression goes wrong", () => {
  for (const [text, place] of [
    ["a..b", "at character 3"],
    ["a.b c", "at character 5"],
    ["a == 'x' c", "at character 10"],
    ["a#b", "at character 2"],
    [".a", "at character 1"],
    ["a ==", "at its end"],
    ["length(", "at its end"],
    ["", "at its end"],
  ] as const)
    assert.throws(
      () => parseResponseQuery(text, "target.success.where"),
      (error: unknown) => {
        assert.ok(error instanceof UserError);
        assert.equal(error.problems[0]?.path, "target.success.where");
        assert.ok(word(error.problems[0]?.message ?? "").endsWith(place), `${text}: ${error.message}`);
        return true;
      },
    );
});

test("true is what JMESPath calls true", () => {
  for (const value of [1, 0, "a", [0], { a: 1 }, true]) assert.equal(isTruthy(value), true, JSON.stringify(value));
  for (const value of [null, undefined, false, "", [], {}]) assert.equal(isTruthy(value), false, JSON.stringify(value));
});

const decode = ([body]: readonly Uint8Array[]): unknown => {
  try {
    return JSON.parse(new TextDecoder().decode(body));
  } catch {
    throw new Error("not readable");
  }
};
const bytes = (text: string): Uint8Array[] => [new TextEncoder().encode(text)];

test("a response is a success where the expression is true, and its values are extracted", () => {
  const reader = createResponseReader(
    { successWhere: "error == null", extract: { tokens: "usage.total", label: "label" } },
    decode,
  );
  assert.deepEqual(reader?.names, [{ name: "tokens" }, { name: "label" }]);
  assert.deepEqual(reader?.read(bytes('{"usage":{"total":7},"label":"cat"}')), [7, "cat"]);
  assert.deepEqual(reader?.read(bytes("{}")), [null, null]);
  assert.deepEqual(reader?.read(bytes('{"error":"no"}')), {
    kind: "validation",
    message: "the response is not a success: error == null is not true",
  });
  assert.deepEqual(reader?.read(bytes("<html>")), { kind: "unreadable", message: "not readable" });
});

test("without rules no response is decoded", () => {
  assert.equal(createResponseReader({}, decode), undefined);
  assert.equal(createResponseReader({ extract: {} }, decode), undefined);
});

test("all wrong expressions are reported at once, each with its setting", () => {
  const problems = checkResponseRules({ successWhere: "a ==", extract: { good: "a", bad: "b[", worse: "nope(@)" } });
  assert.deepEqual(
    problems.map(({ path }) => path),
    ["target.success.where", "target.extract.bad", "target.extract.worse"],
  );
});
