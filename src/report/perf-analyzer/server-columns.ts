import type { ServerDelta } from "../../measure/server-delta.ts";

/** Mean times of a model on the server, as the CSV has them. */
export interface MeanServerTimes {
  /** Queue, compute, and cache. */
  readonly accountedNs: number;
  /** Queue, compute input, infer and output, and with a cache its hits and misses. */
  columnsNs(hasCache: boolean): number[];
}

/** Returns the names of the columns: the time on the network, then {@link MeanServerTimes}. */
export function serverColumnNames(hasCache: boolean): string[] {
  const compute = ["Input", "Infer", "Output"].map((part) => `Server Compute ${part}`);
  const cache = hasCache ? ["Server Cache Hit", "Server Cache Miss"] : [];
  return ["Network+Server Send/Recv", "Server Queue", ...compute, ...cache];
}

/** The means of a change of counters, each over its own occurrences, in whole nanoseconds as perf_analyzer rounds them. */
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
