import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { word } from "../../../src/plan/messages.ts";
import { UserError } from "../../../src/plan/problem.ts";
import { findJsonFault, openTemplate } from "../../../src/service/openai/payload-template.ts";
import { createTemplatePayloads, textWithin } from "../../../src/service/openai/template-payloads.ts";

const VARIABLES = { text: 'say "hi"\n<b>é', texts: ["one", "two"], model: "tiny", max_tokens: null, stream: true };

async function render(text: string): Promise<unknown[]> {
  const template = await openTemplate({ text, name: "body.jinja" });
  return template.render(VARIABLES);
}

test("a template makes one body, or one for each object of a list", async () => {
  for (const [text, bodies] of [
    ['{"prompt": {{ text|tojson }}}', [{ prompt: VARIABLES.text }]],
    [
      '{"n": {{ max_tokens|tojson }}, "stream": {{ stream|lower }}, "s": {{ stream|tojson }}}',
      [{ n: null, stream: true, s: true }],
    ],
    [
      '[{% for item in texts %}\n {"text": [{{ item|tojson }}]}{% if not loop.last %},{% endif %}\n{% endfor %}]',
      [{ text: ["one"] }, { text: ["two"] }],
    ],
    ['{"a": {{ range(3)|list|tojson }}, "b": {{ 7 // 2 }}, "c": {{ none|tojson }}}', [{ a: [0, 1, 2], b: 3, c: null }]],
    ['{"a": {% if other is defined %}1{% else %}2{% endif %}, "b": {{ more|default(3) }}}', [{ a: 2, b: 3 }]],
    ['{% set n = texts|length %}{"n": {{ n }}{# a remark #}}', [{ n: 2 }]],
  ] as const)
    assert.deepEqual(await render(text), bodies, text);
});

const LINES: readonly (readonly [text: string, place: string, message: RegExp])[] = [
  ['{\n"a": {{ text|bogus }}\n}', "body.jinja, line 2", /Unknown StringValue filter: bogus/],
  ['{\n"a": 1,\n{% if stream }\n}', "body.jinja, line 3", /is not a valid template/],
  ['{\n"a": {{ text. }}\n}', "body.jinja, line 2", /is not a valid template/],
  [
    "{\n\n{% for t in texts %}\n{{ t|tojson }}\n}",
    "body.jinja, line 3",
    /is not a valid template: a tag is not closed/,
  ],
  ["{% if stream %}\n1\n{% endfor %}", "body.jinja, line 3", /is not a valid template/],
  ['{"a": 1,\n"b": {{ nope|tojson }}}', "body.jinja, line 2", /uses 'nope', which does not exist/],
  ['{"a": 1,\n"b": {{ text }},\n"c": 2}', "body.jinja, line 2", /does not make JSON/],
  ['{"a": [\n{% for t in texts %}\n{{ t|tojson }},\n{% endfor %}\n]}', "body.jinja, line 5", /does not make JSON/],
  ['{"a": [\n1,\n2', "body.jinja, line 3", /does not make JSON/],
  ['{{ raise_exception("boo") }}', "body.jinja, line 1", /fails: boo/],
  ["{{ texts|tojson }}", "body.jinja", /makes neither a JSON object/],
];

test("errors in a template are reported with their line", async () => {
  for (const [text, place, message] of LINES) {
    const error = await render(text).then(
      () => undefined,
      (thrown: unknown) => thrown,
    );
    assert.ok(error instanceof UserError, text);
    const [problem] = error.problems;
    assert.equal(problem?.path, place, text);
    assert.match(word(problem.message), message, text);
  }
});

const LAYOUT = {
  models: ["m1", "m2"],
  modelSelection: "round_robin",
  seed: 1,
  isStreaming: false,
  hasExactOutput: false,
  extra: { top_p: 0.5 },
} as const;

test("a template has a request's parts, and extra inputs are added to its result", async () => {
  const text =
    '{"m": {{ model|tojson }}, "q": {{ query|tojson }}, "p": {{ passages|tojson }}, "i": {{ image|tojson }}, "a": {{ audio|tojson }}, "n": {{ max_tokens|tojson }}}';
  const template = await openTemplate({ text, name: "x" });
  const entry = {
    texts: ["which?"],
    passages: ["this", "that"],
    images: ["https://host/x.png"],
    audio: [{ format: "wav", base64: "AAAA" }],
    maxTokens: 7,
    timestampMs: 5,
  } as const;
  const [payload] = createTemplatePayloads(entry, 1, LAYOUT, template);
  assert.deepEqual(payload?.body, {
    m: "m2",
    q: "which?",
    p: ["this", "that"],
    i: "https://host/x.png",
    a: "data:audio/wav;base64,AAAA",
    n: 7,
    top_p: 0.5,
  });
  assert.equal(payload.timestampMs, 5);
});

test("the input's text is the part of an entry that is in a body", () => {
  const entry = { texts: ['a "b"', "c"], system: "be brief" };
  assert.equal(textWithin(entry, { x: [{ y: 'a "b"' }] }), 'a "b"');
  assert.equal(textWithin(entry, { s: "be brief", t: "c" }), "be brief c");
  assert.equal(textWithin(entry, {}), "");
});

test("JSON has no fault before its end", () => {
  fc.assert(
    fc.property(fc.json(), fc.constantFrom(0, 2), (json, indent) => {
      const text = JSON.stringify(JSON.parse(json), null, indent);
      assert.equal(findJsonFault(text), text.length);
    }),
  );
});

test("the fault is the first token that is not allowed", () => {
  for (const [text, rest] of [
    ['{"a": 1,}', "}"],
    ["[1,]", "]"],
    ["[1 2]", "2]"],
    ['{"a" 1}', "1}"],
    ['{"a": x}', "x}"],
    ["{1: 2}", "1: 2}"],
    ['{"a": [1}', "}"],
    ['"a\nb"', '"a\nb"'],
    ['{"a": 1', ""],
    ["", ""],
    ["{} {}", "{}"],
    ["01", "1"],
  ] as const)
    assert.equal(text.slice(findJsonFault(text)), rest, text);
});

test("a text that lost a character is faulty before its end, or still JSON", () => {
  const isJson = (text: string): boolean => {
    try {
      JSON.parse(text);
      return true;
    } catch {
      return false;
    }
  };
  fc.assert(
    fc.property(fc.json({ maxDepth: 3 }), fc.nat(), (json, seed) => {
      const at = seed % json.length;
      const text = json.slice(0, at) + json.slice(at + 1);
      const fault = findJsonFault(text);
      if (isJson(text)) assert.equal(fault, text.length);
      // What begins well may go on: only the end is missing.
      else if (fault === text.length) assert.ok(!isJson(text));
      else assert.ok(!isJson(text.slice(0, fault + 1)) || fault < text.length);
    }),
  );
});
