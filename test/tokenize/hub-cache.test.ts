import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";
import {
  findInHubCache,
  hubCacheFolder,
  isCommit,
  isHubId,
  isRevision,
  modelFolder,
} from "../../src/tokenize/hub-cache.ts";
import { makeFolder } from "../make-folder.ts";

/** The cache of HuggingFace's hub. */

const caches: readonly (readonly [env: Record<string, string>, folder: string])[] = [
  [{ HF_HUB_CACHE: "/c", HF_HOME: "/h", HOME: "/u" }, "/c"],
  [{ HUGGINGFACE_HUB_CACHE: "/d", HF_HOME: "/h", HOME: "/u" }, "/d"],
  [{ HF_HOME: "/h", XDG_CACHE_HOME: "/x", HOME: "/u" }, "/h/hub"],
  [{ HF_HOME: "", XDG_CACHE_HOME: "/x", HOME: "/u" }, "/x/huggingface/hub"],
  [{ HOME: "/u" }, "/u/.cache/huggingface/hub"],
];
for (const [env, expected] of caches) {
  test(`the cache with ${JSON.stringify(env)} is ${expected}`, () => {
    assert.equal(hubCacheFolder(env).replaceAll("\\", "/"), expected);
  });
}

const COMMIT = "0123456789abcdef0123456789abcdef01234567";

const checks: readonly (readonly [
  check: (name: string) => boolean,
  right: readonly string[],
  wrong: readonly string[],
])[] = [
  [isHubId, ["gpt2", "org/model", "a.b/c-d_e"], ["", "/a", "a/b/c", "../a", "a..b", "a--b", "a b", "-a", "./a"]],
  [isRevision, ["main", "v1.0", "refs/pr/1", COMMIT], ["", "..", "../a", "a/../b", "a//b", "/a", "a/", "a b"]],
  [isCommit, [COMMIT], ["main", COMMIT.slice(1), COMMIT.toUpperCase(), `${COMMIT}0`]],
];
for (const [check, right, wrong] of checks) {
  test(`${check.name} takes ${right[0]}`, () => {
    for (const name of right) assert.equal(check(name), true, name);
    for (const name of wrong) assert.equal(check(name), false, name);
  });
}

test("a model is found by a reference or a commit, and only with its file", async () => {
  const cache = makeFolder();
  const folder = modelFolder(cache, "org/model");
  assert.equal(folder, join(cache, "models--org--model"));
  const snapshot = join(folder, "snapshots", COMMIT);
  const put = (path: string, text: string): void => {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
  };
  put(join(folder, "refs", "main"), `${COMMIT}\n`);
  put(join(folder, "refs", "pr", "1"), COMMIT);
  put(join(folder, "refs", "broken"), "../../elsewhere");
  const find = (revision: string): Promise<string | undefined> => findInHubCache(cache, { id: "org/model", revision });
  assert.equal(await find("main"), undefined);
  put(join(snapshot, "tokenizer.json"), "{}");
  for (const [revision, found] of [
    ["main", snapshot],
    ["pr/1", snapshot],
    [COMMIT, snapshot],
    ["broken", undefined],
    ["other", undefined],
    [COMMIT.replace("0", "f"), undefined],
  ] as const)
    assert.equal(await find(revision), found, revision);
});
