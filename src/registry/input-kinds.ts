import type { Dataset } from "../inputs/dataset.ts";
import { generateDataset } from "../inputs/generate.ts";
import type { InputsPlan } from "../plan/plan.ts";
import type { Builders, Schema } from "../plan/schema.ts";
import type { ModelInfo } from "../service/service.ts";

/** A source of request data. `P` is its part of the plan. */
interface InputKind<P extends InputsPlan> {
  schema(v: Builders): Schema<P>;
  /** Makes or reads the data. Throws `UserError` with everything that does not fit the model. */
  load(plan: P, model: ModelInfo): Dataset | Promise<Dataset>;
}

const stringLength = (v: Builders): Schema<number> =>
  v.pipe(v.number(), v.integer("must be a whole number"), v.minValue(1, "must be 1 or more"));
const path = (v: Builders): Schema<string> => v.pipe(v.string(), v.nonEmpty("must name a file"));

/** The sources by the `kind` of their part of the plan; each is loaded when a plan uses it. */
export const INPUT_KINDS: { readonly [K in InputsPlan["kind"]]: InputKind<Extract<InputsPlan, { kind: K }>> } = {
  random: {
    schema: (v) => v.object({ kind: v.literal("random"), stringLength: stringLength(v), stringData: v.string() }),
    load: (plan, model) => generateDataset(model, { ...plan, isZero: false }),
  },
  zero: {
    schema: (v) => v.object({ kind: v.literal("zero"), stringLength: stringLength(v), stringData: v.string() }),
    load: (plan, model) => generateDataset(model, { ...plan, isZero: true }),
  },
  json: {
    schema: (v) =>
      v.object({ kind: v.literal("json"), files: v.pipe(v.array(path(v)), v.minLength(1, "must name a file")) }),
    load: async (plan, model) => (await import("../inputs/json-file.ts")).readJsonFiles(plan.files, model),
  },
  directory: {
    schema: (v) => v.object({ kind: v.literal("directory"), directory: path(v) }),
    load: async (plan, model) => (await import("../inputs/directory.ts")).readDirectory(plan.directory, model),
  },
};

/** Loads a plan's data. */
export function loadInputs(plan: InputsPlan, model: ModelInfo): Dataset | Promise<Dataset> {
  return (INPUT_KINDS[plan.kind] as InputKind<InputsPlan>).load(plan, model);
}
