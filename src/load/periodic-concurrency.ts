import { concurrencySchema } from "./levels.ts";
import type { LoadMode } from "./load-mode.ts";

/** Requests that join in groups, each when every request of the one before has brought some of its responses. */
export interface PeriodicConcurrencyLoadPlan {
  readonly kind: "periodic-concurrency";
  /** Requests of the first group. */
  readonly start: number;
  /** Requests in all. */
  readonly end: number;
  /** Requests of each further group. */
  readonly step: number;
  /** Responses that each request of a group must have brought before the next group is sent. */
  readonly periodResponses: number;
}

declare module "../plan/load-plan.ts" {
  interface LoadPlans {
    readonly "periodic-concurrency": PeriodicConcurrencyLoadPlan;
  }
}

/** Requests that join in groups, paced by the responses that the group before has brought. */
export const periodicConcurrencyMode: LoadMode<PeriodicConcurrencyLoadPlan> = {
  schema: (v) => {
    const count = concurrencySchema(v);
    return v.object({
      kind: v.literal("periodic-concurrency"),
      start: count,
      end: count,
      step: count,
      periodResponses: v.pipe(v.number(), v.integer("must be a whole number"), v.minValue(1, "must be 1 or more")),
    });
  },
  prepare: ({ start, end, step, periodResponses }) => ({
    search: { unit: "concurrency", levels: { kind: "list", values: [end] }, search: "linear" },
    drive: () => ({ kind: "periodic", start, end, step, periodResponses }),
  }),
  unit: "concurrency",
  describe: ({ start, end, step, periodResponses }) =>
    `${start} requests, then ${step} more after every ${periodResponses} responses, up to ${end}`,
  requestCount: ({ end }) => end,
  hasOwnLanes: true,
  perfAnalyzer: { isExportOnly: true, exported: { mode: "concurrency", value: 1 } },
};
