import * as v from "valibot";
import { type PlanOf, wholeSchema } from "../../plan/schema.ts";
import type { InputKind } from "../input-kind.ts";
import { generateDataset } from "../random-data.ts";

/** Data generated for the model: random values or zeros. Texts are random in both cases. */
type GeneratedPlan<K extends "random" | "zero"> = PlanOf<typeof generatedSchema<K>>;

export const randomInputs: InputKind<GeneratedPlan<"random">> = {
  schema: () => generatedSchema("random"),
  makes: "tensors",
  load: (plan, model) => generateDataset(model, { ...plan, isZero: false }),
};

export const zeroInputs: InputKind<GeneratedPlan<"zero">> = {
  schema: () => generatedSchema("zero"),
  makes: "tensors",
  perfAnalyzer: () => ({ names: ["zero"] }),
  load: (plan, model) => generateDataset(model, { ...plan, isZero: true }),
};

function generatedSchema<const K extends "random" | "zero">(kind: K) {
  return v.object({
    kind: v.literal(kind),
    stringLength: wholeSchema(1),
    /** Text of every BYTES element; empty: random texts. */
    stringData: v.string(),
  });
}
