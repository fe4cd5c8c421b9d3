import * as v from "valibot";
import { functionSchema } from "../../plan/functions.ts";
import { integerSchema, type PlanOf, wholeSchema } from "../../plan/schema.ts";
import { holdMade, loadGeneratedPayloads, loadGeneratedTensors, takeMade } from "../generate/load-generated.ts";
import type { InputKind } from "../input-kind.ts";

type MadeKind = "made-tensors" | "made-payloads";

/** Inputs that a scenario's function makes, as tensors or as payloads. */
export type MadeInputsPlan<K extends MadeKind> = PlanOf<typeof schemaOf<K>>;

function schemaOf<K extends MadeKind>(kind: K) {
  return v.object({
    kind: v.literal(kind),
    /** An {@link InputMaker}. */
    make: functionSchema(),
    /** Maximum number of inputs to take. */
    count: wholeSchema(1),
    seed: integerSchema(),
    /** Conversion of prompts to bodies. Absent: there are no prompts. */
    format: v.exactOptional(v.object({ name: v.string(), model: v.string(), isStreaming: v.boolean() })),
  });
}

export const madeTensorInputs: InputKind<MadeInputsPlan<"made-tensors">> = {
  schema: () => schemaOf("made-tensors"),
  makes: "tensors",
  canHaveTags: () => true,
  isInOrder: () => true,
  hold: holdMade,
  load: async (plan, model, _order, held) => (held === undefined ? loadGeneratedTensors(plan, model) : takeMade(held)),
};

export const madePayloadInputs: InputKind<MadeInputsPlan<"made-payloads">> = {
  schema: () => schemaOf("made-payloads"),
  makes: "payloads",
  canHaveTags: () => true,
  isInOrder: () => true,
  hold: holdMade,
  load: async (plan, _model, _order, held) => (held === undefined ? loadGeneratedPayloads(plan) : takeMade(held)),
};
