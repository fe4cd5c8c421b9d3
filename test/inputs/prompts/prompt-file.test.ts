import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import type { PromptSettings } from "../../../src/inputs/prompts/settings.ts";
import { UserError } from "../../../src/plan/problem.ts";
import type { PromptEntry } from "../../../src/service/openai/prompt-entry.ts";
import { collect, collectFrom, tiny, withFiles } from "./collect.ts";

const PNG = new Uint8Array([0x89, 0x50, 0x4e, 0x47, 1, 2]);
const PNG_URL = "data:image/png;base64,iVBORwEC";

/** Entries of a folder of files. */
function collectFolder(
  files: Readonly<Record<string, string | Uint8Array>>,
  settings: Partial<PromptSettings> = {},
  name = "",
): Promise<PromptEntry[]> {
  return withFiles(files, (folder) => collect({ source: { kind: "file", path: join(folder, name) }, ...settings }));
}

test("prompts come in the order of their lines, under either key", async () => {
  const entries = await collectFrom("file", '{"text": " one "}\n\n{"text_input": "two", "other": 1}\n', {}, null);
  assert.deepEqual(entries, [{ texts: ["one"] }, { texts: ["two"] }]);
});

test("prompts of a file get output lengths and prefixes too", async () => {
  const settings = { osl: { mean: 7, stddev: 0 }, prefix: { count: 1, tokens: 12 } };
  const [entry] = await collectFrom("file", '{"text": "one two"}', settings);
  assert.equal(entry?.maxTokens, 7);
  assert.match(entry?.texts[0] ?? "", / one two$/);
  assert.equal(tiny.count(entry?.texts[0]?.slice(0, -" one two".length) ?? ""), 12);
});

test("images and sounds are loaded; addresses stay", async () => {
  const lines = [
    { text: "look", image: "pictures/a.png" },
    { image: "https://host/b.png" },
    { audio: "c.wav" },
    { text: "hear", audio: "data:audio/mp3;base64,QUJD" },
  ];
  const files = {
    "p.jsonl": lines.map((line) => JSON.stringify(line)).join("\n"),
    "pictures/a.png": PNG,
    "c.wav": "ABC",
  };
  assert.deepEqual(await collectFolder(files, {}, "p.jsonl"), [
    { texts: ["look"], images: [PNG_URL] },
    { texts: [], images: ["https://host/b.png"] },
    { texts: [], audio: [{ format: "wav", base64: "QUJD" }] },
    { texts: ["hear"], audio: [{ format: "mp3", base64: "QUJD" }] },
  ]);
});

test("a folder's files follow each other by name", async () => {
  const files = { "b.jsonl": '{"text": "2"}', "a.jsonl": '{"text": "1"}', "c.txt": "not this" };
  assert.deepEqual(await collectFolder(files), [{ texts: ["1"] }, { texts: ["2"] }]);
});

test("rankings pair queries with the passages of their line; the shorter file ends them", async () => {
  const files = {
    "queries.jsonl": '{"text": "q1"}\n{"text": "q2"}\n{"text": "q3"}',
    "passages.jsonl": '{"text": "p1"}\n{"text": "p2"}',
  };
  assert.deepEqual(await collectFolder(files, { isRanking: true }), [
    { texts: ["q1"], passages: ["p1"] },
    { texts: ["q2"], passages: ["p2"] },
  ]);
  await assert.rejects(
    collectFolder({ "queries.jsonl": "" }, { isRanking: true }),
    (error) =>
      error instanceof UserError && /Give a folder with passages\.jsonl, or inputs\.file=rankings/.test(error.message),
  );
});

test("batches are different lines drawn by the seed, as many as asked for", async () => {
  const lines = Array.from({ length: 9 }, (_, index) => JSON.stringify({ text: `t${index}` })).join("\n");
  const settings = { textsPerRequest: 4, entryCount: 50 };
  const entries = await collectFrom("file", lines, settings);
  assert.equal(entries.length, 50);
  for (const { texts } of entries) assert.equal(new Set(texts).size, 4);
  assert.equal(new Set(entries.flatMap(({ texts }) => texts)).size, 9);
  assert.deepEqual(await collectFrom("file", lines, settings), entries);
  assert.notDeepEqual(await collectFrom("file", lines, { ...settings, seed: 1 }), entries);
});

