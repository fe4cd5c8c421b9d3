import assert from "node:assert/strict";
import { test } from "node:test";
import { parseSequenceMix } from "../../../src/inputs/lengths.ts";
import { parseInputFile } from "../../../src/inputs/prompts/settings.ts";
import { UserError } from "../../../src/plan/problem.ts";
import type { Tokenizer } from "../../../src/tokenize/tokenizer.ts";
import { collect, tiny } from "./collect.ts";
import { inputText } from "./input-text.ts";

const GOLDEN = [
  {
    texts: [
      "Every island carried his puzzle around their tower when our crowded sailor sold my sudden fountain, and that museum delivered this heavy paper",
    ],
    maxTokens: 21,
  },
  {
    texts: [
      "The courtyard sold this hidden traveller. Each nephew watched their cheerful painter while a empty candle barely studied a faded had been",
    ],
    maxTokens: 32,
  },
];

const short = { entryCount: 8, isl: { mean: 50, stddev: 0 } };

test("the defaults are 100 prompts of 550 tokens, each another one", async () => {
  const entries = await collect({});
  assert.equal(entries.length, 100);
  for (const { texts, maxTokens } of entries) {
    assert.equal(tiny.count(texts.join(" ")), 550);
    assert.equal(maxTokens, undefined);
  }
  assert.equal(new Set(entries.map(({ texts }) => texts[0])).size, 100);
});

test("lengths follow their means and deviations, and each text has its length", async () => {
  const settings = { entryCount: 300, isl: { mean: 60, stddev: 10 }, osl: { mean: 20, stddev: 4 } };
  const entries = await collect(settings);
  const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;
  const inputs = entries.map((entry) => tiny.count(inputText(entry)));
  const outputs = entries.map(({ maxTokens }) => maxTokens ?? 0);
  assert.ok(Math.abs(mean(inputs) - 59.5) < 2, `mean input ${mean(inputs)}`);
  assert.ok(Math.abs(mean(outputs) - 19.5) < 1, `mean output ${mean(outputs)}`);
  assert.ok(Math.min(...outputs) >= 1 && new Set(inputs).size > 20);
});

test("the seed decides everything, and nothing else does", async () => {
  const settings = { ...short, osl: { mean: 20, stddev: 4 } };
  const entries = await collect(settings);
  assert.deepEqual(await collect(settings), entries);
  assert.notDeepEqual(await collect({ ...settings, seed: 43 }), entries);
  const withPrefix = await collect({ ...settings, prefix: { count: 2, tokens: 30 } });
  assert.deepEqual(
    withPrefix.map(({ maxTokens }) => maxTokens),
    entries.map(({ maxTokens }) => maxTokens),
  );
  assert.deepEqual(entries.slice(0, 2), GOLDEN);
});

test("prefix prompts are drawn from a pool, and the whole is prefix and prompt to the token", async () => {
  const entries = await collect({ ...short, entryCount: 30, prefix: { count: 2, tokens: 30 } });
  const starts = new Set(entries.map(({ texts }) => texts[0]?.slice(0, 60)));
  assert.equal(starts.size, 2);
  for (const entry of entries) assert.equal(tiny.count(inputText(entry)), 80);
});

test("a system prompt is shared, and the sum is exact", async () => {
  const entries = await collect({ ...short, systemTokens: 40 });
  assert.equal(new Set(entries.map(({ system }) => system)).size, 1);
  for (const entry of entries) {
    assert.equal(tiny.count(inputText(entry)), 90);
    assert.deepEqual(
      [entry.system, entry.texts[0]].map((text) => tiny.count(text ?? "")),
      [40, 50],
    );
  }
});

test("a mix gives each kind its input and output lengths", async () => {
  const mix = parseSequenceMix("20,7:40;60,9:60", "--sequence-distribution");
  const entries = await collect({ entryCount: 200, mix });
  const kinds = entries.map((entry) => `${tiny.count(inputText(entry))},${entry.maxTokens}`);
  const first = kinds.filter((kind) => kind === "20,7").length;
  assert.equal(first + kinds.filter((kind) => kind === "60,9").length, 200);
  assert.ok(first > 55 && first < 105, `${first} of 200`);
});

