import * as v from "valibot";
import { canBePhase } from "../load/phases.ts";
import type { PhasePlan, RecoveryPlan } from "../plan/load-options.ts";
import type { LoadPlan } from "../plan/load-plan.ts";
import type { MeasurementModePlan } from "../plan/plan.ts";
import { type Problem, problem } from "../plan/problem.ts";
import type { Schema } from "../plan/schema.ts";
import type { Duration } from "../plan/units.ts";
import { loadModeOf } from "../registry/load-modes.ts";
import type { DataForm } from "./data/form.ts";
import {
  type CheckedLoad,
  checkLoad,
  type LoadForm,
  loadSchema,
  plainLoadForms,
  toExtentPlan,
  toLoadPlan,
} from "./definition/load-table.ts";
import { countSchema, nameSchema, positiveSchema, spanSchema, strictOptions, toMs } from "./fields.ts";
import { findMaxOf } from "./find-max/options.ts";
import { hold, type Load, type LoadKind } from "./loads.ts";

/** Loads in sequence: a list, a warm-up, and the tests that are made of several phases. */

/**
 * Loads that run one after the other, without a pause between them: one or more. `[]` does not compile; a list that code makes does, and is
 * refused when it turns out to be empty.
 */
export type LoadList<S extends LoadKind = LoadKind> =
  | readonly [Load<S>, ...Load<S>[]]
  // No load can be looked for in the type of `[]`, which is a list of nothing.
  | (readonly Load<S>[] & { readonly indexOf: (load: Load<never>) => number });

/** Options of {@link soak}. */
export interface SoakOptions {
  /** Length of the test, for example `"4 h"`. */
  readonly for: Duration;
  /**
   * Largest change for the worse of the latency or the throughput, in percent, from the first third of the time to the last. The run fails
   * when the change is certainly larger (95 % confidence). Default: 10.
   */
  readonly maxDriftPercent?: number;
}

/** Options of {@link spike}. */
export interface SpikeOptions<S extends LoadKind = LoadKind> {
  /** The normal load: a concurrency, or a load such as `rate(50)`. */
  readonly base: number | Load<S>;
  /** The load of the spike. */
  readonly peak: number | Load<S>;
  /** When the spike begins: the length of the base load before it. */
  readonly at: Duration;
  /** Length of the spike. */
  readonly for: Duration;
  /** Length of the base load after it. Default: the same as `at`. */
  readonly after?: Duration;
  /** Latency is back when its median is at most this much above the median before the spike, in percent. Default: 20. */
  readonly withinPercent?: number;
  /** The run fails when the recovery takes longer. Default: as long as `after`. */
  readonly recoverWithin?: Duration;
}

const DEFAULT_DRIFT_PCT = 10;
const DEFAULT_WITHIN_PCT = 20;

/**
 * A phase that is not measured: load for a time, or for a number of requests.
 * @example
 * load: [warmup("10 s", hold(4)), hold(16, { for: "1 min" })]
 */
export function warmup<S extends LoadKind>(extent: Duration | { readonly requests: number }, load: Load<S>): Load<S> {
  const options = typeof extent === "string" ? { for: extent, load } : { ...extent, load };
  return { kind: "warmup", pacing: load.pacing, values: [], options };
}

/**
 * A phase with a name for reports. Default: the description of its load.
 * @example
 * load: [warmup("10 s", hold(4)), phase("steady", hold(16, { for: "1 min" }))]
 */
export function phase<S extends LoadKind>(name: string, load: Load<S>): Load<S> {
  return { kind: "phase", pacing: load.pacing, values: [], options: { name, load } };
}

/**
 * A steady load for a long time, which fails when latency or throughput drift: a leak becomes visible. A number is a concurrency.
 * @example
 * load: soak(16, { for: "2 h", maxDriftPercent: 5 })
 */
export function soak<S extends LoadKind = "closed">(load: number | Load<S>, options: SoakOptions): Load<S> {
  const steady = toLoad(load);
  return { kind: "soak", pacing: steady.pacing, values: [], options: { ...options, load: steady } };
}

