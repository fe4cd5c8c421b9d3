import assert from "node:assert/strict";
import { test } from "node:test";
import { parseOptions } from "../../../src/cli/perf-analyzer/options/table.ts";
import { inPerfAnalyzer } from "../../../src/cli/perf-analyzer/setting-names.ts";
import { readSettings } from "../../../src/cli/perf-analyzer/settings.ts";
import { toPlan } from "../../../src/cli/perf-analyzer/to-plan.ts";
import type { Plan } from "../../../src/plan/plan.ts";
import { RunError } from "../../../src/plan/problem.ts";
import { PerfAnalyzerConsole } from "../../../src/report/perf-analyzer/console.ts";
import { formatServerSection } from "../../../src/report/perf-analyzer/server-section.ts";
import { formatSettings } from "../../../src/report/perf-analyzer/settings-section.ts";
import type { LevelResult, PreparedRun, RunResult } from "../../../src/result/run-result.ts";
import { makeDelta, makeInstability, makeWindow } from "../../measure/make-window.ts";
import { makePlan, type PlanChange, rateLoad } from "../../plan/make-plan.ts";
import { makeLevel, makeResult, makeSink, tell } from "../make-result.ts";

/** The lines that scripts read, exactly. */

function print(
  change: PlanChange,
  levels: readonly LevelResult[],
  rest: Partial<RunResult> = {},
): { out: string; err: string } {
  const plan: Plan = makePlan({ ...change, outputs: { style: "perf_analyzer", ...change.outputs } });
  const sink = makeSink();
  tell(new PerfAnalyzerConsole(plan, { ...sink, nameOf: inPerfAnalyzer }), makeResult(plan, levels, rest));
  return sink.printed;
}

/** A level whose load was delivered: one request of 1 ms after the other, for 30 ms. */
function makeDelivered(change: Partial<LevelResult> = {}): LevelResult {
  const { window } = makeLevel();
  return makeLevel({ window: { ...window, durationNs: 30e6, endNs: 30e6 }, ...change });
}

test("a level reads as perf_analyzer prints it", () => {
  const { out, err } = print({}, [makeDelivered()]);
  assert.equal(err, "");
  assert.equal(
    out,
    `*** Measurement Settings ***
  Batch size: 1
  Service Kind: TRITON
  Sending 100 benchmark requests
  Using synchronous calls for inference

Request concurrency: 1
  Client: 
    Request count: 30
    Throughput: 1000 infer/sec
    Avg latency: 1000 usec (standard deviation 0 usec)
    p50 latency: 1000 usec
    p90 latency: 1000 usec
    p95 latency: 1000 usec
    p99 latency: 1000 usec
    Avg HTTP time: 1000 usec (send/recv 50 usec + response wait 950 usec)
  Server: 
    Inference count: 30
    Execution count: 30
    Successful request count: 30
    Avg request latency: 100 usec (overhead 30 usec + queue 10 usec + compute input 5 usec + compute infer 50 usec + compute output 5 usec)
Inferences/Second vs. Client Average Batch Latency
Concurrency: 1, throughput: 1000 infer/sec, latency 1000 usec
`,
  );
});

test("the load asked for, the load delivered and Little's law are on stderr: when verbose, or outside of the tolerance", () => {
  const whole = "1 in flight on average, 1 asked for; throughput × mean latency is 1";
  const verbose = { outputs: { verbosity: 1 } } as const;
  assert.equal(print(verbose, [makeDelivered()]).err, `rampart: load: ${whole}.\n`);
  for (const change of [{}, verbose]) {
    assert.match(
      print(change, [makeDelivered({ level: 2 })]).err,
      /^rampart: load: only 1 in flight .*, 2 asked for; /m,
    );
    const { window } = makeDelivered();
    const broken = makeDelivered({ level: 2, window: { ...window, inFlightSumNs: 60e6 } });
    const { out, err } = print(change, [broken]);
    assert.match(err, /^rampart: throughput × mean latency is 1 request in flight, 2 were: .*\.$/m);
    assert.equal(out, print(change, [makeDelivered({ level: 2 })]).out, "stdout is perf_analyzer's");
  }
});

test("gRPC and a percentile change their lines", () => {
  const target = { protocol: "grpc" } as const;
  const { out } = print({ target, measurement: { percentile: 85 } }, [makeLevel()]);
  assert.match(
    out,
    /^ {4}Avg gRPC time: 1000 usec \(\(un\)marshal request\/response 50 usec \+ response wait 950 usec\)$/m,
  );
  assert.match(out, /^ {4}p85 latency: 1000 usec$/m);
  assert.match(out, /^Inferences\/Second vs\. Client p85 Batch Latency$/m);
  assert.doesNotMatch(out, /Avg latency/);
  const verbose = print({ target, outputs: { verbosity: 1 } }, [makeLevel()]);
  assert.match(verbose.out, /\(marshal 20 usec \+ response wait 950 usec \+ unmarshal 30 usec\)$/m);
});

