import * as v from "valibot";
import { LEVEL_UNIT } from "./level.ts";
import { count, described, estimateSchema } from "./parts.ts";

/** Combined results of the levels of a run, in Rampart's JSON report. */

/** The knee of a sweep as data. */
export type KneeJson = v.InferOutput<typeof kneeSchema>;

/** The capacity answer as data. */
export type CapacityJson = v.InferOutput<typeof capacitySchema>;

/** Schema of the knee, where throughput stops growing. */
export const kneeSchema = v.object({
  unit: LEVEL_UNIT,
  level: described(v.number(), "The lowest level that reaches 90 % of the highest throughput."),
  isReached: described(v.boolean(), "False when no level is clearly above it, so that throughput may grow."),
});

const price = described(v.number(), "Of one GPU, in a currency of the user's own.");
const cost = v.exactOptional(
  described(estimateSchema, "gpuCount × gpuHourPrice / 3600 / rate × 1,000,000, in the currency of the price."),
);

/** Schema of the server's capacity and its price. */
export const capacitySchema = v.object({
  unit: LEVEL_UNIT,
  level: described(
    v.number(),
    "The level of all numbers: the highest that keeps the limits of a search, otherwise the knee.",
  ),
  isLowerBound: described(
    v.boolean(),
    "Whether the server may do more: no higher load is known to bring no more or to break a limit, or the search could not decide the loads above the level.",
  ),
  gpuCount: described(count, "Of the server that was measured."),
  throughputPerGpu: estimateSchema,
  outputTokensPerSecPerGpu: v.exactOptional(estimateSchema),
  gpuHourPrice: v.exactOptional(price),
  costPerMillion: cost,
  costPerMillionOutputTokens: cost,
  targetUserCount: v.exactOptional(count),
  targetGpuCount: v.exactOptional(described(count, "Whole servers like this one, each with the users of the level.")),
});
