import { defined } from "../plan/objects.ts";
import { type Problem, problem, UserError, userError } from "../plan/problem.ts";
import { formatCount } from "../plan/units.ts";
import { joinBytes } from "../runtime/bytes.ts";
import type { RequestContent } from "../service/content.ts";
import type { ModelInfo, Service } from "../service/service.ts";
import { formatShape, type Tensor, type TensorSpec } from "../service/tensor.ts";
import { type DataStep, type Dataset, NO_TENSORS } from "./dataset.ts";
import { MAX_INPUT_BYTES } from "./random-data.ts";

const MAX_PROBLEMS = 20;
const LEAST_ITEM_BYTES = 16;

/** Properties of a service that batches depend on. */
export type BatchedService = Pick<Service, "model" | "batchSize">;

/** Returns the problems of a batch size that is larger than the model's maximum. */
export function batchSizeProblems({ model, batchSize }: BatchedService): Problem[] {
  const { name, maxBatchSize } = model;
  if (maxBatchSize === 0 || batchSize <= maxBatchSize) return [];
  const message = `is above ${maxBatchSize}, the largest batch of model '${name}' (max_batch_size)`;
  return [problem("invalid-value", "target.batchSize", message, `Lower it to ${maxBatchSize}.`, String(batchSize))];
}

/** Checks every batch of the data. @throws UserError with file, entry and tensor, or for batches that are too large for a request */
export function checkBatches(dataset: Dataset, service: BatchedService): void {
  const { model, batchSize } = service;
  if (model.maxBatchSize > 0) checkBatchBytes(dataset, batchSize);
  if (model.maxBatchSize === 0 || batchSize === 1 || !dataset.isFromJson) return;
  const problems: Problem[] = [];
  // The models of sequences, whose data may have several streams, have no batches.
  const [steps = []] = dataset.streams;
  // Batches follow each other and wrap around, so they start at every multiple of this.
  const stride = greatestCommonDivisor(steps.length, batchSize);
  for (let first = 0; first < steps.length && problems.length < MAX_PROBLEMS; first += stride) {
    const problem = findBatchProblem(model, batchItems(steps, first, batchSize));
    if (problem !== undefined) problems.push(problem);
  }
  if (problems.length > 0) throw new UserError(problems);
}

/** Estimates the size of a batch by its first item, because others may be on disk. @throws UserError */
function checkBatchBytes({ streams }: Dataset, batchSize: number): void {
  const inputs = streams[0]?.[0]?.inputs ?? NO_TENSORS;
  let stepBytes = 0;
  for (const name of inputs.keys()) stepBytes += inputs.get(name)?.bytes.length ?? 0;
  // An item takes memory even if it is empty.
  const bytes = batchSize * Math.max(LEAST_ITEM_BYTES, stepBytes);
  if (bytes <= MAX_INPUT_BYTES) return;
  const message = `a batch of ${formatCount(batchSize)} takes ${formatCount(bytes)} bytes, more than the ${formatCount(MAX_INPUT_BYTES)} that a request can carry`;
  throw userError("invalid-value", { setting: "target.batchSize" }, message, "Give a smaller batch.");
}

/** Returns the `count` steps of a batch that starts at `firstStep`, wrapping around at the end. */
function batchItems(steps: readonly DataStep[], firstStep: number, count: number): DataStep[] {
  const items: DataStep[] = [];
  for (let i = 0; i < count; i++) {
    const step = steps[(firstStep + i) % steps.length];
    if (step !== undefined) items.push(step);
  }
  return items;
}

/** Returns why steps cannot be the items of one batch: some lack a tensor, or shapes differ. Undefined if they can. */
function findBatchProblem(model: ModelInfo, items: readonly DataStep[]): Problem | undefined {
  const [first] = items;
  for (const spec of model.inputs) {
    const problem = first === undefined ? missing(spec, "") : findInputProblem(spec, first, items);
    if (problem !== undefined) return problem;
  }
  if (first === undefined) return undefined;
  for (const { name } of model.outputs) {
    for (const item of items) {
      if (item.expected.has(name) === first.expected.has(name)) continue;
      const [has, lacks] = item.expected.has(name) ? [item, first] : [first, item];
      const message = `output '${name}' is in the validation data of one item of the batch (${placeOf(has)}) but not of another`;
      const hint = "Give it in every entry of validation_data or in none, or use a batch size of 1.";
      return problem("mismatch", placeOf(lacks, name), message, hint);
    }
  }
  return undefined;
}