test("an unstable level reports what varied, why, and what would help", () => {
  const unstable = (change: Partial<LevelResult>): string =>
    print({ measurement: { mode: { kind: "time-windows", windowMs: 50, stabilityPct: 10, maxTrials: 10 } } }, [
      makeLevel({ outcome: "unstable", instability: makeInstability(), ...change }),
    ]).err;
  assert.match(
    unstable({}),
    /^rampart: over windows 8 to 10 latency moved by 40 % .*\nrampart: the client was not the limit .*Raise --measurement-interval\.$/m,
  );
  const window = makeWindow({ latenciesNs: new Array(30).fill(1e6), health: { cpuRatio: 1 } });
  assert.match(unstable({ window }), /used 100 % of a core\. Lower the load, or give the client more/);
});

test("the summary keeps the order of the run and omits what was not measured", () => {
  const levels = [
    makeLevel({ level: 4 }),
    makeLevel({ level: 2, outcome: "unstable", trials: 10 }),
    makeLevel({ level: 1 }),
    makeLevel({ level: 8, outcome: "over-limit" }),
  ];
  const mode = { kind: "time-windows", windowMs: 50, stabilityPct: 10, maxTrials: 10 } as const;
  const { out, err } = print({ measurement: { latencyLimitMs: 7, mode } }, levels);
  assert.deepEqual(
    [...out.matchAll(/^Concurrency: (\d+), throughput/gm)].map((match) => match[1]),
    ["4", "1"],
  );
  assert.match(err, /^Measured latency went over the set limit of 7 msec\. $/m);
  assert.match(
    err,
    /^Failed to obtain stable measurement within 10 measurement windows for concurrency 2\. Please try to increase the --measurement-interval\.$/m,
  );
});

test("request rates print with six digits, delayed requests with a warning", () => {
  const window = makeWindow({ latenciesNs: new Array(100).fill(1e6), delayedCount: 40, sentCount: 90 });
  const load = rateLoad([123.456789], "poisson");
  const { out } = print({ load }, [makeLevel({ unit: "request-rate", level: 123.456789, window })]);
  assert.match(out, /^Request Rate: 123\.457 inference requests per second$/m);
  assert.match(out, /^ {4}Avg send request rate: 90\.00 infer\/sec$/m);
  assert.match(out, /desired request rate\. 40\.00% of the requests /m);
  assert.match(out, /^ {2}Using poisson distribution on request generation$/m);
  assert.match(out, /^Request Rate: 123\.457, throughput: 100 infer\/sec, latency 1000 usec$/m);
});

test("partial results are marked in every place", () => {
  const { out } = print({}, [makeLevel({ outcome: "partial" })], { isInterrupted: true });
  assert.match(out, /^ {2}\[PARTIAL\] The run ended early: 1\.0 s measured, not a stable result$/m);
  assert.match(out, /latency 1000 usec \(partial\)$/m);
});

test("each kind of failed request is explained at the end of a run that continued despite it", () => {
  const failures = [
    { kind: "grpc", count: 3, example: "busy", status: 14 },
    { kind: "cancelled", count: 2, example: "cancelled", status: undefined },
  ] as const;
  const { err } = print({}, [makeLevel()], { failures, failedCount: 3 });
  assert.match(err, /^rampart: 3 requests failed in the whole run: busy$/m);
  assert.doesNotMatch(err, /cancelled/);
  const error = new RunError("failed-request", "busy", "Look at the server.");
  assert.doesNotMatch(print({}, [makeLevel()], { failures, failedCount: 3, error }).err, /in the whole run/);
});

