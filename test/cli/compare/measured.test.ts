import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { readRuns } from "../../../src/report/read/runs/read-runs.ts";
import { TINY } from "../../tokenize/tiny.ts";
import { createFolder, runRampart } from "../rampart-process.ts";
import { runInFolder } from "../run-in-folder.ts";
import { scenarioText } from "../scenario-files.ts";

/** Runs that were really measured, compared. */

const scenario = (latency: string, requests: number, more: Record<string, string> = {}): string =>
  scenarioText({
    target: `embedded({ latency: "${latency}" })`,
    load: `steps([2, 4], { requests: ${requests} })`,
    ...more,
  });

test("a server that became ten times slower is worse, and one that did not is not", async () => {
  using folder = createFolder({
    "repeated.ts": scenario("60 ms", 20, { repeat: "3" }),
    "slow.ts": scenario("600 ms", 8),
  });
  const measure = async (scenarioFile: string, file: string): Promise<string> => {
    const { code, text } = await runInFolder(folder.path, ["run", scenarioFile, "--json", file]);
    assert.equal(code, 0, text);
    return file;
  };
  const base = await measure("repeated.ts", "base.json");
  const same = await measure("repeated.ts", "same.json");
  const slow = [
    await measure("slow.ts", "slow-1.json"),
    await measure("slow.ts", "slow-2.json"),
    await measure("slow.ts", "slow-3.json"),
  ].join(",");

  // Wide limits and a large difference, because a busy machine is part of it.
  const limits = ["--fail-if", "p50 > +80%", "--fail-if", "throughput < -40%"];
  const worse = await runInFolder(folder.path, ["compare", base, slow, ...limits, "--json", "worse.json"]);
  assert.equal(worse.code, 65, worse.text);
  for (const level of ["concurrency 2", "concurrency 4"])
    assert.match(
      worse.text,
      new RegExp(`FAIL +p50 > \\+80%\\s+\\+[\\d,]+\\s+%\\s+\\([^)]*\\)\\s+at\\s+${level.replace(" ", "\\s+")}`),
    );
  const { comparisons } = JSON.parse(readFileSync(join(folder.path, "worse.json"), "utf8")) as {
    comparisons: { levels: { metrics: { name: string; verdict: string; ratio?: { value: number } }[] }[] }[];
  };
  for (const { metrics } of comparisons[0]?.levels ?? []) {
    const median = metrics.find(({ name }) => name === "latency.p50");
    assert.equal(median?.verdict, "worse");
    const ratio = median?.ratio?.value ?? 0;
    assert.ok(ratio > 2.5 && ratio < 15, `${ratio}`);
  }
  assert.match(worse.text, /The plans differ[\s\S]*target\.\S*latency\S*\s+60 → 600/);

  assert.match(worse.text, /slow-1\.json and 2 more against base\.json +3 against 3 runs/);

  const equal = await runInFolder(folder.path, ["compare", base, same, ...limits]);
  assert.equal(equal.code, 0, equal.text);
  assert.ok(!equal.text.includes("FAILED") && !equal.text.includes("The plans differ"), equal.text);
});

test("the files of one run of genai-perf mode have the same numbers, in all formats", async () => {
  const tokenizer = TINY;
  using folder = createFolder({});
  const mock = (await import("../rampart-process.ts")).startRampart(
    ["mock", "--http-port", "0", "--grpc-port", "0", "--ttft", "5ms", "--itl", "1ms"],
    { cwd: folder.path },
  );
  try {
    const [, address = ""] = await mock.waitFor(/listening: http (\S+),/);
    const args =
      `genai-perf profile -m simple --endpoint-type chat --streaming -u ${address} --tokenizer ${tokenizer} --concurrency 2 --request-count 12 --synthetic-input-tokens-mean 8 --output-tokens-mean 4`.split(
        " ",
      );
    const { code, err, out } = await runRampart(args, { cwd: folder.path });
    assert.equal(code, 0, out + err);
  } finally {
    mock.interrupt();
    await mock.result;
  }
  const [name = ""] = readdirSync(join(folder.path, "artifacts"));
  const file = (ending: string): string => join(folder.path, "artifacts", name, `profile_export${ending}.json`);
  const value = (path: string, metric: string): number => readRuns(path)[0]?.levels[0]?.values.get(metric)?.value ?? 0;
  for (const [metric, endings] of [
    ["latency.mean", ["_genai_perf", "_genai_perf_rampart"]],
    ["latency.p99", ["_genai_perf", "_genai_perf_rampart"]],
    ["throughput", ["_genai_perf", "_genai_perf_rampart"]],
    ["timeToFirstToken.p50", ["_genai_perf", "_genai_perf_rampart"]],
    ["outputTokensPerSec", ["_genai_perf", "_genai_perf_rampart"]],
  ] as const) {
    const [one = 0, other = 0] = endings.map((ending) => value(file(ending), metric));
    assert.ok(one > 0 && Math.abs(one - other) <= 1e-6 * one, `${metric}: ${one} ${other}`);
  }
  // The end of the stream comes after its last token.
  assert.ok(value(file(""), "latency.mean") >= value(file("_genai_perf"), "latency.mean"));
  const labels = ["_genai_perf", "_genai_perf_rampart", ""].map(
    (ending) => readRuns(file(ending))[0]?.levels[0]?.label,
  );
  assert.deepEqual(labels, ["concurrency 2", "concurrency 2", "concurrency 2"]);
  const [best, ...more] = readRuns(join(folder.path, "artifacts"));
  assert.equal(more.length, 0);
  assert.equal(best?.format, "Rampart's JSON");
  assert.equal(best?.levels[0]?.values.get("errorRate")?.value, 0);
});
