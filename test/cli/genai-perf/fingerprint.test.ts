import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, test } from "node:test";
import { fingerprintOf } from "../../../src/cli/genai-perf/checkpoint/open-checkpoint.ts";
import { toPassedPlan } from "../../../src/cli/genai-perf/plan/passed-plan.ts";
import { headersOf } from "../../../src/cli/genai-perf/plan/to-target.ts";
import { makeFolder } from "../../make-folder.ts";
import { readGood } from "./read.ts";

/** A checkpoint keeps a result for the runs that would measure the same. */

const BASE = ["profile", "-m", "tiny", "--endpoint-type", "chat", "--streaming", "--osl", "8"];
const KEY = ["--api-key-env", "KEY"];

function fingerprint(more: readonly string[], folder = "f", env: Readonly<Record<string, string>> = {}): string {
  const { asked } = readGood(...BASE, ...more);
  return fingerprintOf(toPassedPlan(asked, folder, headersOf(asked, env)));
}

describe("a checkpoint keeps a result whatever is said of", () => {
  const same: readonly (readonly string[])[] = [
    ["-v"],
    ["--artifact-dir", "elsewhere"],
    ["--profile-export-file", "mine.json"],
    ["--generate-plots"],
    ["--generate-plots", "--plot-formats", "svg"],
    ["--html", "page.html"],
    ["--random-seed", "0"],
    ["--", "-v"],
  ];
  for (const more of same) test(more.join(" "), () => assert.equal(fingerprint(more), fingerprint([])));

  test("its folder", () => assert.equal(fingerprint([], "one"), fingerprint([], "other")));

  test("the values of secret headers", () => {
    assert.equal(fingerprint(KEY, "f", { KEY: "first key" }), fingerprint(KEY, "f", { KEY: "second key" }));
    const [one, two] = ["a", "b"].map((value) => fingerprint(["-H", `Authorization:Bearer ${value}`]));
    assert.equal(one, two);
  });
});

test("a checkpoint distinguishes what is sent, where, when, and how it is measured", () => {
  const other: readonly (readonly string[])[] = [
    [],
    ["-m", "other"],
    ["--url", "other:8000"],
    ["--more-urls", "other:8000"],
    ["--endpoint", "v2/chat"],
    ["--endpoint-type", "multimodal"],
    ["-H", "X-Team:search"],
    KEY,
    ["--concurrency", "3"],
    ["--request-rate", "2"],
    ["--request-count", "40"],
    ["--warmup-request-count", "4"],
    ["--benchmark-duration", "5"],
    ["--isl", "20"],
    ["--osl", "9"],
    ["--num-dataset-entries", "7"],
    ["--random-seed", "1"],
    ["--extra-inputs", "top_k:5"],
    ["--extra-inputs", '{"top_k":5.0}'],
    ["--no-server-usage"],
    ["--shared-system-prompt-length", "10"],
    ["--num-prefix-prompts", "2"],
    ["--goodput", "request_latency:100"],
    ["--tokenizer", "gpt2"],
    ["--tokenizer-revision", "other"],
    ["--server-metrics-url", "http://other:9400/metrics"],
    ["--request-cancellation-rate", "10"],
    ["--stall-timeout", "5s"],
  ];
  const found = Map.groupBy(other, (more) => fingerprint(more, "f", { KEY: "a key" }));
  assert.deepEqual(
    [...found.values()].filter(({ length }) => length > 1),
    [],
  );
});

test("a checkpoint distinguishes files of requests by their contents", async () => {
  const folder = makeFolder();
  const file = join(folder, "in.jsonl");
  const write = async (text: string): Promise<string> => {
    await writeFile(file, text);
    return fingerprint(["--input-file", file]);
  };
  const [short, long] = [await write('{"text":"a"}\n'), await write('{"text":"longer"}\n')];
  assert.notEqual(short, long);
  assert.equal(fingerprint(["--input-file", file]), long);
});
