import * as v from "valibot";
import { filledSchema, type PlanOf, pathSchema } from "../../plan/schema.ts";
import { readFileLists } from "../file-payloads.ts";
import { type InputKind, isInOrder, orderEntries } from "../input-kind.ts";

const schema = () =>
  v.object({
    kind: v.literal("file-lists"),
    files: v.pipe(v.array(pathSchema()), v.minLength(1, "must name a file")),
    /** The key of an entry whose value is the path, relative to the working directory: `{"data": [{KEY: ["cat.jpg"]}]}`. */
    key: filledSchema("must name a key"),
    ...orderEntries(),
  });

/** JSON files in perf_analyzer's format. Each entry names a file, which is the payload of a request. */
export const fileListsInputs: InputKind<PlanOf<typeof schema>> = {
  schema,
  makes: "payloads",
  needsNoModel: true,
  hasNoPrompts: true,
  orders: () => ["in-turn", "at-times"],
  isInOrder,
  paths: ({ files }) => files,
  perfAnalyzer: ({ files }) => ({ names: files }),
  load: async ({ files, key }, _model, order) => readFileLists(files, key, order === "at-times"),
};
