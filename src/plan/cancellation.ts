import * as v from "valibot";
import { aboveZero, atLeast, integerSchema, type PlanOf } from "./schema.ts";

/** Requests that the client cancels on purpose, like users who close a page. */
export type CancellationPlan = PlanOf<typeof cancellationSchema>;

/** Returns the schema of a cancellation: the selected requests, and the delay. */
export function cancellationSchema() {
  return v.object({
    /** Percentage of the requests, above 0 to 100. */
    sharePct: v.pipe(v.number(), aboveZero(), v.maxValue(100, "must be 100 or less")),
    /** Delay after the complete request was handed to the socket, in milliseconds; 0: at once. */
    delayMs: v.pipe(v.number(), atLeast(0)),
    /** Selects the requests, by the order of sending. The same seed selects the same ones. */
    seed: integerSchema(),
  });
}
