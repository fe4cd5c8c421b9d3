import type { SweepPoint } from "./sweep.ts";

/** Which points of a sweep no other beats: more throughput costs latency there, and less latency throughput. */

/** What the points are compared by. */
export interface ParetoAxes {
  /** Name of a system metric; more is better. */
  readonly throughput: "output_token_throughput" | "request_throughput";
  /** GPUs that throughput is divided by; undefined where telemetry does not tell them for every point. */
  readonly gpuCounts: readonly number[] | undefined;
}

/** A point's place between the axes. NaN where the point has no such metric. */
export interface ParetoPlace {
  /** Per second, and per GPU where they are known. */
  readonly throughput: number;
  /** 99th percentile of the request latency in milliseconds. */
  readonly latencyMs: number;
  /** No other point has at least its throughput at no more latency, and beats it in one of them. */
  readonly isOptimal: boolean;
}

/** Tokens where all points have them, requests otherwise. */
export function chooseAxes(points: readonly SweepPoint[]): ParetoAxes {
  const hasTokens = points.length > 0 && points.every(({ result }) => result.statistics.has("output_token_throughput"));
  const gpuCounts = points.map(({ result }) => new Set([...(result.telemetry?.values() ?? [])].flatMap(gpusOf)).size);
  return {
    throughput: hasTokens ? "output_token_throughput" : "request_throughput",
    gpuCounts: gpuCounts.length > 0 && gpuCounts.every((count) => count > 0) ? gpuCounts : undefined,
  };
}

function gpusOf({ gpus }: { readonly gpus: ReadonlyMap<string, unknown> }): string[] {
  return [...gpus.keys()];
}

/** Places the points, in their order. A point without both metrics is never optimal. */
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
