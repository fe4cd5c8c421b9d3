import type { Dataset } from "../inputs/dataset.ts";
import { generateDataset } from "../inputs/generate.ts";
import type { SchedulePartPlan } from "../plan/load-options.ts";
import type { InputsPlan, Plan } from "../plan/plan.ts";
import { UserError } from "../plan/problem.ts";
import type { Builders, Schema } from "../plan/schema.ts";
import type { ModelInfo } from "../service/service.ts";

/** A source of request data. `P` is its part of the plan. */
interface InputKind<P extends InputsPlan> {
  schema(v: Builders): Schema<P>;
  /**
   * Makes or reads the data. Throws `UserError` with everything that does not fit the model.
   * @param isTimed each step must say when it is due
   */
  load(plan: P, model: ModelInfo, isTimed: boolean): Dataset | Promise<Dataset>;
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
    load: async (plan, model, isTimed) =>
      (await import("../inputs/json-file.ts")).readJsonFiles(plan.files, model, isTimed),
  },
  directory: {
    schema: (v) => v.object({ kind: v.literal("directory"), directory: path(v) }),
    load: async (plan, model) => (await import("../inputs/directory.ts")).readDirectory(plan.directory, model),
  },
  payloads: {
    schema: (v) => v.object({ kind: v.literal("payloads"), file: path(v) }),
    load: async (plan, _model, isTimed) =>
      (await import("../inputs/payload-list.ts")).readPayloadList(plan.file, isTimed),
  },
};

/** Loads a plan's data. Throws `UserError` when it does not fit the model, or does not say when a load that follows it is to send. */
export function loadInputs({ inputs, load }: Plan, model: ModelInfo): Dataset | Promise<Dataset> {
  const isTimed = load.kind === "fixed-schedule";
  if (isTimed && inputs.kind !== "json" && inputs.kind !== "payloads") {
    const hint = "Give a JSON file whose entries have a 'timestamp' in milliseconds.";
    throw new UserError([{ path: "inputs", message: "a fixed schedule needs data with times", hint }]);
  }
  const data = (INPUT_KINDS[inputs.kind] as InputKind<InputsPlan>).load(inputs, model, isTimed);
  return load.kind === "fixed-schedule" && load.part !== undefined ? takeScheduled(data, load.part) : data;
}

async function takeScheduled(data: Dataset | Promise<Dataset>, part: SchedulePartPlan): Promise<Dataset> {
  const { takePart } = await import("../load/schedule-part.ts");
  return takePart(await data, part);
}
