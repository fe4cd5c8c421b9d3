import * as v from "valibot";
import { type PlanOf, pathSchema } from "../../plan/schema.ts";
import { readFiles } from "../file-payloads.ts";
import { type InputKind, isInOrder, orderEntries } from "../input-kind.ts";

const schema = () =>
  v.object({
    kind: v.literal("files"),
    /** Paths, sent in this order. `*` and `?` in a name match files, which are sorted by name. */
    paths: v.pipe(v.array(pathSchema()), v.minLength(1, "must name a file")),
    ...orderEntries(),
  });

/** Files. Each is the payload of a request. */
export const filesInputs: InputKind<PlanOf<typeof schema>> = {
  schema,
  makes: "payloads",
  needsNoModel: true,
  hasNoPrompts: true,
  isInOrder,
  paths: ({ paths }) => paths,
  perfAnalyzer: () => ({
    names: ["files.json"],
    note: 'flags take a JSON file with the paths: {"data": [{"TORCHSERVE_INPUT": ["cat.jpg"]}]}',
  }),
  load: async ({ paths }) => readFiles(paths),
};
