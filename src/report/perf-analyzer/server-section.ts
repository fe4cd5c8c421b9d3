import { averageUs, type ServerDelta } from "../../measure/server-delta.ts";
import type { Service } from "../../service/service.ts";

/** Whether any of the models has a cache, and whether the measured model has one itself. */
type ResponseCaches = Pick<Service, "isResponseCacheEnabled" | "isOwnResponseCacheEnabled">;

/** Formats the `Server:` section of a level like perf_analyzer: complete lines, composing models below their caller. */
export function formatServerSection(delta: ServerDelta, caches: ResponseCaches): string {
  return formatModel(delta, caches, 1)
    .map((line) => `${line}\n`)
    .join("");
}

function formatModel(delta: ServerDelta, caches: ResponseCaches, depth: number): string[] {
  const indent = "  ".repeat(depth);
  if (delta.successCount === 0) return [`${indent}  Request count: 0`];
  const counts = [`Inference count: ${delta.inferenceCount}`, `Execution count: ${delta.executionCount}`];
  if (caches.isResponseCacheEnabled)
    counts.push(`Cache hit count: ${delta.cacheHitCount}`, `Cache miss count: ${delta.cacheMissCount}`);
  counts.push(`Successful request count: ${delta.successCount}`);
  const lines = counts.map((text) => `${indent}  ${text}`);
  const totalUs = averageUs(delta.successNs, delta.successCount);
  const total = `${indent}  Avg request latency: ${totalUs} usec`;
  const cacheIndent = `${indent}${indent}  `;
  lines.push(...timeLines(total, cacheIndent, totalUs, delta, caches));
  if (delta.composing.length > 0) lines.push(...composingLines(delta, caches, depth));
  return lines;
}

interface AverageTimes {
  readonly queueUs: number;
  readonly computeUs: number;
  readonly cacheHitUs: number;
  readonly cacheMissUs: number;
  /** Sum of cache and compute, over all successful requests. */
  readonly cacheAndComputeUs: number;
}

function averageTimes(delta: ServerDelta): AverageTimes {
  const computeNs = delta.computeInputNs + delta.computeInferNs + delta.computeOutputNs;
  return {
    queueUs: averageUs(delta.queueNs, delta.queueCount),
    computeUs: averageUs(computeNs, delta.computeInputCount),
    cacheHitUs: averageUs(delta.cacheHitNs, delta.cacheHitCount),
    cacheMissUs: averageUs(delta.cacheMissNs, delta.cacheMissCount),
    cacheAndComputeUs: averageUs(
      delta.cacheHitNs + delta.cacheMissNs + computeNs,
      delta.computeInputCount + delta.cacheHitCount,
    ),
  };
}

/** Returns the averages of a model, or the sum of those of the models it calls, with the caller's cache, like perf_analyzer. */
function timesOf(delta: ServerDelta): AverageTimes {
  const times = averageTimes(delta);
  if (delta.composing.length === 0) return times;
  const sum = {
    queueUs: 0,
    computeUs: 0,
    cacheHitUs: times.cacheHitUs,
    cacheMissUs: times.cacheMissUs,
    cacheAndComputeUs: 0,
  };
  for (const called of delta.composing) {
    const times = timesOf(called);
    for (const name in sum) sum[name as keyof AverageTimes] += times[name as keyof AverageTimes];
  }
  return sum;
}

function timeLines(
  total: string,
  cacheIndent: string,
  totalUs: number,
  delta: ServerDelta,
  caches: ResponseCaches,
): string[] {
  const isAlone = delta.composing.length === 0;
  const times = timesOf(delta);
  if (!caches.isResponseCacheEnabled) {
    const overhead = overheadUs(totalUs, times.queueUs, times.computeUs);
    const compute = isAlone ? computeParts(delta) : ([["compute", times.computeUs]] as const);
    return [`${total} (${parts(["overhead", overhead], ["queue", times.queueUs], ...compute)})`];
  }
  // perf_analyzer also prints the space before an empty part.
  const miss = isAlone ? `(${parts(["cache lookup/insertion", times.cacheMissUs], ...computeParts(delta))})` : "";
  return [
    // If the caller has a cache, its average has little relation to those of models that it rarely calls.
    !isAlone && caches.isOwnResponseCacheEnabled ? total : `${total} (${cacheParts(totalUs, times)})`,
    `${cacheIndent}Average Cache Hit Latency: ${times.cacheHitUs} usec`,
    `${cacheIndent}Average Cache Miss Latency: ${times.cacheMissUs + times.computeUs} usec ${miss}`,
  ];
}

function composingLines(delta: ServerDelta, caches: ResponseCaches, depth: number): string[] {
  const indent = "  ".repeat(depth);
  const lines = ["", `${indent}Composing models: `];
  for (const called of delta.composing) {
    const version = called.version === "" ? "unknown" : called.version;
    lines.push(`${indent}${called.name}, version: ${version}`, ...formatModel(called, caches, depth + 1));
  }
  return lines;
}

function cacheParts(totalUs: number, times: AverageTimes): string {
  const overhead = overheadUs(totalUs, times.queueUs, times.cacheAndComputeUs);
  return parts(["overhead", overhead], ["queue", times.queueUs], ["cache hit/miss", times.cacheAndComputeUs]);
}

function computeParts(delta: ServerDelta): [string, number][] {
  return [
    ["compute input", averageUs(delta.computeInputNs, delta.computeInputCount)],
    ["compute infer", averageUs(delta.computeInferNs, delta.computeInferCount)],
    ["compute output", averageUs(delta.computeOutputNs, delta.computeOutputCount)],
  ];
}

function parts(...entries: readonly (readonly [name: string, us: number])[]): string {
  return entries.map(([name, us]) => `${name} ${us} usec`).join(" + ");
}

function overheadUs(totalUs: number, queueUs: number, computeUs: number): number {
  return Math.max(0, totalUs - queueUs - computeUs);
}
