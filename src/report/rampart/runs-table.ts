import type { OverRuns } from "../../measure/intervals/over-runs.ts";
import { formatMetric, metricText } from "../../measure/metrics/metric-text.ts";
import { errorRatio, errorRatioOfRun, inferPerSec, sentPerSec } from "../../measure/metrics.ts";
import type { Plan } from "../../plan/plan.ts";
import { formatCount, formatDurationNs, formatPct } from "../../plan/units.ts";
import type { RepeatedResult } from "../../result/repeated-result.ts";
import type { LevelResult } from "../../result/run-result.ts";
import { averageUs, overRuns, percentileUs, type ResultsOverRuns } from "../json/over-runs.ts";
import { CONSOLE_PERCENTILES, formatMarked, formatRange } from "./confidence-notes.ts";
import { formatTable, formatUs } from "./format.ts";

/** A level of a repeated plan for people: a row for each run, then the runs together. */

/** A column: its title, its cell for a run, and its value over runs. */
interface Column {
  readonly title: string;
  cell(result: LevelResult): string;
  readonly over?: OverRuns | undefined;
  format?(value: number): string;
}

/** A ratio of variation above this means that one run says too little. */
const MUCH_BETWEEN = 2;

/**
 * Formats a level, or the highest loads of a search.
 * @param outcomeOf describes the outcome of a run; empty when it is as planned
 * @param highest the column of the loads, which differ between runs; absent for one level
 */
export function formatRunsTable(
  plan: Plan,
  level: ResultsOverRuns,
  unit: string,
  outcomeOf: (result: LevelResult | undefined, run: number) => string,
  highest?: { readonly title: string; readonly over: OverRuns | undefined },
): string {
  const loads: Column[] = highest === undefined ? [] : [{ ...highest, cell: ({ level: load }) => formatCount(load) }];
  const columns = [...loads, ...toColumns(plan, level, unit)];
  const header = ["run", ...columns.map(({ title }) => title), ""];
  const rows = level.byRun.map((result, index) => {
    const outcome = outcomeOf(result, index);
    if (result === undefined && outcome === "") return [`${index + 1}`, "nothing measured"];
    return [`${index + 1}`, ...columns.map(({ cell }) => (result === undefined ? "-" : cell(result))), outcome];
  });
  const row = (name: string, pick: (over: OverRuns) => number | null): string[] => [
    name,
    ...columns.map(({ over, format = formatCount }) => {
      const value = over === undefined ? null : pick(over);
      return value === null ? "" : format(value);
    }),
    "",
  ];
  const together =
    level.results.length < 2
      ? []
      : [row("mean", ({ mean }) => mean), row("95 % low", ({ low }) => low), row("95 % high", ({ high }) => high)];
  return formatTable(header, [...rows, ...together]);
}

function toColumns({ target }: Plan, level: ResultsOverRuns, unit: string): Column[] {
  const isScheduled = level.results.some(({ window }) => window.isScheduled);
  const perSec = (title: string, pick: (result: LevelResult) => number): Column => ({
    title,
    cell: (result) => formatCount(pick(result)),
    over: overRuns(level, (result) => ({ value: pick(result) })),
  });
  return [
    ...(isScheduled ? [perSec("req/s sent", ({ window }) => sentPerSec(window))] : []),
    perSec(unit, ({ window }) => inferPerSec(window, target.batchSize)),
    {
      title: "average",
      cell: ({ window }) => (window.requestCount === 0 ? "-" : formatDurationNs(window.latency.meanNs)),
      over: overRuns(level, ({ window }) => averageUs(window.latency)),
      format: formatUs,
    },
    ...CONSOLE_PERCENTILES.map((percentile) => ({
      title: `p${percentile}`,
      cell: ({ window }: LevelResult) => formatMarked(window.latency, percentile),
      over: overRuns(level, ({ window }) => percentileUs(window.latency, percentile)),
      format: formatUs,
    })),
    ...(isScheduled
      ? [
          {
            title: "p99 from due time",
            cell: ({ window }: LevelResult) => formatMarked(window.scheduledLatency, 99),
            over: overRuns(level, ({ window }) => percentileUs(window.scheduledLatency, 99)),
            format: formatUs,
          },
        ]
      : []),
    {
      title: "errors",
      cell: ({ window }) => formatPct(errorRatio(window)),
      over: overRuns(level, ({ window }) => errorRatioOfRun(window)),
      format: formatPct,
    },
    { title: "requests", cell: ({ window }) => formatCount(window.requestCount) },
  ];
}

/** Describes how much the runs differ, compared with what each run says of itself; sentences without a full stop. */
export function describeVariation(level: ResultsOverRuns): string[] {
  const found = [
    ["average", overRuns(level, ({ window }) => averageUs(window.latency))] as const,
    ...CONSOLE_PERCENTILES.map(
      (percentile) =>
        [`p${percentile}`, overRuns(level, ({ window }) => percentileUs(window.latency, percentile))] as const,
    ),
  ].flatMap(([name, over]) => {
    const ratio = over?.betweenToWithinRatio ?? null;
    return ratio === null ? [] : [{ name, ratio }];
  });
  if (found.length === 0) return [];
  const ratios = found.map(({ name, ratio }) => `${name} ${formatCount(Number(ratio.toPrecision(2)))}`).join(", ");
  const text = `variation between runs over that within a run: ${ratios}`;
  const isMuch = found.some(({ ratio }) => ratio > MUCH_BETWEEN);
  return isMuch
    ? [text, "runs differ by more than one run can show: trust the runs together, not a single one"]
    : [text];
}

/** Describes the precision that a repetition reached; undefined when it asked for none. */
export function describePrecision({ repeat }: Plan, { runs, precision }: RepeatedResult): string | undefined {
  if (repeat?.until === undefined || precision === undefined) return undefined;
  const { metric, ratio } = repeat.until;
  const reached = precision.ratio === undefined ? "not known" : `within ${formatPct(precision.ratio)}`;
  const count = `after ${runs.length} ${runs.length === 1 ? "run" : "runs"}`;
  const wanted = `${metricText(metric)} is ${reached} of its mean ${count}, ${formatPct(ratio)} was asked for`;
  return precision.isReached ? wanted : `NOT PRECISE: ${wanted}`;
}

/** Describes the interval of an assertion's value over runs, and how many runs meet it on their own. */
export function describeRunsVerdict(
  plan: Plan,
  index: number,
  {
    low,
    high,
    runCount,
    metCount,
  }: {
    readonly low: number | null;
    readonly high: number | null;
    readonly runCount: number;
    readonly metCount: number;
  },
  unit: string,
): string {
  const metric = plan.assertions[index]?.metric;
  const range =
    low === null || high === null || metric === undefined
      ? ""
      : `${formatRange(formatMetric(metric, low, unit), formatMetric(metric, high, unit))}; `;
  return `${range}${metCount} of ${runCount} runs`;
}

/** Describes how to draw again what the runs have drawn; a sentence without a full stop. */
export function describeSeeds({ seed = 0 }: Plan, { runs }: RepeatedResult): string {
  const seeds = runs.map(({ prepared }) => prepared.plan.seed ?? 0);
  return `seeds of the runs: ${seeds.join(", ")}; seed ${seed} draws all of them again`;
}
