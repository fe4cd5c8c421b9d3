import assert from "node:assert/strict";
import { test } from "node:test";
import { inScenario, wordingIo } from "../../../src/cli/setting-names.ts";
import { GpuTally } from "../../../src/measure/gpu-tally.ts";
import { formatCount, formatPct } from "../../../src/plan/units.ts";
import { createRampartConsole } from "../../../src/report/rampart/console.ts";
import { formatTable, formatUs } from "../../../src/report/rampart/format.ts";
import type { LevelResult, RunResult } from "../../../src/result/run-result.ts";
import { readGpuMetrics } from "../../../src/telemetry/gpu-metrics.ts";
import { makeDelta, makeInstability, makeWindow, type WindowParts } from "../../measure/make-window.ts";
import { makePlan, type PlanChange } from "../../plan/make-plan.ts";
import { twoGpus } from "../../servers/metrics-stub.ts";
import { makeLevel, makeResult, makeSink, tell } from "../make-result.ts";

function print(change: PlanChange, levels: readonly LevelResult[], rest: Partial<RunResult> = {}): string {
  const plan = makePlan(change);
  const sink = makeSink();
  tell(createRampartConsole(plan, wordingIo(inScenario, sink)), makeResult(plan, levels, rest));
  return sink.printed.out;
}

test("a run has a row per level, notes on it, and totals", () => {
  const out = print({}, [makeLevel(), makeLevel({ level: 2 })]);
  assert.match(out, /^a test: model model on 127\.0\.0\.1:8000 over http, concurrency 1$/m);
  assert.match(out, /^concurrency +infer\/s +average +p50 +p90 +p99 +server avg +errors +requests/m);
  assert.match(out, /^ *2 +30 +1 ms +1 ms +1 ms\* +1 ms\* +100 us +0 % +30$/m);
  assert.match(
    out,
    /^ {2}30 samples, worth 30 independent ones for the average; with 95 % confidence: average 1 to 1 ms, p50 /m,
  );
  assert.match(
    out,
    /^ {2}\* too few independent samples: p90 30 of 64, p99 30 of 662; about 662 samples would be enough$/m,
  );
  assert.match(out, /^sent 60 requests over 1 connection in 3\.5 s: 60 completed, 0 failed$/m);
});

test("resent requests are in the totals, and in a note above 0.1 % of all", () => {
  const out = print({}, [makeLevel()], { resendCount: 3 });
  assert.match(
    out,
    /^sent 30 requests .*, 3 sent again\n3 requests were sent again, because the server closed the kept connection before it answered them;/m,
  );
  const few = print({}, [makeLevel()], { sentCount: 3000, resendCount: 3 });
  assert.match(few, /, 3 sent again$/m);
  assert.doesNotMatch(few, /were sent again/);
  assert.doesNotMatch(print({}, [makeLevel()]), /sent again/);
});

test("composing models are listed below the model that calls them", () => {
  const leaf = makeDelta(8, { name: "leaf", version: "2", cacheHitCount: 3, cacheMissCount: 5 });
  const inner = makeDelta(4, { name: "inner", composing: [leaf] });
  const idle = makeDelta(0, { name: "idle", version: "" });
  const window = makeWindow({ server: makeDelta(4, { composing: [idle, inner] }) });
  const out = print({}, [makeLevel({ window })]);
  assert.match(out, /^ {2}model +requests +server avg +queue +compute input +infer$/m);
  assert.match(out, /^ {2}model +output +cache hits +misses$/m);
  assert.match(out, /^ {2}simple v1 +4 +100 us +10 us +5 us +50 us$/m);
  assert.match(out, /^ {2}simple v1 +5 us$/m);
  assert.match(out, /^ {2}· idle +0$/m);
  assert.match(out, /^ {2}· inner v1 +4 +100 us/m);
  assert.match(out, /^ {2}· · leaf v2 +8 +100 us +10 us +5 us +50 us$/m);
  assert.match(out, /^ {2}· · leaf v2 +5 us +3 +5$/m);
  assert.doesNotMatch(print({}, [makeLevel()]), /compute input/);
});

test("requests of other clients are noted where the server counts more than the run sent", () => {
  const printed = (count: number): string => print({}, [makeLevel()], { server: makeDelta(count) });
  assert.match(printed(31), /the server counted 31 successes and 0 failures$/m);
  assert.match(printed(32), /32 successes and 0 failures, more than this run sent: other clients used the model/);
});

