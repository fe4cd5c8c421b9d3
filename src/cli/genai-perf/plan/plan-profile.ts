import { join } from "node:path";
import type { SettingPath } from "../../../plan/messages.ts";
import { fieldOf } from "../../../plan/objects.ts";
import { UserError } from "../../../plan/problem.ts";
import { textsIn } from "../../../registry/input-files.ts";
import type { PointParameters } from "../../../result/sweep.ts";
import { findDuplicatePaths, findReadOutputs } from "../../output-files.ts";
import type { Asked } from "../options/asked.ts";
import { inGenaiPerf } from "../setting-names.ts";
import { toPassedPlan } from "./passed-plan.ts";
import { nameFolder } from "./to-outputs.ts";
import { inputFilesOf, type ProfilePlan } from "./to-plan.ts";
import { headersOf } from "./to-target.ts";

/** Plans a profile, or a point of a sweep, in a separate folder. */

/** Identity of a profile. */
export interface ProfileOf {
  /** Default: none; the profile is not a point of a sweep. */
  readonly point?: PointParameters;
  /** Suffix of the folder's name. Default: empty. */
  readonly suffix?: string;
}

/** Returns the plan. @throws UserError for invalid headers, and for flags after `--` that cannot be applied */
export function planProfile(asked: Asked, { point, suffix = "" }: ProfileOf = {}): ProfilePlan {
  const folder = join(asked.get("output.artifact_directory"), `${nameFolder(asked, point)}${suffix}`);
  return toPassedPlan(asked, folder, headersOf(asked, process.env));
}

/** Returns the plan of a profile that will run. @throws UserError also for output files that would replace its input files or each other */
export function planRun(asked: Asked, of: ProfileOf = {}): ProfilePlan {
  const plan = planProfile(asked, of);
  checkOutputs(plan, asked);
  return plan;
}

const FOLDER = "--artifact-dir";

/** Checks that no output replaces a file that the profile reads, or another output. @throws UserError */
function checkOutputs(plan: ProfilePlan, { given }: Asked): void {
  const { plots: _folder, ...files } = plan.outputs.files;
  const named = Object.entries(files).map(
    ([key, path]) => [inGenaiPerf(`outputs.files.${key}` as SettingPath) ?? FOLDER, path] as const,
  );
  const outputs = [[FOLDER, plan.requests.file] as const, ...named];
  // Of two outputs with the same file, only the one whose name the user chose is reported.
  const twins = findDuplicatePaths(outputs).filter(({ path }) => path !== FOLDER);
  const problems = [...findReadOutputs(outputs, readPaths(plan, given)), ...twins];
  if (problems.length > 0) throw new UserError(problems);
}

/** Returns the paths of all files that a profile reads, and of its configuration files. */
function readPaths(plan: ProfilePlan, given: Asked["given"]): string[] {
  const { tokenizer = "" } = plan.measurement.tokens ?? {};
  const configs = [...given.values()].flatMap(({ source, place }) =>
    source === "file" ? [place.replace(/:\d+:\d+$/, "")] : [],
  );
  return [
    ...inputFilesOf(plan),
    ...textsIn(fieldOf(plan.target, "tls")),
    ...["", "tokenizer.json", "tokenizer_config.json"].map((name) => join(tokenizer, name)),
    ...new Set(configs),
  ];
}
