import { alignLevels } from "../../load/level-identity.ts";
import { LEVEL_UNITS } from "../../load/level-units.ts";
import { describeLevel, levelUnitOf } from "../../registry/load-modes.ts";
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

/** A series: the value of each run, and the runs together. */
interface RunsSeries {
  readonly name: string;
  readonly values: readonly (number | undefined)[];
  readonly over: Over;
}

/** Returns the charts of repeated runs; an empty set for a single one. */
export function runsPlots(report: ShownReport): PlotSet {
  const { json, plan, runs, unit } = report;
  if (!("runs" in json) || runs.length < 2) return { plots: [], leftOut: [] };
  const { findMax, levels } = json.combination;
  const most = Math.max(0, ...levels.map(({ latencyUs: { p99 } }) => p99?.high ?? p99?.mean ?? 0));
  const time = timeUnitFor(most);
  const aligned = alignWithRuns(report);
  const seriesOf = (pick: (level: LevelJson) => number | undefined, overOf: (level: CombinedLevelJson) => Over) =>
    aligned.map(({ combined, byRun }) => ({
      name: describeLevel(plan.load, combined.level, combined.phase?.index),
      values: byRun.map((level) => level && pick(level)),
      over: overOf(combined),
    }));
  const unitOfLoad = LEVEL_UNITS[levelUnitOf(plan.load)];
  return joinPlots([
    findMax === undefined
      ? { plots: [], leftOut: [] }
      : drawRuns(report, "Highest Load by Run", unitOfLoad.column, 1, [
          { name: "highest load", values: certainLoads(report), over: findMax.highest },
        ]),
    drawRuns(
      report,
      "Throughput by Run",
      unit,
      1,
      seriesOf(
        ({ inferPerSec }) => inferPerSec,
        (level) => level.inferPerSec,
      ),
    ),
    drawRuns(
      report,
      "p99 Latency by Run",
      `p99 (${time.name})`,
      time.us,
      seriesOf(
        ({ latency }) => latency?.percentiles.p99.us,
        ({ latencyUs }) => latencyUs.p99,
      ),
    ),
  ]);
}

/** Returns the highest load of each run; undefined without a certain answer. */
function certainLoads({ runs }: ShownReport): (number | undefined)[] {
  return runs.map(({ result: { findMax } }) => (findMax?.isResolved === true ? findMax.highest : undefined));
}

/** Returns some of the levels of all runs, each with what the runs measured at it. */
function alignWithRuns({
  json,
  runs,
}: ShownReport): { readonly combined: CombinedLevelJson; readonly byRun: (LevelJson | undefined)[] }[] {
  if (!("runs" in json)) return [];
  const levelsOf = runs.map(({ levels }) => levels.map((one) => one.json));
  const aligned = alignLevels<CombinedLevelJson | LevelJson>([json.combination.levels, ...levelsOf]).flatMap(
    ([combined, ...byRun]) =>
      combined === undefined
        ? []
        : [{ combined: combined as CombinedLevelJson, byRun: byRun as (LevelJson | undefined)[] }],
  );
  return pickEvenly(aligned, MOST_LEVELS);
}

function drawRuns(
  { runs }: ShownReport,
  title: string,
  yLabel: string,
  scale: number,
  shown: readonly RunsSeries[],
): PlotSet {
  const series = shown.flatMap(({ name, values, over }): XySeries[] => {
    const points = values.flatMap((value, run): PlotPoint[] =>
      value === undefined ? [] : [[run + 1, roundForPlot(value / scale)]],
    );
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
    return points.length === 0 ? [] : [{ name, style: "points", points }, ...lines];
  });
  if (series.length === 0) return { plots: [], leftOut: [{ title, reason: "no run has a value that counts" }] };
  const notes = ["Dashed lines are the mean over the runs and the ends of its 95 % confidence interval."];
  const frame = { title, xLabel: "Run", yLabel, group: RUNS_GROUP, notes };
  return asSet({ kind: "xy", ...frame, series, isFromZero: true, isWhole: true });
}
