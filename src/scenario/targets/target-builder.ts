import * as v from "valibot";
import { weightSchema } from "../../plan/groups/mix.ts";
import type { InputsPlan, TargetPlan } from "../../plan/plan.ts";
import type { Problem } from "../../plan/problem.ts";
import type { OutputOf, Schema } from "../../plan/schema.ts";
import type { RequestForm } from "../../service/service.ts";
import { nameSchema, strictOptions } from "../fields.ts";
import type { DataForm, PartKind } from "../form.ts";
import type { Inputs } from "../input-data.ts";
import { inputsSchema } from "../inputs.ts";
import { tagOptionsSchema } from "../tags.ts";
import type { LlmContent } from "./llm-content.ts";
import type { TargetAddress } from "./target-fields.ts";

/** A validated target, of any builder. */
export interface AnyTarget extends TargetAddress {
  readonly options: { readonly protocol?: "http" | "grpc" | undefined; readonly [name: string]: unknown };
}

/** A validated member of a mix. */
export type MemberOfMix = OutputOf<typeof memberSchema>;

/** Returns the schema of a member of a mix. @param target the schema of its target */
export function memberSchema(target: Schema<AnyTarget>) {
  return strictOptions({
    name: nameSchema("a name"),
    target,
    inputs: v.optional(inputsSchema()),
    weight: v.optional(weightSchema()),
    tags: v.optional(tagOptionsSchema()),
  });
}

/** What other builders make of a member. */
export const MEMBER_PARTS: Readonly<Record<string, PartKind>> = { target: "target", inputs: "inputs" };

/** A builder of targets: everything that the other modules ask about it, instead of testing its kind. `T` is its validated target. */
export interface TargetBuilder<T extends AnyTarget = AnyTarget> {
  /** How it is written. */
  readonly form: DataForm;
  /** The call in messages. Default: the name in `form` with parentheses. */
  readonly call?: string;
  /** Whether the run starts it, so that it has no address. */
  readonly startsServer?: true;
  /** Whether its server has trace settings. */
  readonly hasServerTrace?: true;
  /** Its only protocol, for builders without the option. Absent: HTTP, or what the option says. */
  readonly protocol?: "http" | "grpc";
  /** The form of its requests. Default: `payloads` with `content`, otherwise `tensors`. */
  readonly takes?: Exclude<RequestForm, "mixed">;
  /** Whether its payloads are files of any kind. Absent: they are of a JSON API. */
  readonly takesFiles?: true;
  /** What to write as inputs, for targets of payloads. Default: that input.payloads(…) or the target's options have them. */
  readonly inputsHint?: string;
  /**
   * Returns the inputs that the target's own options describe, for scenarios without `inputs`.
   * @param requestCount the number of requests of a level, if the load fixes it
   */
  inputs?(target: T, folder: string, requestCount: number | undefined): InputsPlan;
  /** Returns conflicts between its options, or with the scenario's inputs, which the schema cannot see. */
  check?(target: T, inputs: Inputs | undefined): Problem[];
  /** Returns the members of a mix, which have the rest. Absent: it is a single target. */
  members?(target: T): readonly MemberOfMix[];
  /** Returns the schema of what the builder returns. */
  schema(): Schema<T>;
  /** Converts it to the target of a plan. @param folder base of relative paths @param inputs those of the scenario, if it has any */
  toPlan(target: T, folder: string, inputs?: Inputs): TargetPlan;
  /** Returns the format of its requests and responses. Absent for tensors. */
  content?(target: T, folder: string): LlmContent;
}
