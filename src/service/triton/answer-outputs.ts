import { elementCount, isDatatype, tensorBytes } from "../tensor.ts";

/** An output of a response, not yet validated. */
export interface AnsweredOutput {
  readonly name: unknown;
  readonly datatype: unknown;
  readonly shape: unknown;
  /** Length of its binary data; undefined without any. */
  readonly byteCount: number | undefined;
  /** Number of its JSON or typed elements; undefined without any. */
  readonly elementCount: number | undefined;
  /** Whether it is in shared memory. */
  readonly isElsewhere: boolean;
}

/** Explains why an output is not valid; undefined when it is valid. */
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
  return `output '${name}' has ${output.elementCount} elements, where shape [${shape.join(",")}] has ${expected}`;
}

function isShape(shape: unknown): shape is readonly number[] {
  if (!Array.isArray(shape)) return false;
  for (const dim of shape) if (!Number.isInteger(dim) || (dim as number) < 0) return false;
  return true;
}
