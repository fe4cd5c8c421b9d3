import * as v from "valibot";
import { type PlanOf, wholeSchema } from "../plan/schema.ts";
import { countOf } from "../plan/units.ts";
import { concurrencySchema } from "./levels.ts";
import type { LoadMode } from "./load-mode.ts";

const schema = () =>
  v.object({
    kind: v.literal("periodic-concurrency"),
    /** Size of the first group. */
    start: concurrencySchema(),
    /** Total number of requests. */
    end: concurrencySchema(),
    /** Size of each later group. */
    step: concurrencySchema(),
    /** Number of responses that each request of a group must receive before the next group starts. */
    periodResponses: wholeSchema(1),
  });

/** Requests sent in groups. Each group waits for responses to the previous one. */
export const periodicConcurrencyMode: LoadMode<PlanOf<typeof schema>> = {
  schema,
  prepare: ({ start, end, step, periodResponses }) => ({
    level: end,
    drive: () => ({ kind: "periodic", start, end, step, periodResponses }),
  }),
  unit: "concurrency",
  describe: ({ start, end, step, periodResponses }) =>
    `${countOf(start, "request")}, then ${step} more after every ${countOf(periodResponses, "response")}, up to ${end}`,
  askedMean: () => undefined,
  requestCount: ({ end }) => end,
  hasOwnLanes: true,
  perfAnalyzer: { isExportOnly: true, exported: { unit: "concurrency", value: 1 } },
};
