import * as v from "valibot";
import type { ServerDelta } from "../../measure/server-delta.ts";
import { COUNTERS } from "../../service/server-counters.ts";
import {
  derivedSchema,
  extractedSchema,
  metricsSchema,
  spreadSchema,
  telemetrySchema,
  tokensSchema,
} from "./metrics.ts";
import { mlperfSchema } from "./mlperf.ts";
import { intervalEntries } from "./over-time.ts";
import { count, described, estimateSchema, type Parts, ratio, valueSchema } from "./parts.ts";

/** A level in Rampart's JSON report. */

type LevelJson = v.InferOutput<ReturnType<typeof levelSchema>>;

/** The requests of a level with certain values of their tags, as data. */
export type GroupJson = NonNullable<LevelJson["groups"]>[number];

/** Measurements of the requests of a level or a group, as data. */
export type MeasuredJson = Omit<GroupJson, "tags">;

/** The requested and the delivered load, as data. */
export type DeliveryJson = LevelJson["load"];

/** Requests in flight, as data. */
export type InFlightJson = LevelJson["inFlight"];

/** Resource use and delays of the client, as data. */
export type ClientJson = NonNullable<LevelJson["client"]>;

/** State of a search's limits at a level, as data. */
export type LimitsJson = NonNullable<LevelJson["limits"]>;

/** A measurement that a search repeated, as data. */
export type RepeatJson = NonNullable<LevelJson["repeats"]>[number];

/** An interval of a timeline, as data. */
export type TimelineJson = LevelJson["timeline"][number];

/** Unit of the number of a level: requests in flight, or requests per second. */
export const LEVEL_UNIT = v.picklist(["concurrency", "request-rate", "session-rate"]);

/** Returns the schema of the increase of a server's counters and those of the models that it calls. Durations are sums in nanoseconds. */
export function serverSchema(parts: Parts): v.GenericSchema<unknown, ServerDelta> {
  const counters = COUNTERS.map((name) => [name, v.number()] as const);
  const schema: v.GenericSchema<unknown, ServerDelta> = parts.object({
    name: v.string(),
    version: v.string(),
    hasManyVersions: v.boolean(),
    ...(Object.fromEntries(counters) as Record<(typeof COUNTERS)[number], v.NumberSchema<undefined>>),
    composing: v.array(v.lazy(() => schema)),
  });
  return schema;
}

/** Returns the schema of resource use and delays of the client. */
function clientSchema({ object }: Parts) {
  return object({
    sendMeanUs: v.number(),
    receiveMeanUs: described(v.number(), "From the first byte of a response to its last: the server's time too."),
    overheadRatio: ratio(),
    cpuRatio: ratio(),
    coreWaitRatio: v.nullable(ratio()),
    loopLagMaxMs: v.number(),
    loopLagMeanMs: v.number(),
    loopLagP99Ms: v.nullable(v.number()),
    lagWarning: v.nullable(described(v.string(), "How late the client was, when its times may show it.")),
    saturation: v.nullable(described(v.string(), "Why the client, and not the server, may have been the limit.")),
  });
}

function instabilitySchema({ object }: Parts) {
  return object({
    throughputRatio: v.nullable(v.number()),
    latencyRatio: v.nullable(v.number()),
    withinRatio: v.number(),
    trials: count(),
    windows: v.array(object({ throughputPerSec: v.number(), latencyUs: v.number(), completed: count() })),
    isThroughputOnly: v.boolean(),
  });
}

function limitsSchema(parts: Parts) {
  const { object } = parts;
  return object({
    state: v.picklist(["kept", "broken", "unresolved"]),
    reason: v.exactOptional(v.string()),
    verdicts: v.array(
      object({
        text: v.string(),
        state: v.picklist(["kept", "broken", "unresolved"]),
        limit: valueSchema(parts),
        measured: v.exactOptional(estimateSchema(parts)),
        aboveRatio: v.exactOptional(described(ratio(), "Requests above the limit of a percentile, over all requests.")),
      }),
    ),
  });
}

