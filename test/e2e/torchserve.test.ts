// Runs only on: executable: the server takes long to start.
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { findDeadPort } from "../golden/dead-port.ts";
import { judgeResult, readMismatches } from "../golden/mismatches.ts";
import { runGolden } from "../golden/runner.ts";
import { readCoveredOf } from "../golden/transcript.ts";
import { makeFolder, writeIn } from "../make-folder.ts";
import { startTorchServe, type TorchServe, type TorchServeModel } from "../servers/interop/torchserve.ts";
import { LIMIT } from "../time-limit.ts";
import { commandUnderTest, type RequestTotals, runRampart, runWithReport } from "./command.ts";

/** A real TorchServe: what it counts is what the reports say. */

let server: TorchServe;
const folder = makeFolder();

before(async () => {
  writeFileSync(join(folder, "cat.txt"), "meow");
  writeFileSync(join(folder, "dog.txt"), `${"w".repeat(200)}oof`);
  list("inputs.json", ["cat.txt", "dog.txt"]);
  server = await startTorchServe(["echo", "length", "slow", "failing"]);
});
after(() => server?.stop());

function list(name: string, paths: readonly string[]): void {
  const data = paths.map((path) => ({ TORCHSERVE_INPUT: [path] }));
  writeFileSync(join(folder, name), JSON.stringify({ data }));
}

const flags = (model: string, ...more: string[]): string[] => [
  ...["perf_analyzer", "--service-kind", "torchserve", "-m", model, "-u", `127.0.0.1:${server.httpPort}`],
  ...["--input-data", "inputs.json", ...more],
];

/** Runs the command, and compares the requests that its report and TorchServe count. */
async function measure(model: TorchServeModel, args: readonly string[]) {
  const before = await server.countRequests(model);
  const outcome = await runWithReport(args, { cwd: folder });
  const counted = (await server.countRequests(model)) - before;
  assert.equal(counted, outcome.report.requests.sent, outcome.stderr);
  return outcome;
}

async function totalsOf(model: TorchServeModel, ...more: string[]): Promise<RequestTotals> {
  const { code, report, stderr } = await measure(model, flags(model, ...more));
  assert.equal(code, 0, stderr);
  return report.requests;
}

