import type { Problem } from "../plan/problem.ts";
import type { ModelInfo } from "../service/service.ts";
import { formatShape, type TensorSpec } from "../service/tensor.ts";

/** Shapes given by the user, by input name. */
export type ShapeOverrides = Readonly<Record<string, readonly number[]>>;

/** A model whose varying inputs have the shapes a user gave, and what of them had no effect. */
export interface ShapedModel<M extends ModelInfo> {
  readonly model: M;
  readonly warnings: readonly string[];
}

/** Applies given shapes to inputs whose shape varies; the others keep theirs, with a warning when the given one differs. */
export function applyShapes<M extends ModelInfo>(model: M, shapes: ShapeOverrides): ShapedModel<M> {
  const warnings = Object.keys(shapes)
    .filter((name) => !model.inputs.some((input) => input.name === name))
    .map((name) => `--shape ${name}:${(shapes[name] ?? []).join(",")} has no effect: model '${model.name}' has no input '${name}'.`);
  const inputs = model.inputs.map((input) => {
    const given = shapes[input.name];
    if (given === undefined) return input;
    if (input.shape.some((dim) => dim < 0)) return { ...input, shape: given };
    if (given.join() !== input.shape.join()) {
      warnings.push(`--shape ${input.name}:${given.join(",")} has no effect: the model fixes its shape to ${formatShape(input.shape)}.`);
    }
    return input;
  });
  return { model: { ...model, inputs }, warnings };
}

/** The problem of an input whose size is not known. */
export function dynamicShapeProblem(input: TensorSpec): Problem {
  return {
    path: `input ${input.name}`,
    message: `input ${input.name} contains dynamic shape, provide shapes to send along with the request`,
    value: formatShape(input.shape),
    hint: `Give its size, for example --shape ${input.name}:${input.shape.map((dim) => (dim < 0 ? 8 : dim)).join(",")}.`,
  };
}
