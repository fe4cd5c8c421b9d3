import * as v from "valibot";
import { readDirectory } from "../directory.ts";
import type { InputKind } from "../input-kind.ts";
import { pathSchema } from "./path-schema.ts";

/** Tensors from a folder with a file for each input. */
interface DirectoryInputsPlan {
  readonly kind: "directory";
  readonly directory: string;
}

declare module "../../plan/plan.ts" {
  interface InputsPlans {
    readonly directory: DirectoryInputsPlan;
  }
}

export const directoryInputs: InputKind<DirectoryInputsPlan> = {
  schema: () => v.object({ kind: v.literal("directory"), directory: pathSchema() }),
  makes: "tensors",
  load: async ({ directory }, model) => readDirectory(directory, model),
};
