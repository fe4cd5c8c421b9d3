import { alignLevels } from "../../../load/level-identity.ts";
import { certainEnds, UNKNOWN } from "../../../measure/intervals/certainty.ts";
import { describeLevel, levelTitles } from "../../../registry/level-names.ts";
import { type Plot, type PlotPoint, pickEvenly, roundForPlot, type XySeries } from "../../plot.ts";
import { type ReadEstimate, readMetric, readOver } from "../../schema/read-metrics.ts";
import type { LevelJson } from "../../schema/report-schema.ts";
import type { CombinedLevelJson } from "../../schema/runs.ts";
import type { ReportView } from "../report-view.ts";
import { timeUnitOf } from "../values.ts";
import { isMarked } from "./load-charts.ts";

/** Each run's value, and the interval of the mean over the runs. */

const MOST_LEVELS = 6;
const MOST_TICKS = 12;

type Found = ReadEstimate | undefined;

/** A series: the value of each run, and the combined value. */
interface RunsSeries {
  readonly name: string;
  readonly values: readonly Found[];
  readonly over: Found;
}

/** Draws the charts of repeated runs; empty for a single run. */
export function runsCharts(view: ReportView): Plot[] {
  const { json, plan, runs } = view;
  if (!("runs" in json) || runs.length < 2) return [];
  const { findMax, levels } = json.combination;
  const p99s = levels.map(({ metrics }) => readOver(metrics, "latency", "p99"));
  const time = timeUnitOf([Math.max(0, ...p99s.map((found) => found?.high ?? found?.value ?? 0))]);
  const aligned = alignWithRuns(view);
  const seriesOf = (pick: (level: LevelJson) => Found, overOf: (level: CombinedLevelJson) => Found) =>
    aligned.map(({ combined, byRun }) => ({
      name: describeLevel(plan, combined.level, combined.phase?.index),
      values: byRun.map((level) => level && pick(level)),
      over: overOf(combined),
    }));
  const over = findMax?.highest && { ...findMax.highest, value: findMax.highest.mean };
  const highest = { name: "highest load", values: certainLoads(view), over };
  const throughput = seriesOf(
    ({ metrics }) => readMetric(metrics, "throughput"),
    ({ metrics }) => readOver(metrics, "throughput"),
  );
  const latency = seriesOf(
    ({ metrics }) => readMetric(metrics, "latency", "p99"),
    ({ metrics }) => readOver(metrics, "latency", "p99"),
  );
  const load = levelTitles(plan).column;
  return [
    ...(findMax === undefined ? [] : drawRuns(view, "Highest load by run", load, 1, [highest])),
    ...drawRuns(view, "Throughput by run", `Throughput (${view.words.unit})`, 1, throughput),
    ...drawRuns(view, "p99 latency by run", `p99 latency (${time.name})`, time.ns, latency),
  ];
}

/** Returns the highest load of each run; undefined without a certain result. */
function certainLoads({ runs }: ReportView): Found[] {
  return runs.map(({ json: { findMax } }) =>
    findMax?.isResolved === true && findMax.highest !== null ? { value: findMax.highest, ...UNKNOWN } : undefined,
  );
}

/** Returns some of the levels of all runs, each with the measurements of the runs. */
function alignWithRuns({
  json,
  runs,
}: ReportView): { readonly combined: CombinedLevelJson; readonly byRun: (LevelJson | undefined)[] }[] {
  if (!("runs" in json)) return [];
  const levelsOf = runs.map((run) => run.json.levels);
  const aligned = alignLevels<CombinedLevelJson | LevelJson>([json.combination.levels, ...levelsOf]).flatMap(
    ([combined, ...byRun]) =>
      combined === undefined
        ? []
        : [{ combined: combined as CombinedLevelJson, byRun: byRun as (LevelJson | undefined)[] }],
  );
  return pickEvenly(aligned, MOST_LEVELS);
}

function drawRuns(
  { runs }: ReportView,
  title: string,
  yLabel: string,
  scale: number,
  shown: readonly RunsSeries[],
): Plot[] {
  const series = shown.flatMap(({ name, values, over }): XySeries[] => {
    const points = values.flatMap((found, run): PlotPoint[] =>
      found === undefined ? [] : [[run + 1, roundForPlot(found.value / scale)]],
    );
    const uncertain = values.flatMap((found) => (found === undefined ? [] : [isMarked(found)]));
    // The table marks an uncertain mean, so the chart does not show its interval.
    const { low, high } = over === undefined ? UNKNOWN : certainEnds(over);
    const ends = over === undefined ? [] : [low, over.value, high].filter((end) => end !== null);
    const lines = ends.map((end): XySeries => {
      const y = roundForPlot(end / scale);
      return {
        name,
        style: "line",
        isPartOfLast: true,
        isDashed: end !== over?.value,
        hasMarkers: false,
        points: [1, runs.length].map((x) => [x, y]),
      };
    });
    return points.length === 0 ? [] : [{ name, style: "points", points, uncertain }, ...lines];
  });
  if (series.length === 0) return [];
  const notes = ["Lines are the mean over the runs; dashed ones are the ends of its 95 % confidence interval."];
  const xTicks = pickEvenly(Array.from(runs.keys()), MOST_TICKS).map((run) => run + 1);
  return [
    { kind: "xy", title, xLabel: "Run", yLabel, group: "", notes, series, isFromZero: true, isWhole: true, xTicks },
  ];
}
