import * as v from "valibot";
import type { StatisticName } from "../measure/statistics.ts";
import type { GenAiPerfResult, Statistics } from "../report/genai-perf/result.ts";

/** Results as JSON, so that a later run can report them like its own. */

const VALUES = v.record(v.string(), v.number());
const STATISTICS = v.record(v.string(), v.object({ unit: v.string(), values: VALUES }));

/** Schema of a stored result. */
export const STORED_RESULT = v.object({
  family: v.picklist(["text", "images", "plain"]),
  endpointType: v.string(),
  isStreaming: v.boolean(),
  hasGoodput: v.boolean(),
  statistics: STATISTICS,
  sessions: v.record(v.string(), STATISTICS),
  telemetry: v.optional(v.record(v.string(), v.object({ unit: v.string(), gpus: v.record(v.string(), VALUES) }))),
});

/** A stored result. */
export type StoredResult = v.InferOutput<typeof STORED_RESULT>;

/** Converts a result to JSON. Numbers keep full precision. */
export function storeResult(result: GenAiPerfResult): StoredResult {
  const { statistics, sessions, telemetry, ...rest } = result;
  return {
    family: rest.family,
    endpointType: rest.endpointType,
    isStreaming: rest.isStreaming,
    hasGoodput: rest.hasGoodput,
    statistics: toRecord(statistics, storeMetric),
    sessions: toRecord(sessions, (one) => toRecord(one, storeMetric)),
    ...(telemetry === undefined
      ? {}
      : {
          telemetry: toRecord(telemetry, ({ unit, gpus }) => ({ unit, gpus: toRecord(gpus, Object.fromEntries) })),
        }),
  };
}

/** Restores a result from JSON. */
export function restoreResult(stored: StoredResult): GenAiPerfResult {
  const { statistics, sessions, telemetry, ...rest } = stored;
  return {
    ...rest,
    statistics: restoreStatistics(statistics),
    sessions: toMap(sessions, restoreStatistics),
    ...(telemetry === undefined
      ? {}
      : { telemetry: toMap(telemetry, ({ unit, gpus }) => ({ unit, gpus: toMap(gpus, restoreValues) })) }),
  };
}

function storeMetric({ unit, values }: { unit: string; values: ReadonlyMap<string, number> }): {
  unit: string;
  values: Record<string, number>;
} {
  return { unit, values: Object.fromEntries(values) };
}

function restoreStatistics(stored: StoredResult["statistics"]): Statistics {
  return toMap(stored, ({ unit, values }) => ({ unit, values: restoreValues(values) }));
}

function restoreValues(values: Readonly<Record<string, number>>): ReadonlyMap<StatisticName, number> {
  return new Map(Object.entries(values) as [StatisticName, number][]);
}

function toRecord<A, B>(map: ReadonlyMap<string, A>, convert: (value: A) => B): Record<string, B> {
  return Object.fromEntries([...map].map(([key, value]) => [key, convert(value)]));
}

function toMap<A, B>(record: Readonly<Record<string, A>>, convert: (value: A) => B): Map<string, B> {
  return new Map(Object.entries(record).map(([key, value]) => [key, convert(value)]));
}
