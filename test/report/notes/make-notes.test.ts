import assert from "node:assert/strict";
import { test } from "node:test";
import { inScenario, namesAtUrl } from "../../../src/cli/setting-names.ts";
import type { Instability } from "../../../src/measure/instability.ts";
import { measureColumns } from "../../../src/measure/tokens/token-tally.ts";
import { judge } from "../../../src/measure/verdicts.ts";
import type { LoadPlan } from "../../../src/plan/load-plan.ts";
import type { NameOf } from "../../../src/plan/messages.ts";
import { makeNotes } from "../../../src/report/notes/make-notes.ts";
import { describeShape } from "../../../src/report/notes/short-samples.ts";
import type { XySeries } from "../../../src/report/plot.ts";
import type { LevelResult, RunResult } from "../../../src/result/run-result.ts";
import { makeInstability, makeWindow } from "../../measure/make-window.ts";
import { makeColumns, makeTimes } from "../../measure/tokens/make-columns.ts";
import { makePlan, type PlanChange } from "../../plan/make-plan.ts";
import { makeLevel, makeResult } from "../make-result.ts";
import { cellsOf, modelOf, tableOf, valuesOf } from "../model/make-model.ts";

/** Notes: made once of the results, merged, most severe first. */

const list = { kind: "list", values: [200] } as const;
const RATE: LoadPlan = {
  ...{ kind: "request-rate", levels: list, search: "linear", distribution: "constant", seed: 0 },
};
const P99 = { key: "latency", statistic: 99 } as const;
const ASSERTED: PlanChange = {
  assertions: [{ metric: P99, comparison: "below", limit: 1e9 }],
  measurement: { mode: { kind: "duration", durationMs: 1000 } },
};

function notesOf(
  levels: readonly LevelResult[],
  change: PlanChange = {},
  { nameOf = inScenario, ...rest }: Partial<RunResult> & { readonly nameOf?: NameOf } = {},
) {
  const plan = makePlan({ outputs: { style: "rampart" }, ...change });
  return makeNotes(plan, [makeResult(plan, levels, rest)], { nameOf });
}

for (const [name, cpuRatio, client] of [
  ["a busy client", 0.99, /^The client may have been the limit, not the server: the client used 99 %/],
  ["another process", 0.1, /The client woke up late/],
] as const)
  test(`a rate that was missed because of ${name} says so once`, () => {
    const latenciesNs = new Array<number>(100).fill(1e6);
    const window = makeWindow({ latenciesNs, sendDelayNs: new Array<number>(100).fill(50e6), health: { cpuRatio } });
    const notes = notesOf([makeLevel({ unit: "request-rate", level: 200, window })], { load: RATE });
    const ofClient = notes.filter(({ text }) => /[Tt]he client/.test(text));
    assert.equal(ofClient.length, 1, JSON.stringify(notes));
    assert.match(ofClient[0]?.text ?? "", client);
    assert.match(
      notes.find(({ code }) => code === "sent-late")?.text ?? "",
      /^100 % of the requests were more than 1 ms late/,
    );
  });

test("a load that a late client did not deliver is a detail, because the client is a note of its own", () => {
  const late = { cpuRatio: 0.3, coreWaitRatio: 0.5, loopLagMeanNs: 1e6 };
  const severityOf = (health: object): string | undefined =>
    notesOf([makeLevel({ level: 8, window: makeWindow({ latenciesNs: spread(100), health }) })]).find(
      ({ code }) => code === "load-not-delivered",
    )?.severity;
  assert.equal(severityOf({ cpuRatio: 0.1 }), "caution");
  assert.equal(severityOf(late), "detail");
});

