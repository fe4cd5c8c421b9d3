import assert from "node:assert/strict";
import type { Plan } from "../../src/plan/plan.ts";
import { toRepeatedJson } from "../../src/report/json/report-json.ts";
import type { RepeatedResult } from "../../src/result/repeated-result.ts";
import { checkRelations, type ReportedLevel, type ReportedRun, singleOf, spreadOf } from "./check-relations.ts";

/** How the numbers of a repeated plan's report relate to each other, whatever was measured. */

interface OverRuns {
  readonly count: number;
  readonly mean: number;
  readonly low: number | null;
  readonly high: number | null;
  readonly deviation: number | null;
  readonly withinDeviation: number | null;
  readonly betweenToWithinRatio: number | null;
}

/** What complete runs give together at a level, or at their highest loads. */
interface ReportedResults {
  readonly runs: number;
  readonly metrics: { readonly throughputPerSec: OverRuns; readonly latencyUs?: Readonly<Record<string, OverRuns>> };
}

/** What the JSON of a repeated plan has, as far as it is related here. */
export interface ReportedRuns {
  readonly durationSec: number;
  readonly isPartial: boolean;
  readonly runs: readonly (ReportedRun & { readonly isPartial: boolean })[];
  readonly combination: {
    readonly runs: number;
    readonly findMax?: {
      readonly highest?: OverRuns;
      readonly atHighest?: ReportedResults;
      readonly unresolvedRuns: readonly number[];
      readonly runsWithoutLoad: readonly number[];
      readonly runsAtUpperEnd: readonly number[];
    };
    readonly levels: readonly (ReportedResults & Pick<ReportedLevel, "level" | "phase">)[];
  };
  readonly assertions: readonly {
    readonly state: string;
    readonly isMet: boolean;
    readonly measured?: { readonly value: number; readonly low: number | null; readonly high: number | null };
    readonly runs: number;
    readonly runsMet: number;
  }[];
}

/** Asserts that each run agrees with itself and the runs together with each of them, and returns the report. */
export function checkRepeated(plan: Plan, repeated: RepeatedResult): ReportedRuns {
  for (const run of repeated.runs) checkRelations(plan, run);
  const report = JSON.parse(JSON.stringify(toRepeatedJson(plan, repeated))) as ReportedRuns;
  const complete = report.runs.filter(({ isPartial }) => !isPartial);
  assert.equal(report.combination.runs, complete.length, "runs that count");
  assert.equal(report.isPartial, complete.length < report.runs.length);
  const durationSec = report.runs.reduce((sum, run) => sum + run.durationSec, 0);
  assert.ok(Math.abs(report.durationSec - durationSec) < 1e-9 * durationSec, "duration");
  for (const combined of report.combination.levels) {
    const { level, phase } = combined;
    checkResults(
      combined,
      complete.flatMap((run) => run.levels.filter((one) => one.level === level && one.phase?.index === phase?.index)),
    );
  }
  checkPlaces(report, complete);
  const unresolved = checkSearch(report, complete);
  for (const { measured, runs, runsMet } of report.assertions) {
    assert.equal(runs, complete.length - unresolved);
    assert.ok(runsMet <= runs);
    if (measured === undefined) continue;
    const { value, low, high } = measured;
    assert.ok((low ?? value) <= value && value <= (high ?? value), `${low} ${value} ${high}`);
  }
  return report;
}

/** Each level that all runs measured is there once, with its phase. */
function checkPlaces({ combination }: ReportedRuns, complete: readonly ReportedRun[]): void {
  const placeOf = ({ level, phase }: Pick<ReportedLevel, "level" | "phase">): string =>
    `${phase?.name} ${phase?.index} ${level}`;
  const places = combination.levels.map(placeOf);
  assert.equal(new Set(places).size, places.length, "levels over runs");
  for (const { levels } of complete)
    for (const level of levels) {
      const isEverywhere = complete.every((run) => run.levels.some((one) => placeOf(one) === placeOf(level)));
      if (isEverywhere) assert.ok(places.includes(placeOf(level)), `no ${placeOf(level)} over runs`);
    }
}

/** The answers of searches: each complete run is in the mean, or it has no answer or no load. Returns the number without an answer. */
function checkSearch({ runs, combination }: ReportedRuns, complete: readonly ReportedRun[]): number {
  const { findMax } = combination;
  assert.equal(
    findMax === undefined,
    runs.every((run) => run.findMax === undefined),
    "a search has its answers over runs",
  );
  if (findMax === undefined) return 0;
  const { highest, atHighest, unresolvedRuns, runsWithoutLoad, runsAtUpperEnd } = findMax;
  const certain = complete.filter((run) => run.findMax?.isResolved === true && run.findMax.highest !== null);
  assert.equal(certain.length + unresolvedRuns.length + runsWithoutLoad.length, complete.length, "answers");
  for (const run of unresolvedRuns) assert.equal(runs[run - 1]?.findMax?.isResolved, false);
  for (const run of runsAtUpperEnd) assert.equal(runs[run - 1]?.findMax?.isResolved, true);
  for (const run of runsWithoutLoad)
    assert.deepEqual([runs[run - 1]?.findMax?.isResolved, runs[run - 1]?.findMax?.highest], [true, null]);
  assert.deepEqual([highest === undefined, atHighest === undefined], [certain.length === 0, certain.length === 0]);
  if (highest === undefined || atHighest === undefined) return unresolvedRuns.length;
  const loads = certain.map((run) => run.findMax?.highest as number);
  checkOver(highest, loads);
  checkResults(
    atHighest,
    certain.flatMap((run) => run.levels.filter(({ level }) => level === run.findMax?.highest)),
  );
  return unresolvedRuns.length;
}

function checkResults({ runs, metrics }: ReportedResults, found: readonly ReportedLevel[]): void {
  assert.equal(runs, found.length);
  checkOver(
    metrics.throughputPerSec,
    found.map((one) => singleOf(one, "throughputPerSec")?.value as number),
  );
  const measured = found.flatMap((one) => spreadOf(one, "latencyUs") ?? []);
  for (const [name, over] of Object.entries(metrics.latencyUs ?? {}))
    checkOver(
      over,
      measured.map((latency) => latency[name as "p50"]),
    );
}

/** A value over runs lies among the values of the runs. */
function checkOver(over: OverRuns, values: readonly number[]): void {
  const { count, mean, low, high, deviation, withinDeviation, betweenToWithinRatio } = over;
  assert.equal(count, values.length);
  const slack = 1e-9 * Math.abs(mean);
  const ofValues = values.reduce((sum, value) => sum + value, 0) / values.length;
  assert.ok(Math.abs(mean - ofValues) <= slack, `${mean} is not the mean of ${values.join()}`);
  assert.ok(mean >= Math.min(...values) - slack && mean <= Math.max(...values) + slack, `${mean} of ${values.join()}`);
  assert.deepEqual([low === null, high === null, deviation === null], new Array(3).fill(count < 2));
  assert.ok((low ?? mean) <= mean + slack && mean - slack <= (high ?? mean));
  if (betweenToWithinRatio !== null)
    assert.equal(betweenToWithinRatio, (deviation as number) / (withinDeviation as number));
}
