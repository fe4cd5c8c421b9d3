import { LEVEL_UNITS } from "../../load/level-units.ts";
import { rangeOf } from "../../load/levels.ts";
import type { Plan } from "../../plan/plan.ts";
import { loadModeOf } from "../../registry/load-modes.ts";
import { targetKindOf } from "../../registry/service-kinds.ts";
import type { PreparedRun } from "../../result/run-result.ts";
import { formatStreamNumber } from "./number-format.ts";

/** Formats perf_analyzer's `Measurement Settings`, which precede the levels, followed by a blank line. */
export function formatSettings({ plan, service, callMode, requestCount }: PreparedRun): string {
  const { target } = plan;
  const kind = targetKindOf(target);
  const { serviceKind, settingsName = serviceKind.toUpperCase(), hidesSingleBatch } = kind.exported(target);
  const hasNoBatch = kind.takes(target) !== "tensors" || (hidesSingleBatch === true && target.batchSize === 1);
  const lines = [
    "*** Measurement Settings ***",
    ...(hasNoBatch ? [] : [`  Batch size: ${target.batchSize}`]),
    `  Service Kind: ${settingsName}`,
  ];
  const { warmupRequests } = plan.measurement;
  if (warmupRequests > 0) lines.push(`  Sending ${warmupRequests} warmup request${warmupRequests > 1 ? "s" : ""}`);
  if (loadModeOf(plan.load).perfAnalyzer?.isExportOnly === true) lines.push(...periodicLines(plan));
  else if (requestCount !== undefined)
    lines.push(`  Sending ${requestCount} benchmark request${requestCount > 1 ? "s" : ""}`);
  else lines.push(...windowLines(plan, callMode));
  lines.push(...loadLines(plan));
  lines.push(`  Using ${callMode === "async" ? "asynchronous" : "synchronous"} calls for inference`);
  if (service.isDecoupled) lines.push("  Detected decoupled model, using the first response for measuring latency");
  return `${lines.join("\n")}\n\n`;
}

function windowLines(plan: Plan, callMode: "sync" | "async"): string[] {
  const { mode, percentile } = plan.measurement;
  const metric = callMode === "async" ? "throughput" : "latency and throughput";
  // perf_analyzer also omits the space after the percentile, and scripts rely on it.
  const stabilizing =
    percentile === null ? `  Stabilizing using average ${metric}` : `  Stabilizing using p${percentile}${metric}`;
  if (mode.kind === "count-windows") {
    return [
      `  Using "count_windows" mode for stabilization`,
      stabilizing,
      `  Minimum number of samples in each window: ${mode.requestsPerWindow}`,
    ];
  }
  if (mode.kind === "time-windows") {
    return [
      `  Using "time_windows" mode for stabilization`,
      stabilizing,
      `  Measurement window: ${mode.windowMs} msec`,
    ];
  }
  return [];
}

/** perf_analyzer prints its default windows although there are none, and scripts may rely on it. */
function periodicLines(plan: Plan): string[] {
  const mode = { kind: "time-windows", windowMs: 5000, stabilityPct: 10, maxTrials: 10 } as const;
  return windowLines({ ...plan, measurement: { ...plan.measurement, mode } }, "async");
}

function loadLines(plan: Plan): string[] {
  const { load } = plan;
  const mode = loadModeOf(load);
  const asked = mode.levels?.(load);
  const lines: string[] = [];
  // Like perf_analyzer, which treats an end of 1 as no end: a binary search without a range has it.
  const range = asked && rangeOf(asked.levels);
  if (range !== undefined && range.end !== 1) {
    const { start, end } = range;
    lines.push(`  Latency limit: ${plan.measurement.latencyLimitMs ?? 0} msec`);
    if (end !== null) lines.push(`  ${LEVEL_UNITS[mode.unit].describeLimit(formatStreamNumber(Math.max(start, end)))}`);
  }
  const arrivals = mode.arrivals?.(load);
  if (arrivals !== undefined) lines.push(`  Using ${arrivals.distribution} distribution on request generation`);
  if (asked?.search === "binary") lines.push("  Using Binary Search algorithm");
  return lines;
}