/**
 * A base load, a sudden peak, and the base load again. Reports how long the latency takes to be back.
 * @example
 * load: spike({ base: 4, peak: 64, at: "1 min", for: "10 s", after: "2 min", recoverWithin: "30 s" })
 */
export function spike<S extends LoadKind = "closed">(options: SpikeOptions<S>): Load<S> {
  const [base, peak] = [toLoad(options.base), toLoad(options.peak)];
  const pacing = base.pacing === "scheduled" ? base.pacing : peak.pacing;
  return { kind: "spike", pacing, values: [], options: { ...options, base, peak } };
}

/** Untyped callers may pass anything, which the schema then rejects. */
function toLoad<S extends LoadKind>(load: number | Load<S>): Load<S> {
  return typeof load === "number" ? (hold(load) as unknown as Load<S>) : load;
}

interface CheckedOptions {
  readonly name?: string;
  readonly load?: CheckedPart;
  readonly base?: CheckedLoad;
  readonly peak?: CheckedLoad;
  readonly for?: Duration;
  readonly requests?: number;
  readonly at?: Duration;
  readonly after?: Duration;
  readonly maxDriftPercent?: number;
  readonly withinPercent?: number;
  readonly recoverWithin?: Duration;
}

/** A validated builder of phases. */
interface CheckedPhases {
  readonly kind: "warmup" | "phase" | "soak" | "spike";
  readonly options: CheckedOptions;
}

type CheckedPart = CheckedLoad | CheckedPhases;

/** A validated load of a scenario. */
export type CheckedLoads = CheckedPart | readonly CheckedPart[];

/** Returns the schema of a scenario's load: one, or a list. */
export function loadsSchema(): Schema<CheckedLoads> {
  const list = v.pipe(v.array(partSchema()), v.minLength(1, "must have a load"));
  return v.lazy((input) => (Array.isArray(input) ? list : partSchema())) as unknown as Schema<CheckedLoads>;
}

/** The builders of phases: how each is written as data, and its options. */
const PHASES: Readonly<Record<CheckedPhases["kind"], { readonly form: DataForm; options(): v.ObjectEntries }>> = {
  warmup: {
    form: { name: "warmup", parts: { load: "load" } },
    options: () => ({ for: v.optional(spanSchema()), requests: v.optional(countSchema()), load: loadSchema() }),
  },
  phase: {
    form: { name: "phase", parts: { load: "load" } },
    options: () => ({ name: nameSchema("a name"), load: v.lazy(partSchema) }),
  },
  soak: {
    form: { name: "soak", parts: { load: "steady-load" } },
    options: () => ({ for: spanSchema(), maxDriftPercent: v.optional(positiveSchema()), load: loadSchema() }),
  },
  spike: {
    form: { name: "spike", parts: { base: "steady-load", peak: "steady-load" } },
    options: () => ({
      base: loadSchema(),
      peak: loadSchema(),
      at: spanSchema(),
      for: spanSchema(),
      after: v.optional(spanSchema()),
      withinPercent: v.optional(positiveSchema()),
      recoverWithin: v.optional(spanSchema()),
    }),
  },
};

/** Returns how loads and phases are written as data, by the kind of what they are, each with its options. */
export function loadForms(): readonly LoadForm[] {
  const phases = Object.entries(PHASES).map(
    ([kind, { form, options }]): LoadForm => ({ kind, form, options: options() }),
  );
  return [...plainLoadForms(), ...phases];
}

function partSchema(): Schema<CheckedPart> {
  const plain = loadSchema();
  return v.lazy((input) => {
    const kind = (input as { kind?: unknown } | null | undefined)?.kind;
    if (typeof kind !== "string" || !Object.hasOwn(PHASES, kind)) return plain;
    return v.object({ kind: v.literal(kind), options: strictOptions(PHASES[kind as CheckedPhases["kind"]].options()) });
  }) as unknown as Schema<CheckedPart>;
}

