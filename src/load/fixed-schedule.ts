import type { FixedScheduleLoadPlan } from "../plan/plan.ts";
import { scheduledArrivals } from "./arrivals.ts";
import type { LoadMode } from "./load-mode.ts";

/** Every step of the data once, at the time that stands beside it. */
export const fixedScheduleMode: LoadMode<FixedScheduleLoadPlan> = {
  schema: (v) => v.object({ kind: v.literal("fixed-schedule") }),
  prepare: () => ({
    search: { unit: "request-rate", levels: { kind: "list", values: [1] }, search: "linear" },
    drive: (_level, timestampsMs) => ({ kind: "scheduled", arrivals: scheduledArrivals(timestampsMs) }),
  }),
};
