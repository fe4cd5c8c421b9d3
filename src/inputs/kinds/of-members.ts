import * as v from "valibot";
import type { PlanOf } from "../../plan/schema.ts";
import type { InputKind } from "../input-kind.ts";

/** The inputs of a mix, whose members each have their own. */
type MemberInputsPlan = PlanOf<typeof schema>;

declare module "../../plan/plan.ts" {
  interface InputsPlans {
    readonly "of-members": MemberInputsPlan;
  }
}

const schema = () => v.object({ kind: v.literal("of-members") });

export const memberInputs: InputKind<MemberInputsPlan> = {
  schema,
  makes: "mixed",
  hasNoPrompts: true,
  load: () => ({ streams: [], isFromJson: true, warnings: [] }),
};
