import { LEVEL_UNITS } from "../../load/level-units.ts";
import { forEachValue, type Sketch } from "../../measure/sketch.ts";
import { nsToUs } from "../../plan/units.ts";
import { joinPlots, type PlotPoint, type PlotSet, type XySeries } from "../plots/plot.ts";
import { asSet, leaveOut } from "../plots/plotted-run.ts";
import { pickEvenly, roundForPlot } from "../plots/sample.ts";
import { type ShownReport, seriesName, type TimeUnit, timeUnitFor } from "./shown-run.ts";

/** Latency against throughput, and the distribution of latencies. */

/** The section of these charts. */
export const LOAD_GROUP = "Latency and throughput";
const SHOWN_PERCENTILES = ["p50", "p90", "p99"] as const;
/** Percentiles of each of several runs. */
const COMPARED_PERCENTILES = ["p50", "p99"] as const;
/** More lines cannot be distinguished. */
const MOST_CURVES = 8;
const NINES_STEP = 0.05;
const MEDIAN_NINES = Math.log10(2);

/** Returns the charts of the levels. */
export function loadPlots(report: ShownReport): PlotSet {
  return joinPlots([drawLoadCurve(report), drawPercentiles(report)]);
}

function drawLoadCurve({ runs, unit }: ShownReport): PlotSet {
  const title = "Latency Against Throughput";
  const levels = runs.flatMap((run) => run.levels);
  const [first] = levels;
  const most = Math.max(0, ...levels.map(({ json }) => json.latency?.percentiles.p99.us ?? 0));
  if (first === undefined || !runs.some((run) => run.levels.length > 1))
    return leaveOut(title, "the run has one level");
  if (levels.every(({ json }) => json.latency === null)) return leaveOut(title, "no request succeeded");
  if (levels.some(({ json }) => json.phase !== undefined)) return leaveOut(title, "the load has phases");
  const time = timeUnitFor(most);
  const names = runs.length === 1 ? SHOWN_PERCENTILES : COMPARED_PERCENTILES;
  const series = runs.flatMap((run) =>
    names.map((percentile, index): XySeries => {
      const known = run.levels.filter(({ json }) => json.latency !== null);
      return {
        name: seriesName(run, percentile),
        style: "line",
        points: known.map(({ json }) => [
          roundForPlot(json.inferPerSec),
          roundForPlot((json.latency?.percentiles[percentile].us ?? 0) / time.us),
        ]),
        // The highest line has the names, because those of several lines would overlap.
        ...(index === names.length - 1 ? { labels: known.map(({ json }) => String(roundForPlot(json.level))) } : {}),
      };
    }),
  );
  const notes = [`The numbers at the points are the load: ${LEVEL_UNITS[first.json.unit].axis.toLowerCase()}.`];
  const frame = { title, xLabel: `Throughput (${unit})`, yLabel: `Latency (${time.name})`, group: LOAD_GROUP, notes };
  return asSet({ kind: "xy", ...frame, series, isFromZero: true });
}

function drawPercentiles({ runs }: ShownReport): PlotSet {
  const title = "Latency by Percentile";
  const curves = runs.flatMap((run) =>
    run.levels
      .filter(({ result }) => result.window.requestCount > 0)
      .map((level) => ({ name: seriesName(run, level.name), tally: level.result.window.latency })),
  );
  if (curves.length === 0) return leaveOut(title, "no request succeeded");
  const shown = pickEvenly(curves, MOST_CURVES);
  const time = timeUnitFor(Math.max(...shown.map(({ tally }) => nsToUs(tally.max))));
  const series = shown.map(
    ({ name, tally }): XySeries => ({ name, style: "line", points: percentileCurve(tally, time) }),
  );
  const notes = [
    "The scale spreads the slowest requests: from each mark to the next there are ten times fewer.",
    ...(shown.length < curves.length ? [`${shown.length} of ${curves.length} levels.`] : []),
  ];
  const frame = { title, xLabel: "Percentile", yLabel: `Latency (${time.name})`, group: LOAD_GROUP, notes };
  return asSet({ kind: "xy", ...frame, series, isFromZero: true, isPercentile: true });
}

/** Returns the nines at which a curve of this number of samples has points: up to the last sample. */
export function ninesOf(count: number): number[] {
  const most = Math.log10(Math.max(1, count));
  const steps = Array.from({ length: Math.floor(most / NINES_STEP) + 1 }, (_, i) => roundForPlot(i * NINES_STEP));
  return [...new Set([...steps, ...(most > MEDIAN_NINES ? [MEDIAN_NINES] : []), most])].sort((a, b) => a - b);
}

/** Returns a tally's percentiles by their number of nines. */
export function percentileCurve(tally: Sketch, time: TimeUnit): PlotPoint[] {
  const { count } = tally;
  const cells: [us: number, count: number][] = [];
  forEachValue(tally, (ns, cell) => {
    cells.push([nsToUs(ns), cell]);
  });
  let cell = 0;
  let seen = cells[0]?.[1] ?? 0;
  const nines = ninesOf(count);
  return nines.map((nine, index) => {
    // The same rank as `percentileAt`; the last point is the maximum.
    const rank = index === nines.length - 1 ? count - 1 : Math.floor((1 - 10 ** -nine) * (count - 1) + 0.5);
    while (seen <= rank && cell < cells.length - 1) seen += cells[++cell]?.[1] ?? 0;
    return [roundForPlot(nine), roundForPlot((cells[cell]?.[0] ?? 0) / time.us)];
  });
}
