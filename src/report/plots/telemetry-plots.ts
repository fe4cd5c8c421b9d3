import type { TelemetryMetric } from "../../telemetry/series.ts";
import { joinPlots, type PlotSet, type XySeries } from "../plot.ts";
import { roundForPlot } from "../plot-points.ts";
import { asSet, leaveOut } from "./plotted-run.ts";

/** A server's metrics over the time of a run: one plot per metric, with a line for each GPU or series. */

const GROUP = "Server";
/** More lines than this cannot be distinguished. */
const MOST_LINES = 24;

/** Returns one plot for each metric. */
export function telemetryPlots(metrics: readonly TelemetryMetric[]): PlotSet {
  return joinPlots(metrics.map(drawMetric));
}

function drawMetric({ name, unit, series }: TelemetryMetric): PlotSet {
  const title = `${name} Over Time`;
  const read = series.filter(({ values }) => values.some(Number.isFinite));
  if (read.length === 0) return leaveOut(title, "no value of it was read");
  const lines = read.slice(0, MOST_LINES).map(
    ({ label, timesSec, values }): XySeries => ({
      name: label === "" ? name : label,
      style: "line",
      points: values.flatMap((value, i): [number, number][] => {
        const sec = timesSec[i];
        return sec === undefined || !Number.isFinite(value) ? [] : [[roundForPlot(sec), roundForPlot(value)]];
      }),
    }),
  );
  const notes = read.length > lines.length ? [`The first ${lines.length} of ${read.length} series.`] : [];
  const frame = { title, xLabel: "Time (s)", yLabel: unit === "" ? name : `${name} (${unit})`, group: GROUP, notes };
  return asSet({ kind: "xy", ...frame, series: lines, isFromZero: false });
}
