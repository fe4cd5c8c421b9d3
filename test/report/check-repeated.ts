import assert from "node:assert/strict";
import type { Plan } from "../../src/plan/plan.ts";
import { toRepeatedJson } from "../../src/report/rampart/json.ts";
import type { RepeatedResult } from "../../src/result/repeated-result.ts";
import { checkRelations, type ReportedRun } from "./check-relations.ts";

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

/** What the JSON of a repeated plan has, as far as it is related here. */
export interface ReportedRuns {
  readonly durationSec: number;
  readonly isPartial: boolean;
  readonly runs: readonly (ReportedRun & { readonly isPartial: boolean })[];
  readonly combination: {
    readonly runs: number;
    readonly levels: readonly {
      readonly level: number;
      readonly runs: number;
      readonly inferPerSec: OverRuns;
      readonly latencyUs: Readonly<Record<string, OverRuns>>;
    }[];
  };
  readonly assertions: readonly {
    readonly isMet: boolean;
    readonly measured?: number;
    readonly low: number | null;
    readonly high: number | null;
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
  for (const { level, runs, inferPerSec, latencyUs } of report.combination.levels) {
    const found = complete.flatMap((run) => run.levels.filter((one) => one.level === level));
    assert.equal(runs, found.length);
    checkOver(
      inferPerSec,
      found.map((one) => one.inferPerSec),
    );
    const measured = found.flatMap(({ latency }) => latency ?? []);
    for (const [name, over] of Object.entries(latencyUs))
      checkOver(
        over,
        measured.map((latency) => (name === "mean" ? latency.meanUs : (latency.percentiles[name]?.us as number))),
      );
  }
  for (const { measured, low, high, runs, runsMet } of report.assertions) {
    assert.equal(runs, complete.length);
    assert.ok(runsMet <= runs);
    if (measured !== undefined)
      assert.ok((low ?? measured) <= measured && measured <= (high ?? measured), `${low} ${measured} ${high}`);
  }
  return report;
}

/** A value over runs lies among the values of the runs. */
function checkOver(over: OverRuns, values: readonly number[]): void {
  const { count, mean, low, high, deviation, withinDeviation, betweenToWithinRatio } = over;
  assert.equal(count, values.length);
  const slack = 1e-9 * Math.abs(mean);
  assert.ok(mean >= Math.min(...values) - slack && mean <= Math.max(...values) + slack, `${mean} of ${values.join()}`);
  assert.deepEqual([low === null, high === null, deviation === null], new Array(3).fill(count < 2));
  assert.ok((low ?? mean) <= mean + slack && mean - slack <= (high ?? mean));
  if (betweenToWithinRatio !== null)
    assert.equal(betweenToWithinRatio, (deviation as number) / (withinDeviation as number));
}
