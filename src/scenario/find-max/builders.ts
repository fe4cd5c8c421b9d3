import { type Load, type LoadKind, pacingOf } from "../loads.ts";
import type { ArrivalOptions } from "../rates.ts";
import type { FindMaxOptions, SearchedLoad } from "./options.ts";

/**
 * Concurrencies to search, from `min` to `max`.
 * @example
 * findMax({ over: concurrency(1, 64), where: [p99("latency").below("50 ms")] })
 */
export function concurrency(min: number, max: number): SearchedLoad<"closed"> {
  return { kind: "concurrency", pacing: "closed", values: [min, max], options: {} };
}

/**
 * Request rates to search, from `min` to `max` requests per second.
 * @example
 * findMax({ over: requestRate(10, 1000), where: [p99("latency").below("50 ms")] })
 */
export function requestRate(min: number, max: number, options: ArrivalOptions = {}): SearchedLoad<"scheduled"> {
  return { kind: "request-rate", pacing: "scheduled", values: [min, max], options };
}

/**
 * The highest load that keeps all limits. Doubles the load until a limit breaks, then bisects. Each point is measured until the whole
 * confidence interval of every limited metric is on one side of its limit; the report calls it unresolved when that takes too long.
 * Assertions are judged at the load that was found.
 * @example
 * findMax({ over: requestRate(10, 1000), where: [p99("latency").below("50 ms"), errorRate().atMost("1 %")], atMost: "30 s" })
 */
export function findMax<S extends LoadKind>(options: FindMaxOptions<S>): Load<S> {
  return { kind: "find-max", pacing: pacingOf(options.over), values: [], options };
}
