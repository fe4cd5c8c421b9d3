import type { GpuMetric } from "../../measure/gpu-tally.ts";
import { averageUs } from "../../measure/server-delta.ts";
import { secToNs } from "../../plan/units.ts";
import type { PlotPoint, PlotSet, TimeLinePanel } from "../plots/plot.ts";
import { asSet, leaveOut } from "../plots/plotted-run.ts";
import { roundForPlot } from "../plots/sample.ts";
import { type ShownLevel, type ShownReport, type ShownRun, seriesName, timeUnitFor } from "./shown-run.ts";

/** Where the server spends the time, and its GPUs over the run. */

/** The section of these charts. */
export const SERVER_GROUP = "Server";

/** Metrics of GPUs over time, with the scale to the unit of the chart. */
const GPU_PANELS: readonly (readonly [metric: GpuMetric, what: string, label: string, scale: number])[] = [
  ["utilizationRatio", "busy", "GPU busy (%)", 100],
  ["powerWatts", "power", "GPU power (W)", 1],
  ["memoryUsedBytes", "memory", "GPU memory used (GB)", 1e-9],
];

/** Draws the metrics of GPUs; nothing when none were read. @param secondsOf converts monotonic nanoseconds to the time axis */
export function gpuPanels(run: ShownRun, secondsOf: (run: ShownRun, atNs: number) => number): TimeLinePanel[] {
  return GPU_PANELS.flatMap(([metric, what, label, scale]) => {
    const read = run.follower.gpuReadings(metric);
    if (read.length === 0) return [];
    const series = read.map(([uuid, { timesSec, values }]) => ({
      name: read.length === 1 ? `GPU ${what}` : `${uuid} ${what}`,
      style: "line" as const,
      points: Array.from(
        timesSec,
        (sec, i): PlotPoint => [secondsOf(run, secToNs(sec)), roundForPlot((values[i] ?? 0) * scale)],
      ),
    }));
    return [{ label, series }];
  });
}

/** Mean times of a request at a level in microseconds, which add up to the client's mean latency. */
export interface ServerShares {
  readonly queueUs: number;
  readonly inputUs: number;
  readonly inferUs: number;
  readonly outputUs: number;
  /** In the server, outside of queue and compute. */
  readonly otherUs: number;
  /** Network and client. */
  readonly outsideUs: number;
}

/** Divides the mean latency of a level; undefined without the server's statistics. */
export function sharesOf({ json: { server, latency } }: ShownLevel): ServerShares | undefined {
  if (server === undefined || latency === null || server.successCount === 0) return undefined;
  const queueUs = averageUs(server.queueNs, server.queueCount);
  const inputUs = averageUs(server.computeInputNs, server.computeInputCount);
  const inferUs = averageUs(server.computeInferNs, server.computeInferCount);
  const outputUs = averageUs(server.computeOutputNs, server.computeOutputCount);
  const serverUs = averageUs(server.successNs, server.successCount);
  const otherUs = Math.max(0, serverUs - queueUs - inputUs - inferUs - outputUs);
  return { queueUs, inputUs, inferUs, outputUs, otherUs, outsideUs: Math.max(0, latency.meanUs - serverUs) };
}

const PARTS: readonly (readonly [name: string, part: keyof ServerShares])[] = [
  ["queue", "queueUs"],
  ["compute input", "inputUs"],
  ["compute infer", "inferUs"],
  ["compute output", "outputUs"],
  ["other in the server", "otherUs"],
  ["network and client", "outsideUs"],
];

/** Returns the chart of the server's times by level. */
export function serverPlots({ runs }: ShownReport): PlotSet {
  const title = "Average Latency by Part";
  const known = runs.flatMap((run) =>
    run.levels.flatMap((level) => {
      const shares = sharesOf(level);
      return shares === undefined ? [] : [{ name: seriesName(run, level.name), shares }];
    }),
  );
  if (known.length === 0) return leaveOut(title, "the server has no statistics");
  const time = timeUnitFor(Math.max(...known.map(({ shares }) => Object.values(shares).reduce((a, b) => a + b, 0))));
  const frame = { title, xLabel: "Level", yLabel: `Average (${time.name})`, group: SERVER_GROUP, notes: [] };
  const shown = PARTS.filter(([, part]) => known.some(({ shares }) => shares[part] > 0));
  const series = shown.map(([name, part]) => ({
    name,
    values: known.map(({ shares }) => roundForPlot(shares[part] / time.us)),
  }));
  return asSet({ kind: "bars", ...frame, categories: known.map(({ name }) => name), series, isStacked: true });
}
