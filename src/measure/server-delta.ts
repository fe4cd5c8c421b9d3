import type { ServerCounters } from "../service/statistics.ts";

/** The change of a server's counters over a window. */

type CounterName = Exclude<keyof ServerCounters, "name" | "version">;

/** Counters of the model's version that served the window, as differences. */
export type ServerDelta = { readonly [K in CounterName]: number } & { readonly version: string };

const COUNTERS: readonly CounterName[] = [
  "inferenceCount",
  "executionCount",
  "successCount",
  "successNs",
  "failCount",
  "queueCount",
  "queueNs",
  "computeInputCount",
  "computeInputNs",
  "computeInferCount",
  "computeInferNs",
  "computeOutputCount",
  "computeOutputNs",
  "cacheHitCount",
  "cacheHitNs",
  "cacheMissCount",
  "cacheMissNs",
];

/** A difference, and whether several versions changed, which makes it doubtful. */
export interface DeltaResult {
  readonly delta: ServerDelta;
  readonly hasManyVersions: boolean;
}

/**
 * The change between two answers. Without a version asked for it is that of the highest version whose queue moved.
 * @returns undefined when no version changed, or when its counters fell: the server began anew
 */
export function subtractCounters(
  before: readonly ServerCounters[],
  after: readonly ServerCounters[],
  model: { readonly name: string; readonly version: string },
): DeltaResult | undefined {
  const candidates = after.filter(
    (entry) => entry.name === model.name && (model.version === "" || entry.version === model.version),
  );
  const moved = candidates.filter(
    (entry) => model.version !== "" || entry.queueCount > (find(before, entry)?.queueCount ?? 0),
  );
  const chosen = moved.sort((a, b) => Number(b.version) - Number(a.version))[0];
  if (chosen === undefined) return undefined;
  const base = find(before, chosen);
  if (base !== undefined && chosen.successCount < base.successCount) return undefined;
  const delta = Object.fromEntries(COUNTERS.map((name) => [name, chosen[name] - (base?.[name] ?? 0)]));
  return { delta: { ...delta, version: chosen.version } as ServerDelta, hasManyVersions: moved.length > 1 };
}

/** The sum of several windows' changes; undefined when one window has none. */
export function sumDeltas(deltas: readonly (ServerDelta | undefined)[]): ServerDelta | undefined {
  const known = deltas.filter((delta) => delta !== undefined);
  const first = known[0];
  if (first === undefined || known.length < deltas.length) return undefined;
  const sum = Object.fromEntries(
    COUNTERS.map((name) => [name, known.reduce((total, delta) => total + delta[name], 0)]),
  );
  return { ...sum, version: first.version } as ServerDelta;
}

function find(entries: readonly ServerCounters[], like: ServerCounters): ServerCounters | undefined {
  return entries.find((entry) => entry.name === like.name && entry.version === like.version);
}

/** An average duration in whole microseconds, as perf_analyzer rounds it; 0 without occurrences. */
export function averageUs(totalNs: number, count: number): number {
  return count === 0 ? 0 : Math.floor(totalNs / (count * 1000));
}
