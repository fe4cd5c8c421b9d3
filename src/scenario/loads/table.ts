import * as v from "valibot";
import { canBePhase } from "../../load/phases.ts";
import type { PhasePlan } from "../../plan/load-options.ts";
import type { LoadPlan } from "../../plan/load-plan.ts";
import { defined } from "../../plan/objects.ts";
import type { MeasurementModePlan } from "../../plan/plan.ts";
import { movePath, type Problem, problem } from "../../plan/problem.ts";
import { hinted, kindSchema, lazySchema, type Schema, withHint } from "../../plan/schema.ts";
import { loadModeOf } from "../../registry/load-modes.ts";
import { type DataForm, listCalls } from "../form.ts";
import type { Inputs } from "../input-data.ts";
import { exampleOf, renamedIn } from "../renamed/hints.ts";
import type { AnyTarget } from "../targets/target-builder.ts";
import { holdBuilder, periodicBuilder, rampBuilder, stepsBuilder } from "./concurrency.ts";
import { checkExtent, toExtentPlan } from "./extent.ts";
import { findMaxBuilder } from "./find-max.ts";
import {
  type AnyLoad,
  type ConvertedPhases,
  type InnerLoads,
  type LoadBuilder,
  NO_INNER_LOADS,
  type PhaseReader,
  type PhasesBuilder,
  type SearchOfLoad,
} from "./load-builder.ts";
import { multiStreamBuilder, offlineBuilder, serverBuilder, singleStreamBuilder } from "./mlperf.ts";
import { phaseBuilder, soakBuilder, spikeBuilder, warmupBuilder } from "./phases.ts";
import { intervalsBuilder, rateBuilder, rateRampBuilder, rateStepsBuilder } from "./rates.ts";
import { fixedScheduleBuilder, traceBuilder } from "./schedules.ts";
import { sessionRateBuilder, sessionsBuilder } from "./sessions.ts";

/** The builders of loads, by the `kind` of their results. To add a builder, add it to a file in this folder and a line here. */
const LOADS: Readonly<Record<string, LoadBuilder | PhasesBuilder>> = {
  ramp: rampBuilder,
  hold: holdBuilder,
  steps: stepsBuilder,
  rate: rateBuilder,
  "rate-steps": rateStepsBuilder,
  "rate-ramp": rateRampBuilder,
  intervals: intervalsBuilder,
  "fixed-schedule": fixedScheduleBuilder,
  trace: traceBuilder,
  periodic: periodicBuilder,
  sessions: sessionsBuilder,
  "session-rate": sessionRateBuilder,
  "single-stream": singleStreamBuilder,
  "multi-stream": multiStreamBuilder,
  server: serverBuilder,
  offline: offlineBuilder,
  "find-max": findMaxBuilder,
  warmup: warmupBuilder,
  phase: phaseBuilder,
  soak: soakBuilder,
  spike: spikeBuilder,
};

/** A validated load of a scenario: one, or a list. */
export type AnyLoads = AnyLoad | readonly AnyLoad[];

/** Options for the length of a level's measurement: for a time, and for a number of requests. */
const EXTENT_OPTIONS = { for: ["for", "forAtMost"], requests: ["requests"] } as const;

/** Returns the option of a load of this kind for the length of each level's measurement; undefined if it has none. */
export function extentOptionOf(kind: string, extent: keyof typeof EXTENT_OPTIONS): string | undefined {
  const { entries = {} } = (plainBuilderOf(kind)?.options(NO_INNER_LOADS) ?? {}) as { readonly entries?: object };
  return EXTENT_OPTIONS[extent].find((name) => Object.hasOwn(entries, name));
}

/** Reports whether a load of this kind runs conversations of prompts. */
export function holdsSessions(kind: string): boolean {
  return plainBuilderOf(kind)?.holdsSessions === true;
}

function plainBuilderOf(kind: string): LoadBuilder | undefined {
  const builder = Object.hasOwn(LOADS, kind) ? LOADS[kind] : undefined;
  return builder === undefined || isOfPhases(builder) ? undefined : builder;
}

function isOfPhases(builder: LoadBuilder | PhasesBuilder): builder is PhasesBuilder {
  return "toPhases" in builder;
}

function builderOf({ kind }: AnyLoad): LoadBuilder | PhasesBuilder {
  return LOADS[kind] as LoadBuilder | PhasesBuilder;
}

const INNER: InnerLoads = { plain: plainSchema, part: () => lazySchema<AnyLoad>(anySchema) };

function numbersOf(builder: LoadBuilder | PhasesBuilder): Schema<readonly number[]> | undefined {
  return isOfPhases(builder) ? undefined : builder.values?.();
}

function schemaOf([kind, builder]: readonly [string, LoadBuilder | PhasesBuilder]): v.GenericSchema {
  const values = numbersOf(builder) ?? v.array(v.never());
  return v.object({ kind: v.literal(kind), values, options: builder.options(INNER) });
}