test("conversations and their unsent turns are counted", () => {
  const tally = { sessionCount: 1200, cutCount: 0, unsentCount: 0 };
  const load = { kind: "session-concurrency", concurrency: 3 } as const;
  const whole = print({ load }, [makeLevel()], { sessions: tally });
  assert.match(whole, /, conversations, 3 at a time$/m);
  assert.match(whole, /^1,200 conversations$/m);
  const cut = print({ load }, [makeLevel()], { sessions: { ...tally, cutCount: 2, unsentCount: 5 } });
  assert.match(cut, /^1,200 conversations, 2 of them cut short by a turn that failed: 5 turns were not sent$/m);
});

test("scheduled loads show the latency from the due time too", () => {
  const window = makeWindow({ latenciesNs: [1e6, 1e6], scheduledNs: [9e6, 9e6], delayedCount: 2 });
  const out = print({}, [makeLevel({ unit: "request-rate", level: 50, window })]);
  assert.match(out, /^req\/s asked +req\/s sent +infer\/s +average/m);
  assert.match(out, /^ *50 +2 +2 +1 ms /m);
  assert.match(out, /^req\/s asked +p99 from due time .*\n.*\n *50 +9 ms\* /m);
  assert.match(
    out,
    /too few independent samples: .*, p99 \d+ of 662, p99 from due time \d+ of 662; about [\d,]+ samples would be enough$/m,
  );
});

test("a load that changes within its level has a time line, and requests that its limit delayed are reported", () => {
  const window = makeWindow({ latenciesNs: [1e6, 1e6], scheduledNs: [9e6, 9e6] });
  const bucket = { requestCount: 2, failedCount: 0, latency: window.latency, meanOutstanding: 3 };
  const timeline = [
    { ...bucket, startNs: 0, endNs: 1e9 },
    { ...bucket, startNs: 1e9, endNs: 2e9, meanOutstanding: 7 },
  ];
  const delayedByLimit = { count: 12, longestNs: 1.5e9 };
  const level = makeLevel({ unit: "request-rate", level: 50, window, timeline, delayedByLimit });
  const steady = {
    kind: "request-rate",
    levels: { kind: "list", values: [50] },
    search: "linear",
    distribution: "gamma",
    seed: 0,
    maxOutstanding: 4,
  } as const;
  const asked = { measurement: { mode: { kind: "duration", durationMs: 2000 } } } as const;
  const out = print({ ...asked, load: { ...steady, ramp: { fromPerSec: 5, overMs: 2000 } } }, [level]);
  assert.match(out, /gamma request rate 50, reached from 5 over 2 s, with 4 outstanding at most$/m);
  assert.match(out, /^a ramp from 5 to 50 requests\/s$/m);
  assert.doesNotMatch(out, /overhead/);
  assert.match(out, /12 requests were due while 4 were outstanding, and were delayed by 1\.5 s at most$/m);
  assert.match(out, /^ *1\.0 s +7 +2 /m);
  assert.match(out, /the measurement ended after 1 s, before the ramp of 2 s reached the load$/m);
  const reached = print({ ...asked, load: { ...steady, ramp: { fromPerSec: 5, overMs: 1000 } } }, [level]);
  assert.doesNotMatch(reached, /before the load was reached/);
  assert.doesNotMatch(print({ load: steady }, [level]), /^time +outstanding/m);
  assert.doesNotMatch(
    print({ load: steady }, [{ ...level, delayedByLimit: { count: 0, longestNs: 0 } }]),
    /requests were due while/,
  );
});

test("the client's lag is noted below a level whose figures may show it", () => {
  const health = { loopLagMeanNs: 2e6, loopLagP99Ns: 3e6 };
  const out = print({}, [makeLevel({ window: makeWindow({ latenciesNs: [10e6, 10e6], health }) })]);
  assert.match(
    out,
    /^ {2}the client woke up about 2 ms \(p99 3 ms\) late: its times may include that; stop other processes, /m,
  );
  assert.doesNotMatch(print({}, [makeLevel({ window: makeWindow() })]), /woke up/);
});

test("a run that ended early, failures and unstable levels are plain to see", () => {
  const out = print({}, [makeLevel({ outcome: "unstable", instability: makeInstability() })], {
    isInterrupted: true,
    failures: [{ kind: "http", count: 4, example: "no luck", status: 500 }],
  });
  assert.match(out, /^PARTIAL RESULT: the run ended early\.$/m);
  assert.match(out, /UNSTABLE/);
  assert.match(
    out,
    /not stable: over windows 8 to 10 latency moved by 40 % \(1 ms, 1\.4 ms, 1\.1 ms\); 10 % is allowed/,
  );
  assert.match(out, /the values went up and down\. Raise stability\.window\./);
  assert.match(out, /^http 500 +4 +no luck$/m);
  assert.match(print({}, [makeLevel({ isLatencyUnstable: true })]), /only throughput is stable, .*; latency is not$/m);
});

