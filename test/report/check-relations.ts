import assert from "node:assert/strict";
import { REPORTED_PERCENTILES } from "../../src/measure/intervals/percentile-interval.ts";
import type { Plan } from "../../src/plan/plan.ts";
import { membersOf } from "../../src/registry/mix.ts";
import { toReportJson } from "../../src/report/json/report-json.ts";
import type { RunResult } from "../../src/result/run-result.ts";
import { checkSchema } from "./check-schema.ts";

/** How the numbers of one report relate to each other, whatever was measured. */

interface Spread {
  readonly count: number;
  readonly mean: number;
  readonly min: number;
  readonly max: number;
  readonly p50: number;
  readonly p90: number;
  readonly p99: number;
  readonly "p99.9": number;
  readonly "p99.99": number;
  readonly confidence95: Readonly<Record<string, Confidence>> & {
    readonly mean: Pick<Confidence, "low" | "high" | "effectiveCount">;
  };
}

interface Confidence {
  readonly low: number | null;
  readonly high: number | null;
  readonly effectiveCount: number;
  readonly isReliable: boolean;
  readonly neededCount: number;
}

interface Single {
  readonly value: number;
  readonly low?: number | null;
  readonly high?: number | null;
}

/** Returns the value of a metric of a level; undefined without one. */
export function singleOf({ metrics }: Pick<ReportedLevel, "metrics">, name: string): Single | undefined {
  return metrics[name] as Single | undefined;
}

/** Returns the statistics of a metric of a level; undefined without any. */
export function spreadOf({ metrics }: Pick<ReportedLevel, "metrics">, name: string): Spread | undefined {
  return metrics[name] as Spread | undefined;
}

/** What a level's JSON has, as far as it is related here. */
export interface ReportedLevel {
  readonly unit: string;
  readonly level: number;
  readonly phase?: { readonly index: number; readonly name: string };
  readonly outcome: string;
  readonly repeats?: readonly { readonly outcome: string }[];
  readonly durationSec: number;
  readonly sendingSec?: number;
  readonly completed: number;
  readonly failed: number;
  readonly cancelled?: number;
  readonly delayed: number;
  readonly sent: number;
  readonly metrics: Readonly<Record<string, Single | Spread>>;
  readonly load: {
    readonly unit: string;
    readonly asked: number | null;
    readonly delivered: number;
    readonly isDelivered: boolean | null;
  };
  readonly inFlight: {
    readonly mean: number;
    readonly atStart: number;
    readonly atEnd: number;
    readonly littlesLaw: { readonly expectedMean: number; readonly withinRatio: number; readonly isKept: boolean };
  };
  readonly tokens?: {
    readonly withContent: number;
    readonly withoutContent: number;
    readonly failed: number;
  };
  readonly timeline: readonly {
    readonly startSec: number;
    readonly endSec: number;
    readonly completed: number;
    readonly failed: number;
    readonly inFlightMean: number;
    readonly latencyMeanUs: number;
  }[];
}

/** What a report's JSON has, as far as it is related here. */
export interface ReportedRun {
  readonly durationSec: number;
  readonly requests: {
    readonly sent: number;
    readonly completed: number;
    readonly failed: number;
    readonly cancelled?: number;
  };
  readonly warmup?: { readonly sent: number; readonly failed: number };
  readonly failures: readonly { readonly count: number }[];
  readonly servers?: readonly { readonly sent: number; readonly failed: number }[];
  readonly levels: readonly ReportedLevel[];
  readonly findMax?: { readonly highest: number | null; readonly isResolved: boolean };
  readonly assertions: readonly {
    readonly text: string;
    readonly measured?: { readonly value: number };
    readonly level?: number;
  }[];
}

/** Throughput is computed in single precision, as perf_analyzer does. */
const SINGLE_PRECISION = 1e-6;

/** Asserts that all numbers of a run's report agree with each other, and returns it. */
export function checkRelations(plan: Plan, result: RunResult): ReportedRun {
  const report = JSON.parse(JSON.stringify(toReportJson(plan, result))) as ReportedRun;
  checkSchema(report);
  for (const level of report.levels) {
    checkCounts(level, plan.target.batchSize);
    checkInFlight(level);
    checkLoad(level);
    const [latency, due] = [spreadOf(level, "latencyUs"), spreadOf(level, "scheduledLatencyUs")];
    assert.equal(latency === undefined, level.completed === 0, "latencies and requests");
    if (latency !== undefined) checkLatency(latency, level.completed);
    if (due !== undefined) checkDueLatency(due, latency as Spread);
    checkTimeline(level);
    checkTokens(level, membersOf(plan.target).length > 0);
  }
  checkTotals(report);
  checkAssertions(report, plan.target.batchSize);
  return report;
}

