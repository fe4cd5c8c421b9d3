import { join } from "node:path";
import { saturationReason } from "../../../measure/metrics.ts";
import { messageOf, RunError, UserError } from "../../../plan/problem.ts";
import type { SweepPoint } from "../../../report/genai-perf/sweep/sweep.ts";
import type { CommandIo } from "../../execute.ts";
import { isWhole, type Keeper } from "../checkpoint/keep.ts";
import type { GenaiSettings } from "../options/settings.ts";
import type { GivenSettings } from "../options/settings-builder.ts";
import { nameFolder } from "../profile/folder-name.ts";
import { isUnstable, type Profile, runProfile } from "../profile/run-profile.ts";
import type { SharedTokenWork } from "../profile/token-work.ts";
import { applyPoint, formatPoint, type PointParameters } from "./points.ts";

/** Measures one point of a sweep: a profile with the point's settings in a folder of its own. */

/** Result of a point. */
export type PointOutcome =
  | {
      readonly kind: "measured";
      readonly point: SweepPoint;
      readonly settings: GenaiSettings;
      /** Why the point does not count as passed: failed requests, or an unstable measurement. Undefined if it passed. */
      readonly complaint: string | undefined;
      /** Whether the client may have been the limit instead of the server. Unknown for results from a checkpoint. */
      readonly isClientLimited: boolean;
    }
  | { readonly kind: "failed"; readonly parameters: PointParameters; readonly reason: string }
  /** Ctrl-C. */
  | { readonly kind: "interrupted" };

/**
 * Measures a point and adds it to the sweep's state and files.
 * @param progress progress of the sweep, in words
 * @param repeat number of earlier measurements of the point; default: 0
 */
export type Measure = (parameters: PointParameters, progress: string, repeat?: number) => Promise<PointOutcome>;

/** Data that all points of a sweep share. */
export interface SweepParts {
  readonly settings: GenaiSettings;
  readonly given: GivenSettings;
  readonly io: CommandIo;
  readonly keeper: Keeper;
  /** Keeps the tokenizer loaded. */
  readonly tokens: SharedTokenWork;
}

/**
 * Measures a point, or finds it in the checkpoint. A repeated measurement is always made, in a folder of its own, and not stored in the
 * checkpoint.
 * @param isFirst throws input errors, which would affect every point
 * @param repeat number of earlier measurements of the point
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
  const folderName = nameFolder(settings, parameters);
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
  // The profile's warnings say which metric was unstable.
  if (isUnstable(run)) return "the measurement is not stable";
  const [first] = run.failures;
  const example = first === undefined ? "" : `, such as ${first.kind}: ${first.example}`;
  return `${run.failedCount} of ${run.sentCount} requests failed${example}`;
}
