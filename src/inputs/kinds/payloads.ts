import type { InputKind } from "../input-kind.ts";
import { pathSchema } from "./path-schema.ts";

/** Payloads from files, as GenAI-Perf writes them or as JSON Lines. */
interface PayloadsInputsPlan {
  readonly kind: "payloads";
  readonly file: string;
  /** Continue the first one. */
  readonly moreFiles?: readonly string[];
  /**
   * Each request takes the next step, whichever lane sends it, so that N requests take the first N steps. Default: false; each lane has its
   * own stride, like in perf_analyzer.
   */
  readonly isInOrder?: boolean;
}

declare module "../../plan/plan.ts" {
  interface InputsPlans {
    readonly payloads: PayloadsInputsPlan;
  }
}

export const payloadsInputs: InputKind<PayloadsInputsPlan> = {
  schema: (v) =>
    v.object({
      kind: v.literal("payloads"),
      file: pathSchema(v),
      moreFiles: v.exactOptional(v.array(pathSchema(v))),
      isInOrder: v.exactOptional(v.boolean()),
    }),
  makes: "payloads",
  orders: () => ["in-turn", "at-times", "in-sessions"],
  isInOrder: ({ isInOrder = false }) => isInOrder,
  load: async ({ file, moreFiles = [] }, _model, order, held) =>
    (await import("../payload-list.ts")).readPayloadLists([file, ...moreFiles], order, held),
};
