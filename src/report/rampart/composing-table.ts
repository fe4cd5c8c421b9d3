import { averageUs, type ServerDelta } from "../../measure/server-delta.ts";
import { formatCount } from "../../plan/units.ts";
import { formatTable, formatUs, INDENTED_COLUMNS } from "./format.ts";

/** Formats the server's times of the measured model and of those that it calls, each below its caller. Empty when it calls none. */
export function formatComposing(server: ServerDelta): string {
  if (server.composing.length === 0) return "";
  const rows: string[][] = [];
  const add = (delta: ServerDelta, depth: number): void => {
    rows.push(formatRow(delta, depth));
    for (const called of delta.composing) add(called, depth + 1);
  };
  add(server, 0);
  return formatTable(
    ["model", "requests", "server avg", "queue", "compute input", "infer", "output", "cache hits", "misses"],
    rows,
    INDENTED_COLUMNS,
  );
}

function formatRow(delta: ServerDelta, depth: number): string[] {
  const version = delta.version === "" ? "" : ` v${delta.version}`;
  const name = `${"· ".repeat(depth)}${delta.name}${version}`;
  if (delta.successCount === 0) return [name, "0"];
  const cached = delta.cacheHitCount + delta.cacheMissCount > 0;
  return [
    name,
    formatCount(delta.successCount),
    formatUs(averageUs(delta.successNs, delta.successCount)),
    formatUs(averageUs(delta.queueNs, delta.queueCount)),
    formatUs(averageUs(delta.computeInputNs, delta.computeInputCount)),
    formatUs(averageUs(delta.computeInferNs, delta.computeInferCount)),
    formatUs(averageUs(delta.computeOutputNs, delta.computeOutputCount)),
    ...(cached ? [formatCount(delta.cacheHitCount), formatCount(delta.cacheMissCount)] : ["", ""]),
  ];
}
