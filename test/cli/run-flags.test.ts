// Runs on: executable.
import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { LOOPBACK, startMock } from "../../src/mock/server.ts";
import { DEFAULT_MOCK } from "../../src/plan/mock.ts";
import type { Plan } from "../../src/plan/plan.ts";
import { checkPlan } from "../../src/registry/check-plan.ts";
import { readCsv } from "../report/read-csv.ts";
import { startCountingServer } from "./counting-server.ts";
import { createFolder, inFolder, runRampart } from "./rampart-process.ts";
import { scenarioText } from "./scenario-files.ts";

/** The flags of `rampart run`. */

interface Report {
  readonly isPartial: boolean;
  readonly requests: { readonly sent: number; readonly completed: number; readonly failed: number };
  readonly levels: readonly { readonly level: number; readonly completed: number }[];
  readonly assertions: readonly { readonly isMet: boolean }[];
  readonly plan: Plan;
}

function readJson<T>(...path: string[]): T {
  return JSON.parse(readFileSync(join(...path), "utf8")) as T;
}

describe("rampart run", () => {
  test("--dry-run prints a plan that can be run, and sends nothing", async () => {
    await using server = await startCountingServer();
    const text = scenarioText({
      target: `triton("127.0.0.1:${server.port}", { model: "m" })`,
      load: "ramp(1, 4, { step: 3 })",
      inputs: 'input.json("./data.json")',
      assert: '[p99().below("1 ms")]',
    });
    await inFolder({ "x.ts": text, "data.json": "{}" }, async (cwd) => {
      const { code, out, err } = await runRampart(["run", "x.ts", "--dry-run"], { cwd });
      assert.equal(code, 0, err);
      const plan = JSON.parse(out) as Plan;
      checkPlan(plan);
      assert.deepEqual(plan.inputs, { kind: "json", files: [join(cwd, "data.json")], readsTags: true });
      assert.deepEqual(plan.assertions.length, 1);
    });
    assert.equal(server.connections(), 0);
  });

  test("writes --json, --csv and --profile-export-file", async () => {
    const parts = { load: "steps([1, 2], { requests: 10 })", assert: "[errorRate().is(0)]" };
    using folder = createFolder({ "x.ts": scenarioText(parts) });
    const files = ["--json", "x.json", "--csv", "x.csv", "--profile-export-file", "profile.json"];
    const { code, out, err } = await runRampart(["run", "x.ts", ...files], { cwd: folder.path });
    assert.equal(code, 0, out + err);
    const report = readJson<Report>(folder.path, "x.json");
    assert.deepEqual(report.requests, { sent: 20, completed: 20, failed: 0 });
    assert.deepEqual(
      report.levels.map(({ level, completed }) => [level, completed]),
      [
        [1, 10],
        [2, 10],
      ],
    );
    assert.deepEqual([report.isPartial, report.assertions[0]?.isMet], [false, true]);
    const [levels = []] = readCsv(readFileSync(join(folder.path, "x.csv"), "utf8"));
    assert.deepEqual(
      levels.map(({ "level (concurrency)": level, completed }) => [level, completed]),
      [
        ["1", "10"],
        ["2", "10"],
      ],
    );
    const profile = readJson<{ experiments: { requests: unknown[] }[] }>(folder.path, "profile.json");
    assert.deepEqual(
      profile.experiments.map(({ requests }) => requests.length),
      [10, 10],
    );
  });

  test("refuses files that cannot be written before anything is sent", async () => {
    await using server = await startCountingServer();
    const text = scenarioText({ target: `triton("127.0.0.1:${server.port}", { model: "m" })` });
    await inFolder({ "x.ts": text }, async (cwd) => {
      const flags = ["--json", "no/x.json", "--csv", cwd, "--profile-export-file", "no/p.json"];
      const { code, out, err } = await runRampart(["run", "x.ts", ...flags], { cwd });
      assert.equal(code, 64, err);
      assert.equal(out, "");
      for (const flag of ["--json", "--csv", "--profile-export-file"])
        assert.match(err, new RegExp(`^rampart: ${flag}: cannot be written: `, "m"));
      assert.match(err, /no\/x\.json\)/);
      assert.match(err, /--json: cannot be written: /);
      assert.equal(existsSync(join(cwd, "no")), false);
    });
    assert.equal(server.connections(), 0);
  });

  test("refuses reports that would overwrite a script or each other", async () => {
    using folder = createFolder({ "x.ts": scenarioText({}) });
    const text = readFileSync(join(folder.path, "x.ts"), "utf8");
    const { code, err } = await runRampart(["run", "x.ts", "--csv", "x.ts"], { cwd: folder.path });
    assert.equal(code, 64, err);
    assert.match(err, /^rampart: --csv: would overwrite a script \(got x\.ts\)/m);
    assert.equal(readFileSync(join(folder.path, "x.ts"), "utf8"), text);
    const twins = await runRampart(["run", "x.ts", "--csv", "same", "--json", "same"], { cwd: folder.path });
    assert.equal(twins.code, 64, twins.err);
    assert.match(twins.err, /^rampart: --csv: .* --json \(got same\)/m);
    assert.equal(existsSync(join(folder.path, "same")), false);
  });

  test("--url measures another server than the scenario's", async () => {
    await using mock = await startMock(DEFAULT_MOCK, LOOPBACK);
    const text = scenarioText({ target: 'triton("127.0.0.1:1", { model: "simple" })' });
    using folder = createFolder({ "x.ts": text });
    const flags = ["-v", "--url", `127.0.0.1:${mock.httpPort}`];
    const { code, out, err } = await runRampart(["run", "x.ts", ...flags], { cwd: folder.path });
    assert.equal(code, 0, out + err);
    assert.match(out, new RegExp(`simple, 127\\.0\\.0\\.1:${mock.httpPort}, http`));
    assert.match(out.replaceAll(/\s+/g, " "), /10 completed, 0 failed; the server counted 10 successes and 0 failures/);
  });

  const clients: readonly (readonly [client: string, protocol: string])[] = [
    ["own", "http"],
    ["undici", "http"],
    ["own", "grpc"],
    ["grpc-js", "grpc"],
  ];
  for (const [client, protocol] of clients) {
    test(`--client ${client} sends over ${protocol}`, async () => {
      const text = scenarioText({ target: `embedded({ protocol: "${protocol}" })` });
      using folder = createFolder({ "x.ts": text });
      const flags = ["--client", client, "--json", "x.json"];
      const { code, out, err } = await runRampart(["run", "x.ts", ...flags], { cwd: folder.path });
      assert.equal(code, 0, out + err);
      const { plan, requests } = readJson<Report>(folder.path, "x.json");
      assert.deepEqual([plan.client.kind, plan.target.protocol, requests.completed], [client, protocol, 10]);
    });
  }

  test("--stall-timeout and --timeout replace the scenario's", async () => {
    const text = scenarioText({ stallTimeout: '"2 s"', timeout: '"1 min"' });
    using folder = createFolder({ "x.ts": text });
    const limitsOf = async (...flags: string[]): Promise<(number | undefined)[]> => {
      const { out } = await runRampart(["run", "x.ts", "--dry-run", ...flags], { cwd: folder.path });
      const { stallTimeoutMs, requestTimeoutMs } = (JSON.parse(out) as Plan).client;
      return [stallTimeoutMs, requestTimeoutMs];
    };
    assert.deepEqual(await limitsOf(), [2000, 60_000]);
    assert.deepEqual(await limitsOf("--stall-timeout", "250 ms", "--timeout", "3 s"), [250, 3000]);
  });

  test("--for is the longest time of a point of a search, and a load that ends by itself has none", async () => {
    const text = scenarioText({ load: 'api.findMax({ where: p99("latency").below("1 s"), forAtMost: "9 s" })' });
    using folder = createFolder({ "x.ts": text });
    const { out, err } = await runRampart(["run", "x.ts", "--for", "3s", "--dry-run"], { cwd: folder.path });
    const { mode } = (JSON.parse(out) as Plan).measurement;
    assert.ok(mode.kind === "until-resolved", err);
    assert.equal(mode.maxMs, 3000);
    const refused = await runRampart(["run", "x.ts", "--requests", "3", "--dry-run"], { cwd: folder.path });
    assert.equal(refused.code, 64);
    assert.match(refused.err, /^rampart: --requests: /m);
  });

  test("--quiet says on standard error why a run did not pass, and nothing else", async () => {
    const files = {
      "passes.ts": scenarioText({ load: "hold(1, { requests: 20 })", assert: "[errorRate().is(0)]" }),
      "fails.ts": scenarioText({
        load: "hold(1, { requests: 20 })",
        assert: '[p99().below("0.001 us"), errorRate().is(0)]',
      }),
      "unstable.ts": scenarioText({
        target: 'embedded({ latency: "exponential:20ms" })',
        load: "hold(2)",
        // Long enough that each window has a response: in 60 ms, one in 400 has none.
        stability: '{ window: "250 ms", within: "0.001 %", trials: 3 }',
      }),
    };
    using folder = createFolder(files);
    const quiet = async (file: string) => {
      const { code, out, err } = await runRampart(["run", file, "--quiet"], { cwd: folder.path });
      assert.equal(out, "");
      return { code, err };
    };
    assert.deepEqual(await quiet("passes.ts"), { code: 0, err: "" });
    const failed = await quiet("fails.ts");
    assert.equal(failed.code, 65);
    assert.match(failed.err, /^rampart: .*: FAIL p99 latency < .*\n$/);
    const unstable = await quiet("unstable.ts");
    assert.equal(unstable.code, 66);
    assert.match(unstable.err, /^rampart: .*: Not stable: (throughput|latency) moved by .*\n$/);
  });

  test("--live asks for the live view", async () => {
    using folder = createFolder({ "x.ts": scenarioText({}) });
    for (const [args, isLive] of [
      [["--live"], true],
      [["--no-live"], false],
      [["--quiet"], false],
      [[], undefined],
    ] as const) {
      const { out } = await runRampart(["run", "x.ts", "--dry-run", ...args], { cwd: folder.path });
      assert.equal((JSON.parse(out) as Plan).outputs.isLive, isLive);
    }
  });

  test("--watch-port and --otlp are checked with everything else, before anything is sent", async () => {
    using folder = createFolder({ "x.ts": scenarioText({}) });
    const wrong = ["--live", "--no-live", "--watch-port", "70000", "--otlp", "ftp://host"];
    const { code, err } = await runRampart(["run", "x.ts", ...wrong], { cwd: folder.path });
    assert.equal(code, 64, err);
    for (const flag of ["--live", "--watch-port", "--otlp"]) assert.match(err, new RegExp(`${flag}\\b`));
    const { out } = await runRampart(["run", "x.ts", "--dry-run", "--watch-port", "0", "--otlp", "host:4318"], {
      cwd: folder.path,
    });
    const { watchPort, otlpUrl } = (JSON.parse(out) as Plan).outputs;
    assert.deepEqual([watchPort, otlpUrl], [0, "http://host:4318/v1/metrics"]);
  });

  test("-v prints each window", async () => {
    const text = scenarioText({ load: "hold(1)", stability: '{ window: "100 ms", within: "1000000 %", trials: 50 }' });
    using folder = createFolder({ "x.ts": text });
    const { code, out, err } = await runRampart(["run", "x.ts", "-v"], { cwd: folder.path });
    assert.equal(code, 0, out);
    assert.match(err, /window 1: .* infer\/s/);
    assert.match(err, /window 3: /);
  });

  test("--help lists flags and exit codes", async () => {
    const { code, out, err } = await runRampart(["run", "--help"]);
    assert.equal(code, 0);
    assert.equal(err, "");
    assert.match(out, /Usage: rampart run SCENARIO\.ts… \[options\]/);
    for (const word of ["--dry-run", "--json", "--url", "65", "66", "69", "130"]) assert.ok(out.includes(word), word);
  });
});
