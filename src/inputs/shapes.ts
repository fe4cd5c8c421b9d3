import type { Problem } from "../plan/problem.ts";
import { setting } from "../plan/setting-names.ts";
import type { ModelInfo } from "../service/service.ts";
import { formatShape, type TensorSpec } from "../service/tensor.ts";

const SHAPES = setting("target.shapes");

/** Shapes given by the user, by input name. */
export type ShapeOverrides = Readonly<Record<string, readonly number[]>>;

/** A model whose varying inputs have the shapes a user gave, and what of them had no effect. */
export interface ShapedModel<M extends ModelInfo> {
  readonly model: M;
  readonly warnings: readonly string[];
}

/** Applies given shapes to inputs whose shape varies; the others keep theirs, with a warning when the given one differs. */
export function applyShapes<M extends ModelInfo>(model: M, shapes: ShapeOverrides): ShapedModel<M> {
  const warnings: string[] = [];
  const inputs: TensorSpec[] = [];
  for (const input of model.inputs) {
    // A server may call an input `__proto__`.
    const given = Object.hasOwn(shapes, input.name) ? shapes[input.name] : undefined;
    inputs.push(applyShape(input, given, warnings));
  }
  for (const name of Object.keys(shapes)) {
    if (model.inputs.some((input) => input.name === name)) continue;
    warnings.push(
      `the shape ${shapes[name]?.join(",")} that ${SHAPES} gives input '${name}' has no effect: model '${model.name}' has no such input.`,
    );
  }
  return { model: { ...model, inputs }, warnings };
}

function applyShape(input: TensorSpec, given: readonly number[] | undefined, warnings: string[]): TensorSpec {
  if (given === undefined) return input;
  if (input.shape.some((dim) => dim < 0)) return { ...input, shape: given, modelShape: input.shape };
  if (given.join() !== input.shape.join()) {
    warnings.push(
      `the shape ${given.join(",")} that ${SHAPES} gives input '${input.name}' has no effect: the model fixes it to ${formatShape(input.shape)}.`,
    );
  }
  return input;
}

/** The problem of an input whose size is not known. */
export function dynamicShapeProblem(input: TensorSpec): Problem {
  return {
    path: `input ${input.name}`,
    message: `input ${input.name} contains dynamic shape, provide shapes to send along with the request`,
    value: formatShape(input.shape),
    hint: `Give it a shape with ${SHAPES}, for example ${input.shape.map((dim) => (dim < 0 ? 8 : dim)).join(",")}.`,
  };
}
