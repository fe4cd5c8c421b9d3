import { join } from "node:path";
import { UserError } from "../../../plan/problem.ts";
import { artifactFiles } from "../../../report/genai-perf/outputs.ts";
import type { PointParameters } from "../../../result/sweep.ts";
import { findDuplicatePaths, findReadOutputs, textsIn } from "../../output-files.ts";
import type { GenaiSettings } from "../options/settings.ts";
import type { GivenSettings } from "../options/settings-builder.ts";
import { rampartFilesOf } from "../options/shared-settings.ts";
import { nameOf } from "../options/subcommands.ts";
import { toPassedPlan } from "./passed-plan.ts";
import { nameFolder } from "./to-outputs.ts";
import { INPUTS_FILE, type ProfilePlan } from "./to-plan.ts";
import { headersOf } from "./to-target.ts";

/** Plans a profile, or a point of a sweep, in a separate folder. */

/** Which profile it is. */
export interface ProfileOf {
  /** Default: none, a profile. */
  readonly point?: PointParameters;
  /** End of the folder's name. Default: empty. */
  readonly suffix?: string;
}

/** Returns the plan. @throws UserError for invalid headers, and for flags after `--` that cannot be applied */
export function planProfile(settings: GenaiSettings, given: GivenSettings, of: ProfileOf = {}): ProfilePlan {
  return toPassedPlan(settings, given, folderOf(settings, of), headersOf(settings, process.env));
}

/** Returns the plan of a profile that is run. @throws UserError also for output files that would replace its input files or each other */
export function planRun(settings: GenaiSettings, given: GivenSettings, of: ProfileOf = {}): ProfilePlan {
  const plan = planProfile(settings, given, of);
  checkOutputs(settings, given, folderOf(settings, of));
  return plan;
}

/** Returns GenAI-Perf's folder; with an end to its name, another one. */
function folderOf(settings: GenaiSettings, { point, suffix = "" }: ProfileOf): string {
  return join(settings.output.artifactDir, `${nameFolder(settings, point)}${suffix}`);
}

const FOLDER = "--artifact-dir";

function checkOutputs(settings: GenaiSettings, given: GivenSettings, folder: string): void {
  const { plots: _folder, profileExport, ...files } = artifactFiles(folder, settings.output.profileExportFile);
  const outputs = [
    ...[join(folder, INPUTS_FILE), ...Object.values(files)].map((path) => [FOLDER, path] as const),
    ["--profile-export-file", profileExport] as const,
    ...rampartFilesOf(settings).map(({ at, path }) => [nameOf(at), path] as const),
  ];
  // Of two files, only the one with a name of its own is the user's choice.
  const twins = findDuplicatePaths(outputs).filter(({ path }) => path !== FOLDER);
  const problems = [...findReadOutputs(outputs, readPaths(settings, given)), ...twins];
  if (problems.length > 0) throw new UserError(problems);
}

/** Returns all strings in the settings that can be the path of an input file, and the configuration files. */
function readPaths({ input, tokenizer }: GenaiSettings, given: GivenSettings): string[] {
  const prefixed = /^(?:payload|synthetic):(.*)$/s.exec(input.file)?.[1];
  const configs = [...given.values()].flatMap(({ source, place }) =>
    source === "file" ? [place.replace(/:\d+:\d+$/, "")] : [],
  );
  return [
    ...textsIn(input),
    ...(prefixed === undefined ? [] : [prefixed, ...prefixed.split(",")]),
    ...["", "tokenizer.json", "tokenizer_config.json"].map((name) => join(tokenizer.name, name)),
    ...new Set(configs),
  ];
}
