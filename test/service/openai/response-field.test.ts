import assert from "node:assert/strict";
import { test } from "node:test";
import { UserError } from "../../../src/plan/problem.ts";
import { parseResponseField } from "../../../src/service/openai/response-field.ts";
import { readAnswer } from "../../../src/service/openai/response-text.ts";

const DATA = {
  choices: [{ text: "a", delta: { content: "b" } }, { text: "c" }],
  "my key": { n: 5 },
  rows: [[{ v: 1 }, { v: 2 }], [{ v: 3 }], []],
  byName: { x: { t: "p" }, y: { t: "q" } },
  empty: "",
  list: [0, 1, 2, 3],
};

test("paths find what JMESPath finds", () => {
  for (const [path, found] of [
    ["choices[0].text", "a"],
    ["choices[-1].text", "c"],
    ["choices[5].text", null],
    ["choices[*].text", ["a", "c"]],
    ["choices[].delta.content", ["b"]],
    ["choices[*].text | [1]", "c"],
    ['"my key".n', 5],
    ["rows[][].v", [1, 2, 3]],
    ["rows[*][0].v", [1, 3]],
    ["rows[].v", [1, 2, 3]],
    ["byName.*.t", ["p", "q"]],
    ["list[1:3]", [1, 2]],
    ["list[-2:]", [2, 3]],
    ["empty || choices[0].text", "a"],
    ["nope.more", null],
    ["@.list[0]", 0],
    [" choices [ 0 ] . text ", "a"],
  ] as const)
    assert.deepEqual(parseResponseField(path).find(DATA), found, path);
  assert.deepEqual(parseResponseField("[0].v").find([{ v: 1 }]), 1);
});

test("what is no path, or more than is supported, is refused", () => {
  for (const path of ["a[?b]", "length(a)", "a..b", "a.", ".a", "a b", "", "a[", "[a, b]", "a.[0]", "a ||"])
    assert.throws(() => parseResponseField(path), UserError, path);
});

test("an answer is read where the path says; one that has nothing there is an error", () => {
  const field = parseResponseField("out.parts[*].t");
  const event = (t: string): string => `data: {"out":{"parts":[{"t":"${t}"}]}}\n\n`;
  const answer = readAnswer(
    "custom",
    [event("a"), 'data: {"usage":{"input_tokens":3,"output_tokens":2}}\n\n', event("b"), "data: [DONE]\n\n"],
    field,
  );
  assert.deepEqual(
    answer.output.map(({ text, read }) => `${read}:${text}`),
    ["0:a", "2:b"],
  );
  assert.equal(answer.usage?.completionTokens, 2);
  assert.equal(answer.error, undefined);
  assert.match(readAnswer("custom", ['{"text":"a"}'], field).error ?? "", /nothing is at out\.parts/);
});

test("without a path the text is looked for, and a bare text is one", () => {
  for (const [body, text] of [
    ['{"response":"a"}', "a"],
    ['{"generated_text":"a"}', "a"],
    ['{"output":["a","b"]}', "ab"],
    ['{"choices":[{"message":{"content":"a"}}]}', "a"],
    ["plain words", "plain words"],
  ] as const)
    assert.equal(readAnswer("custom", [body]).output[0]?.text, text, body);
});
