import * as v from "valibot";
import { type PlanOf, pathSchema } from "../../plan/schema.ts";
import { type InputKind, isInOrder, orderEntries } from "../input-kind.ts";
import { readJsonFiles } from "../json-file.ts";

const schema = () =>
  v.object({
    kind: v.literal("json"),
    files: v.pipe(v.array(pathSchema()), v.minLength(1, "must name a file")),
    ...orderEntries(),
    /** Whether the field `tags` of an entry contains its tags. Default: false; it is a tensor like any other. */
    readsTags: v.exactOptional(v.literal(true)),
    /** True: elements of FP16 and BF16 must be bytes, like in perf_analyzer. Default: they may be numbers. */
    refusesShortFloats: v.exactOptional(v.literal(true)),
  });

/** Tensors from perf_analyzer's JSON files. */
export const jsonInputs: InputKind<PlanOf<typeof schema>> = {
  schema,
  makes: "tensors",
  orders: () => ["in-turn", "at-times"],
  canHaveTags: ({ readsTags }) => readsTags === true,
  isInOrder,
  paths: ({ files }) => files,
  perfAnalyzer: ({ files }) => ({ names: files }),
  load: async ({ files, readsTags, refusesShortFloats }, model, order, held) => {
    return readJsonFiles(files, model, order === "at-times", held, undefined, { readsTags, refusesShortFloats });
  },
};
