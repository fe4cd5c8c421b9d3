import { type Problem, problem, UserError } from "../plan/problem.ts";
import { createRandomFor, drawIndex, type Random } from "../runtime/random.ts";
import { encoder } from "../runtime/text.ts";
import type { ModelInfo } from "../service/service.ts";
import { elementCount, formatShape, type TensorSpec, tensorBytes } from "../service/tensor.ts";
import type { Dataset, StepTensor } from "./dataset.ts";
import { dynamicShapeProblem } from "./shapes.ts";

/** Settings for generating data. */
export interface GenerateOptions {
  readonly isZero: boolean;
  /** Length of each random string, in characters. */
  readonly stringLength: number;
  /** String for every BYTES element; empty: random strings. */
  readonly stringData: string;
}

const CHARACTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789 .?!";

/** Distance between the two summands of glibc's `rand()`. */
const SEPARATION = 3;

/** The state after seeding with 1 and discarding 310 values. It never changes, so it is precomputed. */
const INITIAL_STATE: readonly number[] = [
  0x991539b1, 0x16a5bce3, 0x6774a4cd, 0x3e01511e, 0x4e508aaa, 0x61048c05, 0xf5500617, 0x846b7115, 0x6a19892c,
  0x896a97af, 0xdb48f936, 0x14898454, 0x37ffd106, 0xb58bff9c, 0x59e17104, 0xcf918a49, 0x09378c83, 0x52c7a471,
  0x8d293ea9, 0x1f4fc301, 0xc3db71be, 0x39b44e1c, 0xf8a44ef9, 0x4c8b80b1, 0x19edc328, 0x87bf4bdd, 0xc9b240e5,
  0xe9ee4b1b, 0x4382aee7, 0x535b6b41, 0xf3bec5da,
];
const DEGREE = INITIAL_STATE.length;

/** Protobuf messages must be smaller than 2 GiB, and larger HTTP bodies make no sense. */
export const MAX_INPUT_BYTES = 2 ** 31 - 1;

/**
 * Generates one step of random or zero data from the model's shapes. Like perf_analyzer, all inputs with fixed-size elements start with the
 * same bytes, and strings are random even for zero data.
 * @throws UserError for shape tensors, variable shapes, and inputs of 2 GiB or more
 */
export function generateDataset(model: ModelInfo, options: GenerateOptions): Dataset {
  const problems: Problem[] = [];
  let largest = 0;
  for (const input of model.inputs) {
    problems.push(...checkInput(input, options));
    largest = Math.max(largest, tensorBytes(input.shape, input.datatype));
  }
  if (problems.length > 0) throw new UserError(problems);
  const shared = options.isZero ? new Uint8Array(largest) : glibcRandomBytes(largest);
  // Every run has the same strings.
  const random = createRandomFor(0, model.name);
  const inputs = new Map<string, StepTensor>();
  for (const input of model.inputs) {
    const bytes =
      input.datatype === "BYTES"
        ? makeStrings(input, options, random)
        : shared.slice(0, tensorBytes(input.shape, input.datatype));
    inputs.set(input.name, { bytes, shape: input.shape });
  }
  return { streams: [[{ inputs, expected: new Map() }]], isFromJson: false, warnings: [] };
}

function checkInput(input: TensorSpec, options: GenerateOptions): Problem[] {
  if (input.isShapeTensor) {
    return [
      {
        code: "missing",
        path: `input ${input.name}`,
        message: `can not generate data for shape tensor '${input.name}', user-provided data is needed`,
        hint: { say: "give-values" },
      },
    ];
  }
  if (elementCount(input.shape) < 0) return [dynamicShapeProblem(input)];
  const bytes = input.datatype === "BYTES" ? stringBytes(input, options) : tensorBytes(input.shape, input.datatype);
  return bytes > MAX_INPUT_BYTES ? [tooLargeProblem(input, bytes)] : [];
}

/** Returns the size of an input of strings, each with a 4-byte length prefix. */
function stringBytes({ shape }: TensorSpec, { stringData, stringLength }: GenerateOptions): number {
  return elementCount(shape) * (4 + (stringData === "" ? stringLength : encoder.encode(stringData).length));
}

function tooLargeProblem(input: TensorSpec, bytes: number): Problem {
  const message = `data of shape ${formatShape(input.shape)} and type ${input.datatype} takes ${bytes} bytes, more than the ${MAX_INPUT_BYTES} that a request can carry`;
  const hint = "Check the model's shape, or give smaller sizes for its variable dimensions.";
  return problem("invalid-value", `input ${input.name}`, message, hint);
}

function makeStrings(input: TensorSpec, options: GenerateOptions, random: Random): Uint8Array {
  const bytes = new Uint8Array(stringBytes(input, options));
  const view = new DataView(bytes.buffer);
  for (let offset = 0; offset < bytes.length; ) {
    const text = options.stringData === "" ? randomText(options.stringLength, random) : options.stringData;
    const element = encoder.encode(text);
    view.setUint32(offset, element.length, true);
    bytes.set(element, offset + 4);
    offset += 4 + element.length;
  }
  return bytes;
}

function randomText(length: number, random: Random): string {
  let text = "";
  for (let i = 0; i < length; i++) text += CHARACTERS[drawIndex(random, CHARACTERS.length)];
  return text;
}

/**
 * Returns the low bytes of successive values of glibc's `rand()` with the default seed 1: `67 c6 69 73 51 ff 4a ec …`. perf_analyzer fills
 * random tensors with them. The generator is glibc's additive feedback generator of degree 31 (`random_r`, TYPE_3).
 */
export function glibcRandomBytes(count: number): Uint8Array {
  const state = new Uint32Array(INITIAL_STATE);
  const bytes = new Uint8Array(count);
  // The lagged sum r[n] = r[n-31] + r[n-3] in a ring: `front` is n-31, where the sum is stored, `rear` is n-3.
  let front = SEPARATION;
  let rear = 0;
  for (let i = 0; i < count; i++) {
    const sum = ((state[front] as number) + (state[rear] as number)) >>> 0;
    state[front] = sum;
    bytes[i] = sum >>> 1;
    if (++front === DEGREE) front = 0;
    if (++rear === DEGREE) rear = 0;
  }
  return bytes;
}
