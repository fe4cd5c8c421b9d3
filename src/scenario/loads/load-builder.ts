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

/** A validated load, of any builder: its numbers and options are valid, each on its own. */
export interface AnyLoad<O extends object = object> extends Pick<Load, "kind" | "values"> {
  readonly options: O;
}

/** Schemas of loads in the options of another one. */
export interface InnerLoads {
  /** A load that is not made of phases. */
  plain(): Schema<AnyLoad>;
  /** A load or phases. */
  part(): Schema<AnyLoad>;
}

/** For loads that have no loads in their options. */
export const NO_INNER_LOADS: InnerLoads = { plain: () => v.never(), part: () => v.never() };

interface CommonBuilder<O extends object> {
  /** How it is written in YAML and JSON. */
  readonly form: DataForm;
  /** Returns the schema of its options. */
  options(loads: InnerLoads): Schema<O>;
}

/** A search for the highest load. */
export interface SearchOfLoad {
  /** What the load must keep. */
  readonly limits: readonly AnyAssertion[];
  /** Time of load before each measurement, in milliseconds. */
  readonly settleMs: number;
}

/** A builder of loads: everything that the other modules ask about it. `O` are its options. */
export interface LoadBuilder<O extends object = object> extends CommonBuilder<O> {
  /** A call as an example, for messages about its numbers. Absent: they say it. */
  readonly example?: string;
  /** Returns the schema of its numbers. Absent: it has none. */
  values?(): Schema<readonly number[]>;
  /** Returns conflicts between its numbers and options, with paths that begin with `load`. Absent: there can be none. */
  check?(load: AnyLoad<NoInfer<O>>): Problem[];
  /** Converts it to the load of a plan. @param folder base of relative paths */
  toPlan(load: AnyLoad<NoInfer<O>>, folder: string): LoadPlan;
  /** Returns how long it asks to be measured. Absent or undefined: as long as its load mode says, or until it is stable. */
  extent?(options: NoInfer<O>): MeasurementModePlan | undefined;
  /** Whether it can stay the same for any time when it has one level. Absent: no. */
  readonly isSteady?: true;
  /** Whether it holds conversations of prompts. Absent: no. */
  readonly holdsSessions?: true;
  /** Returns how the load searches for its level. Absent: it does not search. */
  search?(options: NoInfer<O>): SearchOfLoad;
  /** Returns the requests that it brings. Absent: none. */
  inputs?(options: NoInfer<O>): Inputs;
  /** Returns what is wrong with the targets, which are those of a mix or the only one. Absent: it takes any target. */
  checkTargets?(options: NoInfer<O>, targets: readonly AnyTarget[]): Problem[];
}

/** Phases of a plan, and what is wrong with them. */
export interface ConvertedPhases {
  readonly problems: readonly Problem[];
  readonly phases: readonly PhasePlan[];
}

/** Converts the loads in the options of a builder of phases. A path is that of the load in the scenario. */
export interface PhaseReader {
  /**
   * Converts a load without phases.
   * @param rule `continues`: it has no end of its own; `steady`: it is also the same all the time
   */
  load(
    path: string,
    load: AnyLoad,
    rule: "continues" | "steady",
  ): { readonly problems: readonly Problem[]; readonly plan: LoadPlan };
  /** Converts a load or phases. */
  part(path: string, load: AnyLoad, firstIndex: number): ConvertedPhases;
  /** Returns why `phase(…)` cannot give a load a name; undefined: it can. */
  namedBy(load: AnyLoad): string | undefined;
}

/** A builder of phases: everything that the other modules ask about it. `O` are its options. */
export interface PhasesBuilder<O extends object = object> extends CommonBuilder<O> {
  /** Why `phase(…)` cannot give it a name. Absent: it can. */
  readonly namedBy?: string;
  /** Converts it to phases of a plan. @param path its own in the scenario @param firstIndex index of the first phase in the plan */
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
