import * as v from "valibot";
import { defined } from "../../plan/objects.ts";
import { aboveZeroSchema, type PlanOf } from "../../plan/schema.ts";
import { formatCount } from "../../plan/units.ts";
import { drawLoad } from "../draw-load.ts";
import type { LoadMode } from "../load-mode.ts";
import { arrivalsEntries, describeArrivals, steadyArrivals } from "../request-rate.ts";
import { repeatingEntries, sessionConcurrencyMode } from "./session-concurrency.ts";

const schema = () =>
  v.object({
    kind: v.literal("session-rate"),
    /** Sessions that begin per second. */
    perSec: aboveZeroSchema(),
    ...arrivalsEntries(),
    ...repeatingEntries(),
  });

/** Conversations that begin at a rate, with their turns in order: each one in the data once, or for the length of the load. */
export const sessionRateMode: LoadMode<PlanOf<typeof schema>> = {
  schema,
  prepare: (plan) => ({
    level: plan.perSec,
    drive: (level, _, draw = 0) => ({
      kind: "session-arrivals",
      arrivals: steadyArrivals(drawLoad(plan, draw), level),
      ...defined({ repeats: plan.repeats }),
    }),
  }),
  unit: "session-rate",
  describe: ({ distribution, perSec }) => `${distribution} rate of ${formatCount(perSec)} sessions/s`,
  // The number of requests depends on the turns of the conversations.
  askedMean: () => undefined,
  arrivals: describeArrivals,
  requestCount: ({ repeats }) => (repeats === true ? undefined : null),
  dataOrder: "in-sessions",
  ...defined({ lacksOrder: sessionConcurrencyMode.lacksOrder }),
};
