import { fromJsonElements } from "../service/json-tensors.ts";
import { type Datatype, elementCount, formatShape, type TensorSpec, tensorBytes } from "../service/tensor.ts";
import type { StepTensor } from "./dataset.ts";

/** One tensor of a JSON data file: an array, `{"content": …, "shape": …}` or `{"b64": …}`. */

/** Why a tensor cannot be read. */
export interface TensorProblem {
  readonly problem: string;
  readonly hint: string;
}

/** The C++ type names in perf_analyzer's messages, by datatype. */
const TYPE_NAMES: Readonly<Record<Datatype, string>> = {
  BOOL: "bool",
  UINT8: "uint8_t",
  UINT16: "uint16_t",
  UINT32: "uint32_t",
  UINT64: "uint64_t",
  INT8: "int8_t",
  INT16: "int16_t",
  INT32: "int32_t",
  INT64: "int64_t",
  FP16: "fp16",
  BF16: "bf16",
  FP32: "float",
  FP64: "fp64",
  BYTES: "string",
};

const INTEGER_BITS: Readonly<Partial<Record<Datatype, number>>> = {
  UINT8: 8,
  UINT16: 16,
  UINT32: 32,
  UINT64: 64,
  INT8: 8,
  INT16: 16,
  INT32: 32,
  INT64: 64,
};

/** Reads a tensor's data and checks it against the model. */
export function readJsonTensor(value: unknown, spec: TensorSpec): StepTensor | TensorProblem {
  if (typeof value !== "object" || value === null) {
    return {
      problem: "Input data file is malformed",
      hint: 'Give an array of elements, {"content": ..., "shape": ...} or {"b64": "..."}.',
    };
  }
  const holder = Array.isArray(value) ? { content: value } : (value as Record<string, unknown>);
  const shape = readShape(holder["shape"]);
  if (shape !== undefined && "problem" in shape) return shape;
  const content = "b64" in holder ? holder : holder["content"];
  if (content === undefined) return { problem: "missing content field", hint: 'Put the elements into "content".' };
  const bytes = readContent(content, spec.datatype);
  if ("problem" in bytes) return bytes;
  return checkTensor(bytes, shape, spec);
}

function readShape(value: unknown): readonly number[] | TensorProblem | undefined {
  if (value === undefined) return undefined;
  if (Array.isArray(value) && value.every((dim) => Number.isInteger(dim) && dim >= 0)) return value as number[];
  return { problem: "shape values must be integers", hint: 'Write for example "shape": [2, 8].' };
}

function readContent(content: unknown, datatype: Datatype): Uint8Array | TensorProblem {
  if (Array.isArray(content)) return readElements(content.flat(Number.POSITIVE_INFINITY), datatype);
  const b64 = typeof content === "object" && content !== null ? (content as { b64?: unknown }).b64 : undefined;
  if (typeof b64 === "string") return readBase64(b64);
  if (b64 !== undefined)
    return { problem: "the value of b64 field should be of type string", hint: "Put the base64 text in quotes." };
  return {
    problem: "The tensor values are not supported. Expected an array or b64 string",
    hint: 'Give an array of elements or {"b64": "..."}.',
  };
}

function readBase64(text: string): Uint8Array | TensorProblem {
  const compact = text.replace(/\s/g, "");
  if (!/^[A-Za-z0-9+/]*={0,2}$/.test(compact)) {
    return { problem: "the b64 field is not base64", hint: "Encode the raw little-endian bytes in standard base64." };
  }
  return Uint8Array.from(atob(compact), (character) => character.charCodeAt(0));
}

function readElements(elements: readonly unknown[], datatype: Datatype): Uint8Array | TensorProblem {
  if (datatype === "FP16" || datatype === "BF16") {
    return {
      problem: `Can not use explicit tensor description for ${TYPE_NAMES[datatype]} datatype`,
      hint: 'Give the raw bytes as {"b64": "..."}.',
    };
  }
  const bad = elements.findIndex((element) => !isElement(element, datatype));
  const bytes = bad < 0 ? fromJsonElements(datatype, elements) : undefined;
  if (bytes !== undefined) return bytes;
  const shown = typeof elements[bad] === "bigint" ? String(elements[bad]) : JSON.stringify(elements[bad]);
  return {
    problem: `unable to find ${TYPE_NAMES[datatype]} data in json: element ${bad} is ${shown}`,
    hint: `Give ${datatype} elements.`,
  };
}

function isElement(element: unknown, datatype: Datatype): boolean {
  if (datatype === "BYTES") return typeof element === "string";
  if (datatype === "BOOL") return typeof element === "boolean";
  const bits = INTEGER_BITS[datatype];
  if (bits === undefined) return typeof element === "number" || typeof element === "bigint";
  if (typeof element !== "bigint" && !Number.isInteger(element)) return false;
  const value = BigInt(element as number | bigint);
  return value === (datatype.startsWith("U") ? BigInt.asUintN(bits, value) : BigInt.asIntN(bits, value));
}

function checkTensor(
  bytes: Uint8Array,
  shape: readonly number[] | undefined,
  spec: TensorSpec,
): StepTensor | TensorProblem {
  const actual = shape ?? spec.shape;
  if (elementCount(actual) < 0) {
    return {
      problem: `The variable-sized tensor "${spec.name}" with model shape ${formatShape(spec.shape)} needs to have its shape fully defined. See the --shape option`,
      hint: 'Add "shape" to the tensor or give --shape.',
    };
  }
  const fits =
    actual.length === spec.shape.length &&
    actual.every((dim, index) => spec.shape[index] === -1 || spec.shape[index] === dim);
  if (!fits) {
    return {
      problem: `The supplied shape of ${formatShape(actual)} for input "${spec.name}" is incompatible with the model's input shape of ${formatShape(spec.shape)}`,
      hint: "Give as many dimensions as the model, and its sizes where they are fixed.",
    };
  }
  const expected = tensorBytes(actual, spec.datatype);
  if (expected > 0 && expected !== bytes.length) {
    return {
      problem: `mismatch in the data provided for ${spec.name}. Expected: ${expected} bytes, Got: ${bytes.length} bytes`,
      hint: `Give ${elementCount(actual)} elements of ${spec.datatype}.`,
    };
  }
  return { bytes, shape: actual };
}
