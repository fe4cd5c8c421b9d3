import { join } from "node:path";
import { UserError } from "../../../plan/problem.ts";
import { artifactFiles } from "../../../report/genai-perf/artifacts.ts";
import { findReadOutputs, findTwins, textsIn } from "../../output-files.ts";
import type { GenaiSettings } from "../options/settings.ts";
import type { GivenSettings } from "../options/settings-builder.ts";
import { ownFilesOf } from "../options/shared-settings.ts";
import { nameOf } from "../options/subcommands.ts";
import { INPUTS_FILE } from "./to-plan.ts";

const FOLDER = "--artifact-dir";

/** Refuses a profile whose output files would replace its input files or each other. @throws UserError with each of them */
export function checkOutputs(settings: GenaiSettings, given: GivenSettings, folder: string): void {
  const { plots: _folder, profileExport, ...files } = artifactFiles(folder, settings.output.profileExportFile);
  const outputs = [
    ...[join(folder, INPUTS_FILE), ...Object.values(files)].map((path) => [FOLDER, path] as const),
    ["--profile-export-file", profileExport] as const,
    ...ownFilesOf(settings).map(({ at, path }) => [nameOf(at), path] as const),
  ];
  // Of two files, only the one with a name of its own is the user's choice.
  const twins = findTwins(outputs).filter(({ path }) => path !== FOLDER);
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
