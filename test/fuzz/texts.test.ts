import assert from "node:assert/strict";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import fc from "fast-check";
import { RunError, UserError } from "../../src/plan/problem.ts";
import { Exposition } from "../../src/telemetry/exposition.ts";
import { loadTokenizer } from "../../src/tokenize/load-tokenizer.ts";
import { makeFolder } from "../make-folder.ts";
import { LIMIT } from "../time-limit.ts";
import { fewerRuns, RUNS } from "./bounds.ts";
import { oddJson } from "./odd-json.ts";

/** Metrics pages and tokenizers: what is read is whole, what is not is refused or passed over. */

describe("fuzz: metrics pages", () => {
  const name = fc.constantFrom(
    "a",
    "a_total",
    "a_bucket",
    "a_sum",
    "nv_gpu_utilization",
    "__proto__",
    "constructor",
    "toString",
    "1a",
    "",
  );
  const labels = fc.constantFrom(
    "",
    "{}",
    '{gpu="0"}',
    '{__proto__="1",constructor="2"}',
    '{le="+Inf"}',
    '{le="x"}',
    '{a="\\',
    '{a="b",,}',
    '{a="\\n\\\\\\""}',
  );
  const value = fc.constantFrom("1", "-5", "1.5e3", "NaN", "-Inf", "1e999", "x", "", "0x10", "1 2", "1_000");
  const sample = fc.tuple(name, labels, value).map(([a, b, c]) => `${a}${b} ${c}`);
  const kind = fc.constantFrom("gauge", "counter", "histogram", "summary", "__proto__", "");
  const declared = fc.tuple(fc.constantFrom("TYPE", "HELP", "x"), name, kind).map((parts) => `# ${parts.join(" ")}`);
  const page = fc
    .array(fc.oneof(sample, sample, declared, fc.string()), { maxLength: 8 })
    .map((lines) => lines.join("\n"));

  test("a reused reader finds the same as a new one", () => {
    fc.assert(
      fc.property(fc.array(page, { minLength: 1, maxLength: 3 }), (pages) => {
        const exposition = new Exposition();
        for (const text of [...pages, ...pages]) {
          const found = readSamples(exposition, text);
          for (const [key, , number] of found) {
            assert.ok(key.length > 0);
            assert.equal(typeof number, "number");
          }
          assert.deepEqual(found, readSamples(new Exposition(), text));
        }
      }),
      fewerRuns(2),
    );
  });

  test("no line takes longer than its length allows", () => {
    const long = [
      "a{".repeat(50_000),
      `a{a="${"\\\\".repeat(50_000)}"} 1`,
      `a{${" ".repeat(50_000)}`,
      `# TYPE a${" ".repeat(50_000)}\u0001`,
    ];
    for (const text of long) new Exposition().read(text, () => {});
  });
});

function readSamples(exposition: Exposition, text: string): (readonly [name: string, labels: string, value: number])[] {
  const found: (readonly [string, string, number])[] = [];
  exposition.read(text, ({ name, labels }, value) => found.push([name, JSON.stringify([...labels]), value]));
  return found;
}

describe("fuzz: tokenizer files", () => {
  const TINY = fileURLToPath(new URL("../tokenize/fixtures/tiny/tokenizer.json", import.meta.url));
  const regex = (text: string): object => ({ Regex: text });
  const PARTS = {
    added_tokens: [
      { id: 9, content: "<s>", single_word: false, lstrip: false, rstrip: false, normalized: false, special: true },
    ],
    normalizer: {
      type: "Sequence",
      normalizers: [
        { type: "NFC" },
        { type: "Replace", pattern: regex("a"), content: "b" },
        { type: "Prepend", prepend: "_" },
      ],
    },
    pre_tokenizer: {
      type: "Sequence",
      pretokenizers: [
        { type: "Split", pattern: regex(" +"), behavior: "Isolated", invert: false },
        { type: "ByteLevel", add_prefix_space: true, use_regex: true },
      ],
    },
    decoder: {
      type: "Sequence",
      decoders: [{ type: "Replace", pattern: { String: "_" }, content: " " }, { type: "Fuse" }],
    },
  };
  const MODELS: readonly object[] = [
    { type: "BPE", vocab: { a: 0, b: 1, ab: 2, "[UNK]": 3 }, merges: [["a", "b"]], unk_token: "[UNK]" },
    { type: "WordPiece", vocab: { "[UNK]": 0, a: 1, "##b": 2 }, unk_token: "[UNK]", continuing_subword_prefix: "##" },
    {
      type: "Unigram",
      vocab: [
        ["<unk>", 0],
        ["a", -1],
        ["b", -2],
      ],
      unk_id: 0,
    },
  ];
  const folder = makeFolder();

  const read = async (text: string): Promise<void> => {
    await writeFile(join(folder, "tokenizer.json"), text);
    try {
      const tokenizer = await loadTokenizer(folder, { env: { HF_HUB_OFFLINE: "1" } });
      const ids = tokenizer.encode("aab <s> b1 ü \ud800x");
      for (const id of ids) assert.ok(Number.isInteger(id), `token ${id}`);
      assert.equal(tokenizer.count("aab <s> b1 ü \ud800x"), ids.length);
      assert.equal(typeof tokenizer.decode([...ids, 99, -1]), "string");
    } catch (error) {
      if (error instanceof assert.AssertionError) throw error;
      const isClear = error instanceof UserError || error instanceof RunError;
      assert.ok(isClear, `${text.slice(0, 300)}\n${error instanceof Error ? error.stack : error}`);
    }
  };

  for (const model of MODELS)
    test(`anything in a file of ${(model as { type: string }).type}`, LIMIT, async () => {
      await fc.assert(fc.asyncProperty(oddJson({ ...PARTS, model }), read), fewerRuns(3));
    });

  test("an added token's id that is not an integer is rejected", async () => {
    const added_tokens = [{ ...PARTS.added_tokens[0], id: 1.5 }];
    await writeFile(join(folder, "tokenizer.json"), JSON.stringify({ ...PARTS, added_tokens, model: MODELS[0] }));
    await assert.rejects(loadTokenizer(folder), /added_tokens\[0\]\.id is 1\.5, expected a whole number/);
  });

  test("a real file cut off anywhere", LIMIT, async () => {
    const text = await readFile(TINY, "utf8");
    await fc.assert(
      fc.asyncProperty(fc.nat({ max: text.length - 2 }), (length) => read(text.slice(0, length))),
      { ...RUNS, numRuns: 20 },
    );
  });
});
