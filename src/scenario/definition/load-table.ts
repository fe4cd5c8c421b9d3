import { resolve } from "node:path";
import * as v from "valibot";
import type { LevelsPlan, LoadPlan } from "../../plan/load-plan.ts";
import type { MeasurementModePlan } from "../../plan/plan.ts";
import { type Problem, problem } from "../../plan/problem.ts";
import type { Schema } from "../../plan/schema.ts";
import type { Duration } from "../../plan/units.ts";
import { loadModeOf } from "../../registry/load-modes.ts";
import { countSchema, nameSchema, positiveSchema, spanSchema, strictOptions, toMs } from "../fields.ts";
import { checkFindMax, findMaxEntries, findMaxExtent, findMaxOf, toFindMaxPlan } from "../find-max/options.ts";
import type { DataForm } from "../form.ts";
import type { Load } from "../loads.ts";
import { checkServerLimits } from "../mlperf/check-limits.ts";
import { type CheckedMlperf, mlperfEntries, mlperfExtent, toMlperfPlan } from "../mlperf/options.ts";
import { arrivalEntries, type CheckedArrivals, checkArrivals, toRatePlan } from "../rates.ts";
import { type CheckedSchedule, checkSchedule, scheduleEntries, toPart, traceEntries } from "../schedules.ts";

/** How each kind of load is written as data, checked, and converted to the load of a plan. */

interface CheckedOptions extends CheckedArrivals, CheckedSchedule, CheckedMlperf {
  readonly file?: string;
  readonly seed?: number;
  readonly extra?: Readonly<Record<string, unknown>>;
  readonly responses?: number;
  readonly step?: number;
  readonly for?: Duration;
  readonly requests?: number;
  readonly over?: Duration;
  readonly rampUp?: Duration;
}

/** The loads that are not made of other loads. */
type PlainKind = Exclude<Load["kind"], "warmup" | "phase" | "soak" | "spike">;

/** A validated load. */
export interface CheckedLoad {
  readonly kind: PlainKind;
  readonly values: readonly number[];
  readonly options: CheckedOptions;
}

/** A builder of loads: everything that the other modules ask about it. */
interface LoadBuilder {
  /** How it is written in YAML and JSON. */
  readonly form: DataForm;
  /** Returns the schema of its numbers. Default: it has none. */
  values?(): Schema<readonly number[]>;
  /** Returns the schemas of its options. Default: it has none. */
  options?(): v.ObjectEntries;
  /** Returns the mistakes that only this load can have. Absent: there are no rules of its own. */
  check?(load: CheckedLoad): Problem[];
  /** Converts it to the load of a plan. */
  toPlan(load: CheckedLoad, folder: string): LoadPlan;
}

const FROM_TO = ["from", "to"];

