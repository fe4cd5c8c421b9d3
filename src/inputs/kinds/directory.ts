import * as v from "valibot";
import { type PlanOf, pathSchema } from "../../plan/schema.ts";
import { readDirectory } from "../directory.ts";
import type { InputKind } from "../input-kind.ts";

/** Tensors from a folder with one file for each input. */
type DirectoryInputsPlan = PlanOf<typeof schema>;

declare module "../../plan/plan.ts" {
  interface InputsPlans {
    readonly directory: DirectoryInputsPlan;
  }
}

const schema = () => v.object({ kind: v.literal("directory"), directory: pathSchema() });

export const directoryInputs: InputKind<DirectoryInputsPlan> = {
  schema,
  makes: "tensors",
  paths: ({ directory }) => [directory],
  perfAnalyzer: ({ directory }) => ({ names: [directory] }),
  load: async ({ directory }, model) => readDirectory(directory, model),
};
