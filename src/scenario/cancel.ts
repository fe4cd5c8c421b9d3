import * as v from "valibot";
import type { CancellationPlan } from "../plan/cancellation.ts";
import { hinted, integerSchema, type OutputOf } from "../plan/schema.ts";
import type { Duration, Percent } from "../plan/units.ts";
import { durationSchema, percentSchema, strictOptions, toMs, toPct, toRatio } from "./fields.ts";

/** Requests that are cancelled on purpose, as by users who do not wait. */
export interface CancelOptions {
  /** Share of the requests to cancel, above 0: `"5 %"`. */
  readonly share: Percent;
  /** Time from the end of the send to the cancellation. A request that ends earlier is not cancelled. Default: `"0 ms"`. */
  readonly after?: Duration;
  /** Seed that selects the requests. Default: 0. */
  readonly seed?: number;
}

/** Returns the schema of these options. */
export function cancelSchema() {
  return strictOptions({
    share: v.pipe(
      percentSchema(),
      v.check(
        hinted((share) => toRatio(share) <= 1, 'Write "100 %" or less.'),
        "must be 100 % or less",
      ),
    ),
    after: v.optional(durationSchema()),
    seed: v.optional(integerSchema()),
  });
}

/** Converts these options to their form in a plan. */
export function toCancellationPlan({ share, after, seed = 0 }: OutputOf<typeof cancelSchema>): CancellationPlan {
  return { sharePct: toPct(share), delayMs: after === undefined ? 0 : toMs(after), seed };
}
