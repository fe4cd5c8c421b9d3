import { explainLittlesLaw } from "../measure/in-flight.ts";
import { STABILITY_WINDOWS } from "../measure/stability.ts";
import type { LoadPlan } from "../plan/load-plan.ts";
import type { Plan } from "../plan/plan.ts";
import { formatDurationNs } from "../plan/units.ts";
import type { LevelResult, RunResult } from "../result/run-result.ts";

/** Notes on the load that a reader needs to trust the numbers. Sentences without a full stop. */

/** Returns all notes on the load of a level; mostly empty. */
export function describeLoadNotes(plan: Plan, level: LevelResult): string[] {
  const notes = [describeDelayed(plan, level), describeUnfinishedRamp(plan, level), describeImbalance(plan, level)];
  return notes.filter((note) => note !== undefined);
}

/** Reports a violation of Little's law; undefined when it holds, and for loads that change within a level. */
function describeImbalance({ load }: Plan, { window }: LevelResult): string | undefined {
  const isSteady = load.kind !== "concurrency-ramp" && rampMsOf(load) === undefined;
  return isSteady ? explainLittlesLaw(window) : undefined;
}

/**
 * Reports prompts that were sent more than once; undefined if each was sent once, and if the data is not prompts. Includes the warm-up,
 * because a server may have cached its prompts.
 */
export function describeRepeats({
  prepared,
  sentCount,
}: Pick<RunResult, "prepared" | "sentCount">): string | undefined {
  const { plan, dataset } = prepared;
  const { kind } = plan.inputs;
  const isPrompts =
    kind === "prompts" || kind === "payloads" || (kind === "json" && plan.outputs.style === "genai-perf");
  const promptCount = dataset.streams.reduce((sum, steps) => sum + steps.length, 0);
  if (!isPrompts || promptCount === 0 || sentCount <= promptCount) return undefined;
  const prompts = promptCount === 1 ? "1 prompt" : `${promptCount} prompts`;
  return `${sentCount} requests were made from ${prompts}: a server that keeps what it has computed (a prefix cache) answers repeated prompts sooner`;
}

/** Reports requests delayed by a limit on outstanding requests; undefined without any. */
function describeDelayed({ load }: Plan, { delayedByLimit }: LevelResult): string | undefined {
  if (load.kind !== "request-rate" || delayedByLimit === undefined || delayedByLimit.longestNs <= 0) return undefined;
  const { count, longestNs } = delayedByLimit;
  return `${count} requests were due while ${load.maxOutstanding} were outstanding, and were delayed by ${formatDurationNs(longestNs)} at most`;
}

/** Reports that the load never reached the requested one; undefined when it did. */
function describeUnfinishedRamp({ load, measurement }: Plan, { window, trials }: LevelResult): string | undefined {
  const rampNs = (rampMsOf(load) ?? 0) * 1e6;
  // The load continues from window to window, and the result has only the most recent windows.
  const isWindowed = measurement.mode.kind === "time-windows" || measurement.mode.kind === "count-windows";
  const elapsedNs = isWindowed ? (window.durationNs * trials) / Math.min(trials, STABILITY_WINDOWS) : window.durationNs;
  if (elapsedNs >= rampNs) return undefined;
  return `the measurement was over after ${formatDurationNs(elapsedNs)}, before the load was reached in the ${formatDurationNs(rampNs)} of its ramp`;
}

function rampMsOf(load: LoadPlan): number | undefined {
  if (load.kind === "concurrency") return load.rampMs;
  return load.kind === "request-rate" ? load.ramp?.overMs : undefined;
}
