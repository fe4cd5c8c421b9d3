import type { InputsPlan } from "../plan/plan.ts";
import type { Builders, Schema } from "../plan/schema.ts";
import type { ModelInfo, RequestForm } from "../service/service.ts";
import type { DataOrder, Dataset } from "./dataset.ts";
import type { HeldEntries } from "./held-entries.ts";

/** What a source of request data is to the rest of the program, which asks its entry and never tests its kind. `P` is its part of the plan. */
export interface InputKind<P extends InputsPlan> {
  schema(v: Builders): Schema<P>;
  /** What its requests are, and so which servers take them. */
  readonly makes: RequestForm;
  /** The orders that its data can be sent in. Absent: `in-turn` alone. */
  orders?(plan: P): readonly DataOrder[];
  /** Whether each request takes the next step of the data, whichever lane sends it. Absent: it does not. */
  isInOrder?(plan: P): boolean;
  /**
   * Makes or reads the data. Throws `UserError` with everything that does not fit the model.
   * @param order one of its orders: `at-times` each step must say when it is due, `in-sessions` whose turn it is
   * @param held the entries of the plan's only file, which is then not read; for kinds that have a file. Default: the file is read
   */
  load(plan: P, model: ModelInfo, order: DataOrder, held?: HeldEntries): Dataset | Promise<Dataset>;
}
