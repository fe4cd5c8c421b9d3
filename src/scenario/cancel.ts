import * as v from "valibot";
import type { CancellationPlan } from "../plan/cancellation.ts";
import type { Schema } from "../plan/schema.ts";
import type { Duration } from "../plan/units.ts";
import { durationSchema, positiveSchema, strictOptions, toMs } from "./fields.ts";

/** Requests that a scenario gives up on purpose, as users do who do not wait. */
export interface CancelOptions {
  /** Share of the requests, above 0 to 100. */
  readonly percent: number;
  /** From when a request was sent as a whole; one that is over by then is not given up. Default: `"0 ms"`, at once. */
  readonly after?: Duration;
  /** Which requests they are. Default: 0. */
  readonly seed?: number;
}

/** The schema of these options. */
export function cancelSchema(): Schema<CancelOptions> {
  return strictOptions({
    percent: v.pipe(positiveSchema(), v.maxValue(100, "must be 100 or less")),
    after: v.optional(durationSchema()),
    seed: v.optional(v.pipe(v.number("must be a number"), v.integer("must be a whole number"))),
  }) as unknown as Schema<CancelOptions>;
}

/** The part of a plan. */
export function toCancellationPlan({ percent, after, seed = 0 }: CancelOptions): CancellationPlan {
  return { sharePct: percent, delayMs: after === undefined ? 0 : toMs(after), seed };
}
