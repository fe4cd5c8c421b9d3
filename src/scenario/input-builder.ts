import * as v from "valibot";
import type { InputsPlan } from "../plan/plan.ts";
import type { Schema } from "../plan/schema.ts";
import type { RequestForm } from "../service/service.ts";
import { nameSchema } from "./fields.ts";
import type { DataForm } from "./form.ts";
import type { Inputs } from "./input-data.ts";
import type { LlmContent } from "./targets/llm-content.ts";

/** The inputs that a target accepts. */
export interface TakenInputs {
  readonly form: RequestForm;
  /** Format of requests, for language models. */
  readonly content?: LlmContent | undefined;
  /** Whether payloads are files of any kind. */
  readonly takesFiles: boolean;
  /** Number of requests of a level, if the load fixes it. */
  readonly requestCount: number | undefined;
}

/** A builder of inputs: everything that the other modules ask about it. `O` are its options. */
export interface InputBuilder<O extends object = object> {
  /** Its form in data. Absent: the inputs belong to a load. */
  readonly form?: DataForm;
  /** The call in messages. Default: the name in `form` with parentheses. */
  readonly call?: string;
  /** Returns the schema of its paths. Absent: no paths. */
  files?(): Schema<readonly string[]>;
  options(): Schema<O>;
  readonly makes: readonly RequestForm[];
  /** True if its payloads are plain bytes instead of requests to a language model. Absent: false. */
  readonly isPlain?: true;
  /**
   * The only target that supports it, by name, and options of that target that then have no effect. Absent: all targets that accept
   * its form.
   */
  readonly needsTarget?: { readonly name: string; readonly without: readonly string[] };
  toPlan(inputs: Inputs & { readonly options: NoInfer<O> }, folder: string, taken: TakenInputs): InputsPlan;
  /** True if its options are those of prompts. Absent: false. */
  readonly isPrompts?: true;
}

/** Returns the builder; its options have the type that its schema returns. */
export function inputBuilder<O extends object>(builder: InputBuilder<O>): InputBuilder<O> {
  return builder;
}

/** Returns the schema of one or more file names. */
export function filesSchema(): Schema<readonly string[]> {
  const file = nameSchema("a file", (given) =>
    Array.isArray(given) ? "Write each file as an argument, without brackets." : undefined,
  );
  return v.pipe(v.array(file), v.minLength(1, "must name a file"));
}
