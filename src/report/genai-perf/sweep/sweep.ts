import type { MeasuredPoint } from "../../../result/sweep.ts";
import type { GenAiPerfResult } from "../result.ts";

/** A point of a sweep, for plots and reports. Its name is GenAI-Perf's: `tiny_run_config_0`. */
export interface SweepPoint extends MeasuredPoint {
  readonly result: GenAiPerfResult;
  /** Folder of the point's files. */
  readonly folder: string;
}

/** A point with the values of its row in GenAI-Perf's table. */
export interface SweepRow extends SweepPoint {
  /** Concurrency, or requests per second. */
  readonly load: number;
  readonly datasetEntries: number;
}

/** The Pareto front of a sweep: on it, more throughput costs latency, and less latency costs throughput. */

/** The metrics by which points are compared. */
interface ParetoAxes {
  /** Name of a system metric; higher is better. */
  readonly throughput: "output_token_throughput" | "request_throughput";
  /** Number of GPUs of each point, by which the throughput is divided; undefined unless telemetry reports it for all points. */
  readonly gpuCounts: readonly number[] | undefined;
}

/** A point's coordinates. NaN if the point lacks the metric. */
interface ParetoPlace {
  /** Per second, and per GPU if their number is known. */
  readonly throughput: number;
  /** 99th percentile of the request latency in milliseconds. */
  readonly latencyMs: number;
  /** Whether no other point is at least as good in both metrics and better in one. */
  readonly isOptimal: boolean;
}

/** Chooses token throughput if all points have it, otherwise request throughput. */
export function chooseAxes(points: readonly SweepPoint[]): ParetoAxes {
  const hasTokens = points.length > 0 && points.every(({ result }) => result.statistics.has("output_token_throughput"));
  const gpuCounts = points.map(({ result }) => {
    const metrics = [...(result.telemetry?.values() ?? [])];
    return new Set(metrics.flatMap(({ gpus }) => [...gpus.keys()])).size;
  });
  return {
    throughput: hasTokens ? "output_token_throughput" : "request_throughput",
    gpuCounts: gpuCounts.length > 0 && gpuCounts.every((count) => count > 0) ? gpuCounts : undefined,
  };
}

/** Computes the coordinates of the points, in order. A point that lacks one of the metrics is never optimal. */
export function findPareto(points: readonly SweepPoint[], axes: ParetoAxes = chooseAxes(points)): ParetoPlace[] {
  const places = points.map(({ result }, index) => ({
    throughput:
      (result.statistics.get(axes.throughput)?.values.get("avg") ?? Number.NaN) / (axes.gpuCounts?.[index] ?? 1),
    latencyMs: result.statistics.get("request_latency")?.values.get("p99") ?? Number.NaN,
  }));
  return places.map((place) => ({
    ...place,
    isOptimal:
      Number.isFinite(place.throughput) &&
      Number.isFinite(place.latencyMs) &&
      !places.some((other) => isBetter(other, place)),
  }));
}

type Place = Omit<ParetoPlace, "isOptimal">;

function isBetter(one: Place, other: Place): boolean {
  const isNoWorse = one.throughput >= other.throughput && one.latencyMs <= other.latencyMs;
  return isNoWorse && (one.throughput > other.throughput || one.latencyMs < other.latencyMs);
}
