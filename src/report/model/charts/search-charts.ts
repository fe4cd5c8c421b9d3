import { LEVEL_UNITS, type LevelUnit } from "../../../load/level-units.ts";
import { type Interval, scaleInterval } from "../../../measure/intervals/certainty.ts";
import { metricOf } from "../../../measure/metrics/catalogue.ts";
import { formatMetric, metricText, unitOf } from "../../../measure/metrics/metric-text.ts";
import type { MetricEstimate } from "../../../measure/metrics/read-metric.ts";
import type { AssertionPlan, MetricPlan } from "../../../plan/assertions.ts";
import { levelTitles } from "../../../registry/level-names.ts";
import { type Meaning, type Plot, type PlotPoint, roundForPlot, type XySeries } from "../../plot.ts";
import { inBaseUnit } from "../../schema/read-metrics.ts";
import type { LevelJson } from "../../schema/report-schema.ts";
import { LIMIT_TEXTS } from "../level-columns.ts";
import { nameInRun, type ReportView } from "../report-view.ts";
import { timeUnitOf } from "../values.ts";
import { loadAxis } from "./load-charts.ts";

/** A search for the highest load: each limited metric over the tried loads, with intervals and the states of points. */

const STATES = ["kept", "broken", "unresolved"] as const;
type State = (typeof STATES)[number];
const MEANINGS: Readonly<Record<State, Meaning>> = { kept: "passed", broken: "failed", unresolved: "unresolved" };

/** A limit above the values by more than this factor would flatten them. */
const FAR_RATIO = 4;

type VerdictJson = NonNullable<LevelJson["limits"]>["verdicts"][number];

/** A judged metric at one load. */
interface SearchPoint {
  readonly run: string;
  readonly load: number;
  readonly verdict: Pick<VerdictJson, "state"> & MetricEstimate;
}

/** Draws a chart for each limit of a search; empty for other loads. */
export function searchCharts(view: ReportView): Plot[] {
  const searched = view.levels.find(({ json: { limits } }) => limits !== undefined);
  if (searched === undefined) return [];
  const load = LEVEL_UNITS[searched.json.unit];
  return (view.plan.limits ?? []).flatMap((limit, index) => drawLimit(view, limit, index, load));
}

function pointsOf(view: ReportView, index: number): SearchPoint[] {
  return view.levels
    .flatMap(({ run, json: { level, limits } }): SearchPoint[] => {
      const verdict = limits?.verdicts[index];
      if (verdict?.measured === undefined) return [];
      return [{ run, load: level, verdict: { state: verdict.state, ...inBaseUnit(verdict.measured) } }];
    })
    .toSorted((a, b) => a.load - b.load);
}

function drawLimit(view: ReportView, limit: AssertionPlan, index: number, load: LevelUnit): Plot[] {
  const { unit } = view.words;
  // Names of percentiles stay small.
  const title = metricText(limit.metric).replace(/^[a-z](?!\d)/, (letter) => letter.toUpperCase());
  const points = pointsOf(view, index);
  const [first, last] = [points[0], points.at(-1)];
  if (first === undefined || last === undefined) return [];
  const most = Math.max(...points.flatMap(({ verdict: { value, high } }) => [value, high ?? value]));
  const isFar = limit.limit > FAR_RATIO * most;
  const scale = scaleOf(limit.metric, isFar ? most : Math.max(limit.limit, most), unit);
  const at = (load: number, value: number): PlotPoint => [load, roundForPlot(value / scale.size)];
  const curves = view.runs.map((run): XySeries => {
    const ofRun = points.filter((point) => point.run === run.name);
    const line = ofRun.map((point) => at(point.load, point.verdict.value));
    return { name: nameInRun(run.name, "measured"), style: "line", meaning: "base", hasMarkers: false, points: line };
  });
  const text = formatMetric(limit.metric, limit.limit, unit);
  const limitLine: XySeries = {
    name: `limit ${text}`,
    style: "line",
    isDashed: true,
    meaning: "limit",
    hasMarkers: false,
    // A single load gets space on both sides, so that the line is visible.
    points: [
      at(first.load === last.load ? first.load / 2 : first.load, limit.limit),
      at(first.load === last.load ? first.load * 1.5 : last.load, limit.limit),
    ],
  };
  const notes = [
    "Vertical lines are 95 % confidence intervals. A point keeps the limit when its whole interval does.",
    ...(isFar ? [`The limit, ${text}, is far above.`] : []),
  ];
  const loads = [...new Set(points.map((point) => point.load))];
  return [
    {
      ...loadAxis(loads, levelTitles(view.plan).axis, load.isWhole),
      title: `${title} by load`,
      yLabel: `${title} (${scale.name})`,
      group: "",
      notes,
      series: [
        ...curves,
        ...(isFar ? [] : [limitLine]),
        ...STATES.flatMap((state) => drawState(state, points, scale.size)),
      ],
    },
  ];
}

function drawState(state: State, points: readonly SearchPoint[], size: number): XySeries[] {
  const ofState = points.filter(({ verdict }) => verdict.state === state);
  if (ofState.length === 0) return [];
  const scale = (value: number): number => roundForPlot(value / size);
  const intervalOf = ({ verdict }: SearchPoint): Interval | undefined =>
    verdict.low === null && verdict.high === null ? undefined : scaleInterval(verdict, scale);
  return [
    {
      name: LIMIT_TEXTS[state],
      meaning: MEANINGS[state],
      style: "points",
      points: ofState.map(({ load, verdict }) => [load, scale(verdict.value)]),
      intervals: ofState.map(intervalOf),
    },
  ];
}

/** Returns the unit of a chart for values of a metric up to this one. */
function scaleOf(metric: MetricPlan, most: number, unit: string): { readonly name: string; readonly size: number } {
  const { quantity } = metricOf(metric);
  if (quantity === "time") {
    const { name, ns } = timeUnitOf([most]);
    return { name, size: ns };
  }
  return { name: unitOf(metric, unit) || "value", size: quantity === "ratio" ? 0.01 : 1 };
}
