import { isAbsolute, join, resolve } from "node:path";
import * as v from "valibot";
import { holdFunction } from "../plan/functions.ts";
import type { InputsPlan } from "../plan/plan.ts";
import type { Schema } from "../plan/schema.ts";
import type { RequestForm } from "../service/service.ts";
import { countSchema, nameSchema, strictOptions } from "./fields.ts";
import type { DataForm } from "./form.ts";
import { type CheckedGenerate, generateSchema } from "./generate/builder.ts";
import type { Inputs } from "./input-data.ts";
import { type PromptOptions, promptSchemas, toPromptsPlan } from "./prompts.ts";
import type { LlmContent } from "./targets/llm-content.ts";

/** Options of {@link random} and {@link zero}, for BYTES inputs. */
export interface TextOptions {
  /** Characters of each random string, 1 or more. Default: 128. */
  readonly stringLength?: number;
  /** Text of every string. Default: random text. */
  readonly stringData?: string;
}

/**
 * Random tensors, the same in every run.
 * @example
 * random({ stringLength: 32 })
 */
export function random(options: TextOptions = {}): Inputs<"tensors"> {
  return { kind: "random", files: [], options };
}

/**
 * Zeros. Inputs of type BYTES get strings, as with {@link random}.
 * @example
 * zero()
 */
export function zero(options: TextOptions = {}): Inputs<"tensors"> {
  return { kind: "zero", files: [], options };
}

/**
 * Tensors from JSON files in perf_analyzer's format. A relative path starts at the scenario's folder.
 * @example
 * json("inputs.json")
 */
export function json(...files: readonly [string, ...string[]]): Inputs<"tensors"> {
  return { kind: "json", files, options: {} };
}

/**
 * Files, each of which is the input of a request, in this order. `*` and `?` in a name stand for the files that match. A relative path
 * starts at the scenario's folder.
 * @example
 * files("images/*.jpg")
 */
export function files(paths: string | readonly [string, ...string[]]): Inputs<"files"> {
  return { kind: "files", files: typeof paths === "string" ? [paths] : paths, options: {} };
}

/**
 * All inputs of a folder: for tensors a file for each input, with its bytes (of BYTES a text on each line); for JSON APIs the files of
 * payloads; for targets of files each file, by name. A relative path starts at the scenario's folder.
 * @example
 * dir("images")
 */
export function dir(path: string): Inputs<never> {
  return { kind: "dir", files: [path], options: {} };
}

const DEFAULT_STRING_LENGTH = 128;

/** Returns the schema of a scenario's inputs. */
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
      v.object({
        kind: v.literal("files"),
        files: v.pipe(v.array(nameSchema("a file")), v.minLength(1, "must name a file")),
        options: strictOptions({}),
      }),
      v.object({
        kind: v.literal("dir"),
        files: v.tuple([nameSchema("a folder")]),
        options: strictOptions({}),
      }),
      generateSchema(),
      ...promptSchemas(),
    ],
    "must be random(), zero(), json(…), files(…), dir(…), prompts(…), payloads(…) or generate(…)",
  ) as Schema<Inputs>;
}

/** What a target takes. */
export interface TakenInputs {
  readonly form: RequestForm;
  /** For language models. */
  readonly content?: LlmContent | undefined;
  /** Whether payloads are files of any kind. */
  readonly takesFiles: boolean;
  /** The number of requests of a level, if the load fixes it. */
  readonly requestCount: number | undefined;
}

/** A builder of inputs: everything that the other modules ask about it. */
interface InputBuilder {
  /** How it is written in YAML and JSON. Absent: only code can say it. */
  readonly form?: DataForm;
  /** The forms of requests that it can make. */
  readonly makes: readonly RequestForm[];
  /** Whether its payloads are plain bytes, instead of requests to a language model. Absent: no. */
  readonly isPlain?: true;
  toPlan(inputs: Inputs, folder: string, taken: TakenInputs): InputsPlan;
  /** Returns the options of prompts. Absent when the inputs are not prompts. */
  prompts?(inputs: Inputs): PromptOptions;
}

