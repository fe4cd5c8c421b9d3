import { averageUs, type ServerDelta } from "../../measure/server-delta.ts";

/** The `Server:` section of a level, as perf_analyzer prints it. */

/** Lines of the section, each with its line break. */
export function formatServerSection(delta: ServerDelta, isResponseCacheEnabled: boolean): string {
  if (delta.successCount === 0) return "    Request count: 0\n";
  const lines = [`    Inference count: ${delta.inferenceCount}`, `    Execution count: ${delta.executionCount}`];
  if (isResponseCacheEnabled)
    lines.push(`    Cache hit count: ${delta.cacheHitCount}`, `    Cache miss count: ${delta.cacheMissCount}`);
  lines.push(`    Successful request count: ${delta.successCount}`);
  const times = averageTimes(delta);
  const total = `    Avg request latency: ${times.totalUs} usec`;
  if (isResponseCacheEnabled) lines.push(...cacheLines(total, times));
  else
    lines.push(
      `${total} (${parts(["overhead", overheadUs(times.totalUs, times.queueUs, times.computeUs)], ["queue", times.queueUs], ...computeParts(times))})`,
    );
  return lines.map((line) => `${line}\n`).join("");
}

interface AverageTimes {
  readonly totalUs: number;
  readonly queueUs: number;
  readonly computeInputUs: number;
  readonly computeInferUs: number;
  readonly computeOutputUs: number;
  readonly computeUs: number;
  readonly cacheHitUs: number;
  readonly cacheMissUs: number;
  /** Cache and compute together, over all successful requests. */
  readonly cacheAndComputeUs: number;
}

function averageTimes(delta: ServerDelta): AverageTimes {
  const computeNs = delta.computeInputNs + delta.computeInferNs + delta.computeOutputNs;
  return {
    totalUs: averageUs(delta.successNs, delta.successCount),
    queueUs: averageUs(delta.queueNs, delta.queueCount),
    computeInputUs: averageUs(delta.computeInputNs, delta.computeInputCount),
    computeInferUs: averageUs(delta.computeInferNs, delta.computeInferCount),
    computeOutputUs: averageUs(delta.computeOutputNs, delta.computeOutputCount),
    computeUs: averageUs(computeNs, delta.computeInputCount),
    cacheHitUs: averageUs(delta.cacheHitNs, delta.cacheHitCount),
    cacheMissUs: averageUs(delta.cacheMissNs, delta.cacheMissCount),
    cacheAndComputeUs: averageUs(
      delta.cacheHitNs + delta.cacheMissNs + computeNs,
      delta.computeInputCount + delta.cacheHitCount,
    ),
  };
}

function cacheLines(total: string, times: AverageTimes): string[] {
  const overhead = overheadUs(times.totalUs, times.queueUs, times.cacheAndComputeUs);
  return [
    `${total} (${parts(["overhead", overhead], ["queue", times.queueUs], ["cache hit/miss", times.cacheAndComputeUs])})`,
    `      Average Cache Hit Latency: ${times.cacheHitUs} usec`,
    `      Average Cache Miss Latency: ${times.cacheMissUs + times.computeUs} usec (${parts(["cache lookup/insertion", times.cacheMissUs], ...computeParts(times))})`,
  ];
}

function computeParts(times: AverageTimes): [string, number][] {
  return [
    ["compute input", times.computeInputUs],
    ["compute infer", times.computeInferUs],
    ["compute output", times.computeOutputUs],
  ];
}

function parts(...entries: readonly (readonly [name: string, us: number])[]): string {
  return entries.map(([name, us]) => `${name} ${us} usec`).join(" + ");
}

function overheadUs(totalUs: number, queueUs: number, computeUs: number): number {
  return Math.max(0, totalUs - queueUs - computeUs);
}