test("every assertion prints its limit, its measured value and its result", () => {
  const metric = { key: "latency", statistic: 99 } as const;
  const assertions = [
    { metric, comparison: "below", limit: 2e6 },
    { metric, comparison: "below", limit: 0.5e6 },
  ] as const;
  const out = print({ assertions }, [makeLevel()]);
  assert.match(out, /^unresolved +p99 latency below 2 ms +1 ms: p99 needs 299 requests, has 30$/m);
  assert.match(out, /^FAIL +p99 latency below 500 us +1 ms$/m);
});

test("the server's GPUs are listed below their level, with a warning on stderr", () => {
  const gpu = new GpuTally();
  for (const scrape of [0, 1, 2]) gpu.add(readGpuMetrics(twoGpus(scrape)));
  const out = print({}, [makeLevel({ window: { ...makeWindow(), gpu } })]);
  assert.match(
    out,
    /^ {2}GPU-aaa: 26 % busy, 51\.5 W on average of 300 W, 20 J spent, at most 1,000 MB of 17,180 MB of memory used \(3 readings\)$/m,
  );
  const none = new GpuTally();
  assert.match(
    print({}, [makeLevel({ window: { ...makeWindow(), gpu: none } })]),
    /no metrics of the server were read/,
  );
  none.add({});
  assert.match(print({}, [makeLevel({ window: { ...makeWindow(), gpu: none } })]), /name no GPU \(1 reading\)$/m);
  const sink = makeSink();
  const report = createRampartConsole(makePlan(), sink);
  report.onWarning?.({ kind: "metrics-unreachable", url: "h:1/m", reason: "Connection refused" });
  report.onWarning?.({ kind: "many-versions", model: "m" });
  assert.equal(
    sink.printed.err,
    "rampart: no metrics from h:1/m: Connection refused.\nrampart: several versions of model m served requests; the server's times are those of the highest.\n",
  );
});

test("a level that was measured several times shows the other results", () => {
  const noisy = makeLevel({ outcome: "over-limit", window: makeWindow({ latenciesNs: [90e6] }) });
  const out = print({}, [makeLevel({ repeats: [noisy, makeLevel()] })]);
  assert.match(
    out,
    /^ {2}measured 3 times, as a latency limit ends the run here; the others: 90 ms \(over the latency limit\), 1 ms$/m,
  );
  assert.equal(out.match(/^ *1 +30 /gm)?.length, 1);
});

const STEADY = { latenciesNs: new Array<number>(40).fill(100e6), sentCount: 40 };
const IMBALANCES: readonly (readonly [name: string, parts: WindowParts, expected: RegExp])[] = [
  ["a steady load", STEADY, /^ {2}4 in flight on average, 1 asked for; throughput × average latency is 4$/m],
  [
    "a difference of less than a tenth",
    { ...STEADY, inFlightSumNs: 4.4e9 },
    /^ {2}4\.4 in flight on average, 1 asked for; throughput × average latency is 4$/m,
  ],
  [
    "a server that does not keep up",
    { ...STEADY, sentCount: 100, openAfterCount: 60, inFlightSumNs: 30e9 },
    /^ {2}throughput × average latency is 4 requests in flight, 30 were: the load was not steady: 0 requests were in flight at the start and 60 at the end$/m,
  ],
  [
    "requests cut off at the edges",
    { ...STEADY, openBeforeCount: 2, openAfterCount: 2, inFlightSumNs: 2e9 },
    /^ {2}throughput × average latency is 4 requests in flight, 2 were: the measurement is short compared with the latency/m,
  ],
  [
    "failures",
    { ...STEADY, failedCount: 30, inFlightSumNs: 9e9 },
    /^ {2}throughput × average latency is 4 requests in flight, 9 were: the 30 requests that failed or were cancelled were in flight too$/m,
  ],
];

for (const [name, parts, expected] of IMBALANCES) {
  test(`Little's law is checked: ${name}`, () => {
    const out = print({}, [makeLevel({ window: makeWindow(parts) })]);
    assert.match(out, expected);
    // Said once, with its cause when the two differ.
    assert.equal(out.match(/throughput × average latency/g)?.length, 1);
  });
}

test("numbers and tables are aligned for people", () => {
  assert.deepEqual([formatCount(12_345.6), formatCount(1.23456), formatCount(0)], ["12,346", "1.235", "0"]);
  assert.deepEqual([formatPct(0.1234), formatPct(0), formatUs(1500)], ["12.3 %", "0 %", "1.5 ms"]);
  assert.equal(formatTable(["a", "bb"], [["long", "1"]]), "a     bb\n────  ──\nlong   1");
});
