import assert from "node:assert/strict";
import { cpSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { word } from "../../src/plan/messages.ts";
import { formatProblem, type RunError, UserError } from "../../src/plan/problem.ts";
import { loadTokenizer, type TokenizerOptions } from "../../src/tokenize/load-tokenizer.ts";
import { makeFolder } from "../make-folder.ts";

/** Where a tokenizer is looked for, in which order, and what is said when it is not there. */

const FIXTURES = join(import.meta.dirname, "fixtures");
const COMMIT = "0123456789abcdef0123456789abcdef01234567";
const folder = makeFolder();

/** An environment without network and with a cache of its own. */
function offline(cache: string): { readonly env: Record<string, string> } {
  return { env: { HF_HUB_CACHE: join(folder, cache), HF_HUB_OFFLINE: "1" } };
}

function write(path: string, content: string): string {
  const whole = join(folder, path);
  mkdirSync(dirname(whole), { recursive: true });
  writeFileSync(whole, content);
  return whole;
}

/** Puts a fixture into a cache as `huggingface_hub` does: a reference, a snapshot of links, and the contents. */
function putInCache(cache: string, id: string, fixture: string, revision = "main"): void {
  const model = join(folder, cache, `models--${id.replaceAll("/", "--")}`);
  const snapshot = join(model, "snapshots", COMMIT);
  for (const part of [snapshot, join(model, "blobs"), dirname(join(model, "refs", revision))])
    mkdirSync(part, { recursive: true });
  cpSync(join(FIXTURES, fixture, "tokenizer.json"), join(model, "blobs", "abc"));
  rmSync(join(snapshot, "tokenizer.json"), { force: true });
  symlinkSync("../../blobs/abc", join(snapshot, "tokenizer.json"));
  writeFileSync(join(model, "refs", revision), COMMIT);
}

async function refusal(name: string, options: TokenizerOptions): Promise<string> {
  const error = await loadTokenizer(name, options).then(
    () => assert.fail(`${name} was loaded`),
    (caught: unknown) => caught,
  );
  assert.ok(error instanceof UserError, String(error));
  return error.problems.map(formatProblem).join("\n");
}

test("a folder, its file and a copy under another name are the same tokenizer", async () => {
  const other = join(folder, "other.json");
  cpSync(join(FIXTURES, "gpt2", "tokenizer.json"), other);
  for (const name of [join(FIXTURES, "gpt2"), join(FIXTURES, "gpt2", "tokenizer.json"), other]) {
    const tokenizer = await loadTokenizer(name, offline("none"));
    assert.equal(tokenizer.name, name);
    assert.equal(tokenizer.decode(tokenizer.encode("Hello, world!")), "Hello, world!");
    assert.equal(tokenizer.count("Hello, world!"), tokenizer.encode("Hello, world!").length);
  }
});

test("a template that adds special tokens adds none here, and those in the text are recognised", async () => {
  const tokenizer = await loadTokenizer(join(FIXTURES, "llama3"), offline("none"));
  const [begin] = tokenizer.encode("<|begin_of_text|>");
  assert.equal(tokenizer.decode([begin as number]), "<|begin_of_text|>");
  assert.ok(!tokenizer.encode("Hello").includes(begin as number));
  assert.equal(tokenizer.encode("a<|begin_of_text|>b")[1], begin);
});

test("tokens that only tokenizer_config.json has are known", async () => {
  const own = join(folder, "with-config");
  cpSync(join(FIXTURES, "gpt2"), own, { recursive: true });
  const tokens = { "5000": { content: "<extra>", special: true } };
  write("with-config/tokenizer_config.json", JSON.stringify({ added_tokens_decoder: tokens }));
  const tokenizer = await loadTokenizer(own, offline("none"));
  assert.deepEqual(tokenizer.encode("<extra>"), [5000]);
  assert.equal(tokenizer.decode([5000]), "<extra>");
});

test("an empty text has no tokens, and ids outside the vocabulary have no text", async () => {
  for (const name of [join(FIXTURES, "gpt2"), "r50k_base"]) {
    const tokenizer = await loadTokenizer(name, offline("none"));
    assert.deepEqual(tokenizer.encode(""), []);
    assert.equal(tokenizer.decode([]), "");
    assert.equal(tokenizer.decode([...tokenizer.encode("ab"), 4_000_000, -1, ...tokenizer.encode("cd")]), "abcd");
  }
});

test("a model in the hub's cache is found by branch, tag and commit", async () => {
  putInCache("hub", "org/model", "tiny");
  putInCache("hub", "org/model", "tiny", "refs/pr/1");
  for (const revision of [undefined, "main", "refs/pr/1", COMMIT]) {
    const tokenizer = await loadTokenizer("org/model", { ...offline("hub"), revision });
    assert.equal(tokenizer.name, "org/model");
    assert.equal(tokenizer.decode(tokenizer.encode("Hi there")), "Hi there");
  }
  const other = await refusal("org/model", { ...offline("hub"), revision: "v2" });
  assert.match(other, /revision v2/);
  assert.doesNotMatch(other, /Did you mean/);
});

test("a cached model comes before the encoding of the same name", async () => {
  assert.equal((await loadTokenizer("gpt2", offline("none"))).count("antidisestablishmentarianism"), 5);
  putInCache("gpt2-cache", "gpt2", "gpt2");
  assert.ok((await loadTokenizer("gpt2", offline("gpt2-cache"))).count("antidisestablishmentarianism") > 5);
});

test("a local folder named like a model of the hub is reported when it has no tokenizer, with its contents", async () => {
  const before = process.cwd();
  process.chdir(folder);
  try {
    write("llama-own/config.json", "{}");
    write("llama-own/tokenizer.model", "");
    write("bare-folder/readme.txt", "");
    const nobody = { HF_HUB_CACHE: join(folder, "none"), HF_ENDPOINT: "http://127.0.0.1:1" };
    // The hub is not asked for a folder that has a model's files.
    const own = await refusal("llama-own", { env: nobody });
    assert.match(own, /the folder llama-own has no tokenizer\.json, only config\.json, tokenizer\.model\b/);
    assert.doesNotMatch(own, /127\.0\.0\.1|HF_/);
    assert.match(
      await refusal("bare-folder", { env: nobody }),
      /the folder bare-folder has no tokenizer\.json, and the hub's model of that name /,
    );
    assert.match(await refusal("bare-folder", offline("none")), /the folder bare-folder has no tokenizer\.json/);
    mkdirSync("gpt2", { recursive: true });
    assert.ok((await loadTokenizer("gpt2", offline("none"))).count("a") === 1, "an encoding is not hidden");
  } finally {
    process.chdir(before);
  }
});

const empty = join(folder, "empty");
mkdirSync(empty);
const refused: readonly (readonly [what: string, name: string, options: TokenizerOptions, message: RegExp])[] = [
  ["remote code", "org/model", { trustRemoteCode: true }, /org\/model.*save_pretrained/],
  ["a revision that leads elsewhere", "org/model", { revision: "../../x" }, /revision.*\.\.\/\.\.\/x/],
  ["a folder without the file", empty, {}, /no tokenizer\.json.*empty/],
  ["a path that is not there", "./nowhere/x", {}, /not a local file or folder.*nowhere/],
  ["a name that is nowhere", "org/absent", {}, /none, revision main.*HF_HUB_OFFLINE.*org\/absent/],
  ["a file that is no JSON", write("bad.json", "{"), {}, /bad\.json: is not JSON/],
  ["JSON that is no tokenizer", write("list.json", "[]"), {}, /list\.json: cannot be used: it is not a JSON object/],
  ["a tokenizer without a model", write("no-model.json", "{}"), {}, /no-model\.json: cannot be used: /],
  [
    "a part that is not known",
    write("part.json", '{"model": {"type": "BPE"}, "pre_tokenizer": {"type": "Magic"}}'),
    {},
    /pre-tokenizer of type "Magic" is not supported/,
  ],
  [
    "an expression that cannot be translated",
    write("regex.json", '{"model": {}, "pre_tokenizer": {"type": "Split", "pattern": {"Regex": "("}}}'),
    {},
    /regular expression \( cannot be used/,
  ],
  [
    "a merge of unknown tokens",
    write("merge.json", '{"model": {"type": "BPE", "vocab": {"a": 0}, "merges": ["a b"]}}'),
    {},
    /merge\.json: cannot be used: .*merges\[0\].*a b/,
  ],
];
for (const [what, name, options, message] of refused) {
  test(`rejects ${what} with the reason`, async () => {
    assert.match(await refusal(name, { ...offline("none"), ...options }), message);
  });
}

for (const [typed, near] of [
  ["o200k_bas", "o200k_base"],
  ["gpt-4oo", "gpt-4o"],
  ["org/modle", "org/model"],
] as const)
  test(`the error about ${typed} asks whether ${near} is meant`, async () => {
    putInCache("typo-cache", "org/model", "gpt2");
    assert.match(await refusal(typed, offline("typo-cache")), new RegExp(` Did you mean ${near}\\? Give a folder`));
    // The same when the hub is asked for it.
    const env = { HF_HUB_CACHE: join(folder, "typo-cache"), HF_ENDPOINT: "http://127.0.0.1:1" };
    await assert.rejects(loadTokenizer(typed, { env }), (error: RunError) =>
      word(error.hint).startsWith(`Did you mean ${near}? `),
    );
  });

test("a name that resembles no tokenizer has no suggestion", async () => {
  assert.doesNotMatch(await refusal("org/absent", offline("none")), /Did you mean/);
});

test("TRANSFORMERS_OFFLINE keeps it from downloading, too", async () => {
  const env = { HF_HUB_CACHE: join(folder, "none"), TRANSFORMERS_OFFLINE: "yes", HF_ENDPOINT: "http://127.0.0.1:1" };
  assert.match(await refusal("org/absent", { env }), /switched off/);
});
