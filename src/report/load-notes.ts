import { explainLittlesLaw } from "../measure/in-flight.ts";
import { STABILITY_WINDOWS } from "../measure/stability.ts";
import type { Plan } from "../plan/plan.ts";
import { formatDurationNs, msToNs } from "../plan/units.ts";
import { inputKindOf } from "../registry/input-kinds.ts";
import { loadModeOf } from "../registry/load-modes.ts";
import type { LevelResult, RunResult } from "../result/run-result.ts";

/** What a reader must know of a load to trust its numbers. Sentences without a full stop. */

/** All that is to be told of the load at a level; empty for most. */
export function describeLoadNotes(plan: Plan, level: LevelResult): string[] {
  const notes = [describeDelayed(plan, level), describeUnfinishedRamp(plan, level), describeImbalance(plan, level)];
  return notes.filter((note) => note !== undefined);
}

/** That Little's law is not kept; undefined when it is, and for loads that change within their level. */
function describeImbalance({ load }: Plan, { window }: LevelResult): string | undefined {
  return loadModeOf(load).ramp?.(load) === undefined ? explainLittlesLaw(window) : undefined;
}

/**
 * That prompts were sent more than once; undefined where each was sent once, and where the data is no prompts of a language model. Warm-up
 * included: what that has sent, a server may have kept.
 */
export function describeRepeats({
  prepared,
  sentCount,
}: Pick<RunResult, "prepared" | "sentCount">): string | undefined {
  const { plan, dataset } = prepared;
  const { makes } = inputKindOf(plan.inputs);
  const isPrompts = makes === "payloads" || (dataset.isFromJson && plan.outputs.style === "genai-perf");
  const promptCount = dataset.streams.reduce((sum, steps) => sum + steps.length, 0);
  if (!isPrompts || promptCount === 0 || sentCount <= promptCount) return undefined;
  const prompts = promptCount === 1 ? "1 prompt" : `${promptCount} prompts`;
  return `${sentCount} requests were made from ${prompts}: a server that keeps what it has computed (a prefix cache) answers repeated prompts sooner`;
}

/** What waited because of a limit of requests outstanding; undefined when nothing did. */
function describeDelayed({ load }: Plan, { delayedByLimit }: LevelResult): string | undefined {
  const maxOutstanding = loadModeOf(load).maxOutstanding?.(load);
  if (maxOutstanding === undefined || delayedByLimit === undefined || delayedByLimit.longestNs <= 0) return undefined;
  const { count, longestNs } = delayedByLimit;
  return `${count} requests were due while ${maxOutstanding} were outstanding, and were delayed by ${formatDurationNs(longestNs)} at most`;
}

/** That the load was never the one that was asked for; undefined when it was. */
function describeUnfinishedRamp({ load, measurement }: Plan, { window, trials }: LevelResult): string | undefined {
  const ramp = loadModeOf(load).ramp?.(load);
  const rampNs = ramp === undefined || ramp.isWhole === true ? 0 : msToNs(ramp.overMs);
  // The load goes on from window to window, and only the recent ones are in the result.
  const isWindowed = measurement.mode.kind === "time-windows" || measurement.mode.kind === "count-windows";
  const elapsedNs = isWindowed ? (window.durationNs * trials) / Math.min(trials, STABILITY_WINDOWS) : window.durationNs;
  if (elapsedNs >= rampNs) return undefined;
  return `the measurement was over after ${formatDurationNs(elapsedNs)}, before the load was reached in the ${formatDurationNs(rampNs)} of its ramp`;
}
