import * as v from "valibot";
import { type PlanOf, pathSchema } from "../../plan/schema.ts";
import type { InputKind } from "../input-kind.ts";
import { readJsonFiles } from "../json-file.ts";

/** Tensors from perf_analyzer's JSON files. */
type JsonInputsPlan = PlanOf<typeof schema>;

declare module "../../plan/plan.ts" {
  interface InputsPlans {
    readonly json: JsonInputsPlan;
  }
}

const schema = () =>
  v.object({
    kind: v.literal("json"),
    files: v.pipe(v.array(pathSchema()), v.minLength(1, "must name a file")),
    /**
     * True: each request takes the next step, whichever lane sends it, instead of a stride per lane like in perf_analyzer. Default:
     * false.
     */
    isInOrder: v.exactOptional(v.boolean()),
    /** Whether the field `tags` of an entry contains its tags. Default: false; it is a tensor like any other. */
    readsTags: v.exactOptional(v.literal(true)),
    /** True: elements of FP16 and BF16 must be bytes, like in perf_analyzer. Default: they may be numbers. */
    refusesShortFloats: v.exactOptional(v.literal(true)),
  });

export const jsonInputs: InputKind<JsonInputsPlan> = {
  schema,
  makes: "tensors",
  orders: () => ["in-turn", "at-times"],
  canHaveTags: ({ readsTags }) => readsTags === true,
  isInOrder: ({ isInOrder = false }) => isInOrder,
  paths: ({ files }) => files,
  perfAnalyzer: ({ files }) => ({ names: files }),
  load: async ({ files, readsTags, refusesShortFloats }, model, order, held) => {
    return readJsonFiles(files, model, order === "at-times", held, undefined, { readsTags, refusesShortFloats });
  },
};