/** Returns the schema of a load that is not made of phases. */
function plainSchema(): Schema<AnyLoad> {
  const plain = Object.entries(LOADS).filter(([, builder]) => !isOfPhases(builder));
  const schema = kindSchema<AnyLoad>(plain.map(schemaOf), `must be ${listCalls(plain.map(([, builder]) => builder))}`);
  return withHint(schema, (given) =>
    typeof given === "number" ? `Write hold(${given}).` : (renamedIn(given) ?? `Write ${holdBuilder.example}.`),
  );
}

function anySchema(input: unknown): v.GenericSchema {
  const { kind } = (input ?? {}) as { readonly kind?: unknown };
  const builder = typeof kind === "string" && Object.hasOwn(LOADS, kind) ? LOADS[kind] : undefined;
  return builder !== undefined && isOfPhases(builder) ? schemaOf([kind as string, builder]) : plainSchema();
}

/** Returns the schema of a scenario's load: one, or a list. */
export function loadsSchema(): Schema<AnyLoads> {
  const list = v.pipe(
    v.array(lazySchema(anySchema)),
    v.check(
      hinted((loads) => loads.length > 0, exampleOf(["load"]) ?? ""),
      "must have a load",
    ),
  );
  return lazySchema((input) => (Array.isArray(input) ? list : anySchema(input)));
}

/** The form of a load in data. */
export interface LoadForm {
  readonly kind: string;
  readonly form: DataForm;
  /** Schema of its options. */
  readonly options: v.GenericSchema;
  /** Schema of its numbers. Absent: no numbers. */
  readonly values?: Schema<readonly number[]> | undefined;
}

/** Returns the forms of loads and phases in data. */
export function loadForms(): readonly LoadForm[] {
  return Object.entries(LOADS).map(([kind, builder]) => ({
    kind,
    form: builder.form,
    options: builder.options(INNER),
    values: numbersOf(builder),
  }));
}

/**
 * Returns the path of an argument of a load's builder, by the argument's name: `["concurrency"]`, `["levels", "1"]`. Undefined for an
 * object that is not a load. @param index index in the load's `values`
 */
export function loadArgumentPath(load: unknown, index: number): readonly string[] | undefined {
  const { kind, values } = (load ?? {}) as { readonly kind?: unknown; readonly values?: unknown };
  if (typeof kind !== "string" || !Object.hasOwn(LOADS, kind)) return undefined;
  const { args = [], takes } = (LOADS[kind] as LoadBuilder).form;
  const name = args[takes === undefined ? index : 0];
  if (name === undefined) return undefined;
  const isOne = takes === undefined || (takes === "one-or-list" && Array.isArray(values) && values.length === 1);
  return isOne ? [name] : [name, String(index)];
}

/** Returns the call that makes a load, without its arguments: `findMax(…)`; undefined for a value that is not a load. */
export function loadCallOf(load: unknown): string | undefined {
  const { kind } = (load ?? {}) as { readonly kind?: unknown };
  return typeof kind === "string" && Object.hasOwn(LOADS, kind) ? `${LOADS[kind]?.form.name}(…)` : undefined;
}

/**
 * Returns an example of a call that makes a load of this kind. Undefined if the value is not a load, or if its kind has no example.
 */
export function loadExampleOf(load: unknown): string | undefined {
  const { kind } = (load ?? {}) as { readonly kind?: unknown };
  return typeof kind === "string" ? plainBuilderOf(kind)?.example : undefined;
}

/** A load of a scenario in the terms of a plan. */
export interface ConvertedLoad {
  readonly plan: LoadPlan;
  /** Problems of the load, by path in the scenario. */
  readonly problems: readonly Problem[];
  /** The only load. Absent: there are phases. */
  readonly plain?: {
    readonly kind: string;
    /** Requested length of measurement. Undefined: until it is stable. */
    readonly extent: MeasurementModePlan | undefined;
    readonly search: SearchOfLoad | undefined;
    /** The requests that the load contains. */
    readonly inputs: Inputs | undefined;
    /** Returns the problems of the targets. */
    checkTargets(targets: readonly AnyTarget[]): readonly Problem[];
  };
}

/** Converts a valid load to its form in a plan, once. @param folder base of relative paths */
export function convertLoads(load: AnyLoads, folder: string): ConvertedLoad {
  if (!isList(load)) {
    const builder = builderOf(load);
    if (!isOfPhases(builder)) return convertPlain(load, builder, folder);
  }
  const parts = isList(load) ? load.map((part, index) => [`load.${index}`, part] as const) : [["load", load] as const];
  const read = createReader(folder);
  const problems: Problem[] = [];
  const phases: PhasePlan[] = [];
  for (const [path, part] of parts) {
    const converted = read.part(path, part, phases.length);
    problems.push(...converted.problems);
    phases.push(...converted.phases);
  }
  const [last = "load"] = parts.at(-1) ?? [];
  if (problems.length === 0 && phases.at(-1)?.isWarmup === true)
    problems.push(problem("missing", last, "is a warm-up after which nothing is measured", "Add a load after it."));
  return { plan: { kind: "phases", phases }, problems };
}

