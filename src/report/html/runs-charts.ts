import { describeLevel } from "../../registry/load-modes.ts";
import { joinPlots, type PlotPoint, type PlotSet, type XySeries } from "../plots/plot.ts";
import { asSet } from "../plots/plotted-run.ts";
import { pickEvenly, roundForPlot } from "../plots/sample.ts";
import type { LevelJson } from "../schema/report-schema.ts";
import type { CombinedLevelJson } from "../tables/runs-table.ts";
import { type ShownReport, timeUnitFor } from "./shown-run.ts";

/** Each run's value, and the interval of the mean over the runs. */

/** The section of these charts. */
export const RUNS_GROUP = "Runs together";
const MOST_LEVELS = 6;

type Over = CombinedLevelJson["inferPerSec"];

/** Returns the charts of repeated runs; an empty set for a single one. */
export function runsPlots(report: ShownReport): PlotSet {
  const { json, runs, unit } = report;
  if (!("runs" in json) || runs.length < 2) return { plots: [], leftOut: [] };
  const levels = json.combination.levels;
  const most = Math.max(0, ...levels.map(({ latencyUs: { p99 } }) => p99?.high ?? p99?.mean ?? 0));
  const time = timeUnitFor(most);
  return joinPlots([
    drawRuns(
      report,
      "Throughput by Run",
      unit,
      1,
      ({ inferPerSec }) => inferPerSec,
      (level) => level.inferPerSec,
    ),
    drawRuns(
      report,
      "p99 Latency by Run",
      `p99 (${time.name})`,
      time.us,
      ({ latency }) => latency?.percentiles.p99.us,
      ({ latencyUs }) => latencyUs.p99,
    ),
  ]);
}

function drawRuns(
  { json, runs, plan }: ShownReport,
  title: string,
  yLabel: string,
  scale: number,
  pick: (level: LevelJson) => number | undefined,
  overOf: (level: CombinedLevelJson) => Over,
): PlotSet {
  if (!("runs" in json)) return { plots: [], leftOut: [] };
  const shown = pickEvenly(json.combination.levels, MOST_LEVELS);
  const series = shown.flatMap((combined): XySeries[] => {
    const points = runs.flatMap(({ levels }, run): PlotPoint[] => {
      const value = levels.flatMap((one) => (one.json.level === combined.level ? (pick(one.json) ?? []) : []))[0];
      return value === undefined ? [] : [[run + 1, roundForPlot(value / scale)]];
    });
    const over = overOf(combined);
    const name = describeLevel(plan.load, combined.level);
    const ends = over === undefined ? [] : [over.low, over.mean, over.high].filter((end) => end !== null);
    const lines = ends.map((end): XySeries => {
      const y = roundForPlot(end / scale);
      return {
        name,
        style: "line",
        isPartOfLast: true,
        isDashed: true,
        hasMarkers: false,
        points: [1, runs.length].map((x) => [x, y]),
      };
    });
    return [{ name, style: "points", points }, ...lines];
  });
  if (series.length === 0) return { plots: [], leftOut: [{ title, reason: "no run ended as planned" }] };
  const notes = ["Dashed lines are the mean over the runs and the ends of its 95 % confidence interval."];
  const frame = { title, xLabel: "Run", yLabel, group: RUNS_GROUP, notes };
  return asSet({ kind: "xy", ...frame, series, isFromZero: true, isWhole: true });
}
