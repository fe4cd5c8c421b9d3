import * as v from "valibot";
import { thinkTimeSchema } from "../../plan/load-options.ts";
import { filledSchema, type PlanOf, wholeSchema } from "../../plan/schema.ts";
import { HTTP_METHODS } from "../../transport/request.ts";
import { bodySchema } from "./requests-plan.ts";

export type ChainInputsPlan = PlanOf<typeof chainSchema>;

export type ChainCallPlan = PlanOf<typeof callSchema>;

/** Place of a value in a response: a JMESPath expression over its JSON, a header, or a cookie that it sets. */
export type ChainExtractPlan = PlanOf<typeof extractSchema>;

function extractSchema() {
  const name = filledSchema();
  return v.union([name, v.strictObject({ header: name }), v.strictObject({ cookie: name })]);
}

function callSchema() {
  return v.object({
    /** Name of the call, the value of the tag `call` of its requests. */
    name: filledSchema(),
    method: v.picklist(HTTP_METHODS),
    path: v.exactOptional(v.string()),
    headers: v.exactOptional(v.array(v.tuple([v.string(), v.string()]))),
    body: v.exactOptional(bodySchema()),
    extract: v.exactOptional(v.record(v.string(), extractSchema())),
    /** True: each user sends it once. Absent: it is sent in each chain. */
    isOnce: v.exactOptional(v.literal(true)),
    /** Absent: the next call is sent when the response arrives. */
    thinkTime: v.exactOptional(thinkTimeSchema()),
  });
}

/** Returns the schema of inputs that are chains. */
export function chainSchema() {
  const value = v.union([v.string(), v.number(), v.boolean()]);
  return v.object({
    kind: v.literal("http-chain"),
    /** Number of chains, for a load that sends each chain once. Absent: 100, or the load's number of users if that is larger. */
    count: v.exactOptional(wholeSchema(1)),
    calls: v.pipe(v.array(callSchema()), v.minLength(1, "must have a call")),
    /** Values for the users, assigned in turn. Absent: users have no values. */
    users: v.exactOptional(v.pipe(v.array(v.record(v.string(), value)), v.minLength(1, "must have a user"))),
    /** True: exports and messages show extracted values. Absent: they are hidden. */
    showsValues: v.exactOptional(v.literal(true)),
  });
}
