import { UserError } from "../plan/problem.ts";
import type { ModelInfo } from "../service/service.ts";
import { joinBytes, type Tensor, type TensorSpec } from "../service/tensor.ts";
import { batchItems, findBatchProblem } from "./batches.ts";

/** The data requests are made of: streams of steps, each step the tensors of one batch item. */

/** One input's or expected output's data for one batch item. */
export interface StepTensor {
  readonly bytes: Uint8Array;
  /** Dimensions without the batch dimension, where the step gives its own. */
  readonly shape?: readonly number[] | undefined;
}

/** A step's inputs by name. Those that are stored are read each time. */
export type StepInputs = Pick<ReadonlyMap<string, StepTensor>, "get" | "keys">;

/** One batch item: what is sent, and what must come back. */
export interface DataStep {
  readonly inputs: StepInputs;
  /** Expected outputs by name; empty when nothing is validated. */
  readonly expected: ReadonlyMap<string, StepTensor>;
  /** When it is due, in milliseconds since the load began; only where the load follows the data. */
  readonly timestampMs?: number;
  /** The session it is a turn of; only where the load holds sessions. */
  readonly sessionId?: string;
  /** From its answer to its session's next turn, in milliseconds; default 0. */
  readonly delayMs?: number;
  /** Where it was read: `inputs.json, data[2]`; absent for data that was made up. */
  readonly place?: string;
}

/** The step with another time, whatever kind it is. */
export function moveStep(step: DataStep, timestampMs: number): DataStep {
  return Object.assign(Object.create(Object.getPrototypeOf(step) as object) as DataStep, step, { timestampMs });
}

/** Which steps a load sends when: one after the other and over again, each at its own time, or as turns of their sessions. */
export type DataOrder = "in-turn" | "at-times" | "in-sessions";

/** All data of a run. Models without sequences use the first stream only, but for sessions: each is a stream. */
export interface Dataset {
  readonly streams: readonly (readonly DataStep[])[];
  /** True when the data was read from JSON files, and steps therefore rotate. */
  readonly isFromJson: boolean;
  /** Inputs are read from a file each time they are asked for, so that nobody may keep all of them. Default false. */
  readonly isStored?: boolean;
  /** Whether any step of stored data has expected outputs; other data is looked through. Default false. */
  readonly hasExpected?: boolean;
  /** Things the user should know, one sentence each. */
  readonly warnings: readonly string[];
}

/** An expected output of a whole request. */
export interface ExpectedOutput {
  readonly name: string;
  readonly bytes: Uint8Array;
  /** The batch's items in the order of `bytes`: where each was read, and how many bytes it has. */
  readonly items: readonly { readonly place: string; readonly byteCount: number }[];
}

/**
 * The tensors of a request whose first item is step `firstStep`; later items take the following steps, wrapping around.
 * @throws UserError when they cannot be a request: see {@link findBatchProblem}
 */
export function assembleBatch(
  model: ModelInfo,
  steps: readonly DataStep[],
  firstStep: number,
  batchSize: number,
): Tensor[] {
  const isBatched = model.maxBatchSize > 0;
  const items = batchItems(steps, firstStep, isBatched ? batchSize : 1);
  const problem = findBatchProblem(model, items);
  if (problem !== undefined) throw new UserError([problem]);
  const tensors: Tensor[] = [];
  for (const spec of model.inputs) {
    const tensor = assembleInput(spec, items, isBatched);
    if (tensor !== undefined) tensors.push(tensor);
  }
  return tensors;
}

/** The outputs a request must bring back; empty when the data says nothing of them. */
export function assembleExpected(
  model: ModelInfo,
  steps: readonly DataStep[],
  firstStep: number,
  batchSize: number,
): ExpectedOutput[] {
  const items = batchItems(steps, firstStep, model.maxBatchSize > 0 ? batchSize : 1);
  const names = new Set<string>();
  for (const item of items) for (const name of item.expected.keys()) names.add(name);
  return [...names].map((name) => {
    const parts = items.map((item) => item.expected.get(name)?.bytes ?? new Uint8Array(0));
    return {
      name,
      bytes: joinBytes(parts),
      items: items.map(({ place = "" }, index) => ({ place, byteCount: parts[index]?.length ?? 0 })),
    };
  });
}

function assembleInput(spec: TensorSpec, items: readonly DataStep[], isBatched: boolean): Tensor | undefined {
  const parts: Uint8Array[] = [];
  let itemShape = spec.shape;
  for (const item of items) {
    const part = item.inputs.get(spec.name);
    if (part === undefined) continue;
    if (parts.length === 0 && part.shape !== undefined) itemShape = part.shape;
    parts.push(part.bytes);
  }
  if (parts.length === 0) return undefined;
  const hasBatchDim = isBatched && !spec.isShapeTensor;
  return {
    name: spec.name,
    datatype: spec.datatype,
    shape: hasBatchDim ? [items.length, ...itemShape] : itemShape,
    // All items of a batch share one shape tensor.
    bytes: joinBytes(spec.isShapeTensor ? parts.slice(0, 1) : parts),
  };
}