/** Returns the schema of an interval of a timeline. */
export function timelineSchema({ object }: Parts) {
  return object({
    ...intervalEntries(),
    latencyMeanUs: v.nullable(v.number()),
    latencyP99Us: v.nullable(v.number()),
  });
}

/** Returns the schema of one measurement of a level that a search repeated. */
function repeatSchema(parts: Parts) {
  return parts.object({
    outcome: v.string(),
    trials: count(),
    durationSec: v.number(),
    completed: count(),
    failed: count(),
    metrics: metricsSchema(parts),
  });
}

/** Returns the schema entries of the requested and the delivered load. */
export function deliveryEntries() {
  return {
    unit: LEVEL_UNIT,
    asked: described(
      v.nullable(v.number()),
      "Mean over the measured time: requests in flight, or per second. Null for some of the requests, and for loads without such a number.",
    ),
    delivered: described(
      v.nullable(v.number()),
      "Requests in flight, or requests sent per second, also at a rate of sessions. Null where fewer than two were due at different times.",
    ),
    isDelivered: v.nullable(v.boolean()),
  };
}

/** Returns the schema entries of measurements of a level's requests. */
function measuredEntries(parts: Parts) {
  const { object } = parts;
  const optional = v.exactOptional;
  return {
    completed: described(count(), "Successful requests that ended in the measured time."),
    failed: count(),
    cancelled: optional(count()),
    resent: optional(described(count(), "Requests that were sent again over a new connection.")),
    delayed: described(count(), "Requests sent more than 1 ms later than due."),
    delayedByLimit: optional(object({ count: count(), longestMs: v.number() })),
    sent: count(),
    sendingSec: optional(
      described(
        v.number(),
        "Time in which requests were due, where that is not durationSec. 0 where it is too little for a rate.",
      ),
    ),
    load: object(deliveryEntries()),
    inFlight: object({
      mean: v.number(),
      atStart: count(),
      atEnd: count(),
      littlesLaw: object({ expectedMean: v.number(), withinRatio: ratio(), isKept: v.boolean() }),
    }),
    sequences: optional(count()),
    responses: optional(count()),
    metrics: metricsSchema(parts),
    sendDelayUs: optional(described(spreadSchema(parts), "From the time when a request was due to its send.")),
    server: optional(serverSchema(parts)),
    tokens: optional(tokensSchema(parts)),
    telemetry: optional(telemetrySchema(parts)),
    extracted: optional(extractedSchema(parts)),
    derived: optional(derivedSchema(parts)),
  };
}

/** Returns the schema of the requests of a level with certain values of their tags. */
export function groupSchema(parts: Parts) {
  return parts.object({ tags: v.record(v.string(), v.nullable(v.string())), ...measuredEntries(parts) });
}

/** Returns the schema of a level. */
export function levelSchema(parts: Parts) {
  const { object } = parts;
  const optional = v.exactOptional;
  const group = groupSchema(parts);
  return object({
    unit: LEVEL_UNIT,
    level: described(v.number(), "Concurrency, or requests per second."),
    phase: optional(object({ index: described(count(), "From 0."), name: v.string() })),
    outcome: v.picklist(["measured", "unstable", "over-limit", "partial"]),
    trials: count(),
    instability: optional(instabilitySchema(parts)),
    isLatencyUnstable: optional(v.boolean()),
    limits: optional(limitsSchema(parts)),
    mlperf: optional(mlperfSchema(parts)),
    repeats: optional(v.array(repeatSchema(parts))),
    durationSec: v.number(),
    windows: optional(
      described(
        object({ first: count(), last: count() }),
        "Numbers of the windows that the level consists of, as in the records of requests; from 1.",
      ),
    ),
    ...measuredEntries(parts),
    client: optional(described(clientSchema(parts), "Absent: other processes measured the level.")),
    groups: optional(
      described(v.array(group), "The requests by the values of each tag. Those of a tag together are the level."),
    ),
    combinations: optional(v.array(group)),
    gaps: optional(
      described(
        v.array(object({ startSec: v.number(), endSec: v.number(), typicalSec: v.number() })),
        "Times in which nothing completed for much longer than usual, since the start of the run.",
      ),
    ),
    timeline: v.array(timelineSchema(parts)),
  });
}
