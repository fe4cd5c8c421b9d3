import { plural } from "../../plan/units.ts";
import { type Datatype, elementCount, isDatatype, tensorBytes } from "../tensor.ts";

/** Explains why elements of JSON data are not of a datatype; undefined if they are. @param elements the data, flattened */
export function explainElements(name: string, datatype: Datatype, elements: readonly unknown[]): string | undefined {
  const isElement = elementTest(datatype);
  for (const element of elements)
    if (!isElement(element)) {
      const found = element === null ? "null" : typeof element === "string" ? "text" : String(element).slice(0, 40);
      return `output '${name}' has ${found} in its data, which is not ${datatype}`;
    }
  return undefined;
}

const NOT_FINITE = /^[-+]?(?:nan|inf(?:inity)?)$/i;

function elementTest(datatype: Datatype): (element: unknown) => boolean {
  if (datatype === "BYTES") return (element) => typeof element === "string";
  if (datatype === "BOOL") return (element) => typeof element === "boolean" || element === 0 || element === 1;
  // JSON has no NaN. Servers write null or a text such as "NaN" for it.
  if (datatype.includes("FP") || datatype === "BF16")
    return (element) =>
      typeof element === "number" || element === null || (typeof element === "string" && NOT_FINITE.test(element));
  return Number.isInteger;
}

/** An output of a response that has not been validated. */
export interface AnsweredOutput {
  readonly name: unknown;
  readonly datatype: unknown;
  readonly shape: unknown;
  /** Length of its binary data; undefined without binary data. */
  readonly byteCount: number | undefined;
  /** Number of its JSON or typed elements; undefined without such elements. */
  readonly elementCount: number | undefined;
  /** Whether it is in shared memory. */
  readonly isElsewhere: boolean;
}

/** Explains why an output is not valid; undefined if it is valid. */
export function explainOutput(output: AnsweredOutput): string | undefined {
  const { name, datatype, shape, byteCount } = output;
  if (typeof name !== "string" || name === "") return "an output has no name";
  if (typeof datatype !== "string" || !isDatatype(datatype)) return `output '${name}' has no known datatype`;
  if (!isShape(shape)) return `output '${name}' has no shape`;
  if (output.isElsewhere) return undefined;
  if (byteCount !== undefined) {
    const expected = tensorBytes(shape, datatype);
    if (expected < 0 || expected === byteCount) return undefined;
    return `output '${name}' has ${byteCount} bytes of data, where ${datatype} of shape [${shape.join(",")}] has ${expected}`;
  }
  const expected = elementCount(shape);
  if (output.elementCount === expected) return undefined;
  if (output.elementCount === undefined) return `output '${name}' has no data`;
  return `output '${name}' has ${output.elementCount} ${plural(output.elementCount, "element")}, where shape [${shape.join(",")}] has ${expected}`;
}

function isShape(shape: unknown): shape is readonly number[] {
  if (!Array.isArray(shape)) return false;
  for (const dim of shape) if (!Number.isInteger(dim) || (dim as number) < 0) return false;
  return true;
}
