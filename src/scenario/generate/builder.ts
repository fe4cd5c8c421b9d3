import * as v from "valibot";
import type {
  GeneratedFile,
  GeneratedPayload,
  GeneratedTensors,
  InputMaker,
} from "../../inputs/generate/generated-input.ts";
import { type PlannedFunction, toFunctionPlan } from "../../plan/functions.ts";
import { integerSchema } from "../../plan/schema.ts";
import { refuseMore, withFields } from "../arguments.ts";
import { countSchema, strictOptions } from "../fields.ts";
import { inputBuilder } from "../input-builder.ts";
import type { Inputs } from "../input-data.ts";

/** Options of {@link generate}. */
export interface GenerateOptions {
  /**
   * Maximum number of inputs to take. Default: the number of requests of the load up to 100,000, or 1000 when the load
   * has none.
   */
  readonly count?: number;
  /** Seed of `random`: a whole number. Default: 0. */
  readonly seed?: number;
}

/** Names of fields that an input of this form cannot have, because they belong to other forms. */
type OtherFields<Y> = string extends keyof Y
  ? never
  : Y extends GeneratedTensors
    ? Exclude<keyof Y, keyof GeneratedTensors>
    : Exclude<keyof Y, keyof (Y extends GeneratedFile ? GeneratedFile : GeneratedPayload)>;

/** Accepts everything, or is the compiler's message about other fields. */
type NoOtherFields<Y> = [OtherFields<Y>] extends [never] ? unknown : `there is no field ${string & OtherFields<Y>}`;

/** The form of the inputs that a function makes. */
export type FormOf<Y> = Y extends GeneratedTensors ? "tensors" : Y extends GeneratedFile ? "files" : "payloads";

/**
 * Inputs from a function, called before the load: a generator that yields them, or a function of `{ index, random }` that returns one and
 * is called for each. Both may be asynchronous. They repeat if the load needs more.
 * @example
 * input.generate(function* ({ random }) {
 *   for (;;) yield { tensors: { INPUT0: Array.from({ length: 16 }, () => Math.floor(random() * 100)) } };
 * }, { count: 50 })
 */
export function generate<const Y extends GeneratedTensors | GeneratedPayload | GeneratedFile>(
  make: InputMaker<Y> & NoOtherFields<Y>,
  options: GenerateOptions = {},
): Inputs<FormOf<Y>> {
  refuseMore("input.generate(make, options)", arguments);
  return { kind: "generate", files: [], options: withFields(options, { make }) };
}

/** Default maximum number of inputs that a function makes. */
const MOST_MADE = 100_000;
const DEFAULT_MADE = 1000;

export const generateBuilder = inputBuilder({
  form: { name: "generate", space: "input", isCodeOnly: true },
  options: () =>
    strictOptions({
      make: v.custom<PlannedFunction>((input) => typeof input === "function", "must be a function"),
      count: v.optional(countSchema()),
      seed: v.optional(integerSchema()),
    }),
  makes: ["tensors", "payloads"],
  toPlan: ({ options }, _folder, { form, content, requestCount = DEFAULT_MADE }) => {
    const { make, count = Math.min(requestCount, MOST_MADE), seed = 0 } = options;
    const common = { make: toFunctionPlan("inputs", make), count, seed };
    if (form === "tensors") return { kind: "made-tensors", ...common };
    if (content === undefined) return { kind: "made-payloads", ...common };
    const { endpoint, model, isStreaming } = content;
    return { kind: "made-payloads", ...common, format: { name: endpoint.format, model, isStreaming } };
  },
});
