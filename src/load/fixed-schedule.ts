import type { FixedScheduleLoadPlan } from "../plan/load-plan.ts";
import type { Schema } from "../plan/schema.ts";
import { scheduledArrivals } from "./arrivals.ts";
import type { LoadMode } from "./load-mode.ts";

/** Every step of the data once, at its timestamp. `part` has already been applied to the data. */
export const fixedScheduleMode: LoadMode<FixedScheduleLoadPlan> = {
  schema: (v) => {
    const timeMs = v.nullable(v.pipe(v.number(), v.minValue(0, "must be 0 or more")));
    const part = v.object({
      startMs: timeMs,
      endMs: timeMs,
      startsAtFirst: v.boolean(),
      speedRatio: v.pipe(v.number(), v.gtValue(0, "must be above 0")),
    });
    return v.object({
      kind: v.literal("fixed-schedule"),
      part: v.optional(
        v.pipe(
          part,
          v.check(({ startMs, endMs }) => (endMs ?? Infinity) >= (startMs ?? 0), "must not end before it starts"),
        ),
      ),
    }) as Schema<FixedScheduleLoadPlan>;
  },
  prepare: () => ({
    search: { unit: "request-rate", levels: { kind: "list", values: [1] }, search: "linear" },
    drive: (_level, timestampsMs) => ({ kind: "scheduled", arrivals: scheduledArrivals(timestampsMs) }),
  }),
};
