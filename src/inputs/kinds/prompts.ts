import type { PromptsPlan } from "../../plan/prompts.ts";
import type { Builders, Schema } from "../../plan/schema.ts";
import type { InputKind } from "../input-kind.ts";

/** Prompts for generative, embedding and ranking models, made up or read from a file. */

declare module "../../plan/plan.ts" {
  interface InputsPlans {
    readonly prompts: PromptsPlan;
  }
}

export const promptsInputs: InputKind<PromptsPlan> = {
  schema: promptsSchema,
  makes: "payloads",
  orders: ({ sessions }) => (sessions === null ? ["in-turn"] : ["in-turn", "in-sessions"]),
  load: async (plan, _model, order) => (await import("../prompts/prompt-thread.ts")).makePrompts(plan, order),
};

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