test("notes on gaps and on the client name the metric that they are about", () => {
  const late = { cpuRatio: 0.3, coreWaitRatio: 0.2, loopLagMeanNs: 1e6 };
  const levels = [
    makeLevel({ window: makeWindow({ gaps: [{ startNs: 1e9, endNs: 3e9, typicalNs: 1e6 }] }) }),
    makeLevel({ level: 2, window: makeWindow({ health: late }) }),
    makeLevel({ level: 4, window: makeWindow({ health: { cpuRatio: 0.99 } }) }),
  ];
  const found = notesOf(levels).map(({ code, metric, levels: { length } }) => [code, metric, length]);
  assert.deepEqual(
    found.filter(([code]) => code !== "littles-law" && code !== "load-not-delivered"),
    [
      ["gap", "throughput", 1],
      // All levels share one note about the client.
      ["client-limit", "throughput", 2],
    ],
  );
  const [alone] = notesOf([makeLevel({ window: makeWindow({ health: late }) })]).filter(({ code }) =>
    /client/.test(code),
  );
  assert.deepEqual([alone?.code, alone?.metric], ["client-late", "latency"]);
});

test("no note is about the client in less than 100 ms", () => {
  const codesOf = (durationNs: number): readonly string[] =>
    notesOf([makeLevel({ window: { ...makeWindow({ health: { cpuRatio: 1.13 } }), durationNs } })])
      .map(({ code }) => code)
      .filter((code) => code.startsWith("client"));
  assert.deepEqual([codesOf(99e6), codesOf(100e6)], [[], ["client-limit"]]);
});

test("the note on the client says the worst of its levels", () => {
  const waited = (coreWaitRatio: number) => ({ cpuRatio: 0.3, coreWaitRatio, loopLagMeanNs: 1e6 });
  const healths = [waited(0.2), waited(0.1), { cpuRatio: 0.3, loopLagMeanNs: 2e6 }];
  const levels = healths.map((health, index) => makeLevel({ level: index + 1, window: makeWindow({ health }) }));
  const notes = notesOf(levels).filter(({ code }) => /^client/.test(code));
  assert.deepEqual(notes[0]?.levels, ["concurrency 1", "concurrency 2", "concurrency 3"]);
  assert.match(
    notes[0]?.text ?? "",
    /^Worst at concurrency 1: the client waited for a core 20 % of the time, so times may be too long\. Give it its own core, or lower the load\.$/,
  );
  assert.equal(notes.length, 1);
});

/** Latencies that repeat from 1 to 1.999 ms in an order without a trend. */
const spread = (count: number): number[] =>
  Array.from({ length: count }, (_, index) => 1e6 + ((index * 7919) % 1000) * 1000);

test("a sample that is too short for an asserted percentile says how long to measure; of others nothing is said", () => {
  const level = makeLevel({ window: makeWindow({ latenciesNs: spread(100) }) });
  const [note, ...rest] = notesOf([level], ASSERTED).filter(({ code }) => code === "short-sample");
  assert.deepEqual(
    [note?.severity, note?.metric, note?.levels, rest],
    ["caution", "latency.p99", ["concurrency 1"], []],
  );
  assert.match(note?.text ?? "", /^1 s is short for p99 latency\. Use for: "5 s"\.$/);
  assert.deepEqual(
    notesOf([level]).filter(({ code }) => code === "short-sample"),
    [],
  );
  const enough = makeLevel({ window: makeWindow({ latenciesNs: spread(50_000) }) });
  assert.deepEqual(
    notesOf([enough], ASSERTED).filter(({ code }) => code === "short-sample"),
    [],
  );
});

test("a sample whose percentile is close to its limit has the same note: the assertion has the reason", () => {
  const level = makeLevel({ window: makeWindow({ latenciesNs: spread(2000) }) });
  const close: PlanChange = { ...ASSERTED, assertions: [{ metric: P99, comparison: "below", limit: 1.993e6 }] };
  const texts = notesOf([level], close).flatMap(({ code, text }) => (code === "short-sample" ? [text] : []));
  assert.equal(texts.length, 1);
  assert.match(texts[0] ?? "", /^1 s is short for p99 latency\. Use for: "\d+ s"\.$/);
});

test("a level with a burst says that too, and is short all the same", () => {
  const burst = spread(100).map((ns, index) => (index >= 40 && index < 60 ? 20 * ns : ns));
  const levels = [spread(100), burst].map((latenciesNs, index) =>
    makeLevel({ level: index + 1, window: makeWindow({ latenciesNs }) }),
  );
  const found = notesOf(levels, ASSERTED).map(({ code, levels: named }) => [code, named.length]);
  assert.deepEqual(
    found.filter(([code]) => code === "burst" || code === "short-sample"),
    [
      ["short-sample", 2],
      ["burst", 1],
    ],
  );
});

