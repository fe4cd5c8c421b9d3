import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { CompletionGap } from "../../../src/measure/completion-gaps.ts";
import { ExtractedTally } from "../../../src/measure/extracted-tally.ts";
import { addReading, NO_READINGS } from "../../../src/measure/gauge-readings.ts";
import type { TokenMeasurement } from "../../../src/measure/tokens/token-measurement.ts";
import { TokenTally } from "../../../src/measure/tokens/token-tally.ts";
import { RunError } from "../../../src/plan/problem.ts";
import type { LevelResult, RunResult } from "../../../src/result/run-result.ts";
import { readGauges } from "../../../src/telemetry/gauge-poller.ts";
import { makeDelta, makeInstability, makeWindow } from "../../measure/make-window.ts";
import { twoGpus } from "../../servers/metrics-stub.ts";
import { makeLevel } from "../make-result.ts";
import { cellsOf, linesOf, modelOf, tableOf, valuesOf } from "./make-model.ts";

/** The model of one run: what every report of it says. */

const P99 = { key: "latency", statistic: 99 } as const;

const STALLED = new RunError("stalled", "the server stalled", "Look at it.");

test("a level is a row: throughput, times in nanoseconds, failures", () => {
  const model = modelOf({}, [makeLevel(), makeLevel({ level: 2, window: makeWindow({ failedCount: 1 }) })]);
  assert.deepEqual([model.name, model.subject], ["a test", "model, 127.0.0.1:8000, http"]);
  const [first, second] = valuesOf(tableOf(model, "levels"));
  const { level, throughput, "latency.p50": p50, "serverLatency.mean": server, failed, completed } = first ?? {};
  assert.deepEqual([level, throughput, p50, server, failed, completed], [1, 30, 1e6, 100_000, 0, 30]);
  assert.deepEqual([second?.["level"], second?.["failed"], second?.["latency.max"]], [2, 1, 3e6]);
  assert.deepEqual(cellsOf(tableOf(model, "levels"))[1]?.["failed"], { value: 1, mark: "failed" });
});

test("columns without a value are left out, and no cell has an interval and a mark", () => {
  const plain = tableOf(modelOf({}, [makeLevel()]), "levels").columns.map(({ key }) => key);
  for (const key of ["sentPerSec", "scheduledLatency.p99", "outputTokensPerSec", "sequencesPerSec", "outcome"])
    assert.ok(!plain.includes(key), key);
  const model = modelOf({}, [makeLevel()]);
  for (const { tables } of model.sections)
    for (const row of tables.flatMap(cellsOf))
      for (const cell of Object.values(row)) assert.ok(cell.interval === undefined || cell.mark !== "uncertain");
});

test("the longest latency keeps its column where nothing completed for a time", () => {
  const orderOf = (key: string, gaps: readonly CompletionGap[] = []): number => {
    const window = makeWindow(gaps.length === 0 ? {} : { gaps });
    const { columns } = tableOf(modelOf({}, [makeLevel(), makeLevel({ level: 2, window })]), "levels");
    return columns.find((column) => column.key === key)?.dropOrder ?? Number.NaN;
  };
  const gap = { startNs: 1e8, endNs: 26e8, typicalNs: 1e6 };
  assert.ok(orderOf("latency.max") > orderOf("latency.mean"), "it is dropped first");
  assert.ok(orderOf("latency.max", [gap]) < orderOf("latency.p50", [gap]), "it is dropped after these");
});

test("what a search limits keeps its column", () => {
  const limits = [{ metric: { key: "latency", statistic: 90 }, comparison: "below", limit: 6e6 }] as const;
  const orders = [undefined, limits].map((one) => {
    const { columns } = tableOf(modelOf(one === undefined ? {} : { limits: one }, [makeLevel()]), "levels");
    return columns.find(({ key }) => key === "latency.p90")?.dropOrder;
  });
  assert.deepEqual(orders, [11, 1]);
});

test("scheduled loads have what was sent, and the latency from the due time", () => {
  const window = makeWindow({ latenciesNs: [1e6, 1e6], scheduledNs: [9e6, 9e6], delayedCount: 2 });
  const [row] = valuesOf(tableOf(modelOf({}, [makeLevel({ unit: "request-rate", level: 50, window })]), "levels"));
  assert.deepEqual([row?.["sentPerSec"], row?.["scheduledLatency.p99"]], [2, 9e6]);
});

