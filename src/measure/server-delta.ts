import { COUNTERS, type ComposingModel, type ServerCounters } from "../service/server-counters.ts";

/** Increase of a server's counters between two readings. */

type CounterName = (typeof COUNTERS)[number];

/** Increase of the server's counters in a window, for the version that served it, and for the models that it calls. */
export type ServerDelta = { readonly [K in CounterName]: number } & {
  readonly name: string;
  /** Empty if a called model has no reported version. */
  readonly version: string;
  /** Whether counters of several versions changed although no version was requested, which makes the numbers unreliable. */
  readonly hasManyVersions: boolean;
  /** Sorted by name and version. Models that did not run have counts of 0. */
  readonly composing: readonly ServerDelta[];
};

/** An operation that the server counts and times: `queue`, `computeInfer`. */
export type Stage = { [K in CounterName]: K extends `${infer S}Ns` ? S : never }[CounterName];

/**
 * Returns the increase between two statistics responses. Without a requested version, uses the highest version whose queue
 * count increased.
 * @returns undefined if no version changed, or if a counter decreased because the server restarted
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
  if (hasDecreased(base, chosen)) return undefined;
  return {
    ...countersBy((name) => chosen[name] - (base?.[name] ?? 0)),
    name: chosen.name,
    version: chosen.version,
    hasManyVersions: moved.length > 1,
    composing: mergeComposing([model.composing.flatMap((called) => subtractCalled(before, after, model, called))], add),
  };
}

/** A server that restarted may have counted more requests since than before it, but a shorter time. */
function hasDecreased(before: ServerCounters | undefined, after: ServerCounters): boolean {
  return before !== undefined && COUNTERS.some((name) => after[name] < before[name]);
}

/** Returns the increase of a called model; zeros if it was not called, nothing if it was loaded again. */
function subtractCalled(
  before: readonly ServerCounters[],
  after: readonly ServerCounters[],
  caller: ComposingModel,
  model: ComposingModel,
): ServerDelta | [] {
  const known = after.filter(({ name }) => name === model.name);
  const delta = subtractCounters(before, after, model);
  if (delta === undefined) {
    if (known.some((entry) => hasDecreased(find(before, entry), entry))) return [];
    return {
      ...countersBy(() => 0),
      name: model.name,
      version: model.version === "" ? (newestOf(known)?.version ?? "") : model.version,
      hasManyVersions: false,
      // Only other models call the models that it calls.
      composing: [],
    };
  }
  // A caller that calls several versions is expected to change several.
  const callsMany = caller.composing.filter(({ name }) => name === model.name).length > 1;
  return callsMany ? { ...delta, hasManyVersions: false } : delta;
}

/**
 * Joins the deltas of one server: the sum for consecutive windows, undefined if one window has none; for readings by several
 * clients at the same time the largest, because the server counts the requests of all. Some clients may not have read it.
 */
export function joinDeltas(
  deltas: readonly (ServerDelta | undefined)[],
  way: "in-time" | "parallel",
): ServerDelta | undefined {
  const known = deltas.filter((delta) => delta !== undefined);
  if (way === "parallel") return joinKnown(known.toSorted(compareModels), Math.max);
  return known.length < deltas.length ? undefined : joinKnown(known, add);
}

type Combine = (one: number, other: number) => number;

const add: Combine = (one, other) => one + other;

function joinKnown(deltas: readonly ServerDelta[], combine: Combine): ServerDelta | undefined {
  const [first] = deltas;
  if (first === undefined) return undefined;
  const composing = deltas.map((delta) => delta.composing);
  return {
    ...countersBy((name) => deltas.map((delta) => delta[name]).reduce((one, other) => combine(one, other))),
    name: first.name,
    version: first.version,
    hasManyVersions: deltas.some((delta) => delta.hasManyVersions),
    composing: mergeComposing(composing, combine),
  };
}

/** Merges lists: each model and version once, sorted, combined over the lists. */
function mergeComposing(lists: readonly (readonly ServerDelta[])[], combine: Combine): ServerDelta[] {
  const groups: ServerDelta[][] = [];
  for (const list of lists) {
    // The same model may be in a list twice: as a requested version, and as the server's choice.
    const seen: ServerDelta[] = [];
    for (const delta of list) {
      if (seen.some((other) => isSame(other, delta))) continue;
      seen.push(delta);
      const group = groups.find(([first]) => first !== undefined && isSame(first, delta));
      if (group === undefined) groups.push([delta]);
      else group.push(delta);
    }
  }
  return groups.flatMap((group) => joinKnown(group, combine) ?? []).sort(compareModels);
}

/** Returns every called model and version once, breadth first. */
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

/** Returns a mean duration in whole microseconds, rounded like perf_analyzer; 0 without occurrences. */
export function averageUs(totalNs: number, count: number): number {
  return count === 0 ? 0 : Math.floor(totalNs / (count * 1000));
}