test("several texts of one request have the request's length each", async () => {
  for (const { texts } of await collect({ ...short, textsPerRequest: 4 })) {
    assert.deepEqual(
      texts.map((text) => tiny.count(text)),
      [50, 50, 50, 50],
    );
    assert.equal(new Set(texts).size, 4);
  }
});

test("synthetic rankings have a query and passages", async () => {
  const source = parseInputFile("synthetic:queries,passages");
  const entries = await collect({ ...short, source, isRanking: true, textsPerRequest: 3 });
  assert.equal(entries.length, 8);
  for (const { texts, passages = [] } of entries) {
    assert.deepEqual(
      [...texts, ...passages].map((text) => tiny.count(text)),
      [50, 50, 50, 50],
    );
  }
});

test("each name of synthetic data has its own entries", async () => {
  const entries = await collect({ ...short, source: parseInputFile("synthetic:a,b") });
  assert.equal(entries.length, 16);
  assert.equal(new Set(entries.map(({ texts }) => texts[0])).size, 16);
});

test("sessions have turns, and delays between them", async () => {
  const sessions = { count: 40, turns: { mean: 3, stddev: 1 }, delayMs: { mean: 100, stddev: 20 } };
  const entries = await collect({ ...short, sessions, prefix: { count: 1, tokens: 10 }, systemTokens: 5 });
  const ids = [...new Set(entries.map(({ sessionId }) => sessionId))];
  assert.equal(ids.length, 40);
  const turnCounts = ids.map((id) => entries.filter(({ sessionId }) => sessionId === id).length);
  assert.ok(Math.min(...turnCounts) >= 1 && new Set(turnCounts).size > 2);
  for (const [index, entry] of entries.entries()) {
    assert.match(entry.sessionId ?? "", /^[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/);
    const isFirst = entries[index - 1]?.sessionId !== entry.sessionId;
    const isLast = entries[index + 1]?.sessionId !== entry.sessionId;
    assert.equal(entry.delayMs === undefined, isLast);
    assert.equal(tiny.count(inputText(entry)), isFirst ? 65 : 50);
  }
});

test("synthetic prompts need a tokenizer", async () => {
  await assert.rejects(
    collect({}, null),
    (error) => error instanceof UserError && /^inputs\.tokenizer: is needed to generate prompts/.test(error.message),
  );
});

test("no entries are an error", async () => {
  await assert.rejects(
    collect({ entryCount: 0 }),
    (error) => error instanceof UserError && /inputs\.count: leaves no request to send/.test(error.message),
  );
});

test("the value of --input-file names its kind", () => {
  assert.deepEqual(parseInputFile("synthetic:queries, passages"), {
    kind: "synthetic",
    names: ["queries", "passages"],
  });
  assert.deepEqual(parseInputFile("payload:a:b.jsonl"), { kind: "payload", path: "a:b.jsonl" });
  assert.deepEqual(parseInputFile("prompts.jsonl"), { kind: "file", path: "prompts.jsonl" });
  assert.deepEqual(parseInputFile("azure.csv"), { kind: "trace", path: "azure.csv" });
  assert.deepEqual(parseInputFile("trace:x"), { kind: "trace", path: "x" });
  const conversations = { kind: "conversations", path: "chats.json", isMultiTurn: true };
  assert.deepEqual(parseInputFile("conversations:chats.json"), conversations);
});

test("texts that would not fit into memory are refused before the first is written", async () => {
  const uncalled: Tokenizer = {
    ...{ name: "uncalled", endId: undefined, decode: () => assert.fail("it wrote a text") },
    ...{ encode: () => assert.fail("it wrote a text"), count: () => assert.fail("it wrote a text") },
  };
  const long = { isl: { mean: 10_000_000, stddev: 0 } };
  for (const settings of [
    { ...long, entryCount: 200 },
    { ...long, entryCount: 200, isRanking: true },
    { ...long, sessions: { count: 200, turns: { mean: 1, stddev: 0 }, delayMs: { mean: 0, stddev: 0 } } },
  ])
    await assert.rejects(collect(settings, uncalled), /the generated texts take more than 1 GiB/);
});