test("the row of a ramp names both ends of it", () => {
  const load = { kind: "concurrency-ramp", start: 1, end: 20, overMs: 2000 } as const;
  const [row] = valuesOf(tableOf(modelOf({ load }, [makeLevel({ level: 20 })]), "levels"));
  assert.equal(row?.["level"], "concurrency 1 to 20");
});

describe("the verdict", () => {
  const asserted = (limit: number) => ({ assertions: [{ metric: P99, comparison: "below", limit }] }) as const;
  const many = makeLevel({ window: makeWindow({ latenciesNs: new Array<number>(700).fill(1e6) }) });
  const verdicts: readonly (readonly [name: string, model: ReturnType<typeof modelOf>, headline: RegExp])[] = [
    ["measured", modelOf({}, [many]), /^$/],
    ["passed", modelOf(asserted(2e6), [many]), /^$/],
    ["failed", modelOf(asserted(0.5e6), [many]), /^the assertion failed$/],
    ["unresolved", modelOf(asserted(2e6), [makeLevel()]), /^the assertion is unresolved$/],
    [
      "unresolved",
      modelOf({}, [makeLevel({ outcome: "unstable", instability: makeInstability() })]),
      /^not stable: concurrency 1$/,
    ],
    ["partial", modelOf({}, [many], { isInterrupted: true }), /^the run was interrupted$/],
    ["partial", modelOf({}, [many], { error: STALLED }), /^the run ended early: the server stalled$/],
  ];
  for (const [name, { verdict }, headline] of verdicts)
    test(`is ${name}${headline.source === "^$" ? "" : `: ${headline.source}`}`, () => {
      assert.equal(verdict.name, name);
      assert.match(verdict.headline, headline);
      assert.match(verdict.facts.join(), /^1\.0 s,[\d,]+ requests$/);
    });
});

test("a check has its limit as a comparison, the worst value with its level, and why it is unresolved", () => {
  const assertions = [
    { metric: P99, comparison: "below", limit: 2e6 },
    { metric: { key: "throughput" }, comparison: "at-least", limit: 100 },
    { metric: { key: "errorRate" }, comparison: "at-most", limit: 0.01 },
  ] as const;
  const { checks } = modelOf({ assertions }, [
    makeLevel(),
    makeLevel({ level: 4, window: makeWindow({ failedCount: 1 }) }),
  ]);
  assert.deepEqual(
    checks.map(({ state, text }) => [state, text]),
    [
      ["fail", "p99 latency < 2 ms"],
      ["fail", "throughput ≥ 100 infer/s"],
      ["fail", "error rate ≤ 1 %"],
    ],
  );
  assert.match(checks[0]?.measured ?? "", /^worst 3\.00 ms at concurrency 4/);
  assert.equal(checks[1]?.measured, "worst 3.00 infer/s at concurrency 4");
  assert.equal(checks[2]?.measured, "25 % at concurrency 4 (1 of 4)");
});

test("a value that three digits would make equal to its limit has more", () => {
  const latenciesNs = new Array<number>(700).fill(1_001_000);
  const assertions = [{ metric: P99, comparison: "below", limit: 1e6 }] as const;
  const { checks } = modelOf({ assertions }, [makeLevel({ window: makeWindow({ latenciesNs }) })]);
  assert.deepEqual([checks[0]?.state, checks[0]?.measured], ["fail", "1.001 ms"]);
});

test("composing models are rows below the model that calls them", () => {
  const leaf = makeDelta(8, { name: "leaf", version: "2", cacheHitCount: 3, cacheMissCount: 5 });
  const inner = makeDelta(4, { name: "inner", composing: [leaf] });
  const window = makeWindow({
    server: makeDelta(4, { composing: [makeDelta(0, { name: "idle", version: "" }), inner] }),
  });
  const rows = valuesOf(tableOf(modelOf({}, [makeLevel({ window })]), "server"));
  assert.deepEqual(
    rows.map((row) => [row["model"], row["successes"], row["serverQueue.mean"], row["cacheHits"]]),
    [
      ["simple v1", 4, 10_000, undefined],
      ["· idle", 0, undefined, undefined],
      ["· inner v1", 4, 10_000, undefined],
      ["· · leaf v2", 8, 10_000, 3],
    ],
  );
});