function isList(load: AnyLoads): load is readonly AnyLoad[] {
  return Array.isArray(load);
}

function convertPlain(load: AnyLoad, builder: LoadBuilder, folder: string): ConvertedLoad {
  const { kind, options } = load;
  const plan = builder.toPlan(load, folder);
  return {
    plan,
    problems: problemsOf(load, builder),
    plain: {
      kind,
      extent: extentOf(load, builder, plan),
      search: builder.search?.(options),
      inputs: builder.inputs?.(options),
      checkTargets: (targets) => builder.checkTargets?.(options, targets) ?? [],
    },
  };
}

/** Returns conflicts between the numbers and options of a load, with paths that begin with `load`. */
function problemsOf(load: AnyLoad, builder: LoadBuilder): Problem[] {
  return [...checkExtent(load.options), ...(builder.check?.(load) ?? [])];
}

/** Returns the requested length of a load's measurement; undefined: until it is stable. */
function extentOf({ options }: AnyLoad, builder: LoadBuilder, plan: LoadPlan): MeasurementModePlan | undefined {
  const extent = (builder.extent ?? toExtentPlan)(options);
  if (extent !== undefined) return extent;
  const count = loadModeOf(plan).requestCount?.(plan);
  return count === undefined ? undefined : { kind: "requests", count };
}

function createReader(folder: string): PhaseReader {
  const convert = (path: string, load: AnyLoad): { plan: LoadPlan; problems: Problem[]; builder: LoadBuilder } => {
    // This is called only for loads that are not phases, as their schemas ensure.
    const builder = builderOf(load) as LoadBuilder;
    const plan = builder.toPlan(load, folder);
    const problems = problemsOf(load, builder).map((one) => movePath(one, (place) => place.replace(/^load/, path)));
    return { plan, problems: [...problems, ...checkContinues(path, load, builder, plan)], builder };
  };
  const read: PhaseReader = {
    load: (path, load, rule) => {
      const { plan, problems, builder } = convert(path, load);
      const all = [...problems, ...checkNoExtent(path, load)];
      return { plan, problems: rule === "steady" ? [...all, ...checkSteady(path, load, builder, all.length)] : all };
    },
    part: (path, load, firstIndex): ConvertedPhases => {
      const phases = builderOf(load);
      if (isOfPhases(phases)) return phases.toPhases(load.options, path, read, firstIndex);
      const { plan, problems, builder } = convert(path, load);
      const mode = extentOf(load, builder, plan);
      return { problems, phases: [{ load: plan, ...defined({ mode }) }] };
    },
    namedBy: (load) => {
      const builder = builderOf(load);
      return isOfPhases(builder) ? builder.namedBy : undefined;
    },
  };
  return read;
}

/** Returns a problem for each load that ends by itself. */
function checkContinues(path: string, load: AnyLoad, builder: LoadBuilder, plan: LoadPlan): Problem[] {
  const mode = loadModeOf(plan);
  if (mode.levels?.(plan).search === "knee") {
    const message = "has no effect here: the next level of a phase is prepared before this one is measured";
    return [problem("conflict", `${path}.until`, message, "Leave it out, or use the load as the only one.", "knee")];
  }
  if (builder.search === undefined && canBePhase(mode)) return [];
  const message = "has an end or rules of its own and cannot be one of several phases";
  const warmUp = holdsSessions(load.kind)
    ? ' To warm up, write sessions(4, { for: "1 min" }) and warmupFor: "10 s".'
    : "";
  return [problem("conflict", path, message, `Use it as the only load.${warmUp}`, loadCallOf(load))];
}

/** Returns problems of a load inside a builder that sets the time itself. */
function checkNoExtent(path: string, load: AnyLoad): Problem[] {
  const options = load.options as { readonly for?: unknown; readonly requests?: unknown; readonly over?: unknown };
  return (["for", "requests", "over"] as const).flatMap((name) => {
    if (options[name] === undefined) return [];
    const message = "has no effect here: the phase around it has the length";
    return [problem("conflict", `${path}.${name}`, message, "Leave it out.", String(options[name]))];
  });
}

/** @param foundCount number of problems found before; one is enough */
function checkSteady(path: string, load: AnyLoad, builder: LoadBuilder, foundCount: number): Problem[] {
  if (foundCount > 0 || (builder.isSteady === true && load.values.length <= 1)) return [];
  const hint = "Use a concurrency, hold(…), rate(…) with one rate, or intervals(…).";
  return [problem("conflict", path, "must be one steady load", hint, loadCallOf(load))];
}