test("a verdict that is certain needs no longer measurement", () => {
  const level = makeLevel({ window: makeWindow({ latenciesNs: spread(60) }) });
  const broken = { metric: { key: "latency", statistic: 50 }, comparison: "below", limit: 1.1e6 } as const;
  const notes = notesOf([level], { ...ASSERTED, assertions: [broken] });
  assert.deepEqual(
    notes.filter(({ code }) => code === "short-sample"),
    [],
  );
});

test("Little's law is a detail where no rate or time is asserted, and after a known change of load", () => {
  const window = makeWindow({ latenciesNs: spread(100), inFlightSumNs: 5e9 });
  const severityOf = (change: PlanChange, rest: Partial<LevelResult> = {}) =>
    notesOf([makeLevel({ window, level: 4, ...rest })], change).find(({ code }) => code === "littles-law")?.severity;
  const failures: PlanChange = { assertions: [{ metric: { key: "errorRate" }, comparison: "is", limit: 0 }] };
  const throughput: PlanChange = { assertions: [{ metric: { key: "throughput" }, comparison: "above", limit: 1 }] };
  assert.deepEqual(
    [severityOf(failures), severityOf(throughput), severityOf(ASSERTED)],
    ["detail", "caution", "caution"],
  );
  const failed = { window: makeWindow({ latenciesNs: spread(100), inFlightSumNs: 5e9, failedCount: 50 }) };
  assert.equal(severityOf(throughput, failed), "detail", "the failures are counted elsewhere");
  const phase = { index: 1, name: "peak", label: "peak" };
  assert.equal(severityOf(throughput, { phase } as Partial<LevelResult>), "detail");
});

test("the remedy is in the words of how a level is measured, and of the command", () => {
  const level = makeLevel({ window: makeWindow({ latenciesNs: spread(100) }) });
  const counted = { ...ASSERTED, measurement: { mode: { kind: "requests", count: 100 } } } as const;
  assert.ok(notesOf([level], counted).some(({ text }) => text.endsWith("Use requests: 299.")));
  const nameOf = namesAtUrl("llm");
  assert.ok(notesOf([level], counted, { nameOf }).some(({ text }) => text.endsWith("Use --requests 299.")));
  assert.ok(notesOf([level], ASSERTED, { nameOf }).some(({ text }) => text.endsWith('Use --for "5 s".')));
});

test("equal notes of several levels are one, with the levels named where they are not all", () => {
  const unsteady = (level: number): LevelResult => makeLevel({ level, isLatencyUnstable: true });
  const [all] = notesOf([unsteady(1), unsteady(2)]).filter(({ code }) => code === "latency-not-stable");
  assert.deepEqual(all?.levels, ["concurrency 1", "concurrency 2"]);
  assert.match(all?.text ?? "", /^Only throughput is stable/);
  const some = notesOf([unsteady(1), makeLevel({ level: 2 }), unsteady(4)]);
  assert.match(
    some.find(({ code }) => code === "latency-not-stable")?.text ?? "",
    /^At concurrency 1 and 4: only throughput/,
  );
});

test("notes that differ by level are one too, with the text of the worst", () => {
  const short = (level: number, count: number): LevelResult =>
    makeLevel({ level, window: makeWindow({ latenciesNs: spread(count) }) });
  const notes = notesOf([short(1, 100), short(2, 50)], ASSERTED).filter(({ code }) => code === "short-sample");
  assert.equal(notes.length, 1);
  assert.match(
    notes[0]?.text ?? "",
    /^Worst at concurrency 2: 1 s per level is short for p99 latency\. Use for: "10 s"\.$/,
  );
});

