import * as v from "valibot";
import { customFactsEntries } from "../../plan/assertions.ts";
import { type PlannedFunction, toFunctionPlan } from "../../plan/functions.ts";
import { filledSchema, lazySchema, recordSchema } from "../../plan/schema.ts";
import type { ExtractPlan } from "../../service/response-reader.ts";
import type { ScenarioResponse } from "../../service/scenario-response.ts";
import { expressionSchema, strictOptions } from "../fields.ts";
import { landing } from "./target-field.ts";

/** Values that a target extracts from every response. */

/** A value of a response with the meaning of its numbers, for reports, assertions and comparisons. `F` finds it. */
export interface ExtractedValue<F> {
  /** Finds the value. */
  readonly value: F;
  /** Unit of its numbers, such as `"points"`. Default: none. */
  readonly unit?: string;
  /** Which numbers are better, for comparisons of runs. Default: neither; a difference is then reported without a verdict. */
  readonly better?: "lower" | "higher";
}

/** A way to find a value of a response: an expression of JMESPath (jmespath.org), or a function. */
export type ResponseValue = string | ((response: ScenarioResponse) => unknown);

/** Option of a target that extracts values. */
export interface ExtractOptions<E extends string = string> {
  /**
   * Values to extract from every response, by name: JMESPath expressions or functions, alone or as `{ value, unit, better }`. Reports and
   * records contain them, and `extracted(…)` asserts them. An expression reads the response as JSON; for tensors, the elements of each
   * tensor by its name, as in `"SCORE[0]"`; for a stream of a language model, `text`, `reasoning`, `finish_reason` and `usage`. With
   * `streaming` of `triton`, and with streams of `grpc`, it reads the list of responses. Default: none.
   */
  readonly extract?: Readonly<Record<E, ResponseValue | ExtractedValue<ResponseValue>>>;
}

/** Returns the option `extract`. */
export function extractField() {
  return extractFieldOf<ResponseValue>((input) => {
    if (typeof input === "function") return undefined;
    const [issue] = v.safeParse(expressionSchema(), input).issues ?? [];
    return issue?.message;
  });
}

/** Returns the option `extract` of a target whose values can be found only by functions. */
export function extractFunctionsField<F extends PlannedFunction>() {
  return extractFieldOf<F>((input) => (typeof input === "function" ? undefined : "must be a function"));
}

/** @param explain returns the reason why something cannot find a value; undefined if it can */
function extractFieldOf<F>(explain: (input: unknown) => string | undefined) {
  const value = v.pipe(
    v.custom<F>(() => true),
    v.check(
      (input) => explain(input) === undefined,
      ({ input }) => explain(input) ?? "",
    ),
  );
  const described = strictOptions({ value, ...customFactsEntries() });
  const isDescribed = (input: unknown): boolean => typeof input === "object" && input !== null;
  const one = lazySchema<F | ExtractedValue<F>>((input) => (isDescribed(input) ? described : value));
  const names = filledSchema("must have a name");
  return landing(v.optional(recordSchema(names, one, "must be values by name")), "extract", toExtractPlan<F>);
}

function toExtractPlan<F>(given: Readonly<Record<string, F | ExtractedValue<F>>> = {}): ExtractPlan | undefined {
  const find = (name: string, value: F) =>
    typeof value === "string" ? value : toFunctionPlan(`target.extract.${name}`, value as PlannedFunction);
  const values = Object.entries(given).map(([name, one]) =>
    typeof one === "object" && one !== null && "value" in one
      ? [name, { ...one, value: find(name, one.value) }]
      : [name, find(name, one as F)],
  );
  return values.length === 0 ? undefined : (Object.fromEntries(values) as ExtractPlan);
}
