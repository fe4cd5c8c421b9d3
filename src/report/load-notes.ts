import { explainLittlesLaw } from "../measure/in-flight.ts";
import { MISSED_RATIO } from "../measure/rate-shortfall.ts";
import { STABILITY_WINDOWS } from "../measure/stability.ts";
import type { Plan } from "../plan/plan.ts";
import { formatCount, formatDurationNs, msToNs } from "../plan/units.ts";
import { inputKindOf } from "../registry/input-kinds.ts";
import { loadModeOf, planOfPhase } from "../registry/load-modes.ts";
import { targetKindOf } from "../registry/service-kinds.ts";
import { dueCount } from "../result/judged-levels.ts";
import type { LevelResult, RunResult } from "../result/run-result.ts";

/** This many may be due at the very end of a level. */
const FEW_UNSENT = 2;

/** Notes on the load that a reader needs to trust the numbers. Sentences without a full stop. */

/** Returns all notes on the load of a level; mostly empty. @param whole the plan of the run, or of the level's phase */
export function describeLoadNotes(whole: Plan, level: LevelResult): string[] {
  const plan = planOfPhase(whole, level.phase?.index);
  const notes = [
    describeUnsent(level),
    describeDelayed(plan, level),
    describeUnfinishedRamp(plan, level),
    describeImbalance(plan, level),
  ];
  return notes.filter((note) => note !== undefined);
}

/** Reports a violation of Little's law; undefined when it holds, and for loads that change within a level. */
function describeImbalance({ load }: Plan, { window }: LevelResult): string | undefined {
  return loadModeOf(load).ramp?.(load) === undefined ? explainLittlesLaw(window) : undefined;
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
  const { makes, hasNoPrompts = false } = inputKindOf(plan.inputs);
  if (targetKindOf(plan.target).hasShortRequests === true) return undefined;
  const isPrompts =
    !hasNoPrompts && (makes === "payloads" || (dataset.isFromJson && plan.outputs.style === "genai-perf"));
  const promptCount = dataset.streams.reduce((sum, steps) => sum + steps.length, 0);
  if (!isPrompts || promptCount === 0 || sentCount <= promptCount) return undefined;
  const prompts = promptCount === 1 ? "1 prompt" : `${promptCount} prompts`;
  return `${sentCount} requests were made from ${prompts}: a server with a prefix cache answers repeated prompts sooner`;
}

/** Reports requests that were due and not sent within the level; undefined when they are few. */
function describeUnsent(level: LevelResult): string | undefined {
  const { unsentCount = 0 } = level;
  if (unsentCount <= FEW_UNSENT || unsentCount <= dueCount(level) * MISSED_RATIO) return undefined;
  return `${formatCount(unsentCount)} requests were due and not sent when the level ended, because their schedule was behind`;
}

/** Reports requests delayed by a limit on outstanding requests; undefined without any. */
function describeDelayed({ load }: Plan, { delayedByLimit }: LevelResult): string | undefined {
  const maxOutstanding = loadModeOf(load).maxOutstanding?.(load);
  if (maxOutstanding === undefined || delayedByLimit === undefined || delayedByLimit.longestNs <= 0) return undefined;
  const { count, longestNs } = delayedByLimit;
  return `${count} requests were due while ${maxOutstanding} were outstanding, and were delayed by ${formatDurationNs(longestNs)} at most`;
}

/** Reports that the load never reached the requested one; undefined when it did. */
function describeUnfinishedRamp({ load, measurement }: Plan, { window, trials }: LevelResult): string | undefined {
  const ramp = loadModeOf(load).ramp?.(load);
  const rampNs = ramp === undefined || ramp.isWhole === true ? 0 : msToNs(ramp.overMs);
  // The load continues from window to window, and the result has only the most recent windows.
  const isWindowed = measurement.mode.kind === "time-windows" || measurement.mode.kind === "count-windows";
  const elapsedNs = isWindowed ? (window.durationNs * trials) / Math.min(trials, STABILITY_WINDOWS) : window.durationNs;
  if (elapsedNs >= rampNs) return undefined;
  return `the measurement ended after ${formatDurationNs(elapsedNs)}, before the ramp of ${formatDurationNs(rampNs)} reached the load`;
}

/** Reports sessions that ended before their last turn; undefined without any. */
export function describeCutSessions(sessions: RunResult["sessions"]): string | undefined {
  if (sessions === undefined || sessions.cutCount === 0) return undefined;
  const { cutCount, sessionCount, unsentCount, unreadReason } = sessions;
  const first = unreadReason === undefined ? "" : ` (the first answer that could not be continued: ${unreadReason})`;
  return `${cutCount} of ${sessionCount} sessions ended early, because a turn failed or its answer could not be read${first}; ${unsentCount} turns were not sent`;
}
