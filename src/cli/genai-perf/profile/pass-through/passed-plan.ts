import type { Plan } from "../../../../plan/plan.ts";
import type { Problem } from "../../../../plan/problem.ts";
import { applyPoint, combineSweeps } from "../../analyze/points.ts";
import { isLoadGiven } from "../../lift-load.ts";
import type { GenaiSettings } from "../../options/settings.ts";
import type { GivenSettings } from "../../options/settings-builder.ts";
import { neededEntries } from "../needed-entries.ts";
import { type ProfileFiles, toProfilePlan } from "../to-plan.ts";
import type { Headers } from "../to-target.ts";

/** The plan of a profile with the flags of perf_analyzer that stood after `--`; what reads those is loaded when there are any. */

/** The plan of one profile. @throws UserError for flags after `--` that cannot be obeyed */
export async function toPassedPlan(
  settings: GenaiSettings,
  given: GivenSettings,
  files: ProfileFiles,
  headers: Headers,
): Promise<Plan> {
  const plan = toProfilePlan(settings, given, files, headers);
  const { passThrough: args } = settings;
  if (args.length === 0) return plan;
  const { passThrough } = await import("./pass-through.ts");
  return passThrough(plan, args, isLoadGiven(settings, given)).plan;
}

/**
 * How many requests' data the profile's run needs, beginning with the first; undefined for all there are.
 * @throws UserError for flags after `--` that cannot be obeyed
 */
export async function countNeededEntries(settings: GenaiSettings, given: GivenSettings): Promise<number | undefined> {
  return neededEntries(await toPassedPlan(settings, given, UNWRITTEN, []));
}

/** The files before the requests are made. */
const UNWRITTEN: ProfileFiles = {
  inputsFile: "inputs.json",
  profileExportFile: "",
  entryCount: Number.MAX_SAFE_INTEGER,
};

/** What is wrong with flags after `--` in any profile. */
export async function findPassedProblems(args: readonly string[]): Promise<readonly Problem[]> {
  const { findProblems } = await import("./pass-through.ts");
  return findProblems(args);
}

/**
 * Checks the flags after `--` before anything is made; of a sweep with its first point.
 * @returns what the user should know of them, whole sentences
 * @throws UserError with all that is wrong with them
 */
export async function checkPassed(settings: GenaiSettings, given: GivenSettings): Promise<readonly string[]> {
  const { passThrough: args } = settings;
  if (args.length === 0) return [];
  const { passThrough } = await import("./pass-through.ts");
  const [values] = settings.subcommand === "analyze" ? combineSweeps(settings.analyze.sweeps) : [];
  const point = values === undefined ? settings : applyPoint(settings, values);
  const plan = toProfilePlan(point, given, UNWRITTEN, []);
  return passThrough(plan, args, isLoadGiven(point, given)).warnings;
}
