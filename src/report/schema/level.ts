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
import { intervalEntries } from "./over-time.ts";
import { count, described, estimateSchema, ratio, valueSchema } from "./parts.ts";

/** A level in Rampart's JSON report. */

type LevelJson = v.InferOutput<typeof levelSchema>;

/** The requests of a level with certain values of their tags, as data. */
export type GroupJson = NonNullable<LevelJson["groups"]>[number];

/** Measurements of the requests of a level or a group, as data. */
export type MeasuredJson = Omit<GroupJson, "tags">;

/** Resource use and delays of the client, as data. */
export type ClientJson = NonNullable<LevelJson["client"]>;

/** Unit of the number of a level: requests in flight, or requests per second. */
export const LEVEL_UNIT = v.picklist(["concurrency", "request-rate", "session-rate"]);

/** Schema of the increase of a server's counters and those of the models that it calls. Durations are sums in nanoseconds. */
export const serverSchema: v.GenericSchema<unknown, ServerDelta> = v.object({
  name: v.string(),
  version: v.string(),
  hasManyVersions: v.boolean(),
  ...(Object.fromEntries(COUNTERS.map((name) => [name, v.number()])) as Record<
    (typeof COUNTERS)[number],
    v.NumberSchema<undefined>
  >),
  composing: v.array(v.lazy(() => serverSchema)),
});

const clientSchema = v.object({
  sendMeanUs: v.number(),
  receiveMeanUs: described(v.number(), "From the first byte of a response to its last: the server's time too."),
  overheadRatio: ratio,
  cpuRatio: ratio,
  coreWaitRatio: v.nullable(ratio),
  loopLagMaxMs: v.number(),
  loopLagMeanMs: v.number(),
  loopLagP99Ms: v.nullable(v.number()),
  lagWarning: v.nullable(described(v.string(), "How late the client was, when its times may show it.")),
  saturation: v.nullable(described(v.string(), "Why the client, and not the server, may have been the limit.")),
});

const instabilitySchema = v.object({
  throughputRatio: v.nullable(v.number()),
  latencyRatio: v.nullable(v.number()),
  withinRatio: v.number(),
  trials: count,
  windows: v.array(v.object({ throughputPerSec: v.number(), latencyUs: v.number(), completed: count })),
  isThroughputOnly: v.boolean(),
});

const limitsSchema = v.object({
  state: v.picklist(["kept", "broken", "unresolved"]),
  reason: v.exactOptional(v.string()),
  verdicts: v.array(
    v.object({
      text: v.string(),
      state: v.picklist(["kept", "broken", "unresolved"]),
      limit: valueSchema,
      measured: v.exactOptional(estimateSchema),
      aboveRatio: v.exactOptional(described(ratio, "Requests above the limit of a percentile, over all requests.")),
    }),
  ),
});

/** Schema of an interval of a timeline. */
export const timelineSchema = v.object({
  ...intervalEntries,
  latencyMeanUs: v.nullable(v.number()),
  latencyP99Us: v.nullable(v.number()),
});

const repeatSchema = v.object({
  outcome: v.string(),
  trials: count,
  durationSec: v.number(),
  completed: count,
  failed: count,
  metrics: metricsSchema,
});

