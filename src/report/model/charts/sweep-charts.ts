import { UNKNOWN } from "../../../measure/intervals/certainty.ts";
import { levelTitles } from "../../../registry/level-names.ts";
import type { Meaning, Plot, XySeries } from "../../plot.ts";
import type { ReadEstimate } from "../../schema/read-metrics.ts";
import type { ReportView } from "../report-view.ts";
import { timeUnitOf } from "../values.ts";
import { barsOf, kneeLine, kneePlot, type LoadPoint, lineOf, loadAxis, loadPointsOf, unitOf } from "./load-charts.ts";

/** Charts of a sweep: latency against throughput, and metrics over each of its parameters. */

/** A varied parameter, with its values in the requested order. */
export interface SweepAxis {
  readonly name: string;
  readonly values: readonly string[];
  /** Whether all values are numbers, so that they have an order. */
  readonly isNumber: boolean;
}

/** A point of a sweep: its values by the name of the parameter, and its report. */
export interface SweptView {
  readonly values: readonly (readonly [name: string, value: string])[];
  readonly view: ReportView;
}

interface SweepCharts {
  /** Charts that answer the question: latency against throughput, and both over the first parameter. */
  readonly summary: readonly Plot[];
  readonly rest: readonly Plot[];
}

/** Names of parameters that are the load. A curve connects its points in the order of these. */
export const LOADS: readonly string[] = ["users", "concurrency", "rate", "requestRate"];
/** Maximum number of lines that can be distinguished. */
const MOST_LINES = 10;
const LOAD = "load";
const FRAME = { group: "", notes: [] } as const;

interface SweptLevel {
  readonly values: ReadonlyMap<string, string>;
  readonly point: LoadPoint;
}

/** Levels that differ only in the parameter on the x axis. */
interface Line {
  readonly name: string;
  /** Position among ordered lines, 0 to 1; undefined for lines without an order. */
  readonly shade: number | undefined;
  readonly levels: readonly SweptLevel[];
}

/** Draws the charts. @param axes the varied parameters */
export function sweepCharts(axes: readonly SweepAxis[], swept: readonly SweptView[]): SweepCharts {
  const loads = swept.map(({ view }) => loadPointsOf(view));
  const levels = swept.flatMap(({ values }, at) =>
    (loads[at] ?? []).map((point): SweptLevel => ({ values: new Map([...values, [LOAD, String(point.load)]]), point })),
  );
  const [first] = swept;
  if (first === undefined || levels.length < 2) return { summary: [], rest: [] };
  const { plan, words } = first.view;
  const { unit } = words;
  const all = loads.some((perPoint) => perPoint.length > 1) ? [...axes, loadAxisOf(levels)] : axes;
  const knee = drawKnee(all, levels, unit);
  const varied = axes.filter(({ values }) => values.length > 1);
  const isSearch = swept.some(({ view }) => highestOf(view) !== undefined);
  const [main = [], ...others] = varied.map((axis) =>
    isSearch
      ? drawOver(axis, axes, levels.filter(isHighest(swept)), [
          highestLoad(levelTitles(plan).axis),
          ...drawnMetrics(unit),
        ])
      : drawOver(axis, all, levels, drawnMetrics(unit)),
  );
  const summary = [...knee, ...main.slice(0, 2)];
  return { summary, rest: [...main.slice(2), ...others.flat()] };
}

/** Returns the highest load that a search found; undefined if there is none. */
function highestOf({ json }: ReportView): number | undefined {
  return "runs" in json ? undefined : (json.findMax?.highest ?? undefined);
}

/** Returns a predicate that selects the level at the highest load of its point. */
function isHighest(swept: readonly SweptView[]): (level: SweptLevel) => boolean {
  return ({ values, point }) =>
    swept.some(
      (one) => one.values.every(([name, value]) => values.get(name) === value) && highestOf(one.view) === point.load,
    );
}

/** Returns the load as a varied parameter, if points have several levels. */
function loadAxisOf(levels: readonly SweptLevel[]): SweepAxis {
  const loads = [...new Set(levels.map(({ point }) => point.load))].sort((a, b) => a - b);
  return { name: LOAD, values: loads.map(String), isNumber: true };
}

