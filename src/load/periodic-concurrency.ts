import type { PeriodicConcurrencyLoadPlan } from "../plan/load-plan.ts";
import { concurrencySchema } from "./levels.ts";
import type { LoadMode } from "./load-mode.ts";

/** Requests sent in groups. Each group waits for responses to the previous one. */
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
};
