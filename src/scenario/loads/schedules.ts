import * as v from "valibot";
import type { SchedulePartPlan } from "../../plan/load-options.ts";
import { defined } from "../../plan/objects.ts";
import { ONLY_ONE, type Problem, problem } from "../../plan/problem.ts";
import { type EntriesOf, flagSchema, integerSchema, recordSchema } from "../../plan/schema.ts";
import type { Duration } from "../../plan/units.ts";
import { refuseMore, withFields } from "../arguments.ts";
import { durationSchema, nameSchema, positiveSchema, strictOptions, toMs } from "../fields.ts";
import type { Load } from "./load.ts";
import { loadBuilder } from "./load-builder.ts";

/** Options of `fixedSchedule`. */
export type ScheduleOptions = {
  /** Skips requests that are due after this time of the data. Default: none. */
  readonly to?: Duration;
  /** Speed of the replay: 2 sends everything in half the time. Default: 1. */
  readonly speed?: number;
} & (
  | {
      /** Skips requests that are due before this time of the data, at which the load begins. Default: `"0 s"`. */
      readonly from?: Duration;
      readonly startsAtFirst?: never;
    }
  | {
      readonly from?: never;
      /** Sends the first request at once, whenever it is due. Default: false. */
      readonly startsAtFirst: boolean;
    }
);

/** Options of `trace`. */
export type TraceOptions = ScheduleOptions & {
  /** Seed of the prompts. Default: 0. */
  readonly seed?: number;
  /** Additional keys for every request body: `{ temperature: 0 }`. Default: none. */
  readonly extra?: Readonly<Record<string, unknown>>;
};

function scheduleEntries() {
  return {
    from: v.optional(durationSchema()),
    to: v.optional(durationSchema()),
    startsAtFirst: v.optional(flagSchema()),
    speed: v.optional(positiveSchema()),
  };
}

type Schedule = EntriesOf<typeof scheduleEntries>;

function checkSchedule({ from, to, startsAtFirst }: Schedule): Problem[] {
  const problems: Problem[] = [];
  if (from !== undefined && startsAtFirst !== undefined) {
    const message = "cannot be given together with from";
    problems.push(problem("conflict", "load.startsAtFirst", message, ONLY_ONE));
  }
  if (to !== undefined && toMs(to) < (from === undefined ? 0 : toMs(from))) {
    const message = "the schedule ends before it starts";
    problems.push(problem("invalid-value", "load.to", message, `Give ${from} or more.`, to));
  }
  return problems;
}

/** Converts these options to their form in a plan; empty if the whole schedule is sent unchanged. */
function toPart({ from, to, startsAtFirst, speed }: Schedule): { part?: SchedulePartPlan } {
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

/**
 * Each entry of the inputs once, at the time in its field `timestamp` (milliseconds). They are `input.payloads(…)`, or `input.json(…)` for
 * tensors.
 * @example
 * fixedSchedule({ speed: 2 })
 */
export function fixedSchedule(options: ScheduleOptions = {}): Load<"scheduled", "alone"> {
  refuseMore("fixedSchedule(options)", arguments);
  return { kind: "fixed-schedule", pacing: "scheduled", values: [], options };
}

export const fixedScheduleBuilder = loadBuilder({
  form: { name: "fixedSchedule" },
  options: () => strictOptions(scheduleEntries()),
  check: ({ options }) => checkSchedule(options),
  toPlan: ({ options }) => ({ kind: "fixed-schedule", ...toPart(options) }),
});

/**
 * Replays a recorded trace for a language model, which is both the schedule and the inputs: each request is sent at its time, with its
 * lengths. A JSON Lines file in Mooncake's format (`{"timestamp": 250, "input_length": 512, "output_length": 64, "hash_ids": [0]}`,
 * times in milliseconds; requests with the same id in `hash_ids` begin with the same text), or a CSV file of Azure's LLM traces or of
 * BurstGPT. A relative path starts at the scenario's folder.
 * @example
 * trace("mooncake.jsonl")
 */
export function trace(file: string, options: TraceOptions = {}): Load<"traced", "alone"> {
  refuseMore("trace(file, options)", arguments);
  return { kind: "trace", pacing: "traced", values: [], options: withFields(options, { file }) };
}

export const traceBuilder = loadBuilder({
  form: { name: "trace", alone: "file" },
  options: () =>
    strictOptions({
      ...scheduleEntries(),
      file: nameSchema("a file"),
      seed: v.optional(integerSchema()),
      extra: v.optional(recordSchema(v.string(), v.unknown(), "must be values by their keys")),
    }),
  check: ({ options }) => checkSchedule(options),
  toPlan: ({ options }) => ({ kind: "fixed-schedule", ...toPart(options) }),
  inputs: ({ file, seed, extra }) => ({
    kind: "trace",
    files: [],
    options: { file, ...defined({ seed, extra }) },
  }),
});
