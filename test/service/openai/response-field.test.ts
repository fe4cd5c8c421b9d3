import assert from "node:assert/strict";
import { test } from "node:test";
import { word } from "../../../src/plan/messages.ts";
import { type Problem, UserError } from "../../../src/plan/problem.ts";
import { parseResponseField } from "../../../src/service/openai/response-field.ts";
import { readResponse } from "../../../src/service/openai/response-text.ts";

const DATA = {
  choices: [{ text: "a", delta: { content: "b" } }, { text: "c" }],
  "my key": { n: 5 },
  rows: [[{ v: 1 }, { v: 2 }], [{ v: 3 }], []],
  byName: { x: { t: "p" }, y: { t: "q" } },
  empty: "",
  list: [0, 1, 2, 3],
};

test("expressions find what Python's jmespath 1.1.0 finds", () => {
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
    ["list[::-1]", [3, 2, 1, 0]],
    ["empty || choices[0].text", "a"],
    ["empty && choices[0].text", ""],
    ["nope.more", null],
    ["@.list[0]", 0],
    [" choices [ 0 ] . text ", "a"],
    ["choices[?text=='c'].text", ["c"]],
    ["choices[?delta].delta.content | [0]", "b"],
    ["rows[][] | [?v > `1`].v", [2, 3]],
    ["list[?@ >= `1` && !(@ == `2`)]", [1, 3]],
    ["join('', choices[].text)", "ac"],
    ["length(choices)", 2],
    ["not_null(nope, empty, list)", ""],
    ["max_by(rows[][], &v).v", 3],
    ["map(&text, choices)", ["a", "c"]],
    ["sort(keys(byName))", ["x", "y"]],
    ["to_string(list)", "[0,1,2,3]"],
    ["[choices[0].text, list[1]]", ["a", 1]],
    [
      "choices[*].{t: text, d: delta.content}",
      [
        { t: "a", d: "b" },
        { t: "c", d: null },
      ],
    ],
    ['`"word"`', "word"],
    ["`word`", "word"],
    ["'raw'", "raw"],
    ["choices.length", null],
  ] as const)
    assert.deepEqual(parseResponseField(path).find(DATA), found, path);
  assert.deepEqual(parseResponseField("[0].v").find([{ v: 1 }]), 1);
});

test("a function finds nothing in a value of another type: an event without the text is not an error", () => {
  for (const [path, data] of [
    ["length(text)", {}],
    ["join('', parts)", { parts: [1] }],
    ["text", undefined],
  ] as const)
    assert.equal(parseResponseField(path).find(data), null, path);
});

test("an invalid expression is one problem with its position", () => {
  for (const [path, reason] of [
    ["a..b", /unexpected token: \./],
    ["a.", /unexpected token: \(EOF\)/],
    [".a", /invalid token \(Dot\)/],
    ["a b", /UnquotedIdentifier, value: b/],
    ["", /invalid token \(EOF\)/],
    ["a[", /expected Star, got: EOF/],
    ["a.[0]", /invalid token \(Number\)/],
    ["a ||", /invalid token \(EOF\)/],
    ["a#b", /unknown character: #/],
    ["lenght(a)", /Unknown function: lenght\(\)/],
    ["a[?contains(b)].c", /Invalid arity: contains\(\) takes at least 2 arguments but received 1/],
    ["length(length(a), b)", /Invalid arity: length\(\)/],
  ] as const) {
    const parse = (): unknown => parseResponseField(path, "the setting");
    assert.throws(parse, (error: unknown) => {
      assert.ok(error instanceof UserError, path);
      assert.equal(error.problems.length, 1);
      const { path: setting, value, message } = error.problems[0] as Problem;
      assert.deepEqual([setting, value], ["the setting", path]);
      assert.match(word(message), /^is not a JMESPath expression: /);
      assert.match(word(message), reason);
      return true;
    });
  }
});

test("a response is read from the path; one without text there is an error", () => {
  const field = parseResponseField("out.parts[*].t");
  const event = (t: string): string => `data: {"out":{"parts":[{"t":"${t}"}]}}\n\n`;
  const answer = readResponse(
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
  assert.match(readResponse("custom", ['{"text":"a"}'], field).error ?? "", /nothing is at out\.parts/);
});

test("without a path the text is searched for, and plain text counts", () => {
  for (const [body, text] of [
    ['{"response":"a"}', "a"],
    ['{"generated_text":"a"}', "a"],
    ['{"output":["a","b"]}', "ab"],
    ['{"choices":[{"message":{"content":"a"}}]}', "a"],
    ["plain words", "plain words"],
  ] as const)
    assert.equal(readResponse("custom", [body]).output[0]?.text, text, body);
});
