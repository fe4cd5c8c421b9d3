import type { Text } from "../plan/messages.ts";
import { plural } from "../plan/units.ts";
import { fromJsonElements, splitBytesElements } from "../service/json-tensors.ts";
import { fitsShortFloat, isShortFloat } from "../service/short-floats.ts";
import {
  type Datatype,
  elementBytes,
  elementCount,
  formatShape,
  type TensorSpec,
  tensorBytes,
} from "../service/tensor.ts";
import type { StepTensor } from "./dataset.ts";

/** Reason why a tensor is not valid. */
export interface TensorProblem {
  readonly problem: Text;
  readonly hint: Text;
}

/** C++ type names as in perf_analyzer's messages. */
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

/** Elements from a file: their binary form, their number, and the shape of nested arrays. */
interface Content {
  readonly bytes: Uint8Array;
  readonly count: number;
  readonly nestedShape?: readonly number[];
}

export interface TensorRules {
  /** Whether elements of FP16 and BF16 must be bytes, like in perf_analyzer. Default: they may be numbers. */
  readonly refusesShortFloats?: boolean | undefined;
  /** Whether it is an expected output, whose shape no setting determines. Default: false. */
  readonly isExpected?: boolean | undefined;
}

/**
 * Reads one tensor of a JSON data file, `[…]` (flat, or nested like the shape), `{"content": …, "shape": …}` or `{"b64": …}`, and checks it
 * against the model.
 */
export function readJsonTensor(value: unknown, spec: TensorSpec, rules: TensorRules = {}): StepTensor | TensorProblem {
  if (typeof value !== "object" || value === null) {
    return {
      problem: "Input data file is malformed",
      hint: 'Give an array of elements, {"content": ..., "shape": ...} or {"b64": "..."}.',
    };
  }
  const holder = Array.isArray(value) ? { content: value } : (value as Record<string, unknown>);
  const shape = readShape(holder["shape"]);
  if (shape !== undefined && "problem" in shape) return shape;
  const given = "b64" in holder ? holder : holder["content"];
  if (given === undefined) return { problem: "missing content field", hint: 'Put the elements into "content".' };
  const content =
    rules.refusesShortFloats === true && isShortFloat(spec.datatype) && Array.isArray(given)
      ? refuseNumbers(spec.datatype)
      : readContent(given, spec.datatype);
  if ("problem" in content) return content;
  if (shape !== undefined && content.nestedShape !== undefined && shape.join() !== content.nestedShape.join()) {
    return {
      problem: `the arrays are nested as ${formatShape(content.nestedShape)}, the shape is ${formatShape(shape)}`,
      hint: "Write the elements in one flat array, or nest them as the shape says.",
    };
  }
  return checkTensor(content, shape ?? content.nestedShape ?? spec.shape, spec, rules.isExpected === true);
}

function readShape(value: unknown): readonly number[] | TensorProblem | undefined {
  if (value === undefined) return undefined;
  if (Array.isArray(value) && value.every((dim) => Number.isInteger(dim) && dim >= 0)) return value as number[];
  return { problem: "shape values must be integers of 0 or more", hint: 'Write for example "shape": [2, 8].' };
}

function readContent(content: unknown, datatype: Datatype): Content | TensorProblem {
  if (Array.isArray(content)) return readArray(content, datatype);
  const b64 = typeof content === "object" && content !== null ? (content as { b64?: unknown }).b64 : undefined;
  if (typeof b64 === "string") return readBase64(b64, datatype);
  if (b64 !== undefined)
    return { problem: "the value of b64 field should be of type string", hint: "Put the base64 text in quotes." };
  return {
    problem: "The tensor values are not supported. Expected an array or b64 string",
    hint: 'Give an array of elements or {"b64": "..."}.',
  };
}

function readBase64(text: string, datatype: Datatype): Content | TensorProblem {
  const compact = text.replace(/\s/g, "");
  const isBase64 = /^[A-Za-z0-9+/]*={0,2}$/.test(compact) && compact.replace(/=+$/, "").length % 4 !== 1;
  if (!isBase64) {
    return { problem: "the b64 field is not base64", hint: "Encode the raw little-endian bytes in standard base64." };
  }
  const characters = atob(compact.replace(/=+$/, ""));
  const bytes = new Uint8Array(characters.length);
  for (let i = 0; i < characters.length; i++) bytes[i] = characters.charCodeAt(i);
  if (datatype !== "BYTES") return { bytes, count: bytes.length / elementBytes(datatype) };
  const elements = splitBytesElements(bytes);
  if (elements !== undefined) return { bytes, count: elements.length };
  return {
    problem: "the lengths of the elements in the b64 field do not add up to its bytes",
    hint: "Write a 4-byte little-endian length before each element of a BYTES tensor.",
  };
}

