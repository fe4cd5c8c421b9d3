import type { InputsPlan, TargetPlan } from "../../plan/plan.ts";
import type { Schema } from "../../plan/schema.ts";
import type { LlmContent } from "./llm-content.ts";
import type { CheckedServer } from "./target-fields.ts";

/** A validated target, of any builder. */
export interface CheckedTarget extends CheckedServer {
  readonly options: { readonly protocol?: "http" | "grpc" | undefined };
}

/** A builder of targets: everything that the other modules ask about it, instead of testing its kind. `T` is its validated target. */
export interface TargetBuilder<T extends CheckedTarget = CheckedTarget> {
  /** The call in a scenario. */
  readonly call: string;
  /** Whether the run starts it, so that it has no address. */
  readonly isOwn?: true;
  /** Its only protocol, for builders without the option. Absent: HTTP, or what the option says. */
  readonly protocol?: "http" | "grpc";
  /** Returns the schema of what the builder returns. */
  schema(): Schema<T>;
  /** Converts it to the target of a plan. @param folder base of relative paths */
  toPlan(target: T, folder: string): TargetPlan;
  /** Returns the inputs that are part of the target. Absent: the scenario has inputs of its own. @param folder base of relative paths */
  inputs?(target: T, folder: string): InputsPlan;
  /** Returns the format of its requests and responses. Absent for tensors. */
  content?(target: T, folder: string): LlmContent;
}
