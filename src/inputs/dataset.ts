import { RunError } from "../plan/problem.ts";
import type { ModelInfo } from "../service/service.ts";
import { joinBytes, type Tensor, type TensorSpec } from "../service/tensor.ts";

/** The data requests are made of: streams of steps, each step the tensors of one batch item. */

/** One input's or expected output's data for one batch item. */
export interface StepTensor {
  readonly bytes: Uint8Array;
  /** Dimensions without the batch dimension, where the step gives its own. */
  readonly shape?: readonly number[] | undefined;
}

/** One batch item: what is sent, and what must come back. */
export interface DataStep {
  readonly inputs: ReadonlyMap<string, StepTensor>;
  /** Expected outputs by name; empty when nothing is validated. */
  readonly expected: ReadonlyMap<string, StepTensor>;
  /** When it is due, in milliseconds since the load began; only where the load follows the data. */
  readonly timestampMs?: number;
}

/** All data of a run. Models without sequences use the first stream only. */
export interface Dataset {
  readonly streams: readonly (readonly DataStep[])[];
  /** True when the data was read from JSON files, and steps therefore rotate. */
  readonly isFromJson: boolean;
  /** Things the user should know, one sentence each. */
  readonly warnings: readonly string[];
}

/** An expected output of a whole request. */
export interface ExpectedOutput {
  readonly name: string;
  readonly bytes: Uint8Array;
}

/**
 * The tensors of a request whose first item is step `firstStep`; later items take the following steps, wrapping around.
 * @throws RunError when a required input has no data or optional inputs are mixed within a batch
 */
export function assembleBatch(
  model: ModelInfo,
  steps: readonly DataStep[],
  firstStep: number,
  batchSize: number,
): Tensor[] {
  const isBatched = model.maxBatchSize > 0;
  const items = batchItems(steps, firstStep, isBatched ? batchSize : 1);
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
  return [...names].map((name) => ({
    name,
    bytes: joinBytes(items.map((item) => item.expected.get(name)?.bytes ?? new Uint8Array(0))),
  }));
}

function batchItems(steps: readonly DataStep[], firstStep: number, count: number): DataStep[] {
  const items: DataStep[] = [];
  for (let i = 0; i < count; i++) {
    const step = steps[(firstStep + i) % steps.length];
    if (step !== undefined) items.push(step);
  }
  return items;
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
  if (parts.length === 0) {
    if (spec.isOptional) return undefined;
    throw new RunError(
      "failed-request",
      `unable to find data for input '${spec.name}'.`,
      "Give data for it with --input-data.",
    );
  }
  if (parts.length < items.length) {
    throw new RunError(
      "failed-request",
      `optional input '${spec.name}' has data in some items of a batch and not in others`,
      "Give it in every entry of --input-data or in none, or use -b 1.",
    );
  }
  const hasBatchDim = isBatched && !spec.isShapeTensor;
  return {
    name: spec.name,
    datatype: spec.datatype,
    shape: hasBatchDim ? [items.length, ...itemShape] : itemShape,
    // All items of a batch share one shape tensor.
    bytes: joinBytes(spec.isShapeTensor ? parts.slice(0, 1) : parts),
  };
}
