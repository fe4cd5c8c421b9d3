import { LEVEL_UNITS } from "../../load/level-units.ts";
import { metricText } from "../../measure/metrics/metric-text.ts";
import { nameOfMetric } from "../../measure/tokens/metrics.ts";
import type { Plan } from "../../plan/plan.ts";
import { formatCount, formatPct } from "../../plan/units.ts";
import { describeLevel, levelUnitOf } from "../../registry/load-modes.ts";
import { formatRange } from "../rampart/confidence-notes.ts";
import { formatUs } from "../rampart/format.ts";
import type { ReportJson } from "../schema/report-schema.ts";
import type { ResultTable, TableCell } from "./result-table.ts";

/** Several runs of one plan together. */

type RepeatedJson = Extract<ReportJson, { runs: unknown }>;

/** A level over runs as data. */
export type CombinedLevelJson = RepeatedJson["combination"]["levels"][number];

/** What runs measured at one level, or at their highest loads, as data. */
export type CombinedResultsJson = Omit<CombinedLevelJson, "unit" | "level" | "phase">;
type Over = CombinedLevelJson["inferPerSec"];

/** What is called by the name of a level where it is another one in each run. */
export const HIGHEST_LOADS = "the highest load of each run";

/** Makes the table of means over runs with their intervals; undefined for a plan that ran once, or without a complete run. */
export function combinationTable(plan: Plan, json: ReportJson, unit: string): ResultTable | undefined {
  if (!("runs" in json)) return undefined;
  const { findMax, levels } = json.combination;
  const rows = [
    ...(findMax?.atHighest === undefined
      ? []
      : labelRows(HIGHEST_LOADS, [
          [`highest ${LEVEL_UNITS[levelUnitOf(plan.load)].name}`, findMax.highest, formatCount],
          ...quantitiesOf(findMax.atHighest, unit),
        ])),
    ...levels.flatMap((level) =>
      labelRows(describeLevel(plan.load, level.level, level.phase?.index), quantitiesOf(level, unit)),
    ),
  ];
  if (rows.length === 0) return undefined;
  const header = ["level", "metric", "mean of the runs", "95 % interval", "deviation", "between / within", "runs"];
  const notes = [
    "Each value is the mean over whole runs. Between / within is the variation between runs over that within a run: above 2, a single run says too little.",
    ...(findMax === undefined
      ? []
      : [
          "Runs whose search has no certain answer do not count for the highest load. Of other loads, those of all runs are shown.",
        ]),
    ...describePrecision(plan, json),
  ];
  return { title: "Runs together", header, rows, notes };
}

/** Returns a row for each quantity that was measured, the first with the name of the level. */
function labelRows(label: string, quantities: readonly Quantity[]): TableCell[][] {
  const measured = quantities.flatMap(([name, over, format]) =>
    over === undefined ? [] : [overCells(name, over, format)],
  );
  return measured.map((cells, index) => [index === 0 ? label : "", ...cells]);
}

type Quantity = readonly [name: string, over: Over, format: (value: number) => string];

function quantitiesOf(level: CombinedResultsJson, unit: string): Quantity[] {
  const { latencyUs, scheduledLatencyUs, tokens } = level;
  return [
    [unit, level.inferPerSec, formatCount],
    ["average latency", latencyUs.mean, formatUs],
    ...(["p50", "p90", "p99"] as const).map((name): Quantity => [`${name} latency`, latencyUs[name], formatUs]),
    ["p99 from due time", scheduledLatencyUs?.p99, formatUs],
    ["p99 time to first token", tokens?.metrics[FIRST_TOKEN]?.p99, formatUs],
    ["p99 inter-token latency", tokens?.metrics[BETWEEN_TOKENS]?.p99, formatUs],
    ["output tokens/s", tokens?.outputTokensPerSec, formatCount],
    ["errors", level.errorRatio, formatPct],
  ];
}

const FIRST_TOKEN = `${nameOfMetric("timeToFirstTokenNs")}Us`;
const BETWEEN_TOKENS = `${nameOfMetric("interTokenLatencyNs")}Us`;

function overCells(name: string, over: NonNullable<Over>, format: (value: number) => string): TableCell[] {
  const { mean, low, high, deviation, betweenToWithinRatio, count } = over;
  return [
    name,
    format(mean),
    low === null || high === null ? "" : formatRange(format(low), format(high)),
    deviation === null ? "" : format(deviation),
    betweenToWithinRatio === null ? "" : formatCount(Number(betweenToWithinRatio.toPrecision(2))),
    formatCount(count),
  ];
}

function describePrecision({ repeat }: Plan, { repeat: { until }, runs }: RepeatedJson): string[] {
  if (repeat?.until === undefined || until === undefined) return [];
  const reached = until["reachedRatio"];
  const found = typeof reached === "number" ? `within ${formatPct(reached)}` : "not known";
  return [
    `${metricText(repeat.until.metric)} is ${found} of its mean after ${runs.length} runs; ${formatPct(repeat.until.ratio)} was asked for.`,
  ];
}
