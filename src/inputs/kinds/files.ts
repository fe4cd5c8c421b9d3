import * as v from "valibot";
import { type PlanOf, pathSchema } from "../../plan/schema.ts";
import { readFiles } from "../file-payloads.ts";
import type { InputKind } from "../input-kind.ts";

/** Files, each of which is the payload of a request. */
type FilesInputsPlan = PlanOf<typeof schema>;

declare module "../../plan/plan.ts" {
  interface InputsPlans {
    readonly files: FilesInputsPlan;
  }
}

const schema = () =>
  v.object({
    kind: v.literal("files"),
    /** Paths, sent in this order. `*` and `?` in a name match files, which are sorted by name. */
    paths: v.pipe(v.array(pathSchema()), v.minLength(1, "must name a file")),
    /**
     * True: each request takes the next file, whichever lane sends it, instead of a stride per lane like in perf_analyzer. Default:
     * false.
     */
    isInOrder: v.exactOptional(v.boolean()),
  });

export const filesInputs: InputKind<FilesInputsPlan> = {
  schema,
  makes: "payloads",
  needsNoModel: true,
  hasNoPrompts: true,
  isInOrder: ({ isInOrder = false }) => isInOrder,
  paths: ({ paths }) => paths,
  perfAnalyzer: () => ({
    names: ["files.json"],
    note: 'flags take a JSON file with the paths: {"data": [{"TORCHSERVE_INPUT": ["cat.jpg"]}]}',
  }),
  load: async ({ paths }) => readFiles(paths),
};
