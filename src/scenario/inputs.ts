import { isAbsolute, join } from "node:path";
import * as v from "valibot";
import type { InputsPlan } from "../plan/plan.ts";
import type { Schema } from "../plan/schema.ts";
import { countSchema, nameSchema, strictOptions } from "./fields.ts";
import type { Inputs } from "./input-data.ts";
import { promptSchemas } from "./prompts.ts";

/** The inputs of scenarios: what requests carry. */

/** Options of {@link random} and {@link zero}, for BYTES inputs. */
export interface TextOptions {
  /** Characters of each random string, 1 or more. Default: 128. */
  readonly stringLength?: number;
  /** Text of every string. Default: random text. */
  readonly stringData?: string;
}

/** Random tensors, the same in every run. */
export function random(options: TextOptions = {}): Inputs<"tensors"> {
  return { kind: "random", files: [], options };
}

/** Zeros. Inputs of type BYTES get strings, as with {@link random}. */
export function zero(options: TextOptions = {}): Inputs<"tensors"> {
  return { kind: "zero", files: [], options };
}

/** Tensors from JSON files in perf_analyzer's format. A relative path starts at the scenario's folder. */
export function json(...files: readonly [string, ...string[]]): Inputs<"tensors"> {
  return { kind: "json", files, options: {} };
}

const DEFAULT_STRING_LENGTH = 128;

/** The schema of a scenario's inputs. */
export function inputsSchema(): Schema<Inputs> {
  const options = strictOptions({
    stringLength: v.optional(countSchema()),
    stringData: v.optional(v.string("must be text")),
  });
  const generated = { files: v.array(v.string()), options };
  return v.variant(
    "kind",
    [
      v.object({ kind: v.literal("random"), ...generated }),
      v.object({ kind: v.literal("zero"), ...generated }),
      v.object({
        kind: v.literal("json"),
        files: v.pipe(v.array(nameSchema("a file")), v.minLength(1, "must name a file")),
        options,
      }),
      ...promptSchemas(),
    ],
    "must be random(), zero(), json(…), prompts(…) or payloads(…)",
  ) as Schema<Inputs>;
}

/** Whether inputs are payloads. */
export function arePayloads({ kind }: Inputs): boolean {
  return kind === "prompts" || kind === "payloads";
}

/** The inputs of a plan, of tensors. @param folder where relative paths start */
export function toInputsPlan({ kind, files, options }: Inputs, folder: string): InputsPlan {
  if (kind === "json") return { kind, files: files.map((file) => (isAbsolute(file) ? file : join(folder, file))) };
  const { stringLength = DEFAULT_STRING_LENGTH, stringData = "" } = options as TextOptions;
  return { kind: kind === "zero" ? kind : "random", stringLength, stringData };
}
