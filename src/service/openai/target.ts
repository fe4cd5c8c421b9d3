import type { OpenAiTargetPlan } from "../../plan/plan.ts";
import type { Builders, Schema } from "../../plan/schema.ts";
import { headersSchema, moreUrlsSchema, tlsSchema } from "../target-schemas.ts";

/** Returns a path without leading slashes, as `ServiceKind.path` requires. */
export function withoutLeadingSlashes(path: string): string {
  return path.replace(/^\/+/, "");
}

/** Returns the schema of a target whose requests are JSON payloads. */
export function openAiTargetSchema(v: Builders): Schema<OpenAiTargetPlan> {
  return v.object({
    kind: v.literal("openai"),
    url: v.pipe(v.string(), v.nonEmpty("must name a server")),
    moreUrls: moreUrlsSchema(v),
    protocol: v.literal("http", "must be http"),
    endpoint: v.pipe(v.string(), v.regex(/^[^\s#]+$/, "must be a path, such as v1/chat/completions")),
    model: v.pipe(v.string(), v.nonEmpty("must name a model")),
    batchSize: v.literal(1, "must be 1: a payload says itself how many items it has"),
    isStreaming: v.boolean(),
    headers: headersSchema(v),
    apiKeyEnv: v.exactOptional(v.pipe(v.string(), v.nonEmpty("must name a variable"))),
    tls: tlsSchema(v),
  });
}
