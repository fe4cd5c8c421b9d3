import * as v from "valibot";
import { type PlanOf, pathSchema } from "../../plan/schema.ts";
import { readDirectory } from "../directory.ts";
import type { InputKind } from "../input-kind.ts";

const schema = () => v.object({ kind: v.literal("directory"), directory: pathSchema() });

/** Tensors from a folder with one file for each input. */
export const directoryInputs: InputKind<PlanOf<typeof schema>> = {
  schema,
  makes: "tensors",
  paths: ({ directory }) => [directory],
  perfAnalyzer: ({ directory }) => ({ names: [directory] }),
  load: async ({ directory }, model) => readDirectory(directory, model),
};
