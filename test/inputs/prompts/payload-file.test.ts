import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { UserError } from "../../../src/plan/problem.ts";
import { formatJson } from "../../../src/service/json-text.ts";
import { collect, collectFrom, tiny, withFiles } from "./collect.ts";

function lines(...objects: readonly object[]): string {
  return objects.map((object) => JSON.stringify(object)).join("\n");
}

test("known keys of a payload are interpreted, and all others go into the body", async () => {
  const entries = await collectFrom(
    "payload",
    lines(
      { timestamp: 42.9, text_input: " hello ", output_length: 5, session_id: "a", priority: 3, nested: { x: 1 } },
      { delay: 50, text: "again", session_id: 7 },
    ),
  );
  assert.deepEqual(entries, [
    { texts: ["hello"], maxTokens: 5, timestampMs: 42, extra: { priority: 3, nested: { x: 1 } }, sessionId: "a" },
    { texts: ["again"], delayMs: 50, sessionId: "7" },
  ]);
});

/** As GenAI-Perf's documentation prints it. */
const DOCUMENTED = `{
    "timestamp": 0,
    "input_length": 20,
    "output_length": 52
}
{
    "timestamp": 10535,	# in milli-second
    "text_input": "a # in \\"a\\" text",
    "output_length": 26
}
# the last one, with "an odd quote
{
    "timestamp": 27482, "seed": 9007199254740993,
    "text_input": "}"
}
`;

for (const [name, content] of [
  ["several lines", DOCUMENTED],
  ["a comment in front", `# {"a": 1}\n${DOCUMENTED}`],
  [
    "a comment behind the first line",
    `{"timestamp": 0, "input_length": 20, "output_length": 52} # 1\n${DOCUMENTED.slice(DOCUMENTED.indexOf("}") + 2)}`,
  ],
  ["a text longer than what is read at once", DOCUMENTED.replace("# in", `# ${"x".repeat(300_000)}\n#`)],
] as const)
  test(`objects of several lines, with comments: ${name}`, async () => {
    const entries = await collectFrom("payload", content);
    assert.deepEqual(
      entries.map(({ timestampMs, maxTokens }) => [timestampMs, maxTokens]),
      [
        [0, 52],
        [10_535, 26],
        [27_482, undefined],
      ],
    );
    assert.equal(tiny.count(entries[0]?.texts[0] ?? ""), 20);
    assert.deepEqual([entries[1]?.texts, entries[2]?.texts], [['a # in "a" text'], ["}"]]);
    assert.equal(formatJson(entries[2]?.extra), '{"seed":9007199254740993}');
  });

test("an object that does not end, or something else between objects, is an error with its line", async () => {
  for (const [content, reason] of [
    ["{\n", /ends within an object/],
    ['{\n"timestamp": 0\n}\nx\n', /line 4.*has 'x' where an object is expected/s],
    ['{\n"timestamp": 0,\n}\n', /line 1.*is not JSON/s],
    ["[\n{}\n]\n", /is JSON, but JSON Lines is expected/],
  ] as const)
    await assert.rejects(collectFrom("payload", content), (error: UserError) => reason.test(String(error)));
});

test("prompts without text have exactly their input_length, or the run's", async () => {
  const settings = { isl: { mean: 33, stddev: 0 }, osl: { mean: 4, stddev: 0 } };
  const content = lines(
    { input_length: 20, output_length: 9 },
    { input_length: 777 },
    {},
    { timestamp: 1, input_length: 0 },
  );
  const entries = await collectFrom("payload", content, settings);
  assert.deepEqual(
    entries.map(({ texts }) => tiny.count(texts[0] ?? "")),
    [20, 777, 33, 33],
  );
  assert.deepEqual(
    entries.map(({ maxTokens }) => maxTokens),
    [9, 4, 4, 4],
  );
});

