import * as v from "valibot";
import type { SchedulePartPlan } from "../plan/load-options.ts";
import { type Problem, problem } from "../plan/problem.ts";
import type { Duration } from "../plan/units.ts";
import { durationSchema, nameSchema, positiveSchema, toMs } from "./fields.ts";

/** Options of `fixedSchedule`. */
export type ScheduleOptions = {
  /** Leave out what is due after this time of the data. Default: none. */
  readonly to?: Duration;
  /** Speed of the replay: 2 sends in half the time. Default: 1. */
  readonly speed?: number;
} & (
  | {
      /** Leave out what is due before this time of the data; the load begins at it. Default: `"0 s"`. */
      readonly from?: Duration;
      readonly startsAtFirst?: never;
    }
  | {
      readonly from?: never;
      /** Send the first request at once, whenever it is due. Default: false. */
      readonly startsAtFirst: boolean;
    }
);

/** Options of `trace`. */
export type TraceOptions = ScheduleOptions & {
  /** Seed of the prompts. Default: 0. */
  readonly seed?: number;
  /** More keys for every request body: `{ temperature: 0 }`. Default: none. */
  readonly extra?: Readonly<Record<string, unknown>>;
};

/** Returns the schemas of the options of `trace` besides those of a schedule and its file. */
export function traceEntries(): v.ObjectEntries {
  return {
    file: nameSchema("a file"),
    seed: v.optional(v.pipe(v.number("must be a number"), v.integer("must be a whole number"))),
    extra: v.optional(v.record(v.string(), v.unknown(), "must be values by their keys")),
  };
}

/** Validated options. */
export interface CheckedSchedule {
  readonly from?: Duration;
  readonly to?: Duration;
  readonly startsAtFirst?: boolean;
  readonly speed?: number;
}

/** Returns the schemas of these options. */
export function scheduleEntries(): v.ObjectEntries {
  return {
    from: v.optional(durationSchema()),
    to: v.optional(durationSchema()),
    startsAtFirst: v.optional(v.boolean("must be true or false")),
    speed: v.optional(positiveSchema()),
  };
}

/** Returns conflicts between these options. */
export function checkSchedule({ from, to, startsAtFirst }: CheckedSchedule): Problem[] {
  const problems: Problem[] = [];
  if (from !== undefined && startsAtFirst !== undefined) {
    const message = "cannot be given together with from";
    problems.push(problem("conflict", "load.startsAtFirst", message, "Give one of them."));
  }
  if (to !== undefined && toMs(to) < (from === undefined ? 0 : toMs(from))) {
    const message = "the schedule ends before it starts";
    problems.push(problem("invalid-value", "load.to", message, `Give ${from} or more.`, to));
  }
  return problems;
}

/** Converts these options to those of a plan; empty when the whole schedule is sent unchanged. */
export function toPart({ from, to, startsAtFirst, speed }: CheckedSchedule): { part?: SchedulePartPlan } {
  if ([from, to, startsAtFirst, speed].every((option) => option === undefined)) return {};
  return {
    part: {
      startMs: from === undefined ? null : toMs(from),
      endMs: to === undefined ? null : toMs(to),
      startsAtFirst: startsAtFirst ?? false,
      speedRatio: speed ?? 1,
    },
  };
}
