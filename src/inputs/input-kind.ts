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
  /** The form of its requests. */
  readonly makes: RequestForm;
  /** Its requests are not prompts, so that sending one again does not hit a prompt cache. Absent: they are prompts. */
  readonly hasNoPrompts?: true;
  /** Its data depends on no model, so that it can be read before the server is queried. Absent: it does. */
  readonly needsNoModel?: true;
  /** Returns the orders in which its data can be sent. Absent: only `in-turn`. */
  orders?(plan: P): readonly DataOrder[];
  /** Why its data has no sessions, and what to use instead. Absent: as the load says. */
  readonly lacksSessions?: Pick<Problem, "message" | "hint">;
  /** Why its data needs a load of sessions, and what to use. Absent: it does not. */
  readonly needsSessions?: Pick<Problem, "message" | "hint">;
  /** Its sessions are chains of requests. Absent: conversations. */
  readonly hasChains?: true;
  /** Whether each request takes the next step of the data, whichever lane sends it. Absent: no. */
  isInOrder?(plan: P): boolean;
  /** Describes what its requests measure, in place of one path of the target. Absent: the target says it. */
  subject?(plan: P): string;
  /** Whether its entries can have tags. Absent: no. */
  canHaveTags?(plan: P): boolean;
  /** Returns the files and folders that it reads; `*` and `?` stand for files that match. Absent: none that the plan names. */
  paths?(plan: P): readonly string[];
  /**
   * Returns how perf_analyzer takes such data: what its option for input data names, and what it cannot express. Absent: it takes none, or
   * makes random data.
   */
  perfAnalyzer?(plan: P): PerfAnalyzerInputs;
  /**
   * Packs its data for other threads and hosts, which then need not make it: it comes from a function that is called once. Absent: each of them
   * makes or reads the same data.
   */
  hold?(data: Dataset): HeldEntries;
  /**
   * Makes or reads the data. Throws `UserError` with everything that does not fit the model.
   * @param order one of its orders: `at-times` each step must say when it is due, `in-sessions` whose turn it is
   * @param held the entries of the plan's only file, which is then not read, or what {@link hold} returned. Default: the file is read
   */
  load(plan: P, model: ModelInfo, order: DataOrder, held?: HeldEntries): Dataset | Promise<Dataset>;
}

/** Data as perf_analyzer takes it. */
export interface PerfAnalyzerInputs {
  /** Files or a folder, or `zero`; for data that is in no file, the name of one that would contain it. */
  readonly names: readonly string[];
  /** What is not expressed by them; a sentence without a full stop. */
  readonly note?: string;
}
