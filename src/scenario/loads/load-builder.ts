import * as v from "valibot";
import type { PhasePlan } from "../../plan/load-options.ts";
import type { LoadPlan } from "../../plan/load-plan.ts";
import type { MeasurementModePlan } from "../../plan/plan.ts";
import type { Problem } from "../../plan/problem.ts";
import type { Schema } from "../../plan/schema.ts";
import type { AnyAssertion } from "../assertion.ts";
import type { DataForm } from "../form.ts";
import type { Inputs } from "../input-data.ts";
import type { AnyTarget } from "../targets/target-builder.ts";
import type { Load } from "./load.ts";

/** A validated load, of any builder: its numbers and its options are valid, but not yet checked together. */
export interface AnyLoad<O extends object = object> extends Pick<Load, "kind" | "values"> {
  readonly options: O;
}

/** Schemas of loads in the options of other loads. */
export interface InnerLoads {
  /** A load that is not made of phases. */
  plain(): Schema<AnyLoad>;
  /** A load, or phases. */
  part(): Schema<AnyLoad>;
}

/** For loads without loads in their options. */
export const NO_INNER_LOADS: InnerLoads = { plain: () => v.never(), part: () => v.never() };

interface CommonBuilder<O extends object> {
  /** Its form in YAML and JSON. */
  readonly form: DataForm;
  /** Returns the schema of its options. */
  options(loads: InnerLoads): Schema<O>;
}

/** A search for the highest load. */
export interface SearchOfLoad {
  /** Limits that the load must keep. */
  readonly limits: readonly AnyAssertion[];
  /** Time of load before each measurement, in milliseconds. */
  readonly settleMs: number;
}

/** A builder of loads: everything that the other modules ask about it. `O` are its options. */
export interface LoadBuilder<O extends object = object> extends CommonBuilder<O> {
  /** An example call, for messages about its numbers. Absent: the messages are enough. */
  readonly example?: string;
  /** Returns the schema of its numbers. Absent: no numbers. */
  values?(): Schema<readonly number[]>;
  /** Returns conflicts between its numbers and options other than `for` and `requests`. Absent: no conflicts are possible. */
  check?(load: AnyLoad<NoInfer<O>>): Problem[];
  /** Converts it to its form in a plan. @param folder base of relative paths */
  toPlan(load: AnyLoad<NoInfer<O>>, folder: string): LoadPlan;
  /**
   * Returns the requested length of measurement; undefined: the default of its load mode, or until it is stable. Absent: it is given by
   * `for`, `requests` or `over`.
   */
  extent?(options: NoInfer<O>): MeasurementModePlan | undefined;
  /** True if it can stay constant for any time when it has one level. Absent: false. */
  readonly isSteady?: true;
  /** True if it runs conversations of prompts. Absent: false. */
  readonly holdsSessions?: true;
  /** Returns the search for its level. Absent: no search. */
  search?(options: NoInfer<O>): SearchOfLoad;
  /** Returns the requests that it contains. Absent: none. */
  inputs?(options: NoInfer<O>): Inputs;
  /** Returns the problems of the targets, which are those of a mix or the only one. Absent: it supports any target. */
  checkTargets?(options: NoInfer<O>, targets: readonly AnyTarget[]): Problem[];
}

/** Phases of a plan, and their problems. */
export interface ConvertedPhases {
  readonly problems: readonly Problem[];
  readonly phases: readonly PhasePlan[];
}

/** Converts the loads in the options of a builder of phases. A path is the load's path in the scenario. */
export interface PhaseReader {
  /**
   * Converts a load without phases.
   * @param rule `continues`: it must not end by itself; `steady`: it must also be constant
   */
  load(
    path: string,
    load: AnyLoad,
    rule: "continues" | "steady",
  ): { readonly problems: readonly Problem[]; readonly plan: LoadPlan };
  /** Converts a load or phases. */
  part(path: string, load: AnyLoad, firstIndex: number): ConvertedPhases;
  /** Returns the reason why `phase(…)` cannot name a load; undefined if it can. */
  namedBy(load: AnyLoad): string | undefined;
}

/** A builder of phases: everything that the other modules ask about it. `O` are its options. */
export interface PhasesBuilder<O extends object = object> extends CommonBuilder<O> {
  /** Reason why `phase(…)` cannot name it. Absent: it can. */
  readonly namedBy?: string;
  /**
   * Converts it to phases of a plan. @param path its path in the scenario @param firstIndex index of the first phase in the plan
   */
  toPhases(options: NoInfer<O>, path: string, read: PhaseReader, firstIndex: number): ConvertedPhases;
}

/** Returns the builder; its options have the type that its schema returns. */
export function loadBuilder<O extends object>(builder: LoadBuilder<O>): LoadBuilder<O> {
  return builder;
}

/** Returns the builder; its options have the type that its schema returns. */
export function phasesBuilder<O extends object>(builder: PhasesBuilder<O>): PhasesBuilder<O> {
  return builder;
}
