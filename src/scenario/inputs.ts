import { isAbsolute, join, resolve } from "node:path";
import * as v from "valibot";
import { kindSchema, type Schema, withHint } from "../plan/schema.ts";
import { refuseMore } from "./arguments.ts";
import { countSchema, nameSchema, strictOptions } from "./fields.ts";
import { type DataForm, listCalls } from "./form.ts";
import { generate, generateBuilder } from "./generate/builder.ts";
import { chain, chainBuilder } from "./generate/chain.ts";
import { filesSchema, type InputBuilder, inputBuilder } from "./input-builder.ts";
import type { Inputs } from "./input-data.ts";
import { type PromptsData, payloads, payloadsBuilder, prompts, promptsBuilder, tracedBuilder } from "./prompts.ts";

const DEFAULT_STRING_LENGTH = 128;

/** Options of {@link random} and {@link zero}, for BYTES inputs. */
export interface TextOptions {
  /** Number of characters of each random string, 1 or more. Default: 128. */
  readonly stringLength?: number;
  /** Text of every string. Default: random text. */
  readonly stringData?: string;
}

/**
 * Random tensors, the same in every run.
 * @example
 * input.random({ stringLength: 32 })
 */
export function random(options: TextOptions = {}): Inputs<"tensors"> {
  refuseMore("input.random(options)", arguments);
  return { kind: "random", files: [], options };
}

const randomBuilder = generatedBuilder("random");

/**
 * Zeros. Inputs of type BYTES get strings, as with {@link random}.
 * @example
 * input.zero()
 */
export function zero(options: TextOptions = {}): Inputs<"tensors"> {
  refuseMore("input.zero(options)", arguments);
  return { kind: "zero", files: [], options };
}

const zeroBuilder = generatedBuilder("zero");

function generatedBuilder(kind: "random" | "zero") {
  return inputBuilder({
    call: `input.${kind}()`,
    form: { name: kind, space: "input" },
    options: textSchema,
    makes: ["tensors"],
    toPlan: ({ options: { stringLength = DEFAULT_STRING_LENGTH, stringData = "" } }) => ({
      kind,
      stringLength,
      stringData,
    }),
  });
}

function textSchema() {
  return strictOptions({ stringLength: v.optional(countSchema()), stringData: v.optional(v.string("must be text")) });
}

/**
 * Tensors from JSON files in perf_analyzer's format. A relative path starts at the scenario's folder.
 * @example
 * input.json("inputs.json")
 */
export function json(...files: readonly [string, ...string[]]): Inputs<"tensors"> {
  return { kind: "json", files, options: {} };
}

const jsonBuilder = inputBuilder({
  form: { name: "json", space: "input", args: ["files"], takes: "one-or-list" },
  files: filesSchema,
  options: textSchema,
  makes: ["tensors"],
  toPlan: ({ files }, folder) => ({
    kind: "json",
    files: files.map((file) => (isAbsolute(file) ? file : join(folder, file))),
    readsTags: true,
  }),
});

/**
 * Files, each of which is the input of a request, in this order. `*` and `?` in a name match files. A relative path starts at the
 * scenario's folder.
 * @example
 * input.files("images/*.jpg")
 */
export function files(paths: string | readonly [string, ...string[]]): Inputs<"files"> {
  refuseMore("input.files(paths)", arguments);
  return { kind: "files", files: typeof paths === "string" ? [paths] : paths, options: {} };
}

const filesBuilder = inputBuilder({
  form: { name: "files", space: "input", args: ["files"], takes: "one-or-list" },
  files: filesSchema,
  options: () => strictOptions({}),
  makes: ["payloads"],
  isPlain: true,
  toPlan: ({ files: paths }, folder) => ({
    kind: "files",
    paths: paths.map((path) => (isAbsolute(path) ? path : join(folder, path))),
    isInOrder: true,
  }),
});

/**
 * All inputs of a folder: for tensors one file for each input, with its bytes (for BYTES, one text per line); for JSON APIs the files
 * with payloads; for targets of files each file, by name. A relative path starts at the scenario's folder.
 * @example
 * input.dir("images")
 */