const INPUT_BUILDERS: Readonly<Record<Inputs["kind"], InputBuilder>> = {
  random: {
    form: { name: "random" },
    makes: ["tensors"],
    toPlan: ({ options }) => ({ kind: "random", ...toTexts(options) }),
  },
  zero: {
    form: { name: "zero" },
    makes: ["tensors"],
    toPlan: ({ options }) => ({ kind: "zero", ...toTexts(options) }),
  },
  json: {
    form: { name: "json", args: ["files"], takes: "one-or-list" },
    makes: ["tensors"],
    toPlan: ({ files }, folder) => ({
      kind: "json",
      files: files.map((file) => (isAbsolute(file) ? file : join(folder, file))),
      readsTags: true,
    }),
  },
  payloads: {
    form: { name: "payloads", args: ["file"] },
    makes: ["payloads"],
    toPlan: ({ files }, folder) => ({ kind: "payloads", file: resolve(folder, files[0] ?? ""), readsTags: true }),
  },
  files: {
    form: { name: "files", args: ["files"], takes: "one-or-list" },
    makes: ["payloads"],
    isPlain: true,
    toPlan: ({ files: paths }, folder) => ({
      kind: "files",
      paths: paths.map((path) => (isAbsolute(path) ? path : join(folder, path))),
      isInOrder: true,
    }),
  },
  prompts: {
    form: { name: "prompts" },
    makes: ["payloads"],
    toPlan: ({ options }, folder, { content }) => toPromptsPlan(options, content as LlmContent, folder),
    prompts: ({ options }) => options,
  },
  trace: {
    makes: ["payloads"],
    toPlan: ({ options }, folder, { content }) => ({
      ...toPromptsPlan(options, content as LlmContent, folder),
      isTrace: true,
    }),
    prompts: ({ options }) => options,
  },
  dir: {
    form: { name: "dir", args: ["path"] },
    makes: ["tensors", "payloads"],
    toPlan: ({ files }, folder, { form, takesFiles }) => {
      const path = resolve(folder, files[0] ?? "");
      if (form === "tensors") return { kind: "directory", directory: path };
      if (takesFiles) return { kind: "files", paths: [join(path, "*")], isInOrder: true };
      return { kind: "payloads", file: path, isFolder: true, readsTags: true };
    },
  },
  generate: {
    makes: ["tensors", "payloads"],
    toPlan: ({ options }, _folder, taken) => toGeneratedPlan(options as CheckedGenerate, taken),
  },
};

/** Whether inputs can be requests of a form. */
export function canBe({ kind }: Inputs, form: RequestForm): boolean {
  return INPUT_BUILDERS[kind].makes.includes(form);
}

/** Most inputs that a function makes unless the scenario says more. */
const MOST_MADE = 100_000;
const DEFAULT_MADE = 1000;

function toGeneratedPlan(
  given: CheckedGenerate,
  { form, content, requestCount = DEFAULT_MADE }: TakenInputs,
): InputsPlan {
  const { make, count = Math.min(requestCount, MOST_MADE), seed = 0 } = given;
  const common = { make: holdFunction("inputs", make), count, seed };
  if (form === "tensors") return { kind: "made-tensors", ...common };
  if (content === undefined) return { kind: "made-payloads", ...common };
  const { endpoint, model, isStreaming } = content;
  return { kind: "made-payloads", ...common, format: { name: endpoint.format, model, isStreaming } };
}

/** Returns how inputs are written as data, by the kind of what they are. */
export function inputForms(): readonly (readonly [kind: string, form: DataForm])[] {
  return Object.entries(INPUT_BUILDERS).flatMap(([kind, { form }]) =>
    form === undefined ? [] : [[kind, form] as const],
  );
}

/** Whether payloads are plain bytes, instead of requests to a language model. */
export function isPlain({ kind }: Inputs): boolean {
  return INPUT_BUILDERS[kind].isPlain === true;
}

/** Returns the options of prompts; undefined for other inputs. */
export function promptOptionsOf(inputs: Inputs): PromptOptions | undefined {
  return INPUT_BUILDERS[inputs.kind].prompts?.(inputs);
}

/** Converts inputs to those of a plan. @param folder base of relative paths */
export function toInputsPlan(inputs: Inputs, folder: string, taken: TakenInputs): InputsPlan {
  return INPUT_BUILDERS[inputs.kind].toPlan(inputs, folder, taken);
}

function toTexts({ stringLength = DEFAULT_STRING_LENGTH, stringData = "" }: TextOptions): Required<TextOptions> {
  return { stringLength, stringData };
}