/** The builders of loads by the `kind` of what they return, except those of phases. */
const LOAD_BUILDERS: Readonly<Record<PlainKind, LoadBuilder>> = {
  ramp: {
    form: { name: "ramp", args: FROM_TO },
    values: levelsSchema,
    options: () => ({ ...extentEntries(), step: v.optional(countSchema()), over: v.optional(spanSchema()) }),
    check: checkRamp,
    toPlan: ({ values: [start = 1, end = 1], options }) =>
      options.over === undefined
        ? toConcurrency({ kind: "range", start, end, step: options.step ?? 1 }, options)
        : { kind: "concurrency-ramp", start, end, overMs: toMs(options.over) },
  },
  hold: {
    form: { name: "hold", args: ["concurrency"] },
    values: levelsSchema,
    options: () => ({ ...extentEntries(), rampUp: v.optional(spanSchema()) }),
    toPlan: ({ values, options }) => toConcurrency({ kind: "list", values }, options),
  },
  steps: {
    form: { name: "steps", args: ["levels"], takes: "list" },
    values: levelsSchema,
    options: extentEntries,
    toPlan: ({ values, options }) => toConcurrency({ kind: "list", values }, options),
  },
  rate: {
    form: { name: "rate", args: ["perSec"], takes: "one-or-list" },
    values: ratesSchema,
    options: () => ({ ...extentEntries(), ...arrivalEntries(), rampUp: v.optional(spanSchema()) }),
    toPlan: ({ values, options }) =>
      toRatePlan(values, options, options.rampUp && { fromPerSec: 0, overMs: toMs(options.rampUp) }),
  },
  "rate-ramp": {
    form: { name: "rateRamp", args: FROM_TO },
    values: ratesSchema,
    options: () => ({ ...arrivalEntries(), over: spanSchema() }),
    toPlan: ({ values: [fromPerSec = 0, end = 1], options }) =>
      toRatePlan([end], options, { fromPerSec, overMs: toMs(options.over ?? "0 s") }),
  },
  intervals: {
    form: { name: "intervals", alone: "file" },
    options: () => ({ ...extentEntries(), file: nameSchema("a file") }),
    toPlan: ({ options }, folder) => ({ kind: "intervals", file: resolve(folder, options.file ?? "") }),
  },
  "fixed-schedule": {
    form: { name: "fixedSchedule" },
    options: scheduleEntries,
    toPlan: ({ options }) => ({ kind: "fixed-schedule", ...toPart(options) }),
  },
  trace: {
    form: { name: "trace", alone: "file" },
    options: () => ({ ...scheduleEntries(), ...traceEntries() }),
    toPlan: ({ options }) => ({ kind: "fixed-schedule", ...toPart(options) }),
  },
  periodic: {
    form: { name: "periodic", args: FROM_TO },
    values: levelsSchema,
    options: () => ({ step: v.optional(countSchema()), responses: v.optional(countSchema()) }),
    check: checkPeriodic,
    toPlan: ({ values: [start = 1, end = 1], options: { step = 1, responses = 10 } }) => ({
      kind: "periodic-concurrency",
      start,
      end,
      step,
      periodResponses: responses,
    }),
  },
  sessions: {
    form: { name: "sessions", args: ["concurrency"] },
    values: levelsSchema,
    toPlan: ({ values: [concurrency = 1] }) => ({ kind: "session-concurrency", concurrency }),
  },
  "single-stream": mlperfBuilder("single-stream", { name: "singleStream" }),
  "multi-stream": mlperfBuilder("multi-stream", { name: "multiStream" }),
  server: { ...mlperfBuilder("server", { name: "server", args: ["perSec"] }), values: ratesSchema },
  offline: mlperfBuilder("offline", { name: "offline" }),
  "find-max": {
    form: { name: "findMax", parts: { over: "searched", where: "assertions" } },
    options: findMaxEntries,
    toPlan: (load) => toFindMaxPlan(findMaxOf(load) ?? {}),
  },
};

function mlperfBuilder(kind: Parameters<typeof mlperfEntries>[0], form: DataForm): LoadBuilder {
  return { form, options: () => mlperfEntries(kind), toPlan: toMlperfPlan(kind) };
}

function extentEntries() {
  return { for: v.optional(spanSchema()), requests: v.optional(countSchema()) };
}

function levelsSchema(): Schema<readonly number[]> {
  return v.pipe(v.array(countSchema(), "must be a list of levels"), v.minLength(1, "must have a level"));
}

function ratesSchema(): Schema<readonly number[]> {
  return v.pipe(v.array(positiveSchema(), "must be a rate or a list of rates"), v.minLength(1, "must have a rate"));
}

/** Returns the schema of a scenario's load. */
export function loadSchema(): Schema<CheckedLoad> {
  const shapes = Object.entries(LOAD_BUILDERS).map(([kind, { values, options }]) =>
    v.object({
      kind: v.literal(kind),
      values: values?.() ?? v.array(v.never()),
      options: strictOptions(options?.() ?? {}),
    }),
  );
  const calls = Object.values(LOAD_BUILDERS).map(({ form }) => `${form.name}(…)`);
  const message = `must be ${calls.slice(0, -1).join(", ")} or ${calls.at(-1)}`;
  return v.variant("kind", shapes as never, message) as unknown as Schema<CheckedLoad>;
}

/** How a load is written as data. */
export interface LoadForm {
  readonly kind: string;
  readonly form: DataForm;
  /** Schemas of its options. */
  readonly options: v.ObjectEntries;
  /** Schema of its numbers. Absent: it has none. */
  readonly values?: Schema<readonly number[]> | undefined;
}

