import * as v from "valibot";
import { type PlanOf, pathSchema } from "../../plan/schema.ts";
import { type InputKind, isInOrder, orderEntries } from "../input-kind.ts";
import { readMessageLists } from "../messages/message-list.ts";

const schema = () =>
  v.object({
    kind: v.literal("messages"),
    /** JSON files, `{"data": [ENTRY, …]}`. */
    messageFiles: v.array(pathSchema()),
    /** Entries in addition to those of the files, in the same form. */
    entries: v.array(v.record(v.string(), v.unknown())),
    /** Folder in which generators run. Absent: the current one. */
    folder: v.exactOptional(pathSchema()),
    ...orderEntries(),
  });

/** Messages of calls, from files or from the plan. */
export const messagesInputs: InputKind<PlanOf<typeof schema>> = {
  schema,
  makes: "messages",
  hasNoPrompts: true,
  isInOrder,
  paths: ({ messageFiles }) => messageFiles,
  perfAnalyzer: ({ messageFiles, entries }) =>
    entries.length === 0
      ? { names: messageFiles }
      : { names: [...messageFiles, "messages.json"], note: "the messages go into a file, messages.json here" },
  load: async ({ messageFiles, entries, folder }, model) => readMessageLists(messageFiles, entries, model, folder),
};
