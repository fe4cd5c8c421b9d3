import { join } from "node:path";
import { saturationReason } from "../../../measure/metrics.ts";
import { messageOf, RunError, UserError } from "../../../plan/problem.ts";
import type { SweepPoint } from "../../../report/genai-perf/sweep/sweep.ts";
import type { CommandIo } from "../../execute.ts";
import { isWhole, type Keeper } from "../checkpoint/keep.ts";
import type { GenaiSettings } from "../options/settings.ts";
import type { GivenSettings } from "../options/settings-builder.ts";
import { nameFolder } from "../profile/folder-name.ts";
import { isUnstable } from "../profile/instability.ts";
import { type Profile, runProfile } from "../profile/run-profile.ts";
import type { SharedTokenWork } from "../profile/token-work.ts";
import { applyPoint, formatPoint, type PointParameters } from "./points.ts";

/** One point of a sweep: a profile with the point's settings in a folder of its own. */

/** What came of a point. */
export type PointOutcome =
  | {
      readonly kind: "measured";
      readonly point: SweepPoint;
      readonly settings: GenaiSettings;
      /** Why it does not count as passed: requests that failed, or a measurement that is not stable. Undefined when it does. */
      readonly complaint: string | undefined;
      /** The client may have been the limit, not the server. Not known of results from a checkpoint. */
      readonly isClientLimited: boolean;
    }
  | { readonly kind: "failed"; readonly parameters: PointParameters; readonly reason: string }
  /** Ctrl-C. */
  | { readonly kind: "interrupted" };

/**
 * Measures a point and puts it into the sweep's state and files.
 * @param progress how far the sweep is, in words
 * @param repeat how often the point was measured before; default 0
 */
export type Measure = (parameters: PointParameters, progress: string, repeat?: number) => Promise<PointOutcome>;

/** What all points of a sweep have in common. */
export interface SweepParts {
  readonly settings: GenaiSettings;
  readonly given: GivenSettings;
  readonly io: CommandIo;
  readonly keeper: Keeper;
  /** The tokenizer is read once. */
  readonly tokens: SharedTokenWork;
}

/**
 * Measures a point, or finds it in the checkpoint. What confirms an earlier measurement is always measured, in a folder of its own, and not
 * kept.
 * @param isFirst throws what is wrong with the input then: it would be wrong with each point
 * @param repeat how often the point was measured before
 */
export async function measurePoint(
  parts: SweepParts,
  parameters: PointParameters,
  isFirst: boolean,
  repeat: number,
): Promise<PointOutcome> {
  const { given, io, keeper, tokens } = parts;
  const settings = applyPoint(parts.settings, parameters);
  const kept = repeat === 0 ? keeper.find(settings, formatPoint(parameters)) : undefined;
  if (kept !== undefined) {
    const { name, folder, result } = kept;
    const point = { name, parameters, result, folder };
    return { kind: "measured", point, settings, complaint: undefined, isClientLimited: false };
  }
  const folderName = nameFolder(settings, { kind: "sweep", values: parameters });
  const folder = join(settings.output.artifactDir, repeat === 0 ? folderName : `${folderName}-repeat${repeat}`);
  let profile: Profile;
  try {
    profile = await runProfile(settings, given, io, folder, tokens);
  } catch (error) {
    if (error instanceof RunError && error.kind === "interrupted") return { kind: "interrupted" };
    if (!(error instanceof RunError) && (isFirst || !(error instanceof UserError))) throw error;
    return { kind: "failed", parameters, reason: messageOf(error) };
  }
  const { run, measured } = profile;
  if (run.isInterrupted) return { kind: "interrupted" };
  const complaint = complaintOf(profile);
  if (measured === undefined) return { kind: "failed", parameters, reason: complaint ?? "nothing was measured" };
  const { result } = measured;
  const isKept = repeat === 0 && isWhole(profile);
  const name = await keeper.keep(settings, parameters, { folder, result, isPassed: isKept });
  const isClientLimited = run.levels.some(({ window }) => saturationReason(window) !== undefined);
  const point = { name, parameters, result, folder, ...(repeat === 0 ? {} : { repeat }) };
  return { kind: "measured", point, settings, complaint, isClientLimited };
}

function complaintOf({ run, isPassed, outputError }: Profile): string | undefined {
  if (isPassed) return undefined;
  if (outputError !== undefined) return outputError.message;
  if (run.error !== undefined) return run.error.message;
  // What moved stands among the warnings of the profile.
  if (isUnstable(run)) return "the measurement is not stable";
  const [first] = run.failures;
  const example = first === undefined ? "" : `, such as ${first.kind}: ${first.example}`;
  return `${run.failedCount} of ${run.sentCount} requests failed${example}`;
}
