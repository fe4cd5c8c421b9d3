import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { setTimeout } from "node:timers/promises";
import type { Plan } from "../../../src/plan/plan.ts";
import { checkPlan } from "../../../src/registry/check-plan.ts";
import { makeFolder } from "../../make-folder.ts";
import { KserveServer, type SeenInfer, takeMs, withServer } from "../../run/kserve-server.ts";
import { startAnsweringServer } from "../../servers/answering-server.ts";
import { LIMIT } from "../../time-limit.ts";
import { QUICK_WINDOWS, type RunningCommand, readProfile, runCommand, startCommand } from "./run-command.ts";

/** What flags do to what is printed and written. Their names say which flags. */

test("-v prints windows as they come, -v -v requests and responses too", LIMIT, async () => {
  await using server = await new KserveServer({}).start();
  const args = ["-m", "simple", "-u", server.url, ...QUICK_WINDOWS];
  const quiet = await runCommand(args);
  assert.doesNotMatch(quiet.out, /Pass \[/);
  assert.match(quiet.out, /^ {4}Avg HTTP time: \d+ usec \(send\/recv \d+ usec \+ response wait \d+ usec\)$/m);
  const verbose = await runCommand([...args, "-v"]);
  assert.equal([...verbose.out.matchAll(/^ {2}Pass \[\d\] throughput: [\d.]+ infer\/sec\. Avg latency: /gm)].length, 3);
  assert.match(verbose.out, /^ {4}Avg client overhead: \d+\.\d\d%$/m);
  assert.match(
    verbose.out,
    /^ {4}Avg HTTP time: \d+ usec \(send \d+ usec \+ response wait \d+ usec \+ receive \d+ usec\)$/m,
  );
  assert.doesNotMatch(verbose.out, /inference response/);
  const trace = await runCommand(["-m", "simple", "-u", server.url, "--request-count", "1", "-v", "-v"]);
  assert.match(trace.out, /^inference response: \{/m);
  assert.match(trace.out, /"max_batch_size":8/);
  assert.match(trace.err, /^> GET \/v2\/models\/simple/m);
});

test("--version prints the version and asks no server", LIMIT, async () => {
  const { code, out, err } = await runCommand(["--version"]);
  assert.deepEqual({ code, out }, { code: 0, out: "" });
  assert.match(err, /^Perf Analyzer Version \d+\.\d+\.\d+ \(rampart\)\n$/);
});

test("--help prints the help, also as -h, whatever else is wrong", LIMIT, async () => {
  for (const args of [["--help"], ["-h"], ["-b", "0", "--help"]]) {
    const { code, out, err } = await runCommand(args);
    assert.deepEqual({ code, err }, { code: 0, err: "" });
    assert.match(out, /^Usage: rampart perf_analyzer -m MODEL/);
  }
});

test("--dry-run prints a sound plan as JSON and asks no server", LIMIT, async () => {
  await using server = await new KserveServer({}).start();
  const flags = ["--concurrency-range", "2:6:2", "-l", "20", "--percentile", "95", "-H", "a:b", "--shape", "X:1,2"];
  const { code, out } = await runCommand(["-m", "simple", "-u", server.url, ...flags, "--dry-run"]);
  assert.equal(code, 0);
  const plan = JSON.parse(out) as Plan;
  checkPlan(plan);
  assert.deepEqual(plan.load, {
    kind: "concurrency",
    levels: { kind: "range", start: 2, end: 6, step: 2 },
    search: "linear",
  });
  assert.equal(plan.measurement.percentile, 95);
  assert.equal(plan.measurement.latencyLimitMs, 20);
  assert.equal(server.requests.length, 0);
});

test("--percentile determines stability and the reported latency", LIMIT, async () => {
  await using server = await new KserveServer({ onInfer: () => takeMs(2) }).start();
  const folder = makeFolder();
  const file = join(folder, "out.csv");
  const args = ["-m", "simple", "-u", server.url, ...QUICK_WINDOWS, "-v", "-f", file];
  const { code, out } = await runCommand([...args, "--percentile", "85"]);
  assert.equal(code, 0);
  assert.match(out, /^ {2}Stabilizing using p85latency and throughput$/m);
  assert.match(out, /^ {2}Pass \[1\] throughput: [\d.]+ infer\/sec\. p85 latency: \d+ usec$/m);
  assert.deepEqual(
    [...out.matchAll(/^ {4}p(\d+) latency: \d+ usec$/gm)].map((match) => match[1]),
    ["50", "85", "90", "95", "99"],
  );
  assert.doesNotMatch(out, /^ {4}Avg latency/m);
  assert.match(out, /^Inferences\/Second vs\. Client p85 Batch Latency$/m);
  assert.match(readFileSync(file, "utf8"), /,p50 latency,p85 latency,p90 latency,p95 latency,p99 latency\n/);
  const average = await runCommand([...args.slice(0, -2), "--percentile", "-1"]);
  assert.match(average.out, /^ {2}Stabilizing using average latency and throughput$/m);
  assert.match(average.out, /^ {4}Avg latency: \d+ usec \(standard deviation \d+ usec\)$/m);
});

test("-f writes a row per level into a CSV, replacing an older file", LIMIT, async () => {
  await using server = await new KserveServer({ onInfer: () => takeMs(5) }).start();
  const folder = makeFolder();
  const file = join(folder, "out.csv");
  const args = ["-m", "simple", "-u", server.url, ...QUICK_WINDOWS, "-f", file];
  await runCommand([...args, "--concurrency-range", "1:3"]);
  const [header, ...rows] = readFileSync(file, "utf8").trimEnd().split("\n");
  assert.equal(
    header,
    "Concurrency,Inferences/Second,Client Send,Network+Server Send/Recv,Server Queue,Server Compute Input,Server Compute Infer,Server Compute Output,Client Recv,p50 latency,p90 latency,p95 latency,p99 latency",
  );
  const cells = rows.map((row) => row.split(",").map(Number));
  assert.deepEqual(cells.map((row) => row[0]).sort(), [1, 2, 3]);
  const throughputs = cells.map((row) => row[1] as number);
  assert.deepEqual(
    throughputs,
    [...throughputs].sort((a, b) => a - b),
  );
  for (const row of cells) assert.deepEqual(row.slice(4, 8), [10, 5, 50, 5]);
  await runCommand([...args, "--request-rate-range", "100"]);
  assert.match(readFileSync(file, "utf8"), /^Request Rate,Inferences\/Second,.*\n100,[^\n]*\n$/);
});

test("--verbose-csv adds columns", LIMIT, async () => {
  await using server = await new KserveServer({ onInfer: () => takeMs(2) }).start();
  const folder = makeFolder();
  const file = join(folder, "out.csv");
  const args = ["-m", "simple", "-u", server.url, "--request-count", "5", "--verbose-csv", "-f", file];
  await runCommand(args);
  const [header, row] = readFileSync(file, "utf8").trimEnd().split("\n");
  assert.match(header ?? "", /p99 latency,Avg latency,request\/response,response wait$/);
  const cells = Object.fromEntries(
    (header ?? "").split(",").map((name, i) => [name, Number((row ?? "").split(",")[i])]),
  );
  assert.equal(cells["request/response"], (cells["Client Send"] ?? 0) + (cells["Client Recv"] ?? 0));
  assert.equal(cells["response wait"], (cells["Avg latency"] ?? 0) - (cells["request/response"] ?? 0));
  await runCommand([...args, "--percentile", "90"]);
  assert.match(readFileSync(file, "utf8"), /p99 latency,request\/response,response wait\n/);
});

test(
  "--profile-export-file is not left by a run that failed or was unstable, so that it can be tried again",
  LIMIT,
  async () => {
    await using server = await new KserveServer({
      onInfer: ({ index }) => (index % 10 === 9 ? "no luck" : undefined),
    }).start();
    const folder = makeFolder();
    const file = join(folder, "profile.json");
    const flags = ["-m", "simple", "-u", server.url, "-p", "100", "--profile-export-file", file];
    for (let attempt = 0; attempt < 2; attempt++) {
      const { code, err } = await runCommand(flags);
      assert.equal(code, 99);
      assert.match(err, /no luck/);
      assert.deepEqual(readdirSync(folder), []);
    }
    const { code } = await runCommand([...flags, "--max-error-rate", "100%", "-r", "1"]);
    assert.equal(code, 2, "one window is never stable");
    assert.deepEqual(readdirSync(folder), []);
  },
);

test("--profile-export-file writes every measured request as JSON", LIMIT, async () => {
  await using server = await new KserveServer({}).start();
  const folder = makeFolder();
  const file = join(folder, "profile.json");
  const flags = ["--request-count", "7", "--warmup-request-count", "3", "--input-data", "zero"];
  const { code, err } = await runCommand(["-m", "simple", "-u", server.url, ...flags, "--profile-export-file", file]);
  assert.equal(code, 0, err);
  const profile = readProfile(file);
  assert.deepEqual([profile.version, profile.service_kind, profile.endpoint], ["0.0.0", "triton", ""]);
  const [experiment] = profile.experiments;
  assert.equal(profile.experiments.length, 1);
  assert.deepEqual(experiment?.experiment, { mode: "concurrency", value: 1 });
  assert.equal(experiment?.requests.length, 7);
  for (const request of experiment?.requests ?? []) {
    assert.deepEqual(request.request_inputs, { INPUT0: new Array(16).fill(0), INPUT1: new Array(16).fill(0) });
    assert.equal(request.response_outputs.length, 1);
    assert.ok((request.response_timestamps[0] as number) >= request.timestamp);
  }
  const again = await runCommand(["-m", "simple", "-u", server.url, "--profile-export-file", file]);
  assert.equal(again.code, 99);
  assert.match(again.err, /Path must not already exist/);
});

test("--live shows the run's state on stderr, and stdout keeps its bytes", LIMIT, async () => {
  // The last response waits until the state was drawn after the first ones.
  let running: RunningCommand | undefined;
  const isDrawn = (): boolean => /completed 3 of 4, failed 0, in flight 1/.test(running?.printed() ?? "");
  const onInfer = async ({ index }: SeenInfer): Promise<undefined> => {
    while (index >= 3 && !isDrawn()) await setTimeout(10);
  };
  await withServer({ onInfer }, async (server) => {
    running = startCommand(["-m", "simple", "-u", server.url, "--request-count", "4", "--live"], 160);
    const { code, out, err } = await running.result;
    assert.equal(code, 0, err);
    assert.match(err, /concurrency 1[\s\S]*75 % done/);
    assert.ok(err.lastIndexOf("\u001b") === err.lastIndexOf("\u001b[J"), JSON.stringify(err.slice(-100)));
    const plain = await runCommand(["-m", "simple", "-u", server.url, "--request-count", "4"]);
    assert.doesNotMatch(plain.err, /completed|\u001b/);
    // A busy machine may add a warning.
    const words = (text: string): string => text.replace(/^\[WARNING\].*\n/gm, "").replace(/\d+(?:\.\d+)?/g, "N");
    assert.equal(words(out), words(plain.out));
  });
  await using server = await new KserveServer({}).start();
  // Where stderr is no terminal, a short run has no line.
  const { out, err } = await runCommand(["-m", "simple", "-u", server.url, "--request-count", "4", "--live"]);
  assert.doesNotMatch(`${out}${err}`, /completed|\u001b/);
});

test("--watch-port serves the run's state, --otlp sends its metrics", LIMIT, async () => {
  const collector = await startAnsweringServer((response) => response.end("{}"));
  await withServer({}, async (server) => {
    const args = ["-m", "simple", "-u", server.url, "--request-count", "9"];
    const { code, err } = await runCommand([...args, "--watch-port", "0", "--otlp", collector.url]);
    assert.equal(code, 0, err);
    assert.match(err, /the run can be watched at http:\/\/127\.0\.0\.1:\d+\//);
    const { path, text = "" } = collector.received.at(-1) ?? {};
    assert.equal(path, "/v1/metrics");
    assert.match(text, /"name":"rampart\.requests",.*?"asInt":"9"/);
    const wrong = await runCommand([...args, "--watch-port", "70000", "--otlp", "ftp://host"]);
    assert.notEqual(wrong.code, 0);
    assert.match(wrong.err, /--watch-port[\s\S]*--otlp|--otlp[\s\S]*--watch-port/);
  });
  collector.close();
});

test("--json writes Rampart's own report as JSON", LIMIT, async () => {
  await using server = await new KserveServer({}).start();
  const folder = makeFolder();
  const file = join(folder, "out.json");
  const { code, err } = await runCommand(["-m", "simple", "-u", server.url, "--request-count", "9", "--json", file]);
  assert.equal(code, 0, err);
  const report = JSON.parse(readFileSync(file, "utf8")) as { requests: object; levels: { completed: number }[] };
  assert.deepEqual(report.requests, { sent: 9, completed: 9, failed: 0 });
  assert.deepEqual(
    report.levels.map(({ completed }) => completed),
    [9],
  );
});

test("--html, --junit and --markdown write Rampart's reports", LIMIT, async () => {
  await using server = await new KserveServer({}).start();
  const folder = makeFolder();
  const [page, junit, markdown] = ["page.html", "junit.xml", "summary.md"].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ];
  const flags = ["--html", page, "--junit", junit, "--markdown", markdown];
  const { code, err } = await runCommand(["-m", "simple", "-u", server.url, "--request-count", "9", ...flags]);
  assert.equal(code, 0, err);
  assert.match(readFileSync(page, "utf8"), /: 9 completed, 0 failed/);
  assert.match(readFileSync(junit, "utf8"), /<testcase name="concurrency 1 is measured"/);
  assert.match(readFileSync(markdown, "utf8"), /: 9 completed, 0 failed/);
});

test("output files are refused before a run when they can not be written", LIMIT, async () => {
  await using server = await new KserveServer({}).start();
  for (const flag of ["-f", "--profile-export-file", "--html", "--junit", "--markdown"]) {
    const path = join("/nonexistent-folder", "file");
    const { code, err } = await runCommand(["-m", "simple", "-u", server.url, flag, path]);
    assert.equal(code, 99);
    assert.match(err, /^Error: failed to open file /m);
  }
  assert.equal(server.requests.length, 0);
  assert.equal(existsSync("/nonexistent-folder"), false);
});
