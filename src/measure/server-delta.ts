import type { ComposingModel, ServerCounters } from "../service/statistics.ts";

/** The change of a server's counters over a window. */

type CounterName = Exclude<keyof ServerCounters, "name" | "version">;

/** Counters of the model's version that served the window, as differences, and those of the models it calls. */
export type ServerDelta = { readonly [K in CounterName]: number } & {
  readonly name: string;
  /** Of a model that it calls: empty when the server does not tell of any version. */
  readonly version: string;
  /** Whether several versions changed though none was asked for, which makes the numbers doubtful. */
  readonly hasManyVersions: boolean;
  /** Sorted by name and version; of a model that did not run all counts are 0. */
  readonly composing: readonly ServerDelta[];
};

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

/**
 * The change between two answers. Without a version asked for it is that of the highest version whose queue moved.
 * @returns undefined when no version changed, or when its counters fell: the server began anew
 */
export function subtractCounters(
  before: readonly ServerCounters[],
  after: readonly ServerCounters[],
  model: ComposingModel,
): ServerDelta | undefined {
  const moved = after.filter(
    (entry) =>
      entry.name === model.name &&
      (model.version === ""
        ? entry.queueCount > (find(before, entry)?.queueCount ?? 0)
        : entry.version === model.version),
  );
  const chosen = newestOf(moved);
  if (chosen === undefined) return undefined;
  const base = find(before, chosen);
  if (base !== undefined && chosen.successCount < base.successCount) return undefined;
  return {
    ...countersBy((name) => chosen[name] - (base?.[name] ?? 0)),
    name: chosen.name,
    version: chosen.version,
    hasManyVersions: moved.length > 1,
    composing: mergeComposing([model.composing.map((called) => subtractCalled(before, after, model, called))]),
  };
}

/** The change of a model that another one calls; one that was not called has a change of nothing. */
function subtractCalled(
  before: readonly ServerCounters[],
  after: readonly ServerCounters[],
  caller: ComposingModel,
  model: ComposingModel,
): ServerDelta {
  const known = after.filter(({ name }) => name === model.name);
  const delta = subtractCounters(before, after, model);
  if (delta === undefined) {
    return {
      ...countersBy(() => 0),
      name: model.name,
      version: model.version === "" ? (newestOf(known)?.version ?? "") : model.version,
      hasManyVersions: false,
      // What they did they did for others.
      composing: [],
    };
  }
  // Where the caller calls several versions of its own accord, several are expected to move.
  const callsMany = caller.composing.filter(({ name }) => name === model.name).length > 1;
  return callsMany ? { ...delta, hasManyVersions: false } : delta;
}

/** The sum of several windows' changes; undefined when one window has none. */
export function sumDeltas(deltas: readonly (ServerDelta | undefined)[]): ServerDelta | undefined {
  const known = deltas.filter((delta) => delta !== undefined);
  return known.length < deltas.length ? undefined : sumKnown(known);
}

function sumKnown(deltas: readonly ServerDelta[]): ServerDelta | undefined {
  const [first] = deltas;
  if (first === undefined) return undefined;
  return {
    ...countersBy((name) => deltas.reduce((total, delta) => total + delta[name], 0)),
    name: first.name,
    version: first.version,
    hasManyVersions: deltas.some((delta) => delta.hasManyVersions),
    composing: mergeComposing(deltas.map((delta) => delta.composing)),
  };
}

/** Several lists as one: each model and version once, sorted, with the sum of its changes in the different lists. */
function mergeComposing(lists: readonly (readonly ServerDelta[])[]): ServerDelta[] {
  const groups: ServerDelta[][] = [];
  for (const list of lists) {
    // Within a list one model stands for one: a version that was asked for, and the one that the server chose, may be the same.
    const seen: ServerDelta[] = [];
    for (const delta of list) {
      if (seen.some((other) => isSame(other, delta))) continue;
      seen.push(delta);
      const group = groups.find(([first]) => first !== undefined && isSame(first, delta));
      if (group === undefined) groups.push([delta]);
      else group.push(delta);
    }
  }
  return groups.flatMap((group) => sumKnown(group) ?? []).sort(compareModels);
}

/** Every model below another, each version once, from the top down. */
export function flattenComposing({ composing }: ServerDelta): ServerDelta[] {
  const all: ServerDelta[] = [];
  const add = (deltas: readonly ServerDelta[]): void => {
    for (const delta of deltas) if (!all.some((other) => isSame(other, delta))) all.push(delta);
    for (const delta of deltas) add(delta.composing);
  };
  add(composing);
  return all;
}

function isSame(a: Pick<ServerDelta, "name" | "version">, b: Pick<ServerDelta, "name" | "version">): boolean {
  return a.name === b.name && a.version === b.version;
}

function compareModels(a: ServerDelta, b: ServerDelta): number {
  if (a.name !== b.name) return a.name < b.name ? -1 : 1;
  return Number(a.version) - Number(b.version);
}

function countersBy(value: (name: CounterName) => number): { readonly [K in CounterName]: number } {
  return Object.fromEntries(COUNTERS.map((name) => [name, value(name)])) as { [K in CounterName]: number };
}

function newestOf(entries: readonly ServerCounters[]): ServerCounters | undefined {
  let newest: ServerCounters | undefined;
  for (const entry of entries)
    if (newest === undefined || Number(entry.version) > Number(newest.version)) newest = entry;
  return newest;
}

function find(entries: readonly ServerCounters[], like: ServerCounters): ServerCounters | undefined {
  return entries.find((entry) => isSame(entry, like));
}

/** An average duration in whole microseconds, as perf_analyzer rounds it; 0 without occurrences. */
export function averageUs(totalNs: number, count: number): number {
  return count === 0 ? 0 : Math.floor(totalNs / (count * 1000));
}