/** Reads a flat array, or arrays nested like the tensor's shape. */
function readArray(array: readonly unknown[], datatype: Datatype): Content | TensorProblem {
  if (!array.some(Array.isArray)) return readElements(array, datatype);
  const nestedShape: number[] = [];
  let level: unknown = array;
  for (; Array.isArray(level); level = level[0]) nestedShape.push(level.length);
  if (!isNestedAs(array, nestedShape, 0))
    return { problem: "the nested arrays have different lengths", hint: "Write the elements in one flat array." };
  const content = readElements(array.flat(Number.POSITIVE_INFINITY), datatype);
  return "problem" in content ? content : { ...content, nestedShape };
}

function isNestedAs(value: unknown, shape: readonly number[], depth: number): boolean {
  if (depth === shape.length) return !Array.isArray(value);
  if (!Array.isArray(value) || value.length !== shape[depth]) return false;
  return value.every((item) => isNestedAs(item, shape, depth + 1));
}

function refuseNumbers(datatype: Datatype): TensorProblem {
  return {
    problem: `Can not use explicit tensor description for ${TYPE_NAMES[datatype]} datatype`,
    hint: 'Give the raw bytes as {"b64": "..."}.',
  };
}

function readElements(elements: readonly unknown[], datatype: Datatype): Content | TensorProblem {
  const bad = elements.findIndex((element) => !isElement(element, datatype));
  const bytes = bad < 0 ? fromJsonElements(datatype, elements) : undefined;
  if (bytes !== undefined) return { bytes, count: elements.length };
  const shown = typeof elements[bad] === "bigint" ? String(elements[bad]) : JSON.stringify(elements[bad]);
  return {
    problem: `unable to find ${TYPE_NAMES[datatype]} data in json: element ${bad} is ${shown}`,
    hint: `Give ${datatype} elements.`,
  };
}

function isElement(element: unknown, datatype: Datatype): boolean {
  if (datatype === "BYTES") return typeof element === "string";
  if (datatype === "BOOL") return typeof element === "boolean";
  if (!datatype.includes("INT")) return isFloat(element, datatype);
  if (typeof element !== "bigint" && !Number.isInteger(element)) return false;
  const value = BigInt(element as number | bigint);
  const bits = 8 * elementBytes(datatype);
  return value === (datatype.startsWith("U") ? BigInt.asUintN(bits, value) : BigInt.asIntN(bits, value));
}

/** Whether an element is a number that is finite in this datatype. Integers need no decimal point. */
function isFloat(element: unknown, datatype: Datatype): boolean {
  if (typeof element !== "number" && typeof element !== "bigint") return false;
  const value = Number(element);
  if (!Number.isFinite(value)) return typeof element === "number";
  if (isShortFloat(datatype)) return fitsShortFloat(datatype, value);
  return datatype !== "FP32" || Number.isFinite(Math.fround(value));
}

function checkTensor(
  content: Content,
  shape: readonly number[],
  spec: TensorSpec,
  isExpected: boolean,
): StepTensor | TensorProblem {
  const modelShape = spec.modelShape ?? spec.shape;
  const count = elementCount(shape);
  if (count < 0) {
    const lacking = `The variable-sized tensor "${spec.name}" with model shape ${formatShape(modelShape)} needs to have its shape fully defined`;
    if (isExpected) return { problem: lacking, hint: 'Add "shape" to the expected tensor.' };
    return { problem: { say: "shape-needed", problem: lacking }, hint: { say: "add-shape" } };
  }
  // A shape in the file overrides the one in the plan, but not the model's shape.
  const fits =
    shape.length === modelShape.length && modelShape.every((dim, index) => dim === -1 || dim === shape[index]);
  if (!fits) {
    return {
      problem: `The supplied shape of ${formatShape(shape)} for input "${spec.name}" is incompatible with the model's input shape of ${formatShape(modelShape)}`,
      hint: "Give as many dimensions as the model, and its sizes where they are fixed.",
    };
  }
  const { bytes } = content;
  const expected = tensorBytes(shape, spec.datatype);
  const mismatch =
    spec.datatype === "BYTES"
      ? content.count !== count && `Expected: ${count} elements, Got: ${content.count} elements`
      : expected !== bytes.length && `Expected: ${expected} bytes, Got: ${bytes.length} bytes`;
  if (mismatch === false) return { bytes, shape };
  return {
    problem: `mismatch in the data provided for ${spec.name}. ${mismatch}`,
    hint: `Give ${count} ${plural(count, "element")} of ${spec.datatype}.`,
  };
}
