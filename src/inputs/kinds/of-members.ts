import * as v from "valibot";
import type { PlanOf } from "../../plan/schema.ts";
import type { InputKind } from "../input-kind.ts";

const schema = () => v.object({ kind: v.literal("of-members") });

/** The inputs of a mix, whose members each have their own. */
export const memberInputs: InputKind<PlanOf<typeof schema>> = {
  schema,
  makes: "mixed",
  hasNoPrompts: true,
  load: () => ({ streams: [], isFromJson: true, warnings: [] }),
};
