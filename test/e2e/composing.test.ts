import assert from "node:assert/strict";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { makeFolder } from "../make-folder.ts";
import { runRampart } from "./command.ts";
import { openTriton, type TritonAddresses } from "./servers.ts";

/** Models that call others on a real Triton: the tree of models, its counts, and the files and reports that tell of it. */

let triton: TritonAddresses;
const folder = makeFolder();
before(async () => {
  triton = await openTriton();
});
after(() => triton?.stop());

/** The composing models on stdout, indentation and all, with how often each answered. */
function composingOf(out: string): string[] {
  const below = out.slice(out.indexOf("Composing models: "));
  return [
    ...below.matchAll(
      /^( +\S+), version: (\S+)\n(?: +(?:Inf|Exe|Cache).*\n)*? +(?:Request|Successful request) count: (\d+)$/gm,
    ),
  ].map(([, name, version, count]) => `${name}:${version} ${count}`);
}

const CASES: readonly { model: string; flags?: string[]; expected: string[] }[] = [
  { model: "ensemble_two", expected: ["  identity_fp32:1 9", "  slow:1 9"] },
  {
    model: "ensemble_nested",
    expected: ["  ensemble_two:1 9", "    identity_fp32:1 18", "    slow:1 9", "  identity_fp32:1 18"],
  },
  { model: "ensemble_version", expected: ["  multi_version:1 9", "  multi_version:3 9"] },
  { model: "ensemble_of_cache", expected: ["  simple_cache:1 9"] },
  {
    model: "bls_slow",
    flags: ["--bls-composing-models", "slow:1,identity_fp32"],
    expected: ["  identity_fp32:1 9", "  slow:1 9"],
  },
];

describe("models that call others", () => {
  for (const { model, flags = [], expected } of CASES) {
    for (const protocol of ["http", "grpc"] as const) {
      test(`${model} over ${protocol}`, async () => {
        const args = ["perf_analyzer", "-m", model, "-u", triton[protocol], "-i", protocol, "--request-count", "9"];
        const { code, stdout, stderr } = await runRampart([...args, ...flags]);
        assert.equal(code, 0, stderr);
        assert.deepEqual(composingOf(stdout), expected);
      });
    }
  }

  test("an ensemble that answers from its own cache calls no models, and that is not an error", async () => {
    const args = [
      "perf_analyzer",
      "-m",
      "ensemble_cached",
      "-u",
      triton.http,
      "--request-count",
      "5",
      "--input-data",
      "zero",
    ];
    await runRampart(args);
    const { code, stdout, stderr } = await runRampart(args);
    assert.equal(code, 0, stderr);
    assert.match(stdout, /^ {4}Avg request latency: \d+ usec\n {6}Average Cache Hit Latency: \d+ usec$/m);
    assert.match(stdout, /^ {4}Cache hit count: 5$/m);
    assert.match(stdout, /^ {2}simple, version: 1\n {6}Request count: 0$/m);
    assert.doesNotMatch(stderr, /answered no request/);
  });

  test("an ensemble that calls a sequence model is sent sequences", async () => {
    const args = ["perf_analyzer", "-m", "ensemble_sequence", "-u", triton.http, "--request-count", "9"];
    const { code, stdout, stderr } = await runRampart(args);
    assert.equal(code, 0, stderr);
    const [, count] = stdout.match(/^ {4}Request count: (\d+)\n {4}Sequence count: \d+ \(/m) ?? [];
    assert.ok(Number(count) >= 9, stdout);
    assert.deepEqual(composingOf(stdout), [`  simple_sequence:1 ${count}`]);
  });

  test("a CSV file per model, with a row per level", async () => {
    const csv = join(folder, "out.csv");
    const args = [
      "perf_analyzer",
      "-m",
      "ensemble_nested",
      "-u",
      triton.grpc,
      "-i",
      "grpc",
      "--concurrency-range",
      "1:2",
    ];
    const { code, stderr } = await runRampart([...args, "-p", "200", "-s", "1000000", "-f", csv]);
    assert.equal(code, 0, stderr);
    const files = ["ensemble_two_v1.out.csv", "identity_fp32_v1.out.csv", "out.csv", "slow_v1.out.csv"];
    assert.deepEqual(
      readdirSync(folder)
        .filter((file) => file.endsWith(".csv"))
        .sort(),
      files,
    );
    for (const file of files) assert.equal(readFileSync(join(folder, file), "utf8").trim().split("\n").length, 3, file);
  });

  test("a scenario names them too; its reports have the tree", async () => {
    const scenario = join(folder, "bls.ts");
    const json = join(folder, "report.json");
    const target = `triton("${triton.http}", { model: "bls_slow", composingModels: ["ensemble_two", "slow:1"] })`;
    writeFileSync(
      scenario,
      `import { defineScenario, hold, triton } from "rampart";\nexport default defineScenario({ name: "bls", target: ${target}, load: hold(1, { requests: 9 }) });\n`,
    );
    const { code, stdout, stderr } = await runRampart(["run", scenario, "-v", "--json", json]);
    assert.equal(code, 0, stderr);
    assert.match(stdout, /^ +(1 +)?bls_slow v1 +9 /m);
    assert.match(stdout, /^ +(1 +)?· ensemble_two v1 +0$/m);
    assert.match(stdout, /^ +(1 +)?· slow v1 +9 /m);
    const report = JSON.parse(readFileSync(json, "utf8")) as {
      levels: {
        server: { successCount: number; composing: { name: string; version: string; successCount: number }[] };
      }[];
    };
    const called = report.levels[0]?.server.composing.map(({ name, version, successCount }) => [
      name,
      version,
      successCount,
    ]);
    assert.deepEqual(called, [
      ["ensemble_two", "1", 0],
      ["slow", "1", 9],
    ]);
  });
});
