import * as v from "valibot";
import { type FunctionPlan, functionSchema } from "../../plan/functions.ts";
import type { InputKind } from "../input-kind.ts";
import { loadMadePayloads, loadMadeTensors } from "../made/load-made.ts";

/** Inputs that a scenario's function makes, as tensors or as payloads. */
export interface MadeInputsPlan<K extends "made-tensors" | "made-payloads"> {
  readonly kind: K;
  /** An {@link InputMaker}. */
  readonly make: FunctionPlan;
  /** Most inputs to take, 1 or more. */
  readonly count: number;
  readonly seed: number;
  /** How a prompt becomes a body. Absent: there are no prompts. */
  readonly format?: { readonly name: string; readonly model: string; readonly isStreaming: boolean } | undefined;
}

declare module "../../plan/plan.ts" {
  interface InputsPlans {
    readonly "made-tensors": MadeInputsPlan<"made-tensors">;
    readonly "made-payloads": MadeInputsPlan<"made-payloads">;
  }
}

function schemaOf<K extends "made-tensors" | "made-payloads">(kind: K) {
  return v.object({
    kind: v.literal(kind),
    make: functionSchema(),
    count: v.pipe(v.number(), v.integer("must be a whole number"), v.minValue(1, "must be 1 or more")),
    seed: v.pipe(v.number(), v.integer("must be a whole number")),
    format: v.exactOptional(v.object({ name: v.string(), model: v.string(), isStreaming: v.boolean() })),
  });
}

export const madeTensorInputs: InputKind<MadeInputsPlan<"made-tensors">> = {
  schema: () => schemaOf("made-tensors"),
  makes: "tensors",
  isInOrder: () => true,
  load: async (plan, model) => loadMadeTensors(plan, model),
};

export const madePayloadInputs: InputKind<MadeInputsPlan<"made-payloads">> = {
  schema: () => schemaOf("made-payloads"),
  makes: "payloads",
  isInOrder: () => true,
  load: async (plan) => loadMadePayloads(plan),
};
