import type { ExpectedOutput } from "../../inputs/batches.ts";
import type { ResponseContent } from "../../service/content.ts";
import type { Service } from "../../service/service.ts";
import type { Tensor } from "../../service/tensor.ts";
import type { Failure } from "../../transport/failure.ts";
import type { SharedTensors } from "../open/shared-tensors.ts";

/** The tensors of responses, which may be in shared memory. */
export class ResponseOutputs {
  private readonly shared: SharedTensors | undefined;
  /** Exported for an empty response: the model's outputs without values. */
  readonly empty: ReadonlyMap<string, Tensor>;

  constructor({ outputs }: Pick<Service["model"], "outputs">, shared: SharedTensors | undefined) {
    this.shared = shared;
    const bytes = new Uint8Array(0);
    this.empty = new Map(outputs.map(({ name, datatype }) => [name, { name, datatype, shape: [0], bytes }]));
  }

  /** Returns the tensors of a response with their bytes; empty for one of payloads. */
  read(outputs: ResponseContent, slot: number): Tensor[] {
    if (outputs instanceof Uint8Array) return [];
    return [...outputs.values()].map((tensor) => ({ ...tensor, bytes: this.bytesOf(tensor, slot) }));
  }

  /**
   * Compares a response with the expected outputs of the data. Returns the first difference; undefined if there is none, and
   * for payloads.
   */
  findDifference(
    outputs: ResponseContent,
    slot: number,
    step: number,
    expectedOutputs: readonly ExpectedOutput[],
  ): Failure | undefined {
    if (outputs instanceof Uint8Array) return undefined;
    for (const expected of expectedOutputs) {
      const output = outputs.get(expected.name);
      const failure = compareOutput(expected, output && this.bytesOf(output, slot), step);
      if (failure !== undefined) return failure;
    }
    return undefined;
  }

  private bytesOf(tensor: Tensor, slot: number): Uint8Array {
    return this.shared?.read(tensor, slot) ?? tensor.bytes;
  }
}

/**
 * Compares an output with the expected one of the data, byte by byte. The messages begin like perf_analyzer's.
 * @param actual bytes of the output; undefined when the response lacks it
 * @param step step of the data that the request used
 * @returns the first difference; undefined when they are equal
 */
export function compareOutput(
  expected: ExpectedOutput,
  actual: Uint8Array | undefined,
  step: number,
): Failure | undefined {
  if (actual === undefined || actual.length !== expected.bytes.length)
    return {
      kind: "validation",
      message: `Output size doesn't match expected size: ${expected.name} has ${actual?.length ?? 0} bytes, expected ${expected.bytes.length} (${placesOf(expected, step)})`,
    };
  const at = expected.bytes.findIndex((byte, index) => byte !== actual[index]);
  if (at < 0) return undefined;
  return {
    kind: "validation",
    message: `Output doesn't match expected output: ${expected.name} ${describeDifference(expected, at, step)}`,
  };
}

/** Returns where the first and last entry of an expected output are defined. */
function placesOf({ items }: ExpectedOutput, step: number): string {
  const first = items[0]?.place ?? "";
  const last = items.at(-1)?.place ?? "";
  if (first === "") return `step ${step}`;
  return first === last ? first : `${first} to ${last}`;
}

/** Describes the first different byte. @param at offset in the whole output */
function describeDifference({ items }: ExpectedOutput, at: number, step: number): string {
  let offset = at;
  for (const { place, byteCount } of items) {
    if (offset < byteCount) return `differs at byte ${offset} (${place === "" ? `step ${step}` : place})`;
    offset -= byteCount;
  }
  return `differs at byte ${at} (step ${step})`;
}
