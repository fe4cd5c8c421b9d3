import type { Plan } from "../../plan/plan.ts";
import { type Problem, problem } from "../../plan/problem.ts";
import { DEFAULT_SEQUENCES } from "../../plan/sequences.ts";
import { setting } from "../../plan/setting-names.ts";
import type { TfServingTargetPlan } from "./target.ts";

const SEQUENCE_SETTINGS = ["length", "lengthVariationPct", "idCount", "concurrent", "isSerial"] as const;

/** Returns the settings of a plan that TensorFlow Serving has no counterpart for. */
export function checkTfServing(_target: TfServingTargetPlan, { sequences }: Plan): Problem[] {
  return SEQUENCE_SETTINGS.filter((name) => sequences[name] !== DEFAULT_SEQUENCES[name]).map((name) =>
    problem("unsupported", setting(`sequences.${name}`), "TensorFlow Serving has no sequences", "Leave it out."),
  );
}