test("the server's GPUs are rows of their level", () => {
  // Each reading has 10 J more than the one before, and the last one comes a second after the first.
  const gauges = [0, 1, 2, 3, 4, 5].reduce(
    (tally, scrape) => addReading(tally, readGauges(twoGpus(scrape)), scrape * 0.2e9),
    NO_READINGS,
  );
  const model = modelOf({}, [makeLevel({ window: { ...makeWindow(), gauges } })]);
  const [row] = valuesOf(tableOf(model, "gpu"));
  assert.deepEqual(
    [
      row?.["gpu"],
      row?.["gpuUtilization.mean"],
      row?.["gpuPower.mean"],
      row?.["gpuPowerLimit"],
      row?.["gpuEnergy"],
      Math.round(Number(row?.["gpuMemoryUsed.max"])),
    ],
    ["GPU-aaa", 0.26, 51.5, 300, 50, 1000],
  );
  const none = addReading(NO_READINGS, {}, 0);
  const bare = modelOf({}, [makeLevel({ window: { ...makeWindow(), gauges: none } })]);
  assert.match(linesOf(bare, "gpu").join(), /: 1,they name no GPU$/);
});

test("failures are on the first screen, with an example and the responses that check refused", () => {
  const failures = [
    { kind: "http", count: 4, example: "no luck", status: 500 },
    { kind: "check", count: 1, example: "wrong", status: undefined, responses: [{ reason: "no cat", response: "" }] },
  ] as const;
  const model = modelOf({}, [makeLevel()], { failures });
  assert.equal(model.sections.find(({ id }) => id === "failures")?.isSummary, true);
  assert.deepEqual(valuesOf(tableOf(model, "failures"))[0], { kind: "http 500", count: 4, example: "no luck" });
  assert.deepEqual(valuesOf(tableOf(model, "failures", 1)), [{ reason: "no cat", response: "(an empty response)" }]);
});

test("a failure that every request had is in the verdict, and not on the first screen again", () => {
  const failure = { kind: "http", count: 2, example: "no luck", status: 500 } as const;
  const level = makeLevel({ window: makeWindow({ latenciesNs: [], failedCount: 2 }) });
  const isShown = (...failures: RunResult["failures"]): boolean | undefined => {
    const { verdict, sections } = modelOf({}, [level], { failures, completedCount: 0, failedCount: 2 });
    assert.equal(verdict.headline, "all 2 requests failed: no luck");
    return sections.find(({ id }) => id === "failures")?.isSummary;
  };
  assert.equal(isShown(failure), false);
  assert.equal(
    isShown({ ...failure, count: 1 }, { kind: "closed", count: 1, example: "gone", status: undefined }),
    true,
  );
});

test("a target with several addresses has the first one in its name, and counts the others", () => {
  const subject = (moreUrls: string[]) => modelOf({ target: { moreUrls } }, [makeLevel()]).subject;
  assert.equal(subject(["b:1", "c:1"]), "model, 127.0.0.1:8000 and 2 more, http");
});

test("counts of a whole run say how many requests were outside the measured time", () => {
  const failed = { failures: [{ kind: "http", count: 1236, example: "no luck", status: 500 }] } as const;
  const level = makeLevel({ window: makeWindow({ failedCount: 1234 }) });
  const { requestCount } = level.window;
  const whole = { sentCount: requestCount + 1245, completedCount: requestCount + 9, failedCount: 1236, ...failed };
  const model = modelOf({}, [level], { ...whole, warmup: { sentCount: 8, failedCount: 0 } });
  assert.deepEqual(
    linesOf(model, "failures").map((line) => /^.* 2\b/.exec(line)?.[0]),
    ["1,236 requests failed, 2"],
  );
  const only = { ...failed, sentCount: 1236, completedCount: 0, failedCount: 1236 };
  const alone = makeLevel({ window: makeWindow({ latenciesNs: [], failedCount: 1234 }) });
  assert.deepEqual(linesOf(modelOf({}, [alone], only), "failures"), [], "the verdict says it");
  const all = requestCount + 1234;
  assert.ok(model.verdict.facts.includes(`${all.toLocaleString("en-US")} requests`), model.verdict.facts.join());
  const scopes = `; of them ${all.toLocaleString("en-US")} measured, 8 to warm up, 3 before, between or after what was measured`;
  assert.ok(linesOf(model, "totals").join().endsWith(scopes), linesOf(model, "totals").join());
  const fewer = { ...whole, sentCount: all + 3, warmup: { sentCount: 8, failedCount: 0 } };
  const both = /measured, 8 to warm up, 5 both: sent to warm up, ended while it was measured$/;
  assert.match(linesOf(modelOf({}, [level], fewer), "totals").join(), both);
  const inside = modelOf({}, [level], { ...failed, failedCount: 1234 });
  assert.deepEqual(linesOf(inside, "failures"), []);
});