test("each unresolved metric has its note, and none is lost", () => {
  const limits = [
    [50, 1.5e6],
    [99, 1.99e6],
    [99.9, 1.999e6],
  ] as const;
  const assertions = limits.map(([statistic, limit]) => {
    return { metric: { key: "latency", statistic }, comparison: "below", limit } as const;
  });
  const window = makeWindow({ latenciesNs: spread(100) });
  const levels = [1, 2].map((level) => makeLevel({ level, window }));
  const open = assertions.filter((one) => levels.some((level) => judge(one, [level], 1).state === "unresolved"));
  assert.ok(open.length >= 2);
  const found = notesOf(levels, { ...ASSERTED, assertions }).filter(({ code }) => code === "short-sample");
  assert.deepEqual(
    found.map(({ metric }) => metric),
    open.map(({ metric: { statistic } }) => `latency.p${statistic}`),
  );
});

const usageOf = (promptTokens: number, completionTokens: number) => ({
  promptTokens,
  completionTokens,
  reasoningTokens: 0,
});

test("the counts of input and of output are two notes, and that of output matters more where it biases tokens/s", () => {
  const columns = makeColumns({ times: makeTimes([50, 60, 70]), usage: usageOf(17, 9) });
  const notes = notesOf([makeLevel({ window: makeWindow({ tokens: measureColumns(columns) }) })]);
  assert.deepEqual(
    notes.filter(({ code }) => code === "other-token-count").map(({ severity, metric }) => [severity, metric]),
    [
      ["caution", "outputTokens"],
      ["detail", "inputTokens"],
    ],
  );
});

test("numbers of tokens that mislead have a note on the first screen", () => {
  const cases = [
    ["not-streamed", "timeToFirstToken", makeColumns({ times: makeTimes([50]), lacksStream: true })],
    [
      "bunched-tokens",
      "interTokenLatency",
      makeColumns({ times: makeTimes([50, 60], { outputTokens: 11, eventCount: 2 }), omitsBunchedRate: true }),
    ],
  ] as const;
  for (const [code, metric, columns] of cases) {
    const note = notesOf([makeLevel({ window: makeWindow({ tokens: measureColumns(columns) }) })]).find(
      (one) => one.code === code,
    );
    assert.deepEqual([note?.severity, note?.metric], ["caution", metric]);
  }
});

test("a few bunched streams hide the rate per user, and are a detail; many hide inter-token latency too", () => {
  const single = { times: makeTimes([10, 20, 30, 40, 50, 60]), omitsBunchedRate: true };
  const paired = { times: makeTimes([10, 20, 30], { outputTokens: 6, eventCount: 6 }), omitsBunchedRate: true };
  const levelOf = (level: number, bunched: number): LevelResult => {
    const columns = makeColumns(...new Array(20).fill(single).fill(paired, 0, bunched));
    return makeLevel({ level, window: makeWindow({ tokens: measureColumns(columns) }) });
  };
  const found = (bunched: number) => {
    const levels = [levelOf(1, bunched), levelOf(2, bunched), levelOf(4, 0)];
    const note = notesOf(levels).find(({ code }) => code === "bunched-tokens");
    const model = modelOf(
      { measurement: { tokens: { responses: "chat", isStreamed: true, tokenizer: "none", revision: "main" } } },
      levels,
    );
    const rows = cellsOf(tableOf(model, "levels")).filter((row) => "interTokenLatency.p50" in row);
    const details = valuesOf(tableOf(model, "tokens")).filter(({ metric }) => metric === "inter-token latency");
    const plots = model.sections.flatMap(({ charts }) => charts);
    const drawn = (title: string): readonly XySeries[] => {
      const plot = plots.find((one) => one.title === title);
      return plot?.kind === "xy" ? plot.series : [];
    };
    return {
      note: [note?.severity, note?.metric],
      shown: [rows.length, details.length],
      overLoad: drawn("Inter-token latency over load")[0]?.points.map(([load]) => load),
      curves: drawn("Inter-token latency by percentile").map(({ name }) => name),
    };
  };
  const everywhere = {
    ...{ shown: [3, 3], overLoad: [1, 2, 4] },
    curves: ["1 user", "2 users", "4 users"],
  };
  const uncut = { shown: [1, 1], overLoad: [4], curves: ["4 users"] };
  assert.deepEqual(found(1), { note: [undefined, undefined], ...everywhere });
  assert.deepEqual(found(3), { note: ["detail", "outputTokensPerSecPerUser"], ...everywhere });
  for (const bunched of [9, 20]) assert.deepEqual(found(bunched), { note: ["caution", "interTokenLatency"], ...uncut });
});