test("batches have their lines in every order, like those of random.sample in GenAI-Perf", async () => {
  const lines = ["a", "b", "c"].map((text) => JSON.stringify({ text })).join("\n");
  const ordersOf = async (textsPerRequest: number): Promise<string[]> => {
    const entries = await collectFrom("file", lines, { textsPerRequest, entryCount: 100 });
    return [...new Set(entries.map(({ texts }) => texts.join("")))].sort();
  };
  assert.deepEqual(await ordersOf(3), ["abc", "acb", "bac", "bca", "cab", "cba"]);
  assert.deepEqual(await ordersOf(2), ["ab", "ac", "ba", "bc", "ca", "cb"]);
});

test("batches draw images and sounds too", async () => {
  const lines = ["A", "B", "C"].map((name) =>
    JSON.stringify({ image: `https://h/${name}`, audios: [`wav,${name}AAA`] }),
  );
  const settings = { imagesPerRequest: 2, audioPerRequest: 3, entryCount: 4 };
  for (const { images, audio } of await collectFrom("file", lines.join("\n"), settings))
    assert.deepEqual([new Set(images).size, new Set(audio?.map(({ base64 }) => base64)).size], [2, 3]);
});

const bad: [content: string, settings: Partial<PromptSettings>, message: RegExp][] = [
  ['{"text": "a", "text_input": "b"}', {}, /line 1: Each data entry must have only one of 'text_input' or 'text'/],
  ['{"text": "a"}\n{"prompt": "b"}', {}, /line 2: has no 'text', .*\(got prompt\)\. Write \{"text"/],
  ['{"text": 5}', {}, /line 1: 'text' is not text \(got 5\)/],
  ['{"image": "no.png"}', {}, /line 1: 'no\.png' cannot be read/],
  ['{"image": "data.txt"}', {}, /line 1: 'data\.txt' is not a supported image\. Convert it to PNG or JPEG/],
  ['{"audio": "x.ogg"}', {}, /line 1: 'x\.ogg' is not a supported sound/],
  ['{"images": "x.png"}', {}, /line 1: 'images' is not a list of texts \(got "x\.png"\)/],
  ['{"audio": "wav,AAAA"}', { audioPerRequest: 2 }, /Batch size for sounds cannot be larger .* \(got 2 of 1\)/],
  ['{"text": "a"}', { textsPerRequest: 2 }, /Batch size for texts cannot be larger .* \(got 2 of 1\)/],
  ["", {}, /data\.txt: has no requests/],
];

test("what cannot be sent is refused with file, line and key", async () => {
  for (const [content, settings, message] of bad) {
    await assert.rejects(
      collectFrom("file", content, settings),
      (error) => error instanceof UserError && message.test(error.message),
      content,
    );
  }
  const isNamed = (error: unknown): boolean => error instanceof UserError && /No JSONL files found/.test(error.message);
  await assert.rejects(collectFolder({ "a.txt": "" }), isNamed);
  await assert.rejects(collect({ source: { kind: "file", path: "no/such" } }), UserError);
});

test("a file is read as it is asked for, not before", async () => {
  const lines = `${'{"text": "a"}\n'.repeat(50_000)}broken`;
  await withFiles({ "p.jsonl": lines }, async (folder) => {
    const { createEntries } = await import("../../../src/inputs/prompts/prompt-sources.ts");
    const { DEFAULT_PROMPTS } = await import("../../../src/inputs/prompts/settings.ts");
    const source = { kind: "file", path: join(folder, "p.jsonl") } as const;
    const entries = createEntries({ ...DEFAULT_PROMPTS, seed: 1, source }, undefined);
    assert.deepEqual((await entries.next()).value, { texts: ["a"] });
    await entries.return(undefined);
  });
});
