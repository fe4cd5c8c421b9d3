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

/** Returns the schema of a member of a mix. @param target schema of its target */
export function memberSchema(target: Schema<AnyTarget>) {
  return strictOptions({
    name: nameSchema("a name"),
    target,
    inputs: v.optional(inputsSchema()),
    weight: v.optional(weightSchema()),
    tags: v.optional(tagOptionsSchema()),
  });
}

/** Fields of a member that are made by other builders. */
export const MEMBER_PARTS: Readonly<Record<string, PartKind>> = { target: "target", inputs: "inputs" };

/** A builder of targets: everything that the other modules ask about it, instead of testing its kind. `T` is its validated target. */
export interface TargetBuilder<T extends AnyTarget = AnyTarget> {
  /** Its form in data. */
  readonly form: DataForm;
  /** The call in messages. Default: the name in `form` with parentheses. */
  readonly call?: string;
  /** True if the run starts the server, so that the target has no address. */
  readonly startsServer?: true;
  /** True if its server has trace settings. */
  readonly hasServerTrace?: true;
  /** Its only protocol, for builders without the option. Absent: HTTP, or the option's value. */
  readonly protocol?: "http" | "grpc";
  /** The form of its requests. Default: `payloads` with `content`, otherwise `tensors`. */
  readonly takes?: Exclude<RequestForm, "mixed">;
  /** True if its payloads are files of any kind. Absent: they are for a JSON API. */
  readonly takesFiles?: true;
  /** Hint on the inputs, for targets of payloads. Default: use input.payloads(…) or the target's options. */
  readonly inputsHint?: string;
  /**
   * Returns the inputs from the target's options, for scenarios without `inputs`.
   * @param requestCount the number of requests of a level, if the load fixes it
   */
  inputs?(target: T, folder: string, requestCount: number | undefined): InputsPlan;
  /** Returns conflicts that the schema cannot find: between its options, or with the scenario's inputs. */
  check?(target: T, inputs: Inputs | undefined): Problem[];
  /** Returns the members of a mix, which determine everything else. Absent: it is a single target. */
  members?(target: T): readonly MemberOfMix[];
  /** Returns the schema of the builder's result. */
  schema(): Schema<T>;
  /** Converts it to its form in a plan. @param folder base of relative paths @param inputs the scenario's inputs, if it has any */
  toPlan(target: T, folder: string, inputs?: Inputs): TargetPlan;
  /** Returns the format of its requests and responses. Absent for tensors. */
  content?(target: T, folder: string): LlmContent;
}
