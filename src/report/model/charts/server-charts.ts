import { averageUs } from "../../../measure/server-delta.ts";
import type { Plot } from "../../plot.ts";
import { roundForPlot } from "../../plot-points.ts";
import { findSpread } from "../../schema/read-metrics.ts";
import { type LevelRow, nameInRun, type ReportView } from "../report-view.ts";
import { timeUnitFor } from "../values.ts";

/** Where the server spends the time. */

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
export function sharesOf({ json: { server, metrics } }: Pick<LevelRow, "json">): ServerShares | undefined {
  const latencyUs = findSpread(metrics, "latency")?.average;
  if (server === undefined || latencyUs === undefined || server.successCount === 0) return undefined;
  const queueUs = averageUs(server.queueNs, server.queueCount);
  const inputUs = averageUs(server.computeInputNs, server.computeInputCount);
  const inferUs = averageUs(server.computeInferNs, server.computeInferCount);
  const outputUs = averageUs(server.computeOutputNs, server.computeOutputCount);
  const serverUs = averageUs(server.successNs, server.successCount);
  const otherUs = Math.max(0, serverUs - queueUs - inputUs - inferUs - outputUs);
  return { queueUs, inputUs, inferUs, outputUs, otherUs, outsideUs: Math.max(0, latencyUs - serverUs) };
}

const PARTS: readonly (readonly [name: string, part: keyof ServerShares])[] = [
  ["queue", "queueUs"],
  ["compute input", "inputUs"],
  ["compute infer", "inferUs"],
  ["compute output", "outputUs"],
  ["other in the server", "otherUs"],
  ["network and client", "outsideUs"],
];

/** Draws the server's times by level; nothing for a server without statistics. */
export function serverCharts(view: ReportView): Plot[] {
  const known = view.levels.flatMap((level) => {
    const shares = sharesOf(level);
    return shares === undefined ? [] : [{ name: nameInRun(level.run, level.name), shares }];
  });
  if (known.length === 0) return [];
  const time = timeUnitFor(Math.max(...known.map(({ shares }) => Object.values(shares).reduce((a, b) => a + b, 0))));
  const frame = { title: "Average latency by part", xLabel: "Level", yLabel: `Average (${time.name})`, group: "" };
  const shown = PARTS.filter(([, part]) => known.some(({ shares }) => shares[part] > 0));
  const series = shown.map(([name, part]) => ({
    name,
    values: known.map(({ shares }) => roundForPlot(shares[part] / time.us)),
  }));
  return [{ kind: "bars", ...frame, notes: [], categories: known.map(({ name }) => name), series, isStacked: true }];
}