/** Returns the parts of a list, or the only load. */
function partsOf(load: CheckedLoads): readonly (readonly [path: string, part: CheckedPart])[] {
  if (!Array.isArray(load)) return [["load", load as CheckedPart]];
  return (load as readonly CheckedPart[]).map((part, index) => [`load.${index}`, part] as const);
}

function isBuiltOfPhases(part: CheckedPart): part is CheckedPhases {
  return part.kind === "warmup" || part.kind === "phase" || part.kind === "soak" || part.kind === "spike";
}

/** Returns the only load of a scenario that has no phases; undefined if it has. */
export function plainLoadOf(load: CheckedLoads): CheckedLoad | undefined {
  const [[, part]] = partsOf(load) as [readonly [string, CheckedPart]];
  return Array.isArray(load) || isBuiltOfPhases(part) ? undefined : part;
}

/** Returns the mistakes of a load, or of all loads of a list, by their paths. */
export function checkLoads(load: CheckedLoads): Problem[] {
  const plain = plainLoadOf(load);
  if (plain !== undefined) return checkLoad(plain);
  const parts = partsOf(load);
  const problems = parts.flatMap(([path, part]) => checkPart(path, part));
  if (problems.length === 0 && parts.every(([, part]) => part.kind === "warmup")) {
    problems.push(problem("missing", "load", "has only a warm-up, so nothing is measured", "Add a load after it."));
  }
  return problems;
}

function checkPart(path: string, part: CheckedPart): Problem[] {
  if (!isBuiltOfPhases(part)) return [...checkAt(path, part), ...checkContinues(path, part)];
  const { kind, options } = part;
  const { load, base, peak } = options;
  if (kind === "spike")
    return [...checkSteady(`${path}.base`, base as CheckedLoad), ...checkSteady(`${path}.peak`, peak as CheckedLoad)];
  if (kind === "soak") return checkSteady(`${path}.load`, load as CheckedLoad);
  if (kind === "warmup") return [...checkWarmup(path, options), ...checkOwnExtent(`${path}.load`, load as CheckedLoad)];
  const inner = load as CheckedPart;
  if (inner.kind !== "spike" && inner.kind !== "phase") return checkPart(`${path}.load`, inner);
  const message = inner.kind === "spike" ? "is several phases, which have names" : "has a name already";
  return [problem("conflict", `${path}.load`, message, "Leave phase(…) out.", inner.kind)];
}

function checkWarmup(path: string, { for: duration, requests }: CheckedOptions): Problem[] {
  if ((duration === undefined) !== (requests === undefined)) return [];
  const hint = 'Write warmup("10 s", …) or warmup({ requests: 100 }, …).';
  return [problem("invalid-value", path, "needs a duration or a number of requests", hint)];
}

function checkAt(path: string, load: CheckedLoad): Problem[] {
  return checkLoad(load).map((found) => ({ ...found, path: found.path.replace(/^load/, path) }));
}

/** Returns a problem for loads that end by themselves. */
function checkContinues(path: string, load: CheckedLoad): Problem[] {
  if (findMaxOf(load) === undefined && canBePhase(loadModeOf(toLoadPlan(load, "")))) return [];
  const message = "has an end or rules of its own and cannot be one of several phases";
  return [problem("conflict", path, message, "Use it as the only load.", load.kind)];
}

/** Returns problems of a load inside of a builder that has the time itself. */
function checkOwnExtent(path: string, load: CheckedLoad): Problem[] {
  const problems = [...checkAt(path, load), ...checkContinues(path, load)];
  for (const name of ["for", "requests", "over"] as const) {
    if (load.options[name] === undefined) continue;
    const message = "has no effect here: the phase around it has the length";
    problems.push(problem("conflict", `${path}.${name}`, message, "Leave it out.", String(load.options[name])));
  }
  return problems;
}

