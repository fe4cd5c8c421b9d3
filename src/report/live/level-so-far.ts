import type { ExponentialHistogram } from "../../measure/exponential-histogram.ts";
import { metricOf } from "../../measure/metrics/catalogue.ts";
import { jsonNameOf } from "../../measure/metrics/metric.ts";
import { nsToSec, nsToUs } from "../../plan/units.ts";
import { type Measured, measuredColumns } from "../model/level-columns.ts";
import type { ModelTable } from "../model/report-model.ts";
import { column, makeTable } from "../model/tables.ts";
import type { MetricsJson, SpreadJson } from "../schema/metrics.ts";
import type { LevelTokens } from "./level-tokens.ts";
import type { LevelPlace, LevelTally, RunSnapshot } from "./run-snapshot.ts";

/** What the current level has measured so far, in the columns of the report's table. */

/** A row of the table. */
interface SoFarRow {
  readonly place: LevelPlace | undefined;
  readonly json: Measured;
}

/** Makes the table, of one row; undefined where no tokens are measured: then the last seconds say more. */
export function levelSoFar({ levels, levelTitle, place, unit }: RunSnapshot): ModelTable | undefined {
  const level = levels.find((one) => one.place !== undefined && one.place === place);
  if (level?.tokens === undefined) return undefined;
  const name = column<SoFarRow>("level", levelTitle, "number", 0, (row) =>
    row.place?.phase === undefined ? row.place?.level : undefined,
  );
  const row = { place, json: measuredOf(level, level.tokens) };
  return makeTable("", measuredColumns({ unit, hasTokens: true }, [name]), [row]);
}

function measuredOf(level: LevelTally, { outputTokensPerSec, totals }: LevelTokens): Measured {
  const { completedCount, failedCount, sentCount } = level;
  const { timeToFirstToken, interTokenLatency, streamCount, bunchedSum } = totals;
  const metrics = {
    throughput: { value: perSec(completedCount, level.spentNs) },
    outputTokensPerSec: outputTokensPerSec === undefined ? undefined : { value: outputTokensPerSec },
    timeToFirstToken: spreadOf(timeToFirstToken),
    interTokenLatency: spreadOf(interTokenLatency),
    latency: spreadOf(level.latency),
    bunchedRatio: streamCount === 0 ? undefined : { count: streamCount, average: bunchedSum / streamCount },
  };
  const named = Object.entries(metrics).flatMap(([key, found]) =>
    found === undefined ? [] : [[jsonNameOf(key, metricOf({ key })), found] as const],
  );
  return {
    requests: completedCount,
    failed: failedCount,
    sentPerSec: perSec(sentCount, level.spentNs),
    metrics: Object.fromEntries(named) satisfies MetricsJson,
  };
}

const PERCENTILES = { p50: 0.5, p90: 0.9, p95: 0.95, p99: 0.99 } as const;

function spreadOf(histogram: ExponentialHistogram): SpreadJson | undefined {
  const quantiles = histogram.quantiles(Object.values(PERCENTILES));
  if (quantiles === undefined) return undefined;
  const percentiles = Object.keys(PERCENTILES).map((name, at) => [name, nsToUs(quantiles[at] as number)]);
  return { count: histogram.count, average: nsToUs(histogram.meanNs), ...Object.fromEntries(percentiles) };
}

function perSec(count: number, ns: number): number {
  return ns > 0 ? count / nsToSec(ns) : 0;
}
