import { joinPlots, type PlotPoint, type PlotSet, type XySeries } from "../plot.ts";
import { roundForPlot } from "../plot-points.ts";
import { asSet, leaveOut } from "../plots/plotted-run.ts";
import { metricLabel } from "./layout.ts";
import { chooseAxes, findPareto, type SweepPoint } from "./sweep/sweep.ts";

/** Plots of a sweep: throughput against latency, and each metric over the varied parameters. */

const NOT_STREAMED = "responses were not streamed";
const TRADE = "Trade-off";
const OVER_SWEEP = "Over the sweep";
const RATES = ["output_token_throughput", "request_throughput", "request_goodput"];
const TIMES = ["time_to_first_token", "inter_token_latency", "request_latency"];

/** All plots of a sweep; none without points. */
export function sweepPlots(points: readonly SweepPoint[]): PlotSet {
  if (points.length === 0) return { plots: [], leftOut: [] };
  return joinPlots([
    drawPareto(points),
    drawFirstTokens(points),
    ...RATES.map((name) => drawMetric(points, name, ["avg"])),
    ...TIMES.map((name) => drawMetric(points, name, ["avg", "p99"])),
  ]);
}

type Statistic = "avg" | "p99";

function statisticOf({ result }: SweepPoint, metric: string, statistic: Statistic): number {
  return result.statistics.get(metric)?.values.get(statistic) ?? Number.NaN;
}

/** Returns the varied values: `4`, or `4, 128`. */
function labelOf({ parameters }: SweepPoint): string {
  return parameters.map(([, value]) => String(value)).join(", ");
}

function drawPareto(points: readonly SweepPoint[]): PlotSet {
  const axes = chooseAxes(points);
  const per = axes.gpuCounts === undefined ? "" : " per GPU";
  const [what, unit] =
    axes.throughput === "output_token_throughput"
      ? ["Output Token Throughput", "tokens/sec"]
      : ["Request Throughput", "requests/sec"];
  const title = `${what}${per} vs Request Latency`;
  const placed = findPareto(points, axes)
    .map((place, i) => ({ ...place, label: labelOf(points[i] as SweepPoint) }))
    .filter(({ throughput, latencyMs }) => Number.isFinite(throughput) && Number.isFinite(latencyMs));
  if (placed.length === 0) return leaveOut(title, "no point has both");
  const toSeries = (name: string, style: XySeries["style"], chosen: typeof placed): XySeries => ({
    name,
    style,
    points: chosen.map(({ latencyMs, throughput }) => [roundForPlot(latencyMs), roundForPlot(throughput)]),
    labels: chosen.map(({ label }) => label),
  });
  const best = placed.filter(({ isOptimal }) => isOptimal).sort((a, b) => a.latencyMs - b.latencyMs);
  const beaten = placed.filter(({ isOptimal }) => !isOptimal);
  const series = [
    toSeries("Pareto front: no other point beats these", "line", best),
    ...(beaten.length === 0 ? [] : [toSeries("other points", "points", beaten)]),
  ];
  const frame = { title, xLabel: "Request Latency, p99 (ms)", yLabel: `${what}${per} (${unit})`, group: TRADE };
  return asSet({ kind: "xy", ...frame, notes: noteLabels(points), series, isFromZero: true });
}

/** AIPerf's plot, with points joined in the order of the sweep. */
function drawFirstTokens(points: readonly SweepPoint[]): PlotSet {
  const title = "TTFT vs Throughput";
  const isStreaming = points.some(({ result }) => result.isStreaming);
  const drawn = points.filter(
    (point) =>
      point.result.isStreaming &&
      Number.isFinite(statisticOf(point, "time_to_first_token", "avg")) &&
      Number.isFinite(statisticOf(point, "request_throughput", "avg")),
  );
  if (drawn.length === 0) return leaveOut(title, isStreaming ? "no point has both" : NOT_STREAMED);
  const series = groupByOthers(drawn).map(
    ([name, group]): XySeries => ({
      name,
      style: "line",
      points: group.map((point) => [
        roundForPlot(statisticOf(point, "time_to_first_token", "avg")),
        roundForPlot(statisticOf(point, "request_throughput", "avg")),
      ]),
      labels: group.map(labelOf),
    }),
  );
  const frame = { title, xLabel: "Time to First Token, avg (ms)", yLabel: "Request Throughput (requests/sec)" };
  return asSet({ kind: "xy", ...frame, group: TRADE, notes: noteLabels(points), series, isFromZero: true });
}

function noteLabels([point]: readonly SweepPoint[]): string[] {
  const names = (point?.parameters ?? []).map(([name]) => titleOf(name));
  return names.length === 0 ? [] : [`Points are labelled with their ${names.join(" and ")}.`];
}

/** Groups by the parameters after the first; ascending in the first. */
function groupByOthers(points: readonly SweepPoint[]): [name: string, group: SweepPoint[]][] {
  const groups = new Map<string, SweepPoint[]>();
  for (const point of points) {
    const name = point.parameters
      .slice(1)
      .map(([other, value]) => `${other} ${value}`)
      .join(", ");
    groups.set(name, [...(groups.get(name) ?? []), point]);
  }
  const byFirst = (a: SweepPoint, b: SweepPoint): number => (a.parameters[0]?.[1] ?? 0) - (b.parameters[0]?.[1] ?? 0);
  return [...groups].map(([name, group]) => [name === "" ? "all points" : name, group.toSorted(byFirst)]);
}

function drawMetric(points: readonly SweepPoint[], metric: string, statistics: readonly Statistic[]): PlotSet {
  const parameter = titleOf(points[0]?.parameters[0]?.[0] ?? "point");
  const title = `${titleOf(metric)} vs ${parameter}`;
  if (metric === "time_to_first_token" && !points.some(({ result }) => result.isStreaming))
    return leaveOut(title, NOT_STREAMED);
  const groups = groupByOthers(points);
  const series = groups.flatMap(([name, group]) =>
    statistics.flatMap((statistic, i): XySeries[] => {
      const drawn = group
        .map((point): PlotPoint => [point.parameters[0]?.[1] ?? 0, roundForPlot(statisticOf(point, metric, statistic))])
        .filter(([, value]) => Number.isFinite(value));
      if (drawn.length === 0) return [];
      if (groups.length === 1) return [{ name: statistic, style: "line", points: drawn }];
      return [{ name, style: "line", points: drawn, isPartOfLast: i > 0, isDashed: i > 0 }];
    }),
  );
  // A goodput that was not requested is not missing.
  if (series.length === 0)
    return metric === "request_goodput" ? { plots: [], leftOut: [] } : leaveOut(title, "no point has it");
  const notes = groups.length > 1 && statistics.length > 1 ? [`Dashed: ${statistics.slice(1).join(", ")}.`] : [];
  const unit = points.map(({ result }) => result.statistics.get(metric)?.unit).find((one) => one !== undefined) ?? "";
  const frame = { title, xLabel: parameter, yLabel: metricLabel({ name: metric, unit }), group: OVER_SWEEP, notes };
  return asSet({ kind: "xy", ...frame, series, isFromZero: true });
}

function titleOf(name: string): string {
  return metricLabel({ name, unit: "" }).replace(/ \(\)$/, "");
}
