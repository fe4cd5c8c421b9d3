import * as v from "valibot";
import { functionSchema } from "../../plan/functions.ts";
import { atLeast, type PlanOf } from "../../plan/schema.ts";
import type { InputKind } from "../input-kind.ts";
import { loadCustomInputs } from "../user-inputs.ts";

/** Inputs of a scenario's own type, which its function encodes. */
export type CustomInputsPlan = PlanOf<typeof schema>;

declare module "../../plan/plan.ts" {
  interface InputsPlans {
    readonly "user-defined": CustomInputsPlan;
  }
}

const schema = () =>
  v.object({
    kind: v.literal("user-defined"),
    /** Returns the inputs. */
    values: functionSchema(),
    /** Encodes one of them. */
    encode: functionSchema(),
    /** The protocol of the encoded requests. */
    protocol: v.picklist(["http", "grpc", "grpc-call"]),
    /** Most inputs that are taken; they repeat when the load needs more. */
    count: v.pipe(v.number(), v.integer(), atLeast(1)),
  });

export const customInputs: InputKind<CustomInputsPlan> = {
  schema,
  makes: "payloads",
  isInOrder: () => true,
  lacksSessions: {
    message:
      "the requests of defineTarget(…) are all encoded before the first one is sent, so no turn can depend on a response",
    hint: "Use hold(…) or another load, or openai(…) for conversations.",
  },
  load: async (plan) => loadCustomInputs(plan),
};
