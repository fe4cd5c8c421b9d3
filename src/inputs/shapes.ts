import type { Text } from "../plan/messages.ts";
import { nameHint } from "../plan/nearest-name.ts";
import { type Problem, problem } from "../plan/problem.ts";
import type { ModelInfo } from "../service/service.ts";
import { formatShape, type TensorSpec } from "../service/tensor.ts";

/** Shapes from the user, by input name. */
export type ShapeOverrides = Readonly<Record<string, readonly number[]>>;

/** A model with the user's shapes applied, and warnings about shapes without effect. */
export interface ShapedModel<M extends ModelInfo> {
  readonly model: M;
  readonly warnings: readonly Text[];
}

/** Applies shapes to inputs with a variable shape. Warns if a shape differs from a fixed one, or if its input does not exist. */
export function applyShapes<M extends ModelInfo>(model: M, shapes: ShapeOverrides): ShapedModel<M> {
  const warnings: Text[] = [];
  const inputs: TensorSpec[] = [];
  for (const input of model.inputs) {
    // An input may be named `__proto__`.
    const given = Object.hasOwn(shapes, input.name) ? shapes[input.name] : undefined;
    inputs.push(applyShape(input, given, warnings));
  }
  for (const name of Object.keys(shapes)) {
    if (model.inputs.some((input) => input.name === name)) continue;
    const shape = String(shapes[name]?.join(","));
    warnings.push({ say: "shape-of-no-input", input: name, shape, model: model.name });
  }
  return { model: { ...model, inputs }, warnings };
}

/** Returns the problems of shapes that have no effect: shapes for inputs with a fixed shape, or for unknown inputs. */
export function shapeProblems({ name: model, inputs }: ModelInfo, shapes: ShapeOverrides): Problem[] {
  const names = inputs.map(({ name }) => name);
  return Object.entries(shapes).flatMap(([name, given]) => {
    const found = inputs.find((input) => input.name === name);
    const isApplied = found?.shape.some((dim) => dim < 0) === true || found?.shape.join() === given.join();
    if (isApplied) return [];
    const path = `target.shapes.${name}`;
    if (found === undefined) {
      const hint = nameHint(name, names, `Its inputs are ${names.join(", ")}.`);
      return [problem("unknown-name", path, `is no input of model '${model}'`, hint)];
    }
    const message = `is fixed to ${formatShape(found.shape)} by model '${model}'`;
    return [problem("invalid-value", path, message, "Leave it out.", formatShape(given))];
  });
}

function applyShape(input: TensorSpec, given: readonly number[] | undefined, warnings: Text[]): TensorSpec {
  if (given === undefined) return input;
  if (input.shape.some((dim) => dim < 0)) return { ...input, shape: given, modelShape: input.shape };
  if (given.join() !== input.shape.join()) {
    const fixed = formatShape(input.shape);
    warnings.push({ say: "shape-fixed", input: input.name, shape: given.join(","), fixed });
  }
  return input;
}

/** Returns the problem of an input whose size is unknown. */
export function dynamicShapeProblem(input: TensorSpec): Problem {
  const message = `input ${input.name} contains dynamic shape, provide shapes to send along with the request`;
  const hint = { say: "give-shape", shape: input.shape.map((dim) => (dim < 0 ? 8 : dim)).join(",") } as const;
  return problem("missing", `input ${input.name}`, message, hint, formatShape(input.shape));
}