/** Returns how the loads that have no phases are written as data. */
export function plainLoadForms(): readonly LoadForm[] {
  return Object.entries(LOAD_BUILDERS).map(([kind, { form, values, options }]) => ({
    kind,
    form,
    options: options?.() ?? {},
    values: values?.(),
  }));
}

/**
 * Returns the path of an argument of a load's builder, by the argument's name: `["concurrency"]`, `["levels", "1"]`. Undefined for an
 * object that is no load. @param index in the load's `values`
 */
export function loadArgumentPath(load: unknown, index: number): readonly string[] | undefined {
  const { kind, values } = (load ?? {}) as { readonly kind?: unknown; readonly values?: unknown };
  if (typeof kind !== "string" || !Object.hasOwn(LOAD_BUILDERS, kind)) return undefined;
  const { args = [], takes } = LOAD_BUILDERS[kind as PlainKind].form;
  const name = args[takes === undefined ? index : 0];
  if (name === undefined) return undefined;
  const isOne = takes === undefined || (takes === "one-or-list" && Array.isArray(values) && values.length === 1);
  return isOne ? [name] : [name, String(index)];
}

/** Returns conflicts between the options of a load. */
export function checkLoad(load: CheckedLoad): Problem[] {
  const { kind, options } = load;
  const findMax = findMaxOf(load);
  if (findMax !== undefined) return checkFindMax(findMax);
  const problems: Problem[] = [];
  const { over, for: duration, requests, step } = options;
  if (duration !== undefined && requests !== undefined) {
    problems.push(problem("conflict", "load.requests", "cannot be given together with for", "Give one of them."));
  }
  if (over !== undefined && (step !== undefined || duration !== undefined || requests !== undefined)) {
    const message = "is the length of the whole measurement and cannot be given together with step, for or requests";
    problems.push(problem("conflict", "load.over", message, "Leave them out."));
  }
  const own = LOAD_BUILDERS[kind].check?.(load) ?? [];
  return [...problems, ...own, ...checkArrivals(options), ...checkSchedule(options), ...checkServerLimits(load)];
}

function checkPeriodic({ values: [start = 1, end = 1], options: { step = 1 } }: CheckedLoad): Problem[] {
  if (end >= start && (end - start) % step === 0) return [];
  const message = `periodic(${start}, ${end}) does not reach its end in steps of ${step}`;
  return [problem("invalid-value", "load", message, "The end must be the start plus a whole number of steps.")];
}

function checkRamp({ values: [start = 1, end = 1], options: { over } }: CheckedLoad): Problem[] {
  if (over !== undefined || end >= start) return [];
  const message = `a ramp over levels cannot fall from ${start} to ${end}`;
  const hint = `Write ramp(${end}, ${start}), or give it a duration: { over: "1 min" }.`;
  return [problem("invalid-value", "load", message, hint)];
}

function toConcurrency(levels: LevelsPlan, { rampUp }: CheckedOptions): LoadPlan {
  return { kind: "concurrency", levels, search: "linear", ...(rampUp === undefined ? {} : { rampMs: toMs(rampUp) }) };
}

/** Converts a load to that of a plan. @param folder base of relative paths */
export function toLoadPlan(load: CheckedLoad, folder: string): LoadPlan {
  return LOAD_BUILDERS[load.kind].toPlan(load, folder);
}

/** Returns how long a load asks to be measured; undefined: until it is stable. @param plan the load of the plan */
export function toExtentPlan(load: CheckedLoad, plan: LoadPlan): MeasurementModePlan | undefined {
  const { options } = load;
  const mlperf = mlperfExtent(load);
  if (mlperf !== undefined) return mlperf;
  const findMax = findMaxOf(load);
  if (findMax !== undefined) return findMaxExtent(findMax);
  const count = loadModeOf(plan).requestCount?.(plan);
  if (count !== undefined) return { kind: "requests", count };
  if (options.over !== undefined) return { kind: "duration", durationMs: toMs(options.over) };
  if (options.for !== undefined) return { kind: "duration", durationMs: toMs(options.for) };
  return options.requests === undefined ? undefined : { kind: "requests", count: options.requests };
}