test("a sentence about one response says the same as one about several", () => {
  const tokens = measureColumns(makeColumns({ times: makeTimes([50, 60, 70]), requestedTokens: 9 }));
  const levelOf = (level: number, count: number): LevelResult => {
    const lengths = { ...tokens.lengths, count: 4, otherCount: count };
    return makeLevel({ level, window: makeWindow({ tokens: { ...tokens, count: 4, lengths } }) });
  };
  const measurement = { tokens: { responses: "chat", isStreamed: true, tokenizer: "none", revision: "main" } };
  const notes = notesOf([levelOf(1, 1), levelOf(2, 3)], { measurement }).filter(({ code }) => code === "other-length");
  assert.equal(notes.length, 1, notes.map(({ text }) => text).join("\n"));
  assert.match(notes[0]?.text ?? "", /^At 1 user: 1 of 4 responses does not .* Likewise at the other levels\.$/);
});

test("a note on gaps of several levels has the times of each", () => {
  const gapsAt = (level: number, ...fromSec: number[]): LevelResult => {
    const gaps = fromSec.map((sec) => ({ startNs: sec * 1e9, endNs: (sec + 2) * 1e9, typicalNs: 1e6 }));
    return makeLevel({ level, window: makeWindow({ durationNs: 10e9, gaps }) });
  };
  const [note, ...others] = notesOf([gapsAt(4, 13), gapsAt(2, 3, 7)], {}).filter(({ code }) => code === "gap");
  assert.equal(others.length, 0);
  assert.match(note?.text ?? "", /^At concurrency 2: nothing completed from 3\.0 s to 5\.0 s \(2\.0 s\), from 7\.0 s /);
  assert.match(note?.text ?? "", / Likewise at concurrency 4 from 13\.0 s to 15\.0 s \(2\.0 s\)\.$/);
});

