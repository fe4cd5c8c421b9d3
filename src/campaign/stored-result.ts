import * as v from "valibot";
import type { GenAiPerfResult } from "../report/genai-perf/result.ts";

/** Results in JSON, where maps are objects, so that a later run can report them like its own. */

const VALUES = mapOf(v.number());
const STATISTICS = mapOf(v.object({ unit: v.string(), values: VALUES }));

/** Schema of a stored result, which returns the result. Numbers have full precision. */
export const STORED_RESULT = v.object({
  family: v.picklist(["text", "images", "plain"]),
  endpointType: v.string(),
  isStreaming: v.boolean(),
  hasGoodput: v.boolean(),
  statistics: STATISTICS,
  sessions: mapOf(STATISTICS),
  telemetry: v.optional(mapOf(v.object({ unit: v.string(), gpus: mapOf(VALUES) }))),
}) as v.GenericSchema<unknown, GenAiPerfResult>;

function mapOf<T>(schema: v.GenericSchema<unknown, T>): v.GenericSchema<unknown, Map<string, T>> {
  return v.pipe(
    v.record(v.string(), schema),
    v.transform((record) => new Map(Object.entries(record))),
  ) as v.GenericSchema<unknown, Map<string, T>>;
}
