import assert from "node:assert/strict";
import { test } from "node:test";
import { UserError } from "../../../src/plan/problem.ts";
import { collectFrom, tiny } from "./collect.ts";
import { inputText } from "./input-text.ts";

/** Time, tokens in, tokens out. */
async function rowsOf(content: string, settings = {}): Promise<(number | undefined)[][]> {
  const entries = await collectFrom("trace", content, settings);
  return entries.map((entry) => [entry.timestampMs, tiny.count(inputText(entry)), entry.maxTokens]);
}

test("Azure's traces have dates with fractions; times count from the first row", async () => {
  const content = `TIMESTAMP,ContextTokens,GeneratedTokens
2023-11-16 18:59:59.9799600,374,44
2023-11-16 19:00:00.2300000,396,109
2023-11-17 18:59:59.9799600,1,7
`;
  const rows = await rowsOf(content);
  assert.deepEqual(
    rows.map(([time = 0, ...rest]) => [Math.round(time * 1000) / 1000, ...rest]),
    [
      [0, 374, 44],
      [250.04, 396, 109],
      [86_400_000, 1, 7],
    ],
  );
  const zoned = await rowsOf(content.replaceAll("00,", "00+00:00,"));
  assert.deepEqual(zoned, rows);
});

test("BurstGPT's traces have seconds and more columns; a request that failed asks for one token", async () => {
  const content = `Timestamp,Model,Request tokens,Response tokens,Total tokens,Log Type
5,ChatGPT,472,18,490,Conversation log
45.5,"GPT-4, new",25,0,25,"API ""log"""
`;
  assert.deepEqual(await rowsOf(content), [
    [0, 472, 18],
    [40_500, 25, 1],
  ]);
});

test("a system prompt comes on top of a trace's lengths", async () => {
  assert.deepEqual(await rowsOf("timestamp,input_length,output_length\n0,50,5", { systemTokens: 10 }), [[0, 60, 5]]);
});

const bad: [content: string, message: RegExp][] = [
  ["a,b\n1,2", /data\.txt, line 1: has no column 'TIMESTAMP' \(got a,b\)\. Start with TIMESTAMP,/],
  ["TIMESTAMP,ContextTokens\n1,2", /line 1: has no column 'GeneratedTokens'/],
  ["TIMESTAMP,ContextTokens,GeneratedTokens\n1,2,3\nnever,2,3", /line 3: 'TIMESTAMP' is not a time \(got never\)/],
  ["TIMESTAMP,ContextTokens,GeneratedTokens\n1,many,3", /line 2: 'ContextTokens' is not a whole number \(got many\)/],
  ["TIMESTAMP,ContextTokens,GeneratedTokens\n1,2", /line 2: 'GeneratedTokens' is not a whole number \(got nothing\)/],
  ["TIMESTAMP,ContextTokens,GeneratedTokens\n", /data\.txt: has no requests/],
];

test("an invalid trace is rejected with its line and column", async () => {
  for (const [content, message] of bad) {
    await assert.rejects(
      collectFrom("trace", content),
      (error) => error instanceof UserError && message.test(error.message),
      content,
    );
  }
});