function findInputProblem(spec: TensorSpec, first: DataStep, items: readonly DataStep[]): Problem | undefined {
  const { name } = spec;
  const tensor = first.inputs.get(name);
  for (const item of items) {
    const other = item.inputs.get(name);
    if (tensor === undefined || other === undefined) {
      if (tensor !== other) return mixed(name, tensor === undefined ? first : item);
      continue;
    }
    const shape = tensor.shape ?? spec.shape;
    const otherShape = other.shape ?? spec.shape;
    if (!areEqual(shape, otherShape))
      return {
        code: "mismatch",
        path: placeOf(item, name),
        message: `can not batch tensors with different shapes together (input '${name}' expected shape ${formatShape(shape)} and received ${formatShape(otherShape)})`,
        hint: `Give it the shape it has in ${placeOf(first)}, order the entries by shape, or use a batch size of 1.`,
      };
    if (spec.isShapeTensor && !areEqual(tensor.bytes, other.bytes)) {
      const message = "The shape tensors should be identical in a batch (mismatch in content)";
      const hint = `Give it the content it has in ${placeOf(first)}, or use a batch size of 1.`;
      return problem("mismatch", placeOf(item, name), message, hint);
    }
  }
  return tensor === undefined && !spec.isOptional ? missing(spec, placeOf(first)) : undefined;
}

function missing({ name }: TensorSpec, path: string): Problem {
  const message = `unable to find data for input '${name}'`;
  return problem("missing", path === "" ? `input ${name}` : path, message, { say: "give-data" });
}

function mixed(name: string, lacks: DataStep): Problem {
  const message = `optional input '${name}' has data in some items of a batch and not in others; you cannot use different set of optional inputs for each individual batch`;
  const hint = "Give it in every entry of the data or in none, or use a batch size of 1.";
  return problem("mismatch", placeOf(lacks, name), message, hint);
}

function placeOf({ place }: DataStep, name = ""): string {
  const tensor = name === "" ? "" : `.${name}`;
  return place === undefined ? `data${tensor}` : `${place}${tensor}`;
}

function areEqual(a: ArrayLike<number>, b: ArrayLike<number>): boolean {
  if (a.length !== b.length) return false;
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false;
  return true;
}

function greatestCommonDivisor(a: number, b: number): number {
  return b === 0 ? a : greatestCommonDivisor(b, a % b);
}

/** An expected output of a whole request. */
export interface ExpectedOutput {
  readonly name: string;
  readonly bytes: Uint8Array;
  /** The batch's items in the order of `bytes`: each item's place in the data, and its number of bytes. */
  readonly items: readonly { readonly place: string; readonly byteCount: number }[];
}

/** Returns the content of a request whose first item is step `firstStep`. @throws UserError if the steps cannot form a request */
export function assembleContent(
  { model, batchSize }: Pick<Service, "model" | "batchSize">,
  steps: readonly DataStep[],
  firstStep: number,
): RequestContent {
  const { payload: bytes, messages, request, origin } = steps[firstStep] ?? {};
  if (bytes === undefined) return assembleBatch(model, steps, firstStep, batchSize);
  if (messages !== undefined) return { bytes, messages };
  if (request === undefined && origin === undefined) return { bytes };
  return { bytes, ...defined({ request, origin }) };
}

/**
 * Returns the tensors of a request whose first item is step `firstStep`; later items are the following steps, wrapping around.
 * @throws UserError if the steps cannot form a request; see {@link findBatchProblem}
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

/** Returns the expected outputs of a request; empty without validation data. */
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

/** Joins the items' data for one input; undefined if no item has any. */
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
