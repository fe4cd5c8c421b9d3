import { combineAxes } from "../../../../campaign/sweep.ts";
import type { Plan } from "../../../../plan/plan.ts";
import type { Problem } from "../../../../plan/problem.ts";
import { isLoadGiven } from "../../lift-load.ts";
import type { GenaiSettings } from "../../options/settings.ts";
import type { GivenSettings } from "../../options/settings-builder.ts";
import { applyPoint, axesOf } from "../../points.ts";
import { neededEntries } from "../needed-entries.ts";
import { type ProfileFiles, toProfilePlan } from "../to-plan.ts";
import type { Headers } from "../to-target.ts";
import { type Chosen, findProblems, passThrough } from "./pass-through.ts";

/** Plans of profiles with flags of perf_analyzer after `--`. */

function chosenIn(settings: GenaiSettings, given: GivenSettings): Chosen {
  return { load: isLoadGiven(settings, given), requestCount: given.has("perfAnalyzer.measurement.num") };
}

/** Returns the plan of one profile. @throws UserError for flags after `--` that cannot be applied */
export async function toPassedPlan(
  settings: GenaiSettings,
  given: GivenSettings,
  files: ProfileFiles,
  headers: Headers,
): Promise<Plan> {
  const plan = toProfilePlan(settings, given, files, headers);
  const { passThrough: args } = settings;
  if (args.length === 0) return plan;
  return passThrough(plan, args, chosenIn(settings, given)).plan;
}

/**
 * Returns how many entries the profile's run needs, starting with the first; undefined for all.
 * @throws UserError for flags after `--` that cannot be applied
 */
export async function countNeededEntries(settings: GenaiSettings, given: GivenSettings): Promise<number | undefined> {
  return neededEntries(await toPassedPlan(settings, given, UNWRITTEN, []));
}

/** Values for the files before the requests are created. */
const UNWRITTEN: ProfileFiles = {
  inputsFile: "inputs.json",
  folder: "",
  entryCount: Number.MAX_SAFE_INTEGER,
};

/** Finds problems with flags after `--` that do not depend on the profile. */
export async function findPassedProblems(args: readonly string[]): Promise<readonly Problem[]> {
  return findProblems(args);
}

/**
 * Checks the flags after `--` before anything is created; for a sweep, with its first point.
 * @returns warnings, whole sentences
 * @throws UserError with all problems
 */
export async function checkPassed(settings: GenaiSettings, given: GivenSettings): Promise<readonly string[]> {
  const { passThrough: args } = settings;
  if (args.length === 0) return [];
  const [values] = settings.subcommand === "analyze" ? combineAxes(axesOf(settings.analyze.sweeps)) : [];
  const point = values === undefined ? settings : applyPoint(settings, values);
  const plan = toProfilePlan(point, given, UNWRITTEN, []);
  return passThrough(plan, args, chosenIn(point, given)).warnings;
}
