import type { DataOrder, Dataset } from "../inputs/dataset.ts";
import { generateDataset } from "../inputs/generate.ts";
import type { SchedulePartPlan } from "../plan/load-options.ts";
import type { InputsPlan, Plan } from "../plan/plan.ts";
import { UserError } from "../plan/problem.ts";
import type { PromptsPlan } from "../plan/prompts.ts";
import type { Builders, Schema } from "../plan/schema.ts";
import { setting } from "../plan/setting-names.ts";
import type { ModelInfo } from "../service/service.ts";

/** A source of request data. `P` is its part of the plan. */
interface InputKind<P extends InputsPlan> {
  schema(v: Builders): Schema<P>;
  /**
   * Makes or reads the data. Throws `UserError` with everything that does not fit the model.
   * @param order what the load goes by: `at-times` each step must say when it is due, `in-sessions` whose turn it is
   */
  load(plan: P, model: ModelInfo, order: DataOrder): Dataset | Promise<Dataset>;
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
      v.object({
        kind: v.literal("json"),
        files: v.pipe(v.array(path(v)), v.minLength(1, "must name a file")),
        isInOrder: v.exactOptional(v.boolean()),
      }),
    load: async (plan, model, order) =>
      (await import("../inputs/json-file.ts")).readJsonFiles(plan.files, model, order === "at-times"),
  },
  directory: {
    schema: (v) => v.object({ kind: v.literal("directory"), directory: path(v) }),
    load: async (plan, model) => (await import("../inputs/directory.ts")).readDirectory(plan.directory, model),
  },
  payloads: {
    schema: (v) =>
      v.object({
        kind: v.literal("payloads"),
        file: path(v),
        moreFiles: v.exactOptional(v.array(path(v))),
        isInOrder: v.exactOptional(v.boolean()),
      }),
    load: async ({ file, moreFiles = [] }, _model, order) =>
      (await import("../inputs/payload-list.ts")).readPayloadLists([file, ...moreFiles], order),
  },
  prompts: {
    schema: promptsSchema,
    load: async (plan, _model, order) => (await import("../inputs/prompts/prompt-thread.ts")).makePrompts(plan, order),
  },
};

/**
 * Loads a plan's data. Throws `UserError` when it does not fit the model, does not say when a load that follows it is to send, or has fewer
 * sessions than the load holds at once.
 */
export function loadInputs({ inputs, load }: Plan, model: ModelInfo): Dataset | Promise<Dataset> {
  const isTimed = load.kind === "fixed-schedule";
  if (isTimed && inputs.kind !== "json" && inputs.kind !== "payloads") {
    const hint = "Give a JSON file whose entries have a 'timestamp' in milliseconds.";
    throw new UserError([{ path: setting("inputs.data"), message: "a fixed schedule needs data with times", hint }]);
  }
  const kind = INPUT_KINDS[inputs.kind] as InputKind<InputsPlan>;
  if (load.kind === "session-concurrency")
    return loadSessions(kind.load(inputs, model, "in-sessions"), load.concurrency);
  const data = kind.load(inputs, model, isTimed ? "at-times" : "in-turn");
  return load.kind === "fixed-schedule" && load.part !== undefined ? takeScheduled(data, load.part) : data;
}

async function takeScheduled(data: Dataset | Promise<Dataset>, part: SchedulePartPlan): Promise<Dataset> {
  const { takePart } = await import("../load/schedule-part.ts");
  return takePart(await data, part);
}

/** As in perf_analyzer, which says it in these words. */
async function loadSessions(loading: Dataset | Promise<Dataset>, concurrency: number): Promise<Dataset> {
  const dataset = await loading;
  const count = dataset.streams.length;
  if (count >= concurrency) return dataset;
  throw new UserError([
    {
      path: setting("load.concurrency"),
      message: `The input data file contains ${count} unique session IDs, which is fewer than the required session concurrency level of ${concurrency}.`,
      hint: "Please add more unique session IDs to the file or lower the session concurrency level.",
    },
  ]);
}

/** The schema of prompts in a plan. */
function promptsSchema(v: Builders): Schema<PromptsPlan> {
  const whole = (least: number) =>
    v.pipe(v.number(), v.integer("must be a whole number"), v.minValue(least, `must be ${least} or more`));
  const length = v.object({
    mean: v.pipe(v.number(), v.minValue(1, "must be 1 or more")),
    stddev: v.pipe(v.number(), v.minValue(0, "must be 0 or more")),
  });
  const share = v.pipe(v.number(), v.gtValue(0, "must be above 0"), v.maxValue(100, "must be 100 at most"));
  const named = v.pipe(v.string(), v.nonEmpty("must not be empty"));
  return v.object({
    kind: v.literal("prompts"),
    format: named,
    model: named,
    isStreaming: v.boolean(),
    tokenizer: named,
    revision: named,
    file: v.string(),
    seed: v.pipe(v.number(), v.integer("must be a whole number")),
    count: whole(1),
    inputTokens: length,
    outputTokens: v.nullable(length),
    mix: v.array(v.object({ input: length, output: length, sharePct: share })),
    prefix: v.nullable(v.object({ count: whole(1), tokens: whole(1) })),
    sessions: v.nullable(
      v.object({ count: whole(1), turns: length, delayMs: v.pipe(v.number(), v.minValue(0, "must be 0 or more")) }),
    ),
    systemTokens: whole(0),
    textsPerRequest: whole(0),
    images: v.nullable(v.object({ count: whole(1), widthPx: length, heightPx: length })),
    isUsageLeftOut: v.exactOptional(v.literal(true)),
    extra: v.record(v.string(), v.unknown()),
  });
}
