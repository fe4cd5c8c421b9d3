import * as v from "valibot";
import { filledSchema, type PlanOf } from "../../plan/schema.ts";
import { extractEntries } from "../response-reader.ts";
import { serverEntries } from "../target-schemas.ts";

/** A server of generative models with JSON payloads, such as OpenAI's API. */
export type OpenAiTargetPlan = PlanOf<typeof openAiTargetSchema>;

/**
 * Returns an endpoint as the path of its requests, without leading slashes, as `ServiceKind.path` requires. Leading segments `.` are left
 * out, like curl does: GenAI-Perf's endpoint `.` is the server's root.
 */
export function requestPathOf(endpoint: string): string {
  return endpoint.replace(/^\/*(?:\.(?:\/+|$))*/, "");
}

/** Matches a path for payloads, without a leading slash. */
export const PAYLOAD_PATH = /^[^\s#]+$/;

/** Returns the schema of a target whose requests are JSON payloads to a path. */
export function openAiTargetSchema() {
  return v.object({
    kind: v.literal("openai"),
    ...serverEntries(),
    protocol: v.literal("http", "must be http"),
    /** Path for payloads, without a leading slash: `v1/chat/completions`. */
    endpoint: v.pipe(v.string(), v.regex(PAYLOAD_PATH, "must be a path, such as v1/chat/completions")),
    batchSize: v.literal(1, "must be 1: the payload sets the number of items"),
    /** Whether payloads request a stream of events. */
    isStreaming: v.boolean(),
    /** Environment variable with an API key, sent as `Authorization: Bearer …` and never stored. */
    apiKeyEnv: v.exactOptional(filledSchema("must name a variable")),
    ...extractEntries(),
  });
}