/** Returns the parameter that connects the points of a curve: the load, else the last numeric one; undefined if none. */
function joinedAlong(axes: readonly SweepAxis[]): SweepAxis | undefined {
  const ordered = axes.filter(({ isNumber, values }) => isNumber && values.length > 1);
  return (
    ordered.find(({ name }) => name === LOAD) ?? ordered.find(({ name }) => LOADS.includes(name)) ?? ordered.at(-1)
  );
}

function drawKnee(axes: readonly SweepAxis[], levels: readonly SweptLevel[], unit: string): Plot[] {
  const along = joinedAlong(axes);
  const { lines, notes } = linesOf(axes, along, levels);
  const points = levels.map(({ point }) => point);
  const time = unitOf(points, "latency");
  const names = lines.length === 1 ? (["p50", "p99"] as const) : (["p99"] as const);
  const series = lines.flatMap(({ name, shade, levels: drawn }) =>
    names.flatMap((percentile): XySeries[] => {
      const labelled = drawn.map((level) => ({ point: level.point, ...(along && { label: valueAt(level, along) }) }));
      const look = lines.length === 1 ? { name: percentile, meaning: percentile } : { name, shade };
      return kneeLine(labelled, percentile, time).map((line) => {
        return { style: line.points.length > 1 ? "line" : "points", ...look, ...line };
      });
    }),
  );
  const numbers =
    along === undefined ? [] : [`The numbers at the points are ${along.name === LOAD ? "the load" : along.name}.`];
  const yLabel = `${lines.length === 1 ? "Latency" : "p99 latency"} (${time.name})`;
  return kneePlot(series, unit, yLabel, [...numbers, ...notes]);
}

interface DrawnMetric {
  readonly name: string;
  /** Lines of the metric, if each is drawn once. */
  readonly parts: readonly { readonly name: string; readonly meaning: Meaning; readonly pick: PickEstimate }[];
  /** The part that is drawn if there are several lines. */
  readonly main: PickEstimate;
  /** Unit. Absent: the metric is a time. */
  readonly unit?: string;
}

type PickEstimate = (point: LoadPoint) => ReadEstimate | undefined;

/** Returns the load of a level, which for a search is the highest. @param unit of the load */
function highestLoad(unit: string): DrawnMetric {
  const pick: PickEstimate = ({ load }) => ({ value: load, ...UNKNOWN });
  return { name: "Highest load", parts: [{ name: "highest load", meaning: "throughput", pick }], main: pick, unit };
}

function drawnMetrics(unit: string): DrawnMetric[] {
  const times = (name: string, key: string): DrawnMetric => ({
    name,
    parts: (["p50", "p99"] as const).map((one) => ({ name: one, meaning: one, pick: ({ read }) => read(key, one) })),
    main: ({ read }) => read(key, "p99"),
  });
  const rate = (name: string, key: string, of: string): DrawnMetric => {
    const pick: PickEstimate = ({ read }) => read(key);
    return { name, parts: [{ name: name.toLowerCase(), meaning: "throughput", pick }], main: pick, unit: of };
  };
  return [
    rate("Throughput", "throughput", unit),
    times("Latency", "latency"),
    rate("Output tokens", "outputTokensPerSec", "tokens/s"),
    times("Time to first token", "timeToFirstToken"),
    times("Inter-token latency", "interTokenLatency"),
  ];
}

/** Draws the metrics over a parameter: lines over numbers, bars over words. */
function drawOver(
  axis: SweepAxis,
  axes: readonly SweepAxis[],
  levels: readonly SweptLevel[],
  metrics: readonly DrawnMetric[],
): Plot[] {
  const { lines, notes } = linesOf(axes, axis, levels);
  return metrics.flatMap((metric): Plot[] => {
    const series = seriesOf(metric, lines);
    if (!levels.some(({ point }) => series.some(({ pick }) => pick(point) !== undefined))) return [];
    const most = Math.max(0, ...levels.map(({ point }) => metric.main(point)?.value ?? 0));
    const scale = metric.unit === undefined ? timeUnitOf([most]) : { name: metric.unit, ns: 1 };
    const isOfMany = lines.length > 1 && metric.unit === undefined;
    const label = isOfMany ? `p99 of ${metric.name.toLowerCase()}` : metric.name;
    const frame = { ...FRAME, title: `${metric.name} by ${axis.name}`, yLabel: `${label} (${scale.name})`, notes };
    return [axis.isNumber ? drawLines(axis, frame, series, scale.ns) : drawBars(axis, frame, series, scale.ns)];
  });
}

