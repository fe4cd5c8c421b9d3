import { LEVEL_UNITS, type LevelUnit } from "../../load/level-units.ts";
import { metricOf } from "../../measure/metrics/catalogue.ts";
import { formatMetric, metricText, unitOf } from "../../measure/metrics/metric-text.ts";
import type { MetricEstimate } from "../../measure/metrics/read-metric.ts";
import type { AssertionPlan, MetricPlan } from "../../plan/assertions.ts";
import { nsToUs, usToNs } from "../../plan/units.ts";
import { inPlanUnit } from "../json/values.ts";
import { joinPlots, type PlotPoint, type PlotSet, type XySeries } from "../plots/plot.ts";
import { asSet, leaveOut } from "../plots/plotted-run.ts";
import { roundForPlot } from "../plots/sample.ts";
import { PALETTE } from "../plots/themes.ts";
import type { LevelJson } from "../schema/report-schema.ts";
import { LIMIT_STATES } from "../tables/answer-tables.ts";
import { levelRows, type ShownReport, type ShownRun, seriesName, timeUnitFor } from "./shown-run.ts";

/** The curve of a search for the highest load: each limited metric by load, with intervals and the states of points. */

/** The section of these charts. */
export const SEARCH_GROUP = "Highest load";
const STATES = ["kept", "broken", "unresolved"] as const;

/** A limit further above the values than this would flatten them. */
const FAR_RATIO = 4;

type VerdictJson = NonNullable<LevelJson["limits"]>["verdicts"][number];

/** A judged metric at one load. */
interface SearchPoint {
  readonly run: ShownRun;
  readonly load: number;
  readonly verdict: Pick<VerdictJson, "state"> & MetricEstimate;
}

/** The same in all charts, whichever states they have. */
const STATE_COLORS: Readonly<Record<(typeof STATES)[number], string>> = {
  kept: PALETTE[2],
  broken: PALETTE[6],
  unresolved: PALETTE[1],
};
const LIMIT_COLOR = "#8a93a3";

/** Returns a chart for each limit of a search; an empty set for other loads. */
export function searchPlots(report: ShownReport): PlotSet {
  const levels = levelRows(report);
  const searched = levels.find(({ json: { limits } }) => limits !== undefined);
  if (searched === undefined) return { plots: [], leftOut: [] };
  const load = LEVEL_UNITS[searched.json.unit];
  return joinPlots((report.plan.limits ?? []).map((limit, index) => drawLimit(report, limit, index, levels, load)));
}

function drawLimit(
  { unit, runs }: ShownReport,
  limit: AssertionPlan,
  index: number,
  levels: ReturnType<typeof levelRows>,
  load: LevelUnit,
): PlotSet {
  const name = metricText(limit.metric);
  const title = `${name.charAt(0).toUpperCase()}${name.slice(1)} by Load`;
  const points = levels
    .flatMap(({ run, json: { level, limits } }): SearchPoint[] => {
      const verdict = limits?.verdicts[index];
      if (verdict?.measured === undefined) return [];
      return [{ run, load: level, verdict: { state: verdict.state, ...inPlanUnit(verdict.measured) } }];
    })
    .toSorted((a, b) => a.load - b.load);
  if (points.length === 0) return leaveOut(title, "it has no value at any load");
  const most = Math.max(...points.flatMap(({ verdict: { value, high } }) => [value, high ?? value]));
  const isFar = limit.limit > FAR_RATIO * most;
  const scale = scaleOf(limit.metric, isFar ? most : Math.max(limit.limit, most), unit);
  const at = ({ load }: SearchPoint, value: number): PlotPoint => [load, roundForPlot(value / scale.size)];
  const curves = runs.map((run): XySeries => {
    const own = points.filter((point) => point.run === run);
    return {
      name: seriesName(run, "measured"),
      style: "line",
      points: own.map((point) => at(point, point.verdict.value)),
    };
  });
  const states = STATES.flatMap((state) => drawState(state, points, at));
  const [first, last] = [points[0] as SearchPoint, points.at(-1) as SearchPoint];
  const limitLine: XySeries = {
    name: `limit ${formatMetric(limit.metric, limit.limit, unit)}`,
    style: "line",
    isDashed: true,
    color: LIMIT_COLOR,
    hasMarkers: false,
    points: [at(first, limit.limit), ...(last.load > first.load ? [at(last, limit.limit)] : [])],
  };
  const notes = [
    "Vertical lines are 95 % confidence intervals. A point keeps the limit when its whole interval does.",
    ...(isFar ? [`The limit, ${formatMetric(limit.metric, limit.limit, unit)}, is far above.`] : []),
  ];
  const frame = { title, xLabel: load.axis, yLabel: `${name} (${scale.name})`, group: SEARCH_GROUP, notes };
  return asSet({
    kind: "xy",
    ...frame,
    series: [...curves, ...(isFar ? [] : [limitLine]), ...states],
    isFromZero: true,
    isWhole: load.isWhole,
  });
}

/** Draws the points of a state and their intervals. */
function drawState(
  state: (typeof STATES)[number],
  points: readonly SearchPoint[],
  at: (point: SearchPoint, value: number) => PlotPoint,
): XySeries[] {
  const own = points.filter(({ verdict }) => verdict.state === state);
  if (own.length === 0) return [];
  const { text } = LIMIT_STATES[state];
  const intervals = own.flatMap((point): XySeries[] => {
    const { value, low = null, high = null } = point.verdict;
    const ends = [low ?? value, high ?? value] as const;
    if (ends[0] === ends[1]) return [];
    return [{ name: text, style: "line", isPartOfLast: true, points: ends.map((end) => at(point, end)) }];
  });
  return [
    {
      name: text,
      style: "points",
      color: STATE_COLORS[state],
      points: own.map((point) => at(point, point.verdict.value)),
    },
    ...intervals,
  ];
}

/** Returns the unit of a chart for values of a metric up to this one. */
function scaleOf(metric: MetricPlan, most: number, unit: string): { readonly name: string; readonly size: number } {
  const { quantity } = metricOf(metric);
  if (quantity === "time") {
    const time = timeUnitFor(nsToUs(most));
    return { name: time.name, size: usToNs(time.us) };
  }
  return { name: unitOf(metric, unit) || "value", size: quantity === "ratio" ? 0.01 : 1 };
}
