import { type Problem, problem } from "../plan/problem.ts";
import { setting } from "../plan/setting-names.ts";
import type { ModelInfo } from "../service/service.ts";
import { formatShape, type TensorSpec } from "../service/tensor.ts";

const SHAPES = setting("target.shapes");

/** Shapes from the user, by input name. */
export type ShapeOverrides = Readonly<Record<string, readonly number[]>>;

/** A model with the user's shapes applied, and warnings about shapes without effect. */
export interface ShapedModel<M extends ModelInfo> {
  readonly model: M;
  readonly warnings: readonly string[];
}

/** Applies shapes to inputs with a variable shape. Warns when a shape differs from a fixed one, or its input does not exist. */
export function applyShapes<M extends ModelInfo>(model: M, shapes: ShapeOverrides): ShapedModel<M> {
  const warnings: string[] = [];
  const inputs: TensorSpec[] = [];
  for (const input of model.inputs) {
    // An input may be named `__proto__`.
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

/** Returns the problem of an input whose size is not known. */
export function dynamicShapeProblem(input: TensorSpec): Problem {
  const message = `input ${input.name} contains dynamic shape, provide shapes to send along with the request`;
  const hint = `Give it a shape with ${SHAPES}, for example ${input.shape.map((dim) => (dim < 0 ? 8 : dim)).join(",")}.`;
  return problem("missing", `input ${input.name}`, message, hint, formatShape(input.shape));
}
