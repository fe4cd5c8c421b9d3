import * as v from "valibot";
import { atLeast, filledSchema, isWhole, type PlanOf } from "../../plan/schema.ts";
import { HTTP_METHODS, REQUEST_PATH, REQUEST_PATH_RULE } from "../../transport/request.ts";
import { responseRulesEntries } from "../response-reader.ts";
import { neverStreams, serverEntries } from "../target-schemas.ts";

/** Any HTTP server: requests and responses are bytes. */
export type HttpTargetPlan = PlanOf<typeof httpTargetSchema>;

/** Returns the schema of a target whose requests and responses are bytes. */
export function httpTargetSchema() {
  const { model: _, ...server } = serverEntries();
  const status = v.pipe(v.number(), isWhole(), atLeast(200), v.ltValue(600, "must be below 600"));
  return v.object({
    kind: v.literal("plain-http"),
    ...server,
    protocol: v.literal("http", "must be http"),
    isStreaming: neverStreams(),
    batchSize: v.literal(1, "must be 1: each request counts once"),
    method: v.picklist(HTTP_METHODS, `must be one of ${HTTP_METHODS.join(", ")}`),
    /** Path and query of requests that set none. */
    path: v.pipe(v.string(), v.regex(REQUEST_PATH, REQUEST_PATH_RULE)),
    /** Statuses of successful responses. Absent: 200 to 299. */
    successStatuses: v.exactOptional(v.pipe(v.array(status), v.minLength(1, "must have a status"))),
    /** Environment variable with an API key, sent as `Authorization: Bearer …` and never stored. */
    apiKeyEnv: v.exactOptional(filledSchema("must name a variable")),
    ...responseRulesEntries(),
  });
}
