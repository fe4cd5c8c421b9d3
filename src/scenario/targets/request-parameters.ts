import * as v from "valibot";
import { filledSchema, recordSchema } from "../../plan/schema.ts";
import { isParameterValue, type RequestParameterPlan } from "../../service/triton/parameters.ts";

/**
 * A parameter: true or false, text, or a number. A whole number is sent as int64 (as uint64 if it is a larger `bigint`), any other number
 * as double; `{ double: 1 }` sends a whole number as double.
 */
export type RequestParameter = boolean | string | number | bigint | { readonly double: number };

/** Returns the schema of a target's request parameters. */
export function parametersSchema() {
  const parameter = v.custom<RequestParameter>(
    (input) => isParameter(input) && isParameterValue(toParameterPlan(input)),
    "must be true, false, text, a number, a bigint of 64 bits or { double: … }",
  );
  return recordSchema(filledSchema("must have a name"), parameter, "must be values by the parameter's name");
}

/** Converts a parameter to its form in a plan. */
export function toParameterPlan(parameter: RequestParameter): RequestParameterPlan {
  if (typeof parameter === "boolean") return { type: "bool", value: String(parameter) };
  if (typeof parameter === "string") return { type: "string", value: parameter };
  if (typeof parameter === "object") return { type: "double", value: String(parameter.double) };
  if (typeof parameter === "number" && !Number.isSafeInteger(parameter))
    return { type: "double", value: String(parameter) };
  const isUnsigned = BigInt(parameter) >= 2n ** 63n;
  return { type: isUnsigned ? "uint" : "int", value: String(parameter) };
}

function isParameter(input: unknown): input is RequestParameter {
  if (typeof input === "object" && input !== null) return typeof (input as { double?: unknown }).double === "number";
  return ["boolean", "string", "number", "bigint"].includes(typeof input);
}
