import * as v from "valibot";
import type { Count, Duration } from "../../plan/units.ts";
import { refuseMore } from "../arguments.ts";
import { positiveSchema, spanSchema, strictOptions } from "../fields.ts";
import { inFlightSchema } from "./extent.ts";
import type { Load } from "./load.ts";
import { loadBuilder } from "./load-builder.ts";
import { type ArrivalOptions, arrivalEntries, checkArrivals, toArrivalsPlan } from "./rates.ts";

/** Loads that run conversations. */

/** Options of {@link sessions}. */
export type SessionOptions = {
  /**
   * Time to measure. The conversations of the inputs then start over when all have begun, and a warm-up is possible. Default: until each
   * conversation has run once.
   */
  readonly for?: Duration;
};

function sessionEntries() {
  return { for: v.optional(spanSchema()) };
}

/** Conversations that are measured for a time start over. */
function repeatsOf({ for: duration }: { readonly for?: Duration | undefined }): { repeats?: true } {
  return duration === undefined ? {} : { repeats: true };
}

/**
 * Conversations of the inputs, `concurrency` of them at a time: each one once, or repeatedly for a time. A turn is sent with the earlier
 * turns and their responses, after the last response and the pause in the data. A turn that fails ends its conversation.
 * @example
 * sessions(8, { for: "1 min" })
 */
export function sessions<const N extends number>(
  concurrency: N & Count<N>,
  options: SessionOptions = {},
): Load<"closed", "alone"> {
  refuseMore("sessions(concurrency, options)", arguments);
  return { kind: "sessions", pacing: "closed", values: [concurrency], options };
}

export const sessionsBuilder = loadBuilder({
  form: { name: "sessions", args: ["concurrency"] },
  example: "sessions(8)",
  values: () => v.array(inFlightSchema("must be one number")),
  options: () => strictOptions(sessionEntries()),
  toPlan: ({ values: [concurrency = 1], options }) => ({
    kind: "session-concurrency",
    concurrency,
    ...repeatsOf(options),
  }),
  holdsSessions: true,
});

/** Options of {@link sessionRate}. */
export type SessionRateOptions = SessionOptions & Omit<ArrivalOptions, "concurrencyLimit">;

/**
 * Conversations of the inputs that begin at a rate per second, independently of each other: each one once, or repeatedly for a time. The
 * turns of a conversation follow as with `sessions`.
 * @example
 * sessionRate(2, { distribution: "poisson", for: "1 min" })
 */
export function sessionRate(perSec: number, options: SessionRateOptions = {}): Load<"scheduled", "alone"> {
  refuseMore("sessionRate(perSec, options)", arguments);
  return { kind: "session-rate", pacing: "scheduled", values: [perSec], options };
}

export const sessionRateBuilder = loadBuilder({
  form: { name: "sessionRate", args: ["perSec"] },
  example: 'sessionRate(5, { for: "30 s" })',
  values: () => v.array(positiveSchema("must be one rate")),
  options: () => {
    const { concurrencyLimit: _, ...entries } = arrivalEntries();
    return strictOptions({ ...sessionEntries(), ...entries });
  },
  check: ({ options }) => checkArrivals(options),
  toPlan: ({ values: [perSec = 1], options }) => ({
    kind: "session-rate",
    perSec,
    ...toArrivalsPlan(options),
    ...repeatsOf(options),
  }),
  holdsSessions: true,
});