function checkCounts(level: ReportedLevel, batchSize: number): void {
  const { completed, failed, cancelled = 0, sent, durationSec, inFlight } = level;
  const ended = completed + failed + cancelled;
  assert.equal(sent + inFlight.atStart, ended + inFlight.atEnd, "what was sent has ended or is in flight");
  const sentRate = singleOf(level, "sentPerSec");
  if (sentRate !== undefined) same(sentRate.value, sent / (level.sendingSec ?? durationSec), "sent rate");
  const { value, low = null, high = null } = singleOf(level, "throughputPerSec") as Single;
  same(value, (completed * batchSize) / durationSec, "throughput", SINGLE_PRECISION);
  checkInterval("throughput", value, low, high);
  assert.equal(low === null, high === null, "an interval has two ends");
  assert.ok((low ?? 0) >= 0, "throughput below 0");
  const errors = singleOf(level, "errorRateRatio");
  assert.equal(errors === undefined, completed + failed === 0, "error rate without requests");
  if (errors !== undefined) {
    same(errors.value, failed / (completed + failed), "error rate");
    checkInterval("error rate", errors.value, errors.low ?? null, errors.high ?? null);
  }
  // Throughput is no more than the sent rate, but for requests that were in flight already.
  assert.ok(completed <= sent + inFlight.atStart, "throughput exceeds what was sent");
  assert.ok(level.delayed <= completed, "more requests were late than there were");
}

function checkInFlight(reported: ReportedLevel): void {
  const { inFlight, durationSec, completed, unit, level, failed, cancelled = 0 } = reported;
  const averageUs = spreadOf(reported, "latencyUs")?.mean ?? 0;
  const { mean, atStart, atEnd, littlesLaw } = inFlight;
  const { expectedMean, withinRatio, isKept } = littlesLaw;
  same(expectedMean, (completed * (averageUs / 1e6)) / durationSec, "throughput × latency");
  const difference = Math.abs(mean - expectedMean);
  assert.equal(isKept, difference <= withinRatio * Math.max(mean, expectedMean), "Little's law");
  // Edges and failures aside the law holds exactly.
  if (atStart + atEnd + failed + cancelled === 0)
    assert.ok(mean >= expectedMean * (1 - 1e-9), `${mean} < ${expectedMean}`);
  assert.ok(mean >= -1e-9, "requests in flight below 0");
  // A phase begins with what is in flight from the one before; that of a schedule is on other slots than those of a closed loop.
  if (unit === "concurrency") assert.ok(mean <= level + atStart + 1e-6, `${mean} in flight at concurrency ${level}`);
}

/** Asked for, delivered and sent belong together, and no closed loop has more in flight than it asks for. */
function checkLoad(reported: ReportedLevel): void {
  const { load, inFlight, unit, level, durationSec, timeline } = reported;
  const { asked, delivered, isDelivered } = load;
  const isClosed = unit === "concurrency";
  assert.equal(load.unit, unit);
  assert.equal(delivered, isClosed ? inFlight.mean : singleOf(reported, "sentPerSec")?.value, "delivered");
  assert.equal(asked === null, isDelivered === null, "a verdict needs a load asked for");
  if (asked === null) return;
  assert.ok(asked <= level * (1 + 1e-9), `${asked} asked for at ${level}`);
  if (isClosed) {
    assert.equal(isDelivered, delivered >= 0.9 * asked, `${delivered} of ${asked} in flight`);
    // A ramp down keeps the requests of its higher concurrency until they end. Those of a phase before, which a schedule sent, are on other slots.
    const most = reported.phase === undefined ? Math.max(asked, inFlight.atStart) : asked + inFlight.atStart;
    if (timeline.length === 0) assert.ok(delivered <= most * (1 + 1e-6), `${delivered} of ${asked} in flight`);
  } else if (isDelivered === false) assert.ok((asked - delivered) * durationSec > 2, "missed by more than its edges");
}