interface DrawnSeries extends Pick<XySeries, "name" | "meaning" | "shade"> {
  readonly levels: readonly SweptLevel[];
  readonly pick: PickEstimate;
}

/** Returns all parts of a metric if there is one line, and otherwise its main part for each line. */
function seriesOf({ parts, main }: DrawnMetric, lines: readonly Line[]): DrawnSeries[] {
  const [only, ...more] = lines;
  if (only === undefined) return [];
  if (more.length === 0) return parts.map((part) => ({ ...part, levels: only.levels }));
  return lines.map(({ name, shade, levels }) => ({ name, shade, levels, pick: main }));
}

type Frame = Pick<Plot, "title" | "yLabel" | "group" | "notes">;

function drawBars(axis: SweepAxis, frame: Frame, series: readonly DrawnSeries[], scale: number): Plot {
  const bars = series.map(({ name, meaning, levels, pick }) => ({
    name,
    meaning,
    ...barsOf(
      axis.values.map((value) => {
        const level = levels.find((one) => valueAt(one, axis) === value);
        return level && pick(level.point);
      }),
      scale,
    ),
  }));
  return { kind: "bars", ...frame, xLabel: axis.name, categories: axis.values, series: bars, isStacked: false };
}

function drawLines(axis: SweepAxis, frame: Frame, series: readonly DrawnSeries[], scale: number): Plot {
  const lines = series.flatMap(({ name, meaning, shade, levels, pick }) => {
    const points = levels.map((level) => ({ load: Number(valueAt(level, axis)), found: pick(level.point) }));
    return lineOf(name, meaning, points, ({ found }) => found, scale).map((line) => ({ ...line, shade }));
  });
  const numbers = axis.values.map(Number);
  return { ...frame, ...loadAxis(numbers, axis.name, numbers.every(Number.isInteger)), series: lines };
}

/** Groups levels by all parameters except one, in the order of that one. @param along that parameter; undefined: none */
function linesOf(
  axes: readonly SweepAxis[],
  along: SweepAxis | undefined,
  levels: readonly SweptLevel[],
): { readonly lines: readonly Line[]; readonly notes: readonly string[] } {
  const others = axes.filter((axis) => axis !== along && axis.values.length > 1);
  const nameOf = (level: SweptLevel): string => others.map((axis) => `${axis.name} ${valueAt(level, axis)}`).join(", ");
  const groups = [...Map.groupBy(levels, nameOf)].sort(([, [a]], [, [b]]) => placeOf(others, a) - placeOf(others, b));
  const isOrdered = others.length === 1 && others[0]?.isNumber === true;
  const shown = groups.slice(0, MOST_LINES);
  const lines = shown.map(
    ([name, members], index): Line => ({
      name,
      shade: isOrdered && shown.length > 1 ? index / (shown.length - 1) : undefined,
      levels: along === undefined ? members : members.toSorted((a, b) => placeOf([along], a) - placeOf([along], b)),
    }),
  );
  const notes =
    groups.length > shown.length ? [`The first ${shown.length} of ${groups.length} combinations are drawn.`] : [];
  return { lines, notes };
}

function valueAt({ values }: SweptLevel, { name }: SweepAxis): string {
  return values.get(name) ?? "";
}

/** Returns the position of a level among all combinations of some parameters: numbers by size, words in the requested order. */
function placeOf(axes: readonly SweepAxis[], level: SweptLevel | undefined): number {
  if (level === undefined) return 0;
  return axes.reduce((place, axis) => {
    const ordered = axis.isNumber ? axis.values.toSorted((a, b) => Number(a) - Number(b)) : axis.values;
    return place * axis.values.length + ordered.indexOf(valueAt(level, axis));
  }, 0);
}
