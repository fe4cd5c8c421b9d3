import * as v from "valibot";
import { canBePhase } from "../../load/phases.ts";
import type { PhasePlan, RecoveryPlan } from "../../plan/load-options.ts";
import type { LoadPlan } from "../../plan/load-plan.ts";
import type { MeasurementModePlan } from "../../plan/plan.ts";
import { type Problem, problem } from "../../plan/problem.ts";
import type { Schema } from "../../plan/schema.ts";
import type { Duration } from "../../plan/units.ts";
import { loadModeOf } from "../../registry/load-modes.ts";
import { countSchema, nameSchema, positiveSchema, spanSchema, strictOptions, toMs } from "../fields.ts";
import { findMaxOf } from "../find-max/options.ts";
import type { DataForm } from "../form.ts";
import {
  type CheckedLoad,
  checkLoad,
  type LoadForm,
  loadSchema,
  plainLoadForms,
  toExtentPlan,
  toLoadPlan,
} from "./load-table.ts";

/** Validated loads in sequence: the builders of phases, their mistakes, and the phases of a plan. */

const DEFAULT_DRIFT_PCT = 10;
const DEFAULT_WITHIN_PCT = 20;

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

/** A builder of phases: everything that the rest of the program asks about it. */
interface PhasesBuilder {
  /** How it is written in YAML and JSON. */
  readonly form: DataForm;
  /** Returns the schemas of its options. */
  options(): v.ObjectEntries;
  /** Returns the mistakes in its options. @param path of the builder in the scenario */
  check(path: string, options: CheckedOptions): Problem[];
  /** Why `phase(…)` cannot give it a name. Absent: it can. */
  readonly namedBy?: string;
  /** Converts it to phases of a plan. @param firstIndex index of the first of them */
  toPlans(options: CheckedOptions, folder: string, firstIndex: number): PhasePlan[];
}

/** The builders of phases by the `kind` of what they return. */
const PHASES: Readonly<Record<CheckedPhases["kind"], PhasesBuilder>> = {
  warmup: {
    form: { name: "warmup", parts: { load: "load" } },
    options: () => ({ for: v.optional(spanSchema()), requests: v.optional(countSchema()), load: loadSchema() }),
    check: (path, options) => [
      ...checkWarmup(path, options),
      ...checkOwnExtent(`${path}.load`, options.load as CheckedLoad),
    ],
    toPlans: ({ load, requests, for: duration }, folder) => {
      const mode = requests === undefined ? during(duration) : ({ kind: "requests", count: requests } as const);
      return [{ load: toLoadPlan(load as CheckedLoad, folder), mode, isWarmup: true }];
    },
  },
  phase: {
    form: { name: "phase", parts: { load: "load" } },
    options: () => ({ name: nameSchema("a name"), load: v.lazy(partSchema) }),
    check: checkNamed,
    namedBy: "has a name already",
    toPlans: ({ load, name = "" }, folder, firstIndex) =>
      toPhasePlans(load as CheckedPart, folder, firstIndex).map((plan) => ({ ...plan, name })),
  },
  soak: {
    form: { name: "soak", parts: { load: "steady-load" } },
    options: () => ({ for: spanSchema(), maxDriftPercent: v.optional(positiveSchema()), load: loadSchema() }),
    check: (path, { load }) => checkSteady(`${path}.load`, load as CheckedLoad),
    toPlans: ({ load, maxDriftPercent = DEFAULT_DRIFT_PCT, for: duration }, folder) => {
      const drift = { maxRatio: maxDriftPercent / 100 };
      return [{ name: "soak", load: toLoadPlan(load as CheckedLoad, folder), mode: during(duration), drift }];
    },
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
    check: (path, { base, peak }) => [
      ...checkSteady(`${path}.base`, base as CheckedLoad),
      ...checkSteady(`${path}.peak`, peak as CheckedLoad),
    ],
    namedBy: "is several phases, which have names",
    toPlans: toSpikePlans,
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
  return Object.hasOwn(PHASES, part.kind);
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
  return PHASES[part.kind].check(path, part.options);
}

function checkNamed(path: string, { load }: CheckedOptions): Problem[] {
  const inner = load as CheckedPart;
  const message = isBuiltOfPhases(inner) ? PHASES[inner.kind].namedBy : undefined;
  if (message === undefined) return checkPart(`${path}.load`, inner);
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
  return PHASES[part.kind].toPlans(part.options, folder, firstIndex);
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
