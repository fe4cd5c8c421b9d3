import { type DataStep, type Dataset, moveStep } from "../inputs/dataset.ts";
import type { SchedulePartPlan } from "../plan/load-options.ts";
import { type UserError, userError } from "../plan/problem.ts";
import { countOf, plural } from "../plan/units.ts";

/** Whether an entry at this time is in the part. Both bounds are inclusive. */
export function isInPart({ startMs, endMs }: Pick<SchedulePartPlan, "startMs" | "endMs">, timeMs: number): boolean {
  return timeMs >= (startMs ?? 0) && timeMs <= (endMs ?? Number.POSITIVE_INFINITY);
}

/** Describes the part: `from 2000 ms to 4000 ms`. */
export function describePart({ startMs, endMs }: Pick<SchedulePartPlan, "startMs" | "endMs">): string {
  return endMs === null ? `from ${startMs ?? 0} ms on` : `from ${startMs ?? 0} ms to ${endMs} ms`;
}

/**
 * Returns the steps of a part, with due times relative to the start of the load. Adds a warning about omitted entries.
 * @param data sorted by time
 * @throws UserError when the first stream, the only one that is sent, has no entries in the part
 */
export function takePart(data: Dataset, part: SchedulePartPlan): Dataset {
  const [first = []] = data.streams;
  const streams = data.streams.map((steps) => takeSteps(steps, part));
  const leftCount = streams[0]?.length ?? 0;
  if (leftCount === 0) throw emptyPart(first, part);
  const outCount = first.length - leftCount;
  const are = plural(outCount, "is", "are");
  const warning = `${outCount} of ${countOf(first.length, "entry", "entries")} ${are} not due ${describePart(part)}, and ${are} skipped.`;
  return { ...data, streams, warnings: outCount === 0 ? data.warnings : [...data.warnings, warning] };
}

function takeSteps(steps: readonly DataStep[], part: SchedulePartPlan): DataStep[] {
  const taken = steps.filter(({ timestampMs = 0 }) => isInPart(part, timestampMs));
  const originMs = part.startsAtFirst ? (taken[0]?.timestampMs ?? 0) : (part.startMs ?? 0);
  return taken.map((step) => moveStep(step, ((step.timestampMs ?? 0) - originMs) / part.speedRatio));
}

function emptyPart(steps: readonly DataStep[], part: SchedulePartPlan): UserError {
  const [firstMs, lastMs] = [steps[0]?.timestampMs ?? 0, steps.at(-1)?.timestampMs ?? 0];
  const message = `no entry of the data is due ${describePart(part)}: they are due from ${firstMs} ms to ${lastMs} ms`;
  return userError("mismatch", "load", message, "Give a part of the schedule that has entries.");
}