/** Schema entries of the requested and the delivered load. */
export const deliveryEntries = {
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

const measuredEntries = {
  completed: described(count, "Successful requests that ended in the measured time."),
  failed: count,
  cancelled: v.exactOptional(count),
  resent: v.exactOptional(described(count, "Requests that were sent again over a new connection.")),
  delayed: described(count, "Requests sent more than 1 ms later than due."),
  delayedByLimit: v.exactOptional(v.object({ count: count, longestMs: v.number() })),
  sent: count,
  unsent: v.exactOptional(
    described(count, "Requests that were due in the measured time and not sent, because the client was behind."),
  ),
  sendingSec: v.exactOptional(
    described(
      v.number(),
      "Time in which requests were due, where that is not durationSec. 0 where it is too little for a rate.",
    ),
  ),
  load: v.object(deliveryEntries),
  inFlight: v.object({
    mean: v.number(),
    atStart: count,
    atEnd: count,
    littlesLaw: v.object({ expectedMean: v.number(), withinRatio: ratio, isKept: v.boolean() }),
  }),
  sequences: v.exactOptional(count),
  responses: v.exactOptional(count),
  metrics: metricsSchema,
  sendDelayUs: v.exactOptional(described(spreadSchema, "From the time when a request was due to its send.")),
  server: v.exactOptional(serverSchema),
  tokens: v.exactOptional(tokensSchema),
  telemetry: v.exactOptional(telemetrySchema),
  extracted: v.exactOptional(extractedSchema),
  derived: v.exactOptional(derivedSchema),
};

/** Schema of the requests of a level with certain values of their tags. */
export const groupSchema = v.object({ tags: v.record(v.string(), v.nullable(v.string())), ...measuredEntries });

/** Schema of early stopping for a percentile with a limit. */
const limitedStop = v.object({ isMet: v.boolean(), overCount: count, missingCount: count });

/** Schema of early stopping for an estimate of a percentile. */
const estimatedStop = v.object({
  isMet: v.boolean(),
  neededCount: count,
  estimate: v.exactOptional(v.object({ discardedCount: count, latencyNs: v.number() })),
});

const ns = v.number();
const latencyEntries = {
  target: v.exactOptional(v.object({ percentile: v.number(), latencyNs: ns })),
  latencyNs: v.exactOptional(v.object({ minNs: ns, maxNs: ns, meanNs: ns })),
  percentilesNs: v.exactOptional(v.object({ p50: ns, p90: ns, p95: ns, p97: ns, p99: ns, "p99.9": ns })),
};

const rate = v.exactOptional(v.number());
const time = v.object({
  count: count,
  limitNs: v.number(),
  earlyStopping: limitedStop,
  ...latencyEntries,
});

/** Schema of the result by MLPerf's rules. Latencies are in nanoseconds, as in LoadGen's logs. */
const mlperfSchema = v.object({
  scenario: v.picklist(["single-stream", "multi-stream", "server", "offline"]),
  isValid: v.boolean(),
  broken: described(v.array(v.string()), "The rules that are not kept."),
  queryCount: count,
  sampleCount: count,
  earlyStopping: v.exactOptional(v.union([limitedStop, estimatedStop])),
  p99Stopping: v.exactOptional(estimatedStop),
  samplesPerSec: rate,
  completedPerSec: rate,
  tokensPerSec: rate,
  withoutOverheadPerSec: rate,
  tokens: v.exactOptional(v.object({ timeToFirstToken: time, timePerOutputToken: time })),
  ...latencyEntries,
});

/** Schema of a level. */
export const levelSchema = v.object({
  unit: LEVEL_UNIT,
  level: described(v.number(), "Concurrency, or requests per second."),
  phase: v.exactOptional(v.object({ index: described(count, "From 0."), name: v.string() })),
  outcome: v.picklist(["measured", "unstable", "over-limit", "partial"]),
  trials: count,
  instability: v.exactOptional(instabilitySchema),
  isLatencyUnstable: v.exactOptional(v.boolean()),
  limits: v.exactOptional(limitsSchema),
  mlperf: v.exactOptional(mlperfSchema),
  repeats: v.exactOptional(v.array(repeatSchema)),
  durationSec: v.number(),
  windows: v.exactOptional(
    described(
      v.object({ first: count, last: count }),
      "Numbers of the windows that the level consists of, as in the records of requests; from 1.",
    ),
  ),
  ...measuredEntries,
  client: v.exactOptional(described(clientSchema, "Absent: other processes measured the level.")),
  groups: v.exactOptional(
    described(v.array(groupSchema), "The requests by the values of each tag. Those of a tag together are the level."),
  ),
  combinations: v.exactOptional(v.array(groupSchema)),
  gaps: v.exactOptional(
    described(
      v.array(v.object({ startSec: v.number(), endSec: v.number(), typicalSec: v.number() })),
      "Times in which nothing completed for much longer than usual, since the start of the run.",
    ),
  ),
  timeline: v.array(timelineSchema),
});