export function dir(path: string): Inputs<never> {
  refuseMore("input.dir(path)", arguments);
  return { kind: "dir", files: [path], options: {} };
}

const dirBuilder = inputBuilder({
  form: { name: "dir", space: "input", args: ["path"] },
  files: () => v.tuple([nameSchema("a folder")]),
  options: () => strictOptions({}),
  makes: ["tensors", "payloads"],
  toPlan: ({ files }, folder, { form, takesFiles }) => {
    const path = resolve(folder, files[0] ?? "");
    if (form === "tensors") return { kind: "directory", directory: path };
    if (takesFiles) return { kind: "files", paths: [join(path, "*")], isInOrder: true };
    return { kind: "payloads", file: path, isFolder: true, readsTags: true };
  },
});

/** Data to send: the functions that make a scenario's `inputs`. */
export const input = {
  dir,
  files,
  chain,
  generate,
  json,
  payloads,
  prompts,
  random,
  zero,
};

/** The builders of inputs, by the `kind` of their results. To add a builder, add it to a file and a line here. */
const INPUT_BUILDERS: Readonly<Record<string, InputBuilder>> = {
  random: randomBuilder,
  zero: zeroBuilder,
  json: jsonBuilder,
  files: filesBuilder,
  dir: dirBuilder,
  prompts: promptsBuilder,
  payloads: payloadsBuilder,
  chain: chainBuilder,
  generate: generateBuilder,
  trace: tracedBuilder,
};

/** Returns the builder of inputs. */
export function inputBuilderOf({ kind }: Inputs): InputBuilder {
  return INPUT_BUILDERS[kind] as InputBuilder;
}

/** Returns the schema of a scenario's inputs. */
export function inputsSchema(): Schema<Inputs> {
  const written = Object.entries(INPUT_BUILDERS).filter(hasForm);
  const shapes = written.map(([kind, { files, options }]) =>
    v.object({ kind: v.literal(kind), files: files?.() ?? v.array(v.string()), options: options() }),
  );
  const schema = kindSchema<Inputs>(shapes, `must be ${listCalls(written.map(([, builder]) => builder))}`);
  return withHint(schema, (given) =>
    written.some(([kind]) => kind === given)
      ? `Write input.${given}(…).`
      : `Write ${inputLike(given)}, or another of them.`,
  );
}

/** Returns the input that a wrong value resembles most: a file name, one input, or a list of inputs. */
function inputLike(given: unknown): string {
  const [first] = Array.isArray(given) ? (given as unknown[]) : [given];
  if (typeof first === "string" && /\.\w+$/.test(first))
    return first.endsWith(".jsonl") ? `input.prompts({ file: "${first}" })` : `input.json("${first}")`;
  if (typeof first === "string" || isPrompt(first)) return 'input.generate(() => ({ prompt: "…" }))';
  if (typeof first === "object" && first !== null) return "input.generate(() => ({ tensors: { NAME: […] } }))";
  return 'input.json("data.json")';
}

function isPrompt(given: unknown): boolean {
  return typeof given === "object" && given !== null && ["prompt", "text", "messages"].some((name) => name in given);
}

type WrittenBuilder = InputBuilder & { readonly form: DataForm };

function hasForm(entry: readonly [kind: string, builder: InputBuilder]): entry is [string, WrittenBuilder] {
  return entry[1].form !== undefined;
}

export interface InputForm {
  readonly kind: string;
  readonly form: DataForm;
  readonly options: v.GenericSchema;
  /** Schema of the paths. Absent: no paths. */
  readonly files?: Schema<readonly string[]> | undefined;
}

export function inputForms(): readonly InputForm[] {
  return Object.entries(INPUT_BUILDERS)
    .filter(hasForm)
    .map(([kind, { form, options, files }]) => ({ kind, form, options: options(), files: files?.() }));
}

/** Returns the options of prompts; undefined for other inputs. */
export function promptOptionsOf(inputs: Inputs): PromptsData | undefined {
  return inputBuilderOf(inputs).isPrompts === true ? (inputs.options as PromptsData) : undefined;
}

/** Returns the call that made inputs, for messages: `input.json(…)`. */
export function describeInputs({ kind }: Inputs): string {
  return `input.${kind}(…)`;
}
