import type { LayoutSettings, PayloadFormat } from "../../service/openai/payload.ts";
import { isGenerated, type PromptSettings } from "./settings.ts";

/** What the requests in a file are made of before the run, which then takes its inputs from that file. */
export interface RequestsPlan {
  readonly file: string;
  readonly prompts: PromptSettings;
  /** Where the prompts are from, as the user named it; empty: they are generated. */
  readonly givenSource: string;
  readonly body: BodyPlan;
  readonly layout: Omit<LayoutSettings, "asksUsage" | "extra">;
  /** Fields of every body besides those of its format: the text of a JSON object, which keeps numbers as they are written. */
  readonly extraJson: string;
}

/** How prompts become bodies. */
export type BodyPlan =
  /** A format of the service. `asksUsage` is that of `LayoutSettings`. */
  | { readonly kind: "format"; readonly format: PayloadFormat; readonly asksUsage: boolean }
  /** `template` is a name, the path of a file, or the text itself. */
  | { readonly kind: "jinja-template"; readonly template: string; readonly isFile: boolean }
  /** Each prompt is a command that writes the messages of a call. */
  | { readonly kind: "commands" }
  /** Tensors with the ids of tokens, for the engine of TensorRT-LLM. */
  | { readonly kind: "token-ids" };

declare module "../../plan/plan.ts" {
  interface Plan {
    /** Absent: the inputs are not made before the run. */
    readonly requests?: RequestsPlan;
  }
}

/** Reports whether prompts are generated without files, so that there can be more of them. */
export function areGenerated({ prompts: { source } }: RequestsPlan): boolean {
  return isGenerated(source) && source.names.length === 0;
}