function checkLatency(latency: Spread, requests: number): void {
  const { count, mean, min, max, confidence95 } = latency;
  const { mean: ofAverage, ...percentiles } = confidence95;
  assert.equal(count, requests, "latencies and requests");
  assert.ok(min <= mean * (1 + 1e-9) && mean <= max * (1 + 1e-9), `${min} ${mean} ${max}`);
  checkEffective("mean", ofAverage.effectiveCount, count);
  checkInterval("mean", mean, ofAverage.low, ofAverage.high);
  if (ofAverage.effectiveCount < 2)
    assert.equal(ofAverage.low, null, "a mean has an interval from two independent samples on");
  assert.equal(ofAverage.low === null, ofAverage.high === null, "both ends or none");
  checkInformative("mean", mean, ofAverage.low, ofAverage.high);
  const shown = Object.entries(percentiles) as [name: "p50", Confidence][];
  assert.deepEqual(
    Object.keys(percentiles),
    REPORTED_PERCENTILES.map((percentile) => `p${percentile}`),
  );
  for (const [index, [name, estimate]] of shown.entries()) {
    const { low, high } = estimate;
    const us = latency[name];
    checkInterval(name, us, low, high);
    checkVerdict(name, estimate, count);
    if (estimate.isReliable) checkInformative(name, us, low, high);
    // Percentiles are whole microseconds, rounded down.
    assert.ok(us >= Math.floor(min) && us <= max, `${us} is not between ${min} and ${max}`);
    // The interval of a percentile that moves slowly reaches beyond what was measured. Its sample is just as large as it needs to be.
    if (estimate.neededCount !== count)
      assert.ok((low ?? us) >= Math.floor(min) && (high ?? us) <= max, `${name} beyond what was measured`);
    if (!estimate.isReliable) assert.deepEqual([low, high], [null, null], `${name} is not certain`);
    assert.ok(index === 0 || us >= latency[(shown[index - 1] as [name: "p50", Confidence])[0]], "percentiles in order");
  }
}

function checkInterval(name: string, value: number, low: number | null, high: number | null): void {
  assert.ok((low ?? value) <= value && value <= (high ?? value), `${name}: ${low} ${value} ${high}`);
}

/** An interval that is shown says something: it is within a factor of 2 of its value. */
function checkInformative(name: string, value: number, low: number | null, high: number | null): void {
  if (value === 0) return;
  assert.ok((low ?? value) >= value / 2 && (high ?? value) <= 2 * value, `${name}: ${low} ${value} ${high}`);
}

function checkEffective(name: string, effectiveCount: number, count: number): void {
  assert.ok(effectiveCount >= 1 && effectiveCount <= count, `${name}: ${count} samples worth ${effectiveCount}`);
}

/** The floors of percentiles, for 99 % confidence. */
const FLOORS: Readonly<Record<string, number>> = { p90: 64, p99: 662, "p99.9": 6636, "p99.99": 66_381 };

function checkVerdict(
  name: string,
  { effectiveCount, isReliable, neededCount }: Pick<Confidence, "effectiveCount" | "isReliable" | "neededCount">,
  count: number,
): void {
  checkEffective(name, effectiveCount, count);
  if (isReliable) assert.ok(neededCount <= count, `${name}: ${count} samples, ${neededCount} needed`);
  const floor = FLOORS[name];
  if (floor === undefined) return;
  if (isReliable && neededCount !== count) assert.ok(effectiveCount >= floor, `${name}: ${effectiveCount} of ${floor}`);
  assert.ok(neededCount >= floor, `${name} needs ${neededCount}`);
}

function checkDueLatency(due: Spread, latency: Spread): void {
  checkLatency(due, latency.count);
  // Nothing is sent before it is due, but for the grain of a timer.
  assert.ok(due.mean >= latency.mean - 1000, `${due.mean} from due time, ${latency.mean} from the send`);
}

function checkTimeline(level: ReportedLevel): void {
  const { timeline, completed, failed, durationSec, inFlight } = level;
  if (timeline.length === 0) return;
  const sum = (pick: (row: ReportedLevel["timeline"][number]) => number): number =>
    timeline.reduce((all, row) => all + pick(row), 0);
  assert.deepEqual(
    [sum((row) => row.completed), sum((row) => row.failed)],
    [completed, failed],
    "time line and totals",
  );
  same(
    sum((row) => row.inFlightMean * (row.endSec - row.startSec)),
    inFlight.mean * durationSec,
    "in flight",
    1e-6,
  );
  same(
    sum((row) => row.latencyMeanUs * row.completed),
    completed * (spreadOf(level, "latencyUs")?.mean ?? 0),
    "latencies",
    1e-6,
  );
  assert.equal(timeline[0]?.startSec, 0);
  same(timeline.at(-1)?.endSec ?? 0, durationSec, "end of the time line");
  const lengths = timeline.map((row) => row.endSec - row.startSec);
  for (const [index, length] of lengths.entries()) {
    assert.ok(length >= 0.49 * (lengths[0] as number), `row ${index} of the time line is ${length} s long`);
    if (index > 0)
      same(timeline[index]?.startSec ?? 0, timeline[index - 1]?.endSec ?? 0, "rows that follow each other");
  }
}