test("conversations and chains are counted, and their unsent turns", () => {
  const tally = { sessionCount: 1200, cutCount: 0, unsentCount: 0 };
  const load = { kind: "session-concurrency", concurrency: 3 } as const;
  assert.deepEqual(linesOf(modelOf({ load }, [makeLevel()], { sessions: tally }), "sessions"), ["1,200 conversations"]);
  const cut = modelOf({ load }, [makeLevel()], { sessions: { ...tally, cutCount: 2, unsentCount: 5 } });
  const warm = modelOf({ load }, [makeLevel()], { sessions: tally, warmup: { sentCount: 8, failedCount: 0 } });
  assert.deepEqual(linesOf(warm, "sessions"), ["1,200 conversations, those before the measurement included"]);
  assert.match(linesOf(cut, "sessions").join(), /^1,200 conversations, 2 of them cut short .*: 5 turns were not sent$/);
  const inputs = { kind: "http-chain", calls: [{ name: "1", method: "GET" }] } as const;
  const chains = modelOf({ load, inputs }, [makeLevel()], { sessions: { ...tally, cutCount: 1, unsentCount: 1 } });
  const said = ["1,200 chains, 1 of them cut short by a call that failed: 1 call was not sent"];
  assert.deepEqual(linesOf(chains, "sessions"), said);
});

test("the totals count resent requests, and requests of other clients", () => {
  const totals = (count: number): string =>
    linesOf(modelOf({}, [makeLevel()], { server: makeDelta(count), resendCount: 3 }), "totals").join();
  assert.match(
    totals(31),
    /^sent 30 requests over 1 connection in 3\.50 s: 30 completed, 0 failed, 3 sent again; the server counted 31 successes and 0 failures$/,
  );
  assert.match(totals(32), /, more than this run sent: other clients used the model during the run$/);
});

test("shows the load asked for, the load delivered and Little's law", () => {
  const window = makeWindow({ latenciesNs: new Array<number>(40).fill(100e6), sentCount: 40, inFlightSumNs: 2e9 });
  const [row] = cellsOf(tableOf(modelOf({}, [makeLevel({ window })]), "load"));
  assert.deepEqual(
    [row?.["asked"], row?.["delivered"], row?.["littlesLaw"]],
    [{ value: 1 }, { value: 2 }, { value: 4, mark: "failed" }],
  );
});

test("a level has its number of requests and their effective sample size", () => {
  const latenciesNs = Array.from({ length: 2000 }, (_, index) => 1e6 + 1000 * index);
  const [line] = linesOf(modelOf({}, [makeLevel({ window: makeWindow({ latenciesNs }) })]), "evidence");
  assert.match(line ?? "", /^concurrency 1: 2,000 requests, as informative as \d+ independent ones?, 3 windows$/);
});

/** Four responses of 11 tokens, the first after 100 to 400 ms, 10 ms apart. */
function makeTokens(): TokenMeasurement {
  const columns = new TokenTally();
  for (let index = 0; index < 4; index++) {
    const firstNs = (index + 1) * 100e6;
    const contentNs = Array.from({ length: 11 }, (_, token) => firstNs + token * 10e6);
    const times = {
      ...{ contentNs, eventCount: 11, firstOutputNs: firstNs, firstReasoningNs: Number.NaN },
      ...{ outputTokens: 11, reasoningTokens: Number.NaN },
    };
    columns.add({ sendNs: index * 1e9, times, inputTokens: 7, usage: undefined });
  }
  return columns.cut();
}