test("a gap in which the client did not run is the client's, and not the server's", () => {
  const gaps = [{ startNs: 3e9, endNs: 5.5e9, typicalNs: 1e6 }];
  const textAt = (loopLagMaxNs: number): string => {
    const window = makeWindow({ durationNs: 10e9, gaps, health: { cpuRatio: 0.1, loopLagMaxNs } });
    return notesOf([makeLevel({ window })]).find(({ code }) => code === "gap")?.text ?? "";
  };
  assert.match(textAt(0.2e9), /Look at the server's log of that time\.$/);
  assert.match(textAt(2.4e9), / 1 ms\. The client itself did not run for 2\.4 s: look at what else ran on its host\.$/);
});

test("runs of one level that were late for different causes have one sentence", () => {
  const lateBy = (coreWaitRatio: number): LevelResult =>
    makeLevel({
      window: makeWindow({ health: { cpuRatio: 0.3, coreWaitRatio, loopLagMeanNs: 1e6, loopLagP99Ns: 9e6 } }),
    });
  const both = notesOf([lateBy(0.2), lateBy(0.01)]).filter(({ code }) => code === "client-late");
  assert.deepEqual(
    both.map(({ text }) => text),
    [
      "The client waited for a core 20 % of the time, so times may be too long. Give it its own core, or lower the load.",
    ],
  );
});

test("what differs by more than numbers is not called the same", () => {
  const lengthAt = (level: number, isLong: boolean): LevelResult => {
    const times = isLong ? makeTimes([50, 60, 70, 80, 90, 95]) : makeTimes([50, 60, 70]);
    const requestedTokens = isLong ? 2 : 9;
    return makeLevel({
      level,
      window: makeWindow({ tokens: measureColumns(makeColumns({ times, requestedTokens })) }),
    });
  };
  const tokens = { responses: "chat", isStreamed: true, tokenizer: "none", revision: "main" };
  const texts = notesOf([lengthAt(1, true), lengthAt(2, false), lengthAt(4, false)], { measurement: { tokens } })
    .filter(({ code }) => code === "other-length")
    .map(({ text }) => text);
  assert.equal(texts.length, 2, texts.join("\n"));
  assert.match(texts[0] ?? "", /^At 1 user: 1 of 1 response .* does not keep to the limit/);
  assert.match(texts[1] ?? "", /^At 2 and 4 users: 1 of 1 response .* the model ended them before/);
});

test("what makes a number wrong comes first, details last", () => {
  const unstable = makeLevel({ outcome: "unstable", instability: makeInstability() });
  const notes = notesOf([unstable], ASSERTED, { resendCount: 3 });
  assert.deepEqual(
    notes.map(({ severity }) => severity),
    notes.map(({ severity }) => severity).toSorted((a, b) => ORDER.indexOf(a) - ORDER.indexOf(b)),
  );
  assert.deepEqual([notes[0]?.code, notes[0]?.severity, notes.at(-1)?.code], ["not-stable", "wrong", "sent-again"]);
  assert.match(
    notes[0]?.text ?? "",
    /^Not stable: latency moved by 40 %; 10 % is allowed\. \S.*\. (Raise|Lower) [^.]+/,
  );
});

test("a level that was not stable names its metric where only one moved", () => {
  const metricOf = (change: Partial<Instability>): string | undefined =>
    notesOf([makeLevel({ outcome: "unstable", instability: makeInstability(change) })])[0]?.metric;
  assert.equal(metricOf({}), "latency");
  assert.equal(metricOf({ throughputRatio: 0.5, latencyRatio: 0 }), "throughput");
  assert.equal(metricOf({ throughputRatio: 0.5 }), undefined);
});

test("connections with a response that no request had asked for are noted, and are not those that the server closes", () => {
  const received = { bytes: 1, statuses: {}, unaskedCount: 490 };
  const notes = notesOf([makeLevel()], {}, { sentCount: 1000, connectionCount: 500, received });
  assert.deepEqual(
    notes.filter(({ code }) => code === "unasked-response" || code === "reconnected").map(({ text }) => text),
    [
      "490 connections were dropped, because the server sent bytes that no request had asked for. When the next request is in flight already, they count as its response, and its time is wrong. Raise the server's keep-alive timeout if they have the status 408, otherwise repair it.",
    ],
  );
});

test("connections that the server closes between requests are noted from 1 % of the requests on", () => {
  const noteOf = (change: Partial<RunResult>): string | undefined =>
    notesOf([makeLevel()], {}, { sentCount: 1000, ...change }).find(({ code }) => code === "reconnected")?.text;
  assert.equal(noteOf({ connectionCount: 11 }), undefined);
  assert.equal(
    noteOf({ connectionCount: 1000 }),
    "The server closed connections between requests: 1,000 were opened for 1,000 requests, whose times include that. Let it keep connections, unless its users open new ones as often.",
  );
  for (const cause of ["resendCount", "failedCount", "cancelledCount"])
    assert.equal(noteOf({ connectionCount: 500, [cause]: 490 }), undefined, cause);
});

const ORDER = ["wrong", "caution", "detail"];

const SIZE = { from: 4, to: 6, startNs: 7.2e9, endNs: 7.5e9, factor: 11.83 };
const SHAPES = [
  [{ kind: "steady" }, undefined],
  [{ kind: "correlated" }, undefined],
  [{ kind: "drift", ratio: -0.1234 }, "a drift of -12 % from the first to the last fifth"],
  [{ kind: "burst", ...SIZE }, "one burst 4.2 s after the start, 300 ms long, of 12 times the rest"],
  [{ kind: "burst", from: 4, to: 6, factor: 0.25 }, "one burst of 0.25 times the rest"],
  [{ kind: "burst", ...SIZE, factor: 0.94 }, undefined],
  [
    { kind: "start-up", ...SIZE, startNs: 2.9e9, endNs: 3.1e9 },
    "a slow start of 12 times the rest in the first 100 ms",
  ],
  [{ kind: "start-up", from: 0, to: 2, factor: 0.5 }, "a fast start of 0.5 times the rest"],
] as const;
for (const [shape, text] of SHAPES)
  test(`a shape is described: ${text ?? shape.kind}`, () => assert.equal(describeShape(shape, 3e9), text));

test("a burst, a slow start and a drift are named with their size, and no longer measurement is advised", () => {
  const around = (from: number, to: number, factor: number): number[] =>
    Array.from({ length: 4000 }, (_, at) => (1e6 + ((at * 617) % 100) * 1000) * (at >= from && at < to ? factor : 1));
  const rising = Array.from({ length: 4000 }, (_, at) => 1e6 + 250 * at);
  for (const [latenciesNs, code, text] of [
    [around(1984, 2112, 12), "burst", /^Latency had one burst .* of 12 times the rest\.$/],
    [around(0, 320, 3), "start-up", /^Latency had a slow start of 3 times the rest.* Warm up first\.$/],
    [
      rising,
      "drift",
      /^Latency had a drift of \+73 % from the first to the last fifth\. Warm up first; a drift that remains is the server's\.$/,
    ],
  ] as const) {
    const notes = notesOf([makeLevel({ window: makeWindow({ latenciesNs }) })], ASSERTED);
    const note = notes.find((one) => one.code === code);
    assert.match(note?.text ?? "", text);
    assert.deepEqual([note?.metric, note?.levels], ["latency", ["concurrency 1"]]);
    assert.ok(
      notes.every(({ text: all }) => !all.includes("Use for")),
      code,
    );
  }
});

test("a burst is a detail where a sample is too small whatever its shape is", () => {
  const severityOf = (count: number): string | undefined => {
    const [from, to] = [0.5 * count, 0.512 * count];
    const latenciesNs = Array.from({ length: count }, (_, at) => (at >= from && at < to ? 12e6 : 1e6 + (at % 7) * 1e4));
    const assertions = [{ metric: P99, comparison: "below", limit: 5e6 }] as const;
    const notes = notesOf([makeLevel({ window: makeWindow({ latenciesNs }) })], { ...ASSERTED, assertions });
    assert.ok(notes.some(({ code }) => code === "short-sample"));
    return notes.find(({ code }) => code === "burst")?.severity;
  };
  assert.deepEqual([severityOf(250), severityOf(4000)], ["detail", "caution"]);
});

test("a drift that an assertion of a phase judges is in no note, which would have another number", () => {
  const latenciesNs = Array.from({ length: 4000 }, (_, at) => 1e6 + 250 * at);
  const load = { kind: "concurrency", levels: { kind: "list", values: [1] }, search: "linear" } as const;
  const isNoted = (drift: object): boolean => {
    const phases = { kind: "phases", phases: [{ load, ...drift }] } as const;
    const level = makeLevel({ phase: { index: 0, label: "soak" }, window: makeWindow({ latenciesNs }) });
    return notesOf([level], { load: phases }).some(({ code }) => code === "drift");
  };
  assert.deepEqual([isNoted({}), isNoted({ drift: { maxRatio: 0.05 } })], [true, false]);
});

test("an agent that was lost makes what it would have sent missing, which is wrong", () => {
  const host = {
    ...{ name: "loader-2/7", workerCount: 1, sentCount: 5, completedCount: 5, failedCount: 0 },
    ...{ clockOffsetNs: 0, clockErrorNs: 1e5, clockDriftNs: 0, lateNs: 0 },
  };
  const window = makeWindow({ latenciesNs: [1e6, 1e6] });
  const levels = [1, 2].map((level) => makeLevel({ level, window: { ...window, endNs: level * 10e9 } }));
  const of = { loadRatio: 0.5, uncountedCount: 0, reason: "it was stopped" };
  const lost = { ...of, afterNs: 12.04e9, fromNs: 10e9 };
  assert.deepEqual(
    notesOf(levels, ASSERTED, { hosts: [host] }).filter(({ code }) => code === "agent-lost"),
    [],
  );
  const noteOf = (...hosts: RunResult["hosts"] & object) => {
    const [note, ...more] = notesOf(levels, ASSERTED, { hosts });
    assert.deepEqual([note?.code, note?.severity], ["agent-lost", "wrong"]);
    assert.ok(more.every(({ code }) => code !== "agent-lost"));
    return note;
  };
  const note = noteOf({ ...host, lost });
  assert.deepEqual(note?.levels, ["concurrency 2"]);
  assert.match(
    note?.text ?? "",
    /^At concurrency 2: the agent loader-2\/7 was last heard of after 12(\.0\d?)? s, and 50 % of the load is missing from then on: it was stopped\.$/,
  );
  // In the first level, which lacks what it had reported.
  const other = { ...host, name: "loader-9/7", lost: { ...lost, afterNs: 3e9, fromNs: 0, uncountedCount: 1443 } };
  const early = noteOf(other);
  assert.deepEqual(early?.levels, ["concurrency 1", "concurrency 2"]);
  assert.match(
    early?.text ?? "",
    /^The agent loader-9\/7 was last heard of after 3(\.0\d?)? s, .*\. 1,443 requests that it reported are in no row\.$/,
  );
  assert.match(
    noteOf({ ...host, lost }, { ...other, lost: { ...other.lost, loadRatio: 0.25 } })?.text ?? "",
    /^2 agents were lost and 75 % of the load is missing, the first, loader-9\/7, last heard of after 3(\.0\d?)? s: it was stopped\. .* they reported/,
  );
  // After all levels.
  assert.deepEqual(noteOf({ ...host, lost: { ...lost, fromNs: 20e9 } })?.levels, []);
});

test("agents that did not run are named with the times in each level, the longest first", () => {
  const still = (name: string, ...fromSec: number[]): RunResult["hosts"] & object => [
    {
      ...{ name, workerCount: 1, sentCount: 5, completedCount: 5, failedCount: 0 },
      ...{ clockOffsetNs: 0, clockErrorNs: 1e5, clockDriftNs: 0, lateNs: 0 },
      standstills: fromSec.map((sec) => ({ startNs: sec * 1e9, endNs: (sec + 2) * 1e9, fromNs: (sec + 100) * 1e9 })),
    },
  ];
  const window = makeWindow({ latenciesNs: [1e6, 1e6] });
  const levels = [1, 2].map((level) =>
    makeLevel({ level, window: { ...window, startNs: (90 + level * 10) * 1e9, endNs: (100 + level * 10) * 1e9 } }),
  );
  const textOf = (...hosts: RunResult["hosts"] & object): string[] =>
    notesOf(levels, {}, { hosts }).flatMap(({ code, text }) => (code === "agent-stood-still" ? [text] : []));
  assert.deepEqual(textOf(...still("a/1")), []);
  // Before the run, before the first level, and between two levels.
  assert.deepEqual(textOf(...still("a/1", -5)), []);
  const text = (at: string): string =>
    `At ${at} (2.0 s). Look at what else ran on that host.`.replace(
      ":",
      ": an agent did not run for a part of the time before the measurement:",
    );
  const [first, second] = levels as [LevelResult, LevelResult];
  const later = { ...second, window: { ...second.window, startNs: 115e9, endNs: 120e9 } };
  const early = { ...first, window: { ...first.window, startNs: 105e9 } };
  const textsOf = (fromSec: number): string[] =>
    notesOf([early, later], {}, { hosts: still("a/1", fromSec) }).flatMap((note) =>
      note.code === "agent-stood-still" ? [note.text] : [],
    );
  assert.deepEqual(textsOf(2), [text("concurrency 1: a/1 from 2.0 s to 4.0 s")]);
  assert.deepEqual(textsOf(12), [text("concurrency 2: a/1 from 12.0 s to 14.0 s")]);
  assert.deepEqual(textOf(...still("a/1", 3)), [
    "At concurrency 1: an agent did not run for a part of the time: a/1 from 3.0 s to 5.0 s (2.0 s). Look at what else ran on that host.",
  ]);
  assert.deepEqual(textOf(...still("a/1", 12), ...still("b/2", 2, 6)), [
    "At concurrency 1: an agent did not run for a part of the time: b/2 from 2.0 s to 4.0 s (2.0 s), from 6.0 s to 8.0 s (2.0 s). Look at what else ran on that host. Likewise at concurrency 2 a/1 from 12.0 s to 14.0 s (2.0 s).",
  ]);
  const names = ["a/1", "b/2", "c/3", "d/4", "e/5"];
  assert.match(
    textOf(...names.flatMap((name) => still(name, 3)))[0] ?? "",
    /: 5 agents did not run for a part of the time: a\/1 from .*; b\/2 from .*; c\/3 from [^;]*; 2 more\./,
  );
});