/** @param isMix whether only some of the requests may have tokens */
function checkTokens(level: ReportedLevel, isMix: boolean): void {
  const { tokens, completed, failed, durationSec } = level;
  if (tokens === undefined) return;
  const measured = tokens.withContent + tokens.withoutContent + tokens.failed;
  if (isMix) assert.ok(measured <= completed + failed, "tokens of some requests");
  else assert.equal(measured, completed + failed, "one set of requests");
  const [outputTokens, perSec] = [spreadOf(level, "outputTokens"), singleOf(level, "outputTokensPerSec")];
  if (perSec !== undefined && outputTokens !== undefined)
    same(perSec.value, (outputTokens.mean * outputTokens.count) / durationSec, "tokens/s");
  for (const [name, metric] of Object.entries(level.metrics)) {
    if (!/token/i.test(name) || !("mean" in metric)) continue;
    const { count, min, mean, p50, p90, p99, max } = metric;
    checkConfidence(name, metric);
    assert.ok(count <= tokens.withContent, name);
    const ascending = [min, p50, p90, p99, metric["p99.9"], metric["p99.99"], max];
    assert.deepEqual(
      ascending,
      ascending.toSorted((a, b) => a - b),
      name,
    );
    assert.ok(min <= mean * (1 + 1e-9) && mean <= max * (1 + 1e-9), `${name}: ${min} ${mean} ${max}`);
  }
}

function checkConfidence(name: string, { count, mean, confidence95, ...metric }: Spread): void {
  const { mean: ofAverage, ...percentiles } = confidence95;
  checkEffective(name, ofAverage.effectiveCount, count);
  checkInterval(name, mean, ofAverage.low, ofAverage.high);
  for (const [percentile, one] of Object.entries(percentiles)) {
    checkInterval(`${percentile} of ${name}`, metric[percentile as "p50"], one.low, one.high);
    checkVerdict(percentile, one, count);
  }
}

function checkTotals({
  requests,
  levels,
  failures,
  servers,
  warmup = { sent: 0, failed: 0 },
  durationSec,
}: ReportedRun): void {
  const { sent, completed, failed, cancelled = 0 } = requests;
  assert.equal(sent, completed + failed + cancelled, "totals");
  const sum = (pick: (level: ReportedLevel) => number): number => levels.reduce((all, one) => all + pick(one), 0);
  assert.ok(sum((level) => level.sent) <= sent - warmup.sent, "levels send no more than the run");
  assert.ok(sum((level) => level.completed) <= completed - (warmup.sent - warmup.failed), "completed");
  assert.ok(sum((level) => level.failed) <= failed - warmup.failed, "failed");
  assert.ok(sum((level) => level.durationSec) <= durationSec, "levels last no longer than the run");
  assert.equal(
    failures.reduce((all, { count }) => all + count, 0),
    failed + cancelled,
    "failures by kind",
  );
  if (servers === undefined) return;
  const sumOf = (pick: (server: { readonly sent: number; readonly failed: number }) => number): number =>
    servers.reduce((all, server) => all + pick(server), 0);
  const counts = [sumOf((server) => server.sent), sumOf((server) => server.failed)];
  assert.deepEqual(counts, [sent, failed], "servers and totals");
}

/** Goodput is no more than throughput, whichever level it is of. */
function checkAssertions({ assertions, levels }: ReportedRun, batchSize: number): void {
  for (const { text, measured, level } of assertions) {
    const found = levels.find((one) => one.level === level);
    if (!text.startsWith("goodput") || found === undefined) continue;
    const { value } = measured ?? { value: 0 };
    assert.ok(
      value * batchSize <= (singleOf(found, "throughputPerSec")?.value ?? 0) * (1 + SINGLE_PRECISION),
      `${text}: ${value}`,
    );
  }
}

function same(actual: number, expected: number, what: string, ratio = 1e-9): void {
  const isSame = Math.abs(actual - expected) <= ratio * Math.max(Math.abs(actual), Math.abs(expected), 1e-3);
  assert.ok(isSame, `${what}: ${actual} and ${expected}`);
}
