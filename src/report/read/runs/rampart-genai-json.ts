import * as v from "valibot";
import { ratioBounds } from "../../../measure/intervals/ratio-bounds.ts";
import {
  describeLoad,
  type MeasuredLevel,
  type MeasuredValue,
  parseDocument,
  putStatistics,
  type RunFormat,
} from "./measured-run.ts";

/** `profile_export_genai_perf_rampart.json`, Rampart's own file of GenAI-Perf mode. */

const NAME = "Rampart's JSON of GenAI-Perf mode";

const count = v.optional(v.number(), 0);
const statisticsSchema = v.looseObject({
  avg: v.optional(v.number()),
  confidence95: v.optional(
    v.record(v.string(), v.looseObject({ low: v.nullish(v.number()), high: v.nullish(v.number()) })),
  ),
});

const documentSchema = v.object({
  models: v.array(v.string()),
  endpointType: v.string(),
  isStreaming: v.boolean(),
  isPartial: v.optional(v.boolean(), false),
  requests: v.looseObject({ completed: count, failed: count }),
  system: v.looseObject({
    throughputPerSec: v.optional(v.number()),
    // Of version 1.
    requestsPerSec: v.optional(v.number()),
    errorRatio: v.optional(v.number()),
    outputTokensPerSec: v.optional(v.number()),
    totalTokensPerSec: v.optional(v.number()),
    errorRateRatio: v.optional(v.number()),
    goodRatio: v.optional(v.number()),
  }),
  metrics: v.record(v.string(), statisticsSchema),
  levels: v.optional(
    v.array(
      v.looseObject({
        unit: v.string(),
        level: v.number(),
        scheduledLatencyMs: v.optional(statisticsSchema),
        // Of version 1.
        latencyFromDueTimeMs: v.optional(statisticsSchema),
        client: v.optional(v.looseObject({ saturation: v.nullish(v.string()) })),
      }),
    ),
    [],
  ),
});
type Document = v.InferOutput<typeof documentSchema>;

/** Rampart's own JSON report of GenAI-Perf mode. Its requests are those of all levels together. */
export const rampartGenaiJson: RunFormat = {
  name: NAME,
  detectDocument: (document) =>
    document["rampart"] !== undefined && document["endpointType"] !== undefined && document["metrics"] !== undefined,
  read: (file) => {
    const { path } = file;
    const document = parseDocument(documentSchema, file.readDocument(), path);
    const facts = new Map([
      ["model", document.models.join(", ")],
      ["endpoint type", document.endpointType],
      ["streaming", String(document.isStreaming)],
    ]);
    return [{ source: path, format: NAME, isPartial: document.isPartial, facts, levels: [readLevel(document)] }];
  },
};

function readLevel(document: Document): MeasuredLevel {
  const { levels, system, metrics, requests } = document;
  const values = new Map<string, MeasuredValue>();
  const put = (name: string, value: number | undefined): void => {
    if (value !== undefined) values.set(name, { value });
  };
  put("throughput", system.throughputPerSec ?? system.requestsPerSec);
  put("outputTokensPerSec", system.outputTokensPerSec);
  put("totalTokensPerSec", system.totalTokensPerSec);
  put("goodRatio", system.goodRatio);
  const total = requests.completed + requests.failed;
  const errorRatio = system.errorRateRatio ?? system.errorRatio;
  if (errorRatio !== undefined)
    values.set("errorRate", {
      value: errorRatio,
      ...(total > 0 ? { ...ratioBounds(Math.round(errorRatio * total), total), total } : {}),
    });
  for (const [key, statistics] of Object.entries(metrics)) {
    const isTime = key.endsWith("Ms");
    const name = isTime ? key.slice(0, -2) : key;
    putStatistics(values, name === "requestLatency" ? "latency" : name, statistics, isTime ? 1e6 : 1);
  }
  const [only, ...more] = levels;
  const scheduled = only?.scheduledLatencyMs ?? only?.latencyFromDueTimeMs;
  if (scheduled !== undefined && more.length === 0) putStatistics(values, "scheduledLatency", scheduled, 1e6);
  const loads = levels.map(({ unit, level }) => describeLoad(unit, level));
  const notes = levels.flatMap(({ client }) =>
    typeof client?.saturation === "string" ? [`the client may have been the limit: ${client.saturation}`] : [],
  );
  return { label: loads.length === 0 ? "all requests" : loads.join(", "), values, notes };
}
