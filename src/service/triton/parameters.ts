import * as v from "valibot";
import type { Schema } from "../../plan/schema.ts";
import type { ProtoObject } from "../protobuf/message.ts";

export const PARAMETER_TYPES = ["bool", "int", "uint", "double", "string"] as const;

/**
 * A request parameter. The value is text, so that 64-bit numbers survive JSON: `true` or `false`, an integer, a decimal number, or any
 * string.
 */
export type RequestParameterPlan = Readonly<v.InferOutput<typeof PARAMETER>>;

const PARAMETER = v.object({ type: v.picklist(PARAMETER_TYPES, "must be a type of parameters"), value: v.string() });

/** Returns the schema of a request parameter, whose text must be valid for its type. */
export function parameterSchema(): Schema<RequestParameterPlan> {
  return v.pipe(PARAMETER, v.check(isParameterValue, "must be a value of its type"));
}

const MAX_INT64 = 2n ** 63n - 1n;
const MAX_UINT64 = 2n ** 64n - 1n;

/** Whether a parameter's text is valid for its type: 64 bits for integers, `true` or `false` for booleans. */
export function isParameterValue({ type, value }: RequestParameterPlan): boolean {
  switch (type) {
    case "string":
      return true;
    case "bool":
      return value === "true" || value === "false";
    case "double":
      return value.trim() !== "" && Number.isFinite(Number(value));
    case "int":
      return /^-?\d{1,19}$/.test(value) && BigInt(value) <= MAX_INT64 && BigInt(value) >= -MAX_INT64 - 1n;
    case "uint":
      return /^\d{1,20}$/.test(value) && BigInt(value) <= MAX_UINT64;
  }
}

/**
 * Converts a parameter to an `InferParameter` message. A `uint` is sent as an int64 if it fits, because older servers (Triton 2.51)
 * reject uint64.
 */
export function toInferParameter({ type, value }: RequestParameterPlan): ProtoObject {
  switch (type) {
    case "string":
      return { string_param: value };
    case "bool":
      return { bool_param: value === "true" };
    case "double":
      return { double_param: Number(value) };
    case "int":
    case "uint": {
      const integer = BigInt(value);
      return integer <= MAX_INT64 ? { int64_param: integer } : { uint64_param: integer };
    }
  }
}
