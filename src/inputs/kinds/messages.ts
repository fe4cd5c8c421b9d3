import * as v from "valibot";
import { type PlanOf, pathSchema } from "../../plan/schema.ts";
import type { InputKind } from "../input-kind.ts";
import { readMessageLists } from "../messages/message-list.ts";

/** Messages of calls, from files or from the plan. */
type MessagesInputsPlan = PlanOf<typeof schema>;

declare module "../../plan/plan.ts" {
  interface InputsPlans {
    readonly messages: MessagesInputsPlan;
  }
}

const schema = () =>
  v.object({
    kind: v.literal("messages"),
    /** JSON files, `{"data": [ENTRY, …]}`. */
    messageFiles: v.array(pathSchema()),
    /** Entries in addition to those of the files, in the same form. */
    entries: v.array(v.record(v.string(), v.unknown())),
    /** Folder in which generators run. Absent: the current one. */
    folder: v.exactOptional(pathSchema()),
    /**
     * True: each call takes the next step, whichever lane sends it, instead of a stride per lane like in perf_analyzer. Default:
     * false.
     */
    isInOrder: v.exactOptional(v.boolean()),
  });

export const messagesInputs: InputKind<MessagesInputsPlan> = {
  schema,
  makes: "messages",
  hasNoPrompts: true,
  isInOrder: ({ isInOrder = false }) => isInOrder,
  paths: ({ messageFiles }) => messageFiles,
  perfAnalyzer: ({ messageFiles, entries }) =>
    entries.length === 0
      ? { names: messageFiles }
      : { names: [...messageFiles, "messages.json"], note: "the messages go into a file, messages.json here" },
  load: async ({ messageFiles, entries, folder }, model) => readMessageLists(messageFiles, entries, model, folder),
};
