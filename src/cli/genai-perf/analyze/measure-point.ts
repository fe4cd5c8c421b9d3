import type { Checkpoint } from "../../../campaign/checkpoint.ts";
import type { PointOutcome } from "../../../campaign/sweep.ts";
import { saturationReason } from "../../../measure/client-limit.ts";
import { messageOf, RunError, UserError, wordError } from "../../../plan/problem.ts";
import type { GenAiPerfResult } from "../../../report/genai-perf/result.ts";
import type { SweepRow } from "../../../report/genai-perf/sweep/sweep.ts";
import { formatPoint, type PointParameters } from "../../../result/sweep.ts";
import type { CommandIo } from "../../execute.ts";
import { isWhole, toKeepable } from "../checkpoint/open-checkpoint.ts";
import type { SweepPlan } from "../plan/plan-sweep.ts";
import type { ProfilePlan } from "../plan/to-plan.ts";
import { isUnstable, type Profile, runProfile } from "../profile/run-profile.ts";
import type { SharedTokenWork } from "../profile/token-work.ts";

/** Measures one point of a sweep: a profile with the point's plan in a separate folder. */

/** Data that all points of a sweep share. */
export interface SweepParts {
  readonly plan: SweepPlan;
  readonly io: CommandIo;
  readonly checkpoint: Checkpoint<GenAiPerfResult>;
  /** Keeps the tokenizer loaded. */
  readonly tokens: SharedTokenWork;
}

/**
 * Measures a point, or finds it in the checkpoint. A repeated measurement is always made, in a separate folder, and not stored in the
 * checkpoint.
 * @param isFirst throws input errors, which would affect every point
 * @param repeat number of earlier measurements of the point
 */
export async function measurePoint(
  parts: SweepParts,
  parameters: PointParameters,
  isFirst: boolean,
  repeat: number,
): Promise<PointOutcome<SweepRow>> {
  const { io, checkpoint, tokens } = parts;
  const fail = (error: unknown): PointOutcome<SweepRow> => {
    if (error instanceof RunError && error.code === "interrupted") return { kind: "interrupted" };
    if (!(error instanceof RunError) && (isFirst || !(error instanceof UserError))) throw error;
    return { kind: "failed", parameters, reason: messageOf(wordError(error, io.nameOf)) };
  };
  let plan: ProfilePlan;
  try {
    plan = parts.plan.planRun(parameters, repeat);
  } catch (error) {
    return fail(error);
  }
  const { load, folder } = plan.outputs.genaiPerf;
  const keepable = toKeepable(plan);
  const toPoint = ({ name, folder, result }: Pick<SweepRow, "name" | "folder" | "result">): SweepRow => ({
    name,
    parameters,
    result,
    folder,
    ...(repeat === 0 ? {} : { repeat }),
    // Like in GenAI-Perf, a load without a number counts as 1.
    load: load.value ?? 1,
    datasetEntries: plan.requests.prompts.entryCount,
  });
  const kept = repeat === 0 ? checkpoint.find(keepable, formatPoint(parameters)) : undefined;
  if (kept !== undefined)
    return { kind: "measured", point: toPoint(kept), failureReason: undefined, isClientLimited: false };
  let profile: Profile;
  try {
    profile = await runProfile(plan, io, { tokens, isLater: !isFirst });
  } catch (error) {
    return fail(error);
  }
  const { run, measured, outputError } = profile;
  if (run.isInterrupted) return { kind: "interrupted" };
  const failureReason = failureReasonOf(profile);
  if (measured === undefined || outputError !== undefined)
    return { kind: "failed", parameters, reason: failureReason ?? "nothing was measured" };
  const { result } = measured;
  const named = { name: checkpoint.nameResult(), folder, result };
  if (repeat === 0 && isWhole(profile)) await checkpoint.add(keepable, parameters, named);
  const isClientLimited = run.levels.some(({ window }) => saturationReason(window) !== undefined);
  return { kind: "measured", point: toPoint(named), failureReason, isClientLimited };
}

function failureReasonOf({ run, measured, isPassed, outputError }: Profile): string | undefined {
  if (isPassed) return undefined;
  if (outputError !== undefined) return outputError.message;
  if (run.error !== undefined) return run.error.message;
  // The profile's warnings name the unstable metric.
  if (isUnstable(run)) return "the measurement is not stable";
  const { counts } = measured?.summary ?? {};
  if (counts?.failed === 0) return "no response has content";
  const first = run.failures.find(({ isWarmup }) => isWarmup !== true);
  const example = first === undefined ? measured?.columns.failureExample : `${first.kind}: ${first.example}`;
  const { failed, sent } = counts ?? { failed: run.failedCount, sent: run.sentCount };
  return `${failed} of ${sent} requests failed${example === undefined ? "" : `, such as ${example}`}`;
}