test("Rampart's own lines go to stderr: failures, a busy client, missing server times", () => {
  const window = makeWindow({ failedCount: 3, health: { cpuRatio: 0.95 } });
  const { out, err } = print({}, [makeLevel({ window })]);
  assert.match(err, /^rampart: 3 requests failed in the measured windows and are not counted above\.$/m);
  assert.match(err, /^rampart: the client .*: the client used 95 % of a core\.$/m);
  assert.match(err, /^rampart: the server's statistics did not grow, or were reset, so no/m);
  assert.doesNotMatch(out, /rampart|Server: /);
});

test("resent requests are noted on stderr, if there are any", () => {
  const { out, err } = print({}, [makeLevel()], { resendCount: 1 });
  assert.match(
    err,
    /^rampart: 1 request was sent again, because the server closed the kept connection before it answered it; /m,
  );
  assert.doesNotMatch(out + print({}, [makeLevel()]).err, /sent again/);
});

test("a client that wakes up late is noted on stderr", () => {
  const health = { loopLagMeanNs: 1e6, loopLagP99Ns: 3e6, loopLagMaxNs: 5e6 };
  const { out, err } = print({}, [makeLevel({ window: makeWindow({ latenciesNs: [10e6, 10e6], health }) })]);
  assert.match(err, /^rampart: the client woke up .* 1 ms \(p99 3 ms\) late: .*\.$/m);
  assert.doesNotMatch(out, /woke up/);
  assert.doesNotMatch(print({}, [makeLevel({ window: makeWindow() })]).err, /woke up/);
});

test("a rate that a late client missed blames the client once", () => {
  const health = { loopLagMeanNs: 1e6, loopLagP99Ns: 3e6, loopLagMaxNs: 5e6 };
  const latenciesNs = Array.from({ length: 100 }, () => 10e6);
  const window = makeWindow({ latenciesNs, sendDelayNs: latenciesNs.map(() => 50e6), health });
  const { err } = print({ load: rateLoad([200]) }, [makeLevel({ unit: "request-rate", level: 200, window })]);
  assert.match(err, /^rampart: .*100 % of the requests were more than 1 ms late/m);
  assert.equal(err.match(/client (?:woke up|waited)/g)?.length, 1, err);
});

test("a load that was not delivered has one line for one cause", () => {
  const undelivered = (change: Parameters<typeof makeWindow>[0]): LevelResult => {
    const { window } = makeDelivered();
    return makeDelivered({ level: 2, window: { ...makeWindow(change), inFlightSumNs: window.inFlightSumNs } });
  };
  const lagging = { loopLagMeanNs: 1e6, loopLagP99Ns: 3e6, loopLagMaxNs: 5e6 };
  const latenciesNs = Array.from({ length: 100 }, () => 10e6);
  for (const [change, said] of [
    [{}, /^rampart: load: only /],
    [{ health: { cpuRatio: 0.95 } }, /^rampart: .*of a core/],
    [{ latenciesNs, health: { ...lagging, cpuRatio: 0.95 } }, /^rampart: the client woke up/],
  ] as const) {
    const lines = print({}, [undelivered(change)]).err.split("\n");
    const found = lines.filter((line) => /load: only|of a core|woke up/.test(line));
    assert.equal(found.length, 1, found.join("\n"));
    assert.match(found[0] ?? "", said);
  }
  // perf_analyzer's own warning of it is enough.
  const { out, err } = print({}, [undelivered({ overheadPct: 51 })]);
  assert.match(out, /not able to keep up/);
  assert.doesNotMatch(err, /load: only/);
});

test("a client that is mostly idle between responses is warned of", () => {
  const { out } = print({}, [makeLevel({ window: makeWindow({ overheadPct: 51 }) })]);
  assert.match(out, /^\[WARNING\] Perf Analyzer is not able to keep up /m);
});

test("one request has no deviation, and a run without a level no summary", () => {
  const { out, err } = print({}, [makeLevel({ window: makeWindow({ latenciesNs: [5000] }) })]);
  assert.match(out, /\(standard deviation 0 usec\)/);
  assert.match(err, /^WARNING: Pass contained only one request/m);
  assert.doesNotMatch(print({}, []).out, /Inferences\/Second/);
});

const NO_CACHE = { isResponseCacheEnabled: false, isOwnResponseCacheEnabled: false };
const OWN_CACHE = { isResponseCacheEnabled: true, isOwnResponseCacheEnabled: true };
const CALLED_CACHE = { isResponseCacheEnabled: true, isOwnResponseCacheEnabled: false };

test("composing models are listed below their caller, whose times include theirs", () => {
  const leaf = makeDelta(20, { name: "leaf" });
  const inner = makeDelta(10, { name: "inner", successNs: 10 * 300_000, composing: [leaf] });
  const idle = makeDelta(0, { name: "idle", version: "" });
  const section = formatServerSection(
    makeDelta(10, { successNs: 10 * 500_000, composing: [idle, inner, leaf] }),
    NO_CACHE,
  );
  assert.deepEqual(section.split("\n"), [
    "    Inference count: 10",
    "    Execution count: 10",
    "    Successful request count: 10",
    // Two leaves of 10 us in the queue and 60 us of computing.
    "    Avg request latency: 500 usec (overhead 360 usec + queue 20 usec + compute 120 usec)",
    "",
    "  Composing models: ",
    "  idle, version: unknown",
    "      Request count: 0",
    "  inner, version: 1",
    "      Inference count: 10",
    "      Execution count: 10",
    "      Successful request count: 10",
    "      Avg request latency: 300 usec (overhead 230 usec + queue 10 usec + compute 60 usec)",
    "",
    "    Composing models: ",
    "    leaf, version: 1",
    "        Inference count: 20",
    "        Execution count: 20",
    "        Successful request count: 20",
    "        Avg request latency: 100 usec (overhead 30 usec + queue 10 usec + compute input 5 usec + compute infer 50 usec + compute output 5 usec)",
    "  leaf, version: 1",
    "      Inference count: 20",
    "      Execution count: 20",
    "      Successful request count: 20",
    "      Avg request latency: 100 usec (overhead 30 usec + queue 10 usec + compute input 5 usec + compute infer 50 usec + compute output 5 usec)",
    "",
  ]);
});

test("the cache of a composing model is noted for every model, and in the caller's own times", () => {
  const cache = { cacheHitCount: 5, cacheHitNs: 50_000, cacheMissCount: 5, cacheMissNs: 100_000 };
  const called = makeDelta(10, { name: "called", ...cache, computeInputCount: 5, computeInferCount: 5 });
  const top = makeDelta(10, { composing: [called] });
  const lines = formatServerSection(top, CALLED_CACHE).split("\n");
  // (50 + 100 + 600 us) over 5 computed and 5 found.
  assert.equal(
    lines[5],
    "    Avg request latency: 100 usec (overhead 15 usec + queue 10 usec + cache hit/miss 75 usec)",
  );
  assert.deepEqual(lines.slice(6, 8), [
    "      Average Cache Hit Latency: 10 usec",
    "      Average Cache Miss Latency: 140 usec ",
  ]);
  assert.ok(lines.includes("          Average Cache Hit Latency: 10 usec"));
  assert.equal(formatServerSection(top, OWN_CACHE).split("\n")[5], "    Avg request latency: 100 usec");
});

test("a response cache has its own lines", () => {
  const delta = makeDelta(10, {
    cacheHitCount: 5,
    cacheHitNs: 50_000,
    cacheMissCount: 5,
    cacheMissNs: 100_000,
    computeInputCount: 5,
  });
  const section = formatServerSection(delta, OWN_CACHE);
  assert.match(section, /^ {4}Cache hit count: 5\n {4}Cache miss count: 5$/m);
  assert.match(section, /^ {6}Average Cache Hit Latency: 10 usec$/m);
  assert.match(section, /cache lookup\/insertion 20 usec/);
  assert.doesNotMatch(formatServerSection(delta, NO_CACHE), /[Cc]ache/);
  assert.equal(formatServerSection(makeDelta(0), NO_CACHE), "    Request count: 0\n");
});

/** Which limits perf_analyzer 2.60.0 prints before the first level. */

const CASES: readonly (readonly [flags: string, limits: readonly string[]])[] = [
  ["", []],
  ["--concurrency-range 4", []],
  ["--concurrency-range 4:1", []],
  ["--concurrency-range 4:4", ["Latency limit: 0 msec", "Concurrency limit: 4 concurrent requests"]],
  ["--request-rate-range 40:40", ["Latency limit: 0 msec", "Request Rate limit: 40 requests per seconds"]],
  ["--binary-search -l 50", []],
  ["--binary-search -l 50 --concurrency-range 1:1", []],
  ["--binary-search -l 50 --request-rate-range 1", []],
  [
    "--binary-search -l 50 --concurrency-range 3:3",
    ["Latency limit: 50 msec", "Concurrency limit: 3 concurrent requests"],
  ],
];

for (const [flags, limits] of CASES)
  test(flags === "" ? "no load at all" : flags, () => {
    const { settings, problems } = readSettings(parseOptions(["-m", "m", ...flags.split(" ").filter(Boolean)]));
    const { plan, problems: conflicts } = toPlan(settings);
    assert.deepEqual([...problems, ...conflicts], []);
    const text = formatSettings({ plan, service: {}, callMode: "sync" } as PreparedRun);
    const lines = text.split("\n").map((line) => line.trim());
    assert.deepEqual(
      lines.filter((line) => line.includes(" limit: ")),
      limits,
    );
    assert.equal(lines.includes("Using Binary Search algorithm"), flags.includes("--binary-search"));
  });
