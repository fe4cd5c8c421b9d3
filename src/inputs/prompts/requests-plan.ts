import type { LayoutSettings, PayloadFormat } from "../../service/openai/payload.ts";
import { isGenerated, type PromptSettings } from "./settings.ts";

/** Settings of requests that are written to a file before the run. The run then reads its inputs from that file. */
export interface RequestsPlan {
  readonly file: string;
  readonly prompts: PromptSettings;
  /** Source of the prompts, as the user wrote it; empty: they are generated. */
  readonly givenSource: string;
  readonly body: BodyPlan;
  readonly layout: Omit<LayoutSettings, "asksUsage" | "extra">;
  /** Fields of every body in addition to those of its format: the text of a JSON object, which keeps numbers as written. */
  readonly extraJson: string;
}

/** Conversion of prompts to bodies. */
export type BodyPlan =
  /** A format of the service. `asksUsage` is the field of `LayoutSettings`. */
  | { readonly kind: "format"; readonly format: PayloadFormat; readonly asksUsage: boolean }
  /** `template` is a name, the path of a file, or the text itself. */
  | { readonly kind: "jinja-template"; readonly template: string; readonly isFile: boolean }
  /** Each prompt is a command that writes the messages of a call. */
  | { readonly kind: "commands" }
  /** Tensors with token ids, for the engine of TensorRT-LLM. */
  | { readonly kind: "token-ids" };

declare module "../../plan/plan.ts" {
  interface Plan {
    /** Absent: the inputs are not made before the run. */
    readonly requests?: RequestsPlan;
  }
}

/** Reports whether prompts are generated without files, so that their number is not limited. */
export function areGenerated({ prompts: { source } }: RequestsPlan): boolean {
  return isGenerated(source) && source.names.length === 0;
}
