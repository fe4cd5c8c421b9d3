import { averageUs, flattenComposing } from "../../../measure/server-delta.ts";
import { type Plot, roundForPlot } from "../../plot.ts";
import { findSpread } from "../../schema/read-metrics.ts";
import { type LevelRow, levelNames, nameInRun, type ReportView } from "../report-view.ts";
import { timeUnitFor } from "../values.ts";

/** Parts of the latency in the server. */

/** Named parts of the time in the server, and the server's counters for them. */
const STAGES = [
  ["queue", "queueNs"],
  ["compute input", "computeInputNs"],
  ["compute infer", "computeInferNs"],
  ["compute output", "computeOutputNs"],
] as const;
const PARTS = [...STAGES.map(([name]) => name), "other in the server", "network and client"];

/** Divides the mean latency of a level into these parts, in microseconds; undefined without statistics of whole requests. */
function sharesOf({ json: { server, metrics, responses } }: LevelRow): readonly number[] | undefined {
  const latencyUs = findSpread(metrics, "latency")?.mean;
  // The server's times of a request with several responses may end before the responses.
  if (responses !== undefined || server === undefined || latencyUs === undefined || server.successCount === 0)
    return undefined;
  // Means over all requests, including those answered by a cache, which took no compute time.
  const eachUs = (ns: number): number => averageUs(ns, server.successCount);
  const [queueUs = 0, ...computeUs] = STAGES.map(([, stage]) => eachUs(server[stage]));
  const serverUs = eachUs(server.successNs);
  const restUs = computeUs.reduce((rest, us) => rest - us, serverUs - queueUs);
  // An ensemble's compute time includes that of its models, but not their queues. A model that calls others while it computes
  // includes all of their time.
  const calledNs = flattenComposing(server).reduce((sum, { queueNs }) => sum + queueNs, 0);
  const calledUs = Math.max(0, Math.min(restUs, eachUs(calledNs)));
  const otherUs = Math.max(0, restUs - calledUs);
  return [queueUs + calledUs, ...computeUs, otherUs, Math.max(0, latencyUs - serverUs)];
}

/** Draws the server's times by level; empty for a server without statistics. */
export function serverCharts(view: ReportView): Plot[] {
  const [, names] = levelNames(view);
  const known = view.levels.flatMap((level) => {
    const shares = sharesOf(level);
    return shares === undefined ? [] : [{ name: nameInRun(level.run, String(names.cell(level)?.value)), shares }];
  });
  if (known.length === 0) return [];
  const time = timeUnitFor(Math.max(...known.map(({ shares }) => shares.reduce((a, b) => a + b, 0))));
  const frame = { title: "Mean latency by part", xLabel: names.title, yLabel: `Mean (${time.name})`, group: "" };
  const series = PARTS.map((name, part) => ({
    name,
    values: known.map(({ shares }) => roundForPlot((shares[part] as number) / time.us)),
  })).filter(({ values }) => values.some((value) => value > 0));
  return [{ kind: "bars", ...frame, notes: [], categories: known.map(({ name }) => name), series, isStacked: true }];
}
