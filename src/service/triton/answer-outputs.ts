import { elementCount, isDatatype, tensorBytes } from "../tensor.ts";

/** What an answer says of one of its outputs, as it stands there. */
export interface AnsweredOutput {
  readonly name: unknown;
  readonly datatype: unknown;
  readonly shape: unknown;
  /** Bytes of its binary data; undefined where it has none. */
  readonly byteCount: number | undefined;
  /** Elements given one by one; undefined where there are none. */
  readonly elementCount: number | undefined;
  /** It lies in shared memory. */
  readonly isElsewhere: boolean;
}

/** Why a tensor is not valid, in words; undefined when it is. */
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