/** Loads that can stay the same for any time, with one level at most. */
const STEADY: readonly string[] = ["hold", "rate", "intervals"];

function checkSteady(path: string, load: CheckedLoad): Problem[] {
  const problems = checkOwnExtent(path, load);
  const isSteady = STEADY.includes(load.kind) && load.values.length <= 1;
  if (!isSteady && problems.length === 0) {
    const hint = "Use a concurrency, hold(…), rate(…) with one rate, or intervals(…).";
    problems.push(problem("conflict", path, "must be one steady load", hint, load.kind));
  }
  return problems;
}

/** Converts a load, or the phases of a list, to those of a plan. @param folder base of relative paths */
export function toLoadsPlan(load: CheckedLoads, folder: string): LoadPlan {
  const plain = plainLoadOf(load);
  if (plain !== undefined) return toLoadPlan(plain, folder);
  const phases: PhasePlan[] = [];
  for (const [, part] of partsOf(load)) phases.push(...toPhasePlans(part, folder, phases.length));
  return { kind: "phases", phases };
}

/** @param firstIndex index of the first of these phases */
function toPhasePlans(part: CheckedPart, folder: string, firstIndex: number): PhasePlan[] {
  if (!isBuiltOfPhases(part)) {
    const load = toLoadPlan(part, folder);
    const mode = toExtentPlan(part, load);
    return [{ load, ...(mode === undefined ? {} : { mode }) }];
  }
  const { kind, options } = part;
  const { name, requests } = options;
  const inner = options.load as CheckedPart;
  if (kind === "phase") return toPhasePlans(inner, folder, firstIndex).map((plan) => ({ ...plan, name: name ?? "" }));
  if (kind === "spike") return toSpikePlans(options, folder, firstIndex);
  const load = toLoadPlan(inner as CheckedLoad, folder);
  if (kind === "warmup") {
    const mode = requests === undefined ? during(options.for) : ({ kind: "requests", count: requests } as const);
    return [{ load, mode, isWarmup: true }];
  }
  const drift = { maxRatio: (options.maxDriftPercent ?? DEFAULT_DRIFT_PCT) / 100 };
  return [{ name: "soak", load, mode: during(options.for), drift }];
}

function toSpikePlans(options: CheckedOptions, folder: string, firstIndex: number): PhasePlan[] {
  const { at, after = at, recoverWithin, withinPercent = DEFAULT_WITHIN_PCT } = options;
  const base = toLoadPlan(options.base as CheckedLoad, folder);
  const recovery: RecoveryPlan = {
    baseIndex: firstIndex,
    withinRatio: withinPercent / 100,
    ...(recoverWithin === undefined ? {} : { limitMs: toMs(recoverWithin) }),
  };
  return [
    { name: "base", load: base, mode: during(at) },
    { name: "peak", load: toLoadPlan(options.peak as CheckedLoad, folder), mode: during(options.for) },
    { name: "recovery", load: base, mode: during(after), recovery },
  ];
}

function during(duration: Duration | undefined): MeasurementModePlan {
  return { kind: "duration", durationMs: toMs(duration as Duration) };
}

/** Returns conflicts of a list of loads with other fields of the scenario. */
export function checkBesidePhases(
  load: CheckedLoads,
  fields: { readonly warmupRequests?: number; readonly warmupFor?: Duration; readonly latencyLimit?: Duration },
): Problem[] {
  if (plainLoadOf(load) !== undefined) return [];
  const hints = {
    warmupRequests: "Write warmup({ requests: 100 }, …) as the first load of the list.",
    warmupFor: 'Write warmup("10 s", …) as the first load of the list.',
    latencyLimit: 'Write an assertion with abortAfter, such as p99().below("1 s").abortAfter("10 s").',
  };
  return (Object.keys(hints) as (keyof typeof hints)[]).flatMap((name) => {
    const value = fields[name];
    if (value === undefined || value === 0) return [];
    return [problem("conflict", name, "has no meaning for a load of several phases", hints[name], String(value))];
  });
}
