import { alignLevels } from "../../../load/level-identity.ts";
import { describeLevel, levelTitles } from "../../../registry/level-names.ts";
import { type Plot, type PlotPoint, pickEvenly, roundForPlot, type XySeries } from "../../plot.ts";
import type { OverJson } from "../../schema/metrics.ts";
import { findOver, findSpread, readMetric } from "../../schema/read-metrics.ts";
import type { LevelJson } from "../../schema/report-schema.ts";
import type { CombinedLevelJson } from "../../schema/runs.ts";
import type { ReportView } from "../report-view.ts";
import { timeUnitFor } from "../values.ts";

/** Each run's value, and the interval of the mean over the runs. */

const MOST_LEVELS = 6;
const MOST_TICKS = 12;

type Over = OverJson | undefined;

/** A series: the value of each run, and the runs together. */
interface RunsSeries {
  readonly name: string;
  readonly values: readonly (number | undefined)[];
  readonly over: Over;
}

/** Draws the charts of repeated runs; nothing for a single one. */
export function runsCharts(view: ReportView): Plot[] {
  const { json, plan, runs } = view;
  if (!("runs" in json) || runs.length < 2) return [];
  const { findMax, levels } = json.combination;
  const time = timeUnitFor(
    Math.max(0, ...levels.map(({ metrics }) => p99Of(metrics)?.high ?? p99Of(metrics)?.mean ?? 0)),
  );
  const aligned = alignWithRuns(view);
  const seriesOf = (pick: (level: LevelJson) => number | undefined, overOf: (level: CombinedLevelJson) => Over) =>
    aligned.map(({ combined, byRun }) => ({
      name: describeLevel(plan, combined.level, combined.phase?.index),
      values: byRun.map((level) => level && pick(level)),
      over: overOf(combined),
    }));
  const highest = { name: "highest load", values: certainLoads(view), over: findMax?.highest };
  const throughput = seriesOf(
    ({ metrics }) => readMetric(metrics, "throughput")?.value,
    ({ metrics }) => findOver(metrics, "throughput"),
  );
  const latency = seriesOf(
    ({ metrics }) => findSpread(metrics, "latency")?.p99,
    ({ metrics }) => p99Of(metrics),
  );
  const load = levelTitles(plan).column;
  return [
    ...(findMax === undefined ? [] : drawRuns(view, "Highest load by run", load, 1, [highest])),
    ...drawRuns(view, "Throughput by run", `Throughput (${view.words.unit})`, 1, throughput),
    ...drawRuns(view, "p99 latency by run", `p99 latency (${time.name})`, time.us, latency),
  ];
}

function p99Of(metrics: CombinedLevelJson["metrics"]): Over {
  return findOver(metrics, "latency", "p99");
}

/** Returns the highest load of each run; undefined without a certain result. */
function certainLoads({ runs }: ReportView): (number | undefined)[] {
  return runs.map(({ json: { findMax } }) =>
    findMax?.isResolved === true ? (findMax.highest ?? undefined) : undefined,
  );
}

/** Returns some of the levels of all runs, each with what the runs measured at it. */
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
        isDashed: end !== over?.mean,
        hasMarkers: false,
        points: [1, runs.length].map((x) => [x, y]),
      };
    });
    return points.length === 0 ? [] : [{ name, style: "points", points }, ...lines];
  });
  if (series.length === 0) return [];
  const notes = ["Lines are the mean over the runs; dashed ones are the ends of its 95 % confidence interval."];
  const xTicks = pickEvenly(Array.from(runs.keys()), MOST_TICKS).map((run) => run + 1);
  return [
    { kind: "xy", title, xLabel: "Run", yLabel, group: "", notes, series, isFromZero: true, isWhole: true, xTicks },
  ];
}
