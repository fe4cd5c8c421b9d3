import * as v from "valibot";
import type { InputsPlan } from "../plan/plan.ts";
import type { Problem } from "../plan/problem.ts";
import type { Schema } from "../plan/schema.ts";
import type { ModelInfo, RequestForm } from "../service/service.ts";
import type { DataOrder, Dataset } from "./dataset.ts";
import type { HeldEntries } from "./held-entries.ts";

/**
 * A source of request data: everything that the rest of the program asks about it, instead of testing its kind. `P` is its part of the
 * plan.
 */
export interface InputKind<P extends InputsPlan> {
  schema(): Schema<P>;
  readonly makes: RequestForm;
  /** True if its requests are not prompts, so that repeating one does not hit a prompt cache. Absent: they are prompts. */
  readonly hasNoPrompts?: true;
  /** True if its data does not depend on a model, so that it can be read before the server is queried. Absent: it does. */
  readonly needsNoModel?: true;
  /** Returns the orders in which its data can be sent. Absent: only `in-turn`. */
  orders?(plan: P): readonly DataOrder[];
  /** Reason why its data has no sessions, and what to use instead. Absent: the load's message. */
  readonly lacksSessions?: Pick<Problem, "message" | "hint">;
  /** Reason why its data needs a load of sessions, and what to use. Absent: it does not. */
  readonly needsSessions?: Pick<Problem, "message" | "hint">;
  /** True if its sessions are chains of requests. Absent: they are conversations. */
  readonly hasChains?: true;
  /** Whether each request takes the next step of the data, whichever lane sends it. Absent: false. */
  isInOrder?(plan: P): boolean;
  /** Describes what its requests measure, instead of a single path of the target. Absent: the target's description. */
  subject?(plan: P): string;
  /** Whether its entries can have tags. Absent: false. */
  canHaveTags?(plan: P): boolean;
  /** Returns the files and folders that it reads; `*` and `?` stand for files that match. Absent: none that the plan names. */
  paths?(plan: P): readonly string[];
  /**
   * Returns such data in perf_analyzer's terms: the value of its option for input data, and what that cannot express. Absent:
   * perf_analyzer does not support it, or generates random data.
   */
  perfAnalyzer?(plan: P): PerfAnalyzerInputs;
  /**
   * Packs its data for other threads and hosts, which then need not make it, because it comes from a function that is called only once.
   * Absent: each of them makes or reads the same data.
   */
  hold?(data: Dataset): HeldEntries;
  /**
   * Makes or reads the data. Throws `UserError` with everything that does not fit the model.
   * @param order one of its orders. For `at-times` each step must have a timestamp, for `in-sessions` a session
   * @param held the entries of the plan's only file, which is then not read, or the result of {@link hold}. Default: the file is read
   */
  load(plan: P, model: ModelInfo, order: DataOrder, held?: HeldEntries): Dataset | Promise<Dataset>;
}

export interface PerfAnalyzerInputs {
  /** Files or a folder, or `zero`. For data that is not in a file, the name of a file that would contain it. */
  readonly names: readonly string[];
  /** Part of the data that they do not express, as a sentence without a full stop. */
  readonly note?: string;
}

/** Returns the entries of inputs whose steps can be sent in order. */
export function orderEntries() {
  return {
    /**
     * True: each request takes the next step, whichever lane sends it, so that N requests take the first N steps. Default: false; each
     * lane has its own stride, like in perf_analyzer.
     */
    isInOrder: v.exactOptional(v.boolean()),
  };
}

/** Reports whether the steps of such inputs are sent in order. */
export function isInOrder({ isInOrder = false }: { readonly isInOrder?: boolean }): boolean {
  return isInOrder;
}