test("the same block ids are the same text, and lengths are exact", async () => {
  const entries = await collectFrom(
    "payload",
    lines(
      { input_length: 600, hash_ids: [1, 2] },
      { input_length: 650, hash_ids: [1, 3] },
      { input_length: 1300, hash_ids: [1, 3, 2] },
      { input_length: 100, hash_ids: [2] },
      { input_length: 600, hash_ids: [1, 2] },
      { input_length: 512, hash_ids: [3] },
    ),
  );
  const texts = entries.map(({ texts: [text = ""] }) => text);
  assert.deepEqual(
    texts.map((text) => tiny.count(text)),
    [600, 650, 1300, 100, 600, 512],
  );
  const [first = "", second = "", third = "", alone = "", again = "", whole = ""] = texts;
  assert.equal(again, first);
  const block = sharedStart(first, second);
  assert.ok(tiny.count(block) >= 512);
  assert.ok(third.startsWith(block));
  assert.ok(third.includes(whole));
  // A block that is shorter at a prompt's end begins as it does elsewhere.
  assert.ok(whole.includes(second.slice(-150, -50)));
  assert.ok(first.includes(alone.slice(0, 200)));
});

function sharedStart(one: string, other: string): string {
  let length = 0;
  while (length < one.length && one[length] === other[length]) length++;
  return one.slice(0, length);
}

test("delays are scaled by the ratio and whole milliseconds", async () => {
  const entries = await collectFrom("payload", lines({ text: "a", delay: 55 }, { text: "b", delay: 0 }), {
    delayRatio: 0.5,
  });
  assert.deepEqual(
    entries.map(({ delayMs }) => delayMs),
    [27, 0],
  );
});

test("a system prompt and a prefix precede only a session's first turn", async () => {
  const content = lines(
    { text: "a", session_id: "x" },
    { text: "b", session_id: "y" },
    { text: "c", session_id: "x" },
    { text: "d" },
  );
  const entries = await collectFrom("payload", content, { systemTokens: 5, prefix: { count: 1, tokens: 6 } });
  assert.deepEqual(
    entries.map(({ system, texts }) => [system !== undefined, (texts[0] ?? "").length > 1]),
    [
      [true, true],
      [true, true],
      [false, false],
      [true, true],
    ],
  );
});

const bad: [line: object, message: RegExp][] = [
  [{ timestamp: "soon", text: "a" }, /line 1: 'timestamp' is not a number of at least 0 \(got "soon"\)/],
  [{ delay: -1, text: "a" }, /line 1: 'delay' is not a number of at least 0 \(got -1\)/],
  [{ input_length: 1.5 }, /line 1: 'input_length' is not a whole number \(got 1\.5\)/],
  [{ text: "a", text_input: "b" }, /only one of 'text_input' or 'text'/],
  [{ hash_ids: [1] }, /line 1: has 'hash_ids' without 'input_length'/],
  [{ hash_ids: "1", input_length: 5 }, /line 1: 'hash_ids' is not a list of numbers/],
  [
    { hash_ids: [1, 2], input_length: 400 },
    /'input_length' 400 and 2 'hash_ids' do not fit.*from 513 to 1024, or 1 hash_ids/,
  ],
  [{ hash_ids: [1], input_length: 513 }, /do not fit/],
];

test("what does not fit is refused with file, line and key", async () => {
  for (const [line, message] of bad) {
    await assert.rejects(
      collectFrom("payload", lines(line)),
      (error) =>
        error instanceof UserError && message.test(error.message) && error.message.includes("data.txt, line 1"),
      JSON.stringify(line),
    );
  }
});

for (const [form, text] of [
  ["lines", lines({ text: "one" }, { text: "two" })],
  ["objects of several lines", '\n{\n"text": "one" # first\n}\n{\n"text": "two"\n}'],
] as const)
  test(`a pipe is read once, ${form} of it too`, () =>
    withFiles({}, async (folder) => {
      const path = join(folder, "pipe");
      assert.equal(spawnSync("mkfifo", [path]).status, 0);
      const [entries] = await Promise.all([collect({ source: { kind: "payload", path } }), writeFile(path, text)]);
      assert.deepEqual(entries, [{ texts: ["one"] }, { texts: ["two"] }]);
    }));
