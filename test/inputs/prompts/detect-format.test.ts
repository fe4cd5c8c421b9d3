import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { detectFormat } from "../../../src/inputs/prompts/detect-format.ts";
import { parseInputFile } from "../../../src/inputs/prompts/settings.ts";
import { word } from "../../../src/plan/messages.ts";
import { UserError } from "../../../src/plan/problem.ts";
import { LIMIT } from "../../time-limit.ts";
import { collect, withFiles } from "./collect.ts";

function detect(content: string): Promise<string> {
  return withFiles({ file: content }, (folder) => detectFormat(join(folder, "file")));
}

test("a file's beginning determines its format", async () => {
  for (const [content, format] of [
    ['{"text": "a", "timestamp": 1}\n', "jsonl"],
    ['\n{"image": "a.png"}', "jsonl"],
    ['{"timestamp": 0, "input_length": 5}\n', "payload"],
    ['{"session_id": "a", "input_length": 5}', "payload"],
    ['{"conversations": [{"from": "human", "value": "a"}]}\n', "sharegpt"],
    ['[\n {"id": "1",\n  "conversations": [{"from": "human"}]}]', "sharegpt"],
    ['[{"conversations": []}]', "sharegpt"],
    ["TIMESTAMP,ContextTokens,GeneratedTokens\n2023-11-16 18:17:03.9,4,5\n", "azure"],
    ["Timestamp,Model,Request tokens,Response tokens,Total tokens,Log Type\n5,GPT-4,4,5,9,API log\n", "burstgpt"],
    ["no JSON at all\n", "jsonl"],
    ["", "jsonl"],
  ] as const)
    assert.equal(await detect(content), format, content);
  assert.equal(await withFiles({ "a.jsonl": "{}" }, detectFormat), "jsonl");
});

test("a first line of a megabyte is looked through once", LIMIT, async () => {
  const before = process.cpuUsage();
  assert.equal(await detect(`{"text": "${"word ".repeat(200_000)}"}\n{"text": "a"}\n`), "jsonl");
  assert.equal(await detect(`\n \n${" ".repeat(1_000_000)}{"input_length": 5}`), "payload");
  // It takes milliseconds; minutes where each character looks for the line's end.
  const { user, system } = process.cpuUsage(before);
  assert.ok(user + system < 10e6, `${user + system} us of CPU`);
});

test("JSON of an unknown format is reported with the known ones", async () => {
  await assert.rejects(detect('{"prompt": "a", "id": 1}\n'), (error: unknown) => {
    assert.ok(error instanceof UserError);
    assert.match(word(error.problems[0]?.message ?? ""), /has an unknown format/);
    assert.equal(error.problems[0]?.value, "prompt, id");
    return true;
  });
  await assert.rejects(detectFormat("nowhere.jsonl"), /cannot be read/);
});

test("a named form is read as such, whatever the file's name", async () => {
  const conversation =
    '{"conversations":[{"from":"human","value":"a"},{"from":"gpt","value":"b"},{"from":"human","value":"c"}]}';
  await withFiles({ x: conversation }, async (folder) => {
    const path = join(folder, "x");
    const first = await collect({ source: { kind: "conversations", path, isMultiTurn: false } });
    assert.deepEqual(
      first.map(({ texts, sessionId }) => [texts[0], sessionId]),
      [["a", undefined]],
    );
    const all = await collect({ source: parseInputFile(path, "sharegpt") });
    assert.deepEqual([all.length, new Set(all.map(({ sessionId }) => sessionId)).size], [2, 1]);
  });
});

test("a trace of one service is not taken for one of the other", async () => {
  const azure = "TIMESTAMP,ContextTokens,GeneratedTokens\n1,4,5\n";
  await withFiles({ x: azure }, async (folder) => {
    const path = join(folder, "x");
    const [entry] = await collect({ source: parseInputFile(path, "azure") });
    assert.equal(entry?.maxTokens, 5);
    await assert.rejects(collect({ source: parseInputFile(path, "burstgpt") }), /has no column 'Request tokens'/);
  });
});