describe("answers with tokens", () => {
  const tokens = { responses: "chat", isStreamed: true, tokenizer: "none", revision: "main" } as const;
  const levelOf = (isStreamed: boolean): LevelResult =>
    makeLevel({ window: makeWindow({ tokens: makeTokens(), isStreamed }) });
  const model = modelOf({ measurement: { tokens } }, [levelOf(true)]);

  test("have their rate and times in the row of their level, and users for a closed loop", () => {
    const table = tableOf(model, "levels");
    const [row] = valuesOf(table);
    assert.equal(table.columns[0]?.title, "users");
    assert.deepEqual(
      [row?.["outputTokensPerSec"], row?.["timeToFirstToken.p50"], row?.["interTokenLatency.p99"]],
      [44, 300e6, 10e6],
    );
    assert.equal(table.columns.find(({ key }) => key === "latency.p99")?.title, "e2e p99");
  });

  test("have all of their metrics in the details: times, and numbers", () => {
    const times = valuesOf(tableOf(model, "tokens"));
    assert.deepEqual(times[0], {
      ...{ level: 1, metric: "time to first token", mean: 250e6, p50: 300e6, p90: 400e6 },
      ...{ p99: 400e6, max: 400e6, count: 4 },
    });
    const others = [1, 2, 3].map((at) => valuesOf(tableOf(model, "tokens", at)));
    assert.deepEqual(
      others.map((rows) => rows.map(({ metric, mean }) => [metric, mean])),
      [
        [
          ["output tokens", 11],
          ["input tokens", 7],
        ],
        [["output tokens/s per user", 100]],
        [["bunched tokens", 0]],
      ],
    );
  });

  test("have no first token when they arrive at once", () => {
    const whole = modelOf({ measurement: { tokens: { ...tokens, isStreamed: false } } }, [levelOf(false)]);
    const { columns } = tableOf(whole, "levels");
    const keys = columns.map(({ key }) => key);
    assert.ok(keys.includes("outputTokensPerSec") && !keys.includes("timeToFirstToken.p50"));
    // Then the time of the whole response is all there is.
    const first = columns.filter(({ dropOrder = 0 }) => dropOrder < 20).map(({ title }) => title);
    assert.ok(first.includes("e2e p50") && first.includes("e2e mean"), first.join());
  });

  test("that all failed are requests too, and no note repeats that they failed", () => {
    const failed = new TokenTally().cut();
    const window = makeWindow({ latenciesNs: [], failedCount: 2, tokens: { ...failed, failedCount: 2 } });
    const { notes, sections } = modelOf({ measurement: { tokens } }, [makeLevel({ window })]);
    const titles = sections.flatMap(({ tables }) => tables[0]?.columns.map(({ title }) => title) ?? []);
    assert.ok(titles.includes("req/s") && !titles.includes("infer/s"), titles.join());
    assert.ok(!notes.some(({ code }) => code === "responses-left-out"));
  });
});

test("extracted numbers have statistics, texts have counts, and missing ones are counted", () => {
  const tally = new ExtractedTally([{ name: "tokens" }, { name: "label" }]);
  for (let n = 1; n <= 10; n++) tally.add([(7 * n) % 11, n <= 7 ? "dog" : "cat"], n * 1e8);
  tally.add([null, null], 1.1e9);
  const extracted = tally.cut(0, 1.2e9);
  const model = modelOf({}, [makeLevel({ window: { ...makeWindow(), extracted } })]);
  const [numbers] = valuesOf(tableOf(model, "extracted"));
  assert.deepEqual(
    [numbers?.["metric"], numbers?.["mean"], numbers?.["p50"], numbers?.["max"]],
    ["tokens", 5.5, 6, 10],
  );
  assert.deepEqual(valuesOf(tableOf(model, "extracted", 1)), [
    { level: 1, metric: "tokens", texts: "", missing: 1 },
    { level: 1, metric: "label", texts: "dog 7, cat 3", missing: 1 },
  ]);
});

test("a few hosts have a row each on the first screen, and many are one line", () => {
  const hosts = Array.from({ length: 40 }, (_, index) => ({
    ...{
      name: `loader-${index}/1`,
      workerCount: 1,
      sentCount: 100 + index,
      completedCount: 90,
      failedCount: index % 20,
    },
    ...{ clockOffsetNs: 0, clockErrorNs: 1e5, clockDriftNs: 0, lateNs: 0 },
  }));
  const few = modelOf({}, [makeLevel({})], { hosts: hosts.slice(0, 12) });
  assert.equal(tableOf(few, "hosts").rows.length, 12);
  const many = modelOf({}, [makeLevel({})], { hosts });
  const { lines } = many.sections.find(({ id }) => id === "hosts") ?? {};
  assert.deepEqual(lines, ["40 hosts sent, 100 to 139 requests each; requests of 38 failed"]);
  assert.equal(tableOf(many, "each-host").rows.length, 40);
});

test("the requests of a tag are on the first screen where it has several values: one value is the level again", () => {
  const part = makeWindow({ latenciesNs: [1e6, 2e6] });
  const isFirst = (...colors: string[]): boolean | undefined => {
    const groups = colors.map((color) => ({ tags: { color }, window: part }));
    const window = makeWindow({ latenciesNs: colors.flatMap(() => [1e6, 2e6]) });
    return modelOf({}, [makeLevel({ window: { ...window, groups } })]).sections.find(({ id }) => id === "by-color")
      ?.isSummary;
  };
  assert.deepEqual([isFirst("red"), isFirst("red", "blue")], [false, true]);
});
