import type { ExponentialHistogram } from "../../measure/exponential-histogram.ts";
import { metricOf } from "../../measure/metrics/catalogue.ts";
import { jsonNameOf } from "../../measure/metrics/metric.ts";
import { defined } from "../../plan/objects.ts";
import { nsToSec, nsToUs } from "../../plan/units.ts";
import { type Measured, measuredColumns } from "../model/level-columns.ts";
import type { ModelTable } from "../model/report-model.ts";
import { column, makeTable } from "../model/tables.ts";
import type { MetricsJson, SpreadJson } from "../schema/metrics.ts";
import type { LevelPlace, LevelTally, RunSnapshot } from "./run-snapshot.ts";

/** Results of the current level so far, in the columns of the report's table. */

interface SoFarRow {
  readonly place: LevelPlace | undefined;
  readonly json: Measured;
}

/** Builds the table with one row; undefined if no tokens are measured, because then the last seconds are more useful. */
export function levelSoFar({ levels, levelTitle, place, unit }: RunSnapshot): ModelTable | undefined {
  const level = levels.find((one) => one.place !== undefined && one.place === place);
  if (level?.tokens === undefined) return undefined;
  const name = column<SoFarRow>("level", levelTitle, "number", 0, (row) =>
    row.place?.phase === undefined ? row.place?.level : undefined,
  );
  const row = { place, json: measuredSoFar(level) };
  return makeTable("", measuredColumns({ unit, hasTokens: true }, [name]), [row]);
}

interface Followed {
  readonly times: Readonly<Record<string, ExponentialHistogram>>;
  readonly sums: Readonly<Record<string, { readonly sum: number; readonly count: number }>>;
}

/** Returns the values of a level so far, by the keys of their metrics. Token metrics are included if there are tokens. */
export function followedOf({ latency, firstResponse, tokens }: LevelTally): Followed {
  const { times = {}, sums = {} } = tokens?.totals ?? {};
  const known = <V extends { readonly count: number }>(of: Readonly<Record<string, V>>) =>
    Object.fromEntries(Object.entries(of).filter(([, { count }]) => count > 0));
  return { times: { ...defined({ latency, firstResponse }), ...known(times) }, sums: known(sums) };
}

/** Returns the results of a level so far, in the form of the report. */
export function measuredSoFar(level: LevelTally): Measured {
  const { completedCount, failedCount, spentNs, tokens } = level;
  const { times, sums } = followedOf(level);
  const rate = tokens?.outputTokensPerSec;
  const metrics = [
    ["throughput", { value: spentNs > 0 ? completedCount / nsToSec(spentNs) : 0 }],
    ["outputTokensPerSec", rate === undefined ? undefined : { value: rate }],
    ...Object.entries(times).map(([key, histogram]) => [key, spreadOf(histogram)] as const),
    ...Object.entries(sums).map(([key, { sum, count }]) => [key, { count, mean: sum / count }] as const),
  ] as const;
  const named = metrics.flatMap(([key, found]) =>
    found === undefined ? [] : [[jsonNameOf(key, metricOf({ key })), found] as const],
  );
  return {
    completed: completedCount,
    failed: failedCount,
    metrics: Object.fromEntries(named) satisfies MetricsJson,
  };
}

const PERCENTILES = { p50: 0.5, p90: 0.9, p95: 0.95, p99: 0.99 } as const;

function spreadOf(histogram: ExponentialHistogram): SpreadJson | undefined {
  const quantiles = histogram.quantiles(Object.values(PERCENTILES));
  if (quantiles === undefined) return undefined;
  const percentiles = Object.keys(PERCENTILES).map((name, at) => [name, nsToUs(quantiles[at] as number)]);
  return { count: histogram.count, mean: nsToUs(histogram.meanNs), ...Object.fromEntries(percentiles) };
}
