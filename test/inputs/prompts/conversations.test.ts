import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { UserError } from "../../../src/plan/problem.ts";
import { collect, collectFrom, tiny, withFiles } from "./collect.ts";

const shareGpt = [
  {
    id: "c1",
    conversations: [
      { from: "system", value: "be kind" },
      { from: "human", value: "first question" },
      { from: "gpt", value: "the first response" },
      { from: "human", value: "second question" },
      { from: "gpt", value: "a response" },
      { from: "gpt", value: "and more of it" },
    ],
  },
  { id: "empty", conversations: [{ from: "gpt", value: "nobody asked" }] },
  { id: "c2", conversations: [{ from: "human", value: "alone" }] },
];

test("a ShareGPT conversation is a session of its questions, with its responses' lengths", async () => {
  const expected = [
    {
      texts: ["first question"],
      system: "be kind",
      maxTokens: tiny.count("the first response"),
      sessionId: "c1",
    },
    { texts: ["second question"], maxTokens: tiny.count("a response and more of it"), sessionId: "c1" },
    { texts: ["alone"], sessionId: "c2" },
  ];
  assert.deepEqual(await collectFrom("conversations", JSON.stringify(shareGpt, null, 2)), expected);
  const lines = shareGpt.map((conversation) => JSON.stringify(conversation)).join("\n");
  assert.deepEqual(await collectFrom("conversations", lines), expected);
});

test("first turns alone have no session; without a tokenizer no lengths; the run's length goes first", async () => {
  await withFiles({ "chats.json": JSON.stringify(shareGpt) }, async (folder) => {
    const source = { kind: "conversations", path: join(folder, "chats.json"), isMultiTurn: false } as const;
    assert.deepEqual(await collect({ source }, null), [
      { texts: ["first question"], system: "be kind" },
      { texts: ["alone"] },
    ]);
    const fixed = await collect({ source, osl: { mean: 9, stddev: 0 } });
    assert.deepEqual(
      fixed.map(({ maxTokens }) => maxTokens),
      [9, 9],
    );
  });
});

test("messages with roles and turns with delays are read too", async () => {
  const content = [
    JSON.stringify({
      messages: [
        { role: "user", content: [{ type: "text", text: "parts" }, { type: "image_url" }] },
        { role: "assistant", content: "a response" },
      ],
    }),
    JSON.stringify({
      session_id: "s0",
      turns: [
        { text: "a", delay: 0, timestamp: 5 },
        { text: "b", delay: 100, output_length: 3 },
        { text: "c", delay: 50 },
      ],
    }),
  ].join("\n");
  assert.deepEqual(await collectFrom("conversations", content, { delayRatio: 2 }), [
    { texts: ["parts"], maxTokens: tiny.count("a response"), sessionId: "conversation-0" },
    { texts: ["a"], timestampMs: 5, sessionId: "s0", delayMs: 200 },
    { texts: ["b"], maxTokens: 3, sessionId: "s0", delayMs: 100 },
    { texts: ["c"], sessionId: "s0" },
  ]);
});

const bad: [content: string, message: RegExp][] = [
  ['[{"text": "a"}]', /line 1: has no list of messages \(got text\)/],
  ['[\n{"conversations": [1]}]', /line 2, conversations\[0\]: is not a message \(got 1\)/],
  ['{"turns": [{"text": 5}]}', /line 1, turns\[0\]: is not a message/],
  ['{"turns": [{"text": "a", "delay": "x"}]}', /line 1, turns\[0\]: 'delay' is not a number/],
  ["[]", /has no requests/],
];

test("an invalid conversation is rejected with its position", async () => {
  for (const [content, message] of bad) {
    await assert.rejects(
      collectFrom("conversations", content),
      (error) => error instanceof UserError && message.test(error.message),
      content,
    );
  }
});
