import type { ServerDelta } from "../../measure/server-delta.ts";

/** Mean server times of a model for the CSV. */
export interface MeanServerTimes {
  /** Sum of queue, compute, and cache. */
  readonly accountedNs: number;
  /** Returns queue, compute input, infer and output; with a cache also its hits and misses. */
  columnsNs(hasCache: boolean): number[];
}

/** Returns the names of the columns: the time on the network, then {@link MeanServerTimes}. */
export function serverColumnNames(hasCache: boolean): string[] {
  const compute = ["Input", "Infer", "Output"].map((part) => `Server Compute ${part}`);
  const cache = hasCache ? ["Server Cache Hit", "Server Cache Miss"] : [];
  return ["Network+Server Send/Recv", "Server Queue", ...compute, ...cache];
}

/**
 * Computes the mean times of an increase of counters, each over its own occurrences, in whole nanoseconds rounded like in perf_analyzer.
 */
export function meanServerTimes(delta: ServerDelta): MeanServerTimes {
  const mean = (totalNs: number, count: number): number => (count === 0 ? 0 : Math.floor(totalNs / count));
  const queueNs = mean(delta.queueNs, delta.queueCount);
  const computeNs = mean(delta.computeInputNs + delta.computeInferNs + delta.computeOutputNs, delta.computeInputCount);
  const hitNs = mean(delta.cacheHitNs, delta.cacheHitCount);
  const missNs = mean(delta.cacheMissNs, delta.cacheMissCount);
  return {
    accountedNs: queueNs + computeNs + hitNs + missNs,
    columnsNs: (hasCache) => [
      queueNs,
      mean(delta.computeInputNs, delta.computeInputCount),
      mean(delta.computeInferNs, delta.computeInferCount),
      mean(delta.computeOutputNs, delta.computeOutputCount),
      ...(hasCache ? [hitNs, missNs] : []),
    ],
  };
}