describe("with TorchServe, perf_analyzer mode", () => {
  test("counts the requests that TorchServe counts, with every load and both call modes", async () => {
    for (const [count, ...more] of [
      [12, "--request-count", "12"],
      [12, "--request-count", "12", "-x", "1.0"],
      [30, "--request-count", "30", "--concurrency-range", "4"],
      [30, "--request-count", "30", "--concurrency-range", "4", "-a"],
      [60, "--request-count", "60", "--request-rate-range", "60"],
    ] as const)
      assert.deepEqual(await totalsOf("length", ...more), { sent: count, completed: count, failed: 0 });
  });

  test("measures windows at several levels", async () => {
    const { code, report } = await measure(
      "slow",
      flags("slow", "-p", "150", "-s", "100000", "--concurrency-range", "1:3"),
    );
    assert.equal(code, 0);
    assert.deepEqual(
      report.levels.map(({ level }) => level),
      [1, 2, 3],
    );
    assert.equal(report.requests.failed, 0);
  });

  test("sends each file as the part 'data' of a form, in turn, and measures sending and receiving", async () => {
    const { stdout } = await runRampart(flags("length", "--request-count", "2", "-v", "-v"), { cwd: folder });
    assert.match(stdout, /"bytes": 4,\s+"parts": \[\s+"data"\s+\]/);
    assert.match(stdout, /"bytes": 203,/);
    const [, send = 0, wait = 0] = /send (\d+) usec \+ response wait (\d+) usec/.exec(stdout)?.map(Number) ?? [];
    assert.ok(send + wait > 0, stdout);
  });

  test("fails at the first request that the handler fails, with TorchServe's explanation", async () => {
    const { code, stderr } = await runRampart(flags("failing", "--request-count", "4"), { cwd: folder });
    assert.equal(code, 99);
    assert.match(stderr, /inference failed with error code 503: Prediction failed \(InternalServerException\)/);
  });

  test("counts every failed request where failures are allowed", async () => {
    const { code, report } = await measure(
      "failing",
      flags("failing", "--request-count", "6", "--max-error-rate", "100%"),
    );
    assert.equal(code, 99);
    assert.deepEqual(
      report.failures.map(({ kind, count }) => [kind, count]),
      [["http", 6]],
    );
  });

  test("refuses before the first request what cannot be measured, with the names that exist", async () => {
    list("missing.json", ["cat.txt", "no-such-file", "nor-this"]);
    const earlier = await server.countRequests("length");
    const cases: readonly (readonly [string[], RegExp[]])[] = [
      [flags("nosuch"), [/Model not found: nosuch/, /The server has echo, failing, length, slow\./]],
      [flags("length", "-x", "9"), [/Model version: 9 does not exist for model: length/]],
      [flags("length", "--input-data", "missing.json"), [/data\[1\].*`no-such-file`/, /data\[2\].*`nor-this`/]],
      [
        flags("length", "-b", "2", "-i", "grpc", "--collect-metrics", "--shared-memory", "system"),
        [/-b cannot be used/, /does not support gRPC/, /metric collection/, /CreateSharedMemoryRegion/],
      ],
    ];
    for (const [args, reasons] of cases) {
      const { code, stderr } = await runRampart(args, { cwd: folder });
      assert.equal(code, 99);
      for (const reason of reasons) assert.match(stderr, reason);
    }
    assert.equal(await server.countRequests("length"), earlier);
  });

  test("exports the requests without the bytes of their files", async () => {
    const file = join(folder, "profile.json");
    await totalsOf("length", "--request-count", "3", "--profile-export-file", file);
    const { service_kind, experiments } = JSON.parse(readFileSync(file, "utf8")) as {
      service_kind: string;
      experiments: { requests: { request_inputs: object; response_outputs: object[] }[] }[];
    };
    assert.equal(service_kind, "torchserve");
    assert.equal(experiments[0]?.requests.length, 3);
    for (const { request_inputs, response_outputs } of experiments[0]?.requests ?? [])
      assert.deepEqual([request_inputs, response_outputs], [{ TORCHSERVE_INPUT: "" }, [{}]]);
  });
});

describe("a scenario with torchserve(…)", () => {
  async function run(options: string, model: TorchServeModel = "length") {
    const text = `import { defineScenario, errorRate, input, hold, torchserve } from "rampart";
export default defineScenario({
  name: "x",
  target: torchserve("127.0.0.1:${server.httpPort}", { model: "${model}"${options} }),
  load: hold(2, { requests: 9 }),
  inputs: input.files("*.txt"),
  assert: [errorRate().is(0)],
});
`;
    const file = writeIn(folder, "scenario.ts", text);
    return measure(model, ["run", file]);
  }

  test("sends the files that a pattern matches, as forms or as raw bodies", async () => {
    // The model fails for a request in which it finds no part and no body.
    for (const options of [
      "",
      ', part: "image"',
      ', body: "raw"',
      ', body: "raw", contentType: "text/plain", version: "1.0"',
    ]) {
      const { code, report, stderr } = await run(options);
      assert.equal(code, 0, stderr);
      assert.deepEqual(report.requests, { sent: 9, completed: 9, failed: 0 });
    }
  });

  test("counts failures and judges them by its assertions", async () => {
    const { code, report } = await run("", "failing");
    assert.equal(code, 65);
    assert.deepEqual(
      [report.requests.failed, report.failures[0]?.example],
      [9, "HTTP status 503: Prediction failed (InternalServerException)"],
    );
  });
});

test("transcripts of the real perf_analyzer match, or differ exactly as listed", LIMIT, async () => {
  const metrics = Number(new URL(server.metricsUrl).port);
  const ports = { http: server.httpPort, grpc: server.grpcPort, metrics, gpus: 0, dead: await findDeadPort() };
  const known = readMismatches();
  const names = readCoveredOf("torchserve");
  assert.ok(names.length >= 20);
  const results = await runGolden(names, known, ports, `${commandUnderTest.join(" ")} perf_analyzer`);
  assert.equal(results.length, names.length);
  assert.equal(results.flatMap((result) => judgeResult(result, known)).join("\n"), "");
});
