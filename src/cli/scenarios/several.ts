import { readdirSync, statSync } from "node:fs";
import { basename, extname, join } from "node:path";
import { isObject, parseJson } from "../../plan/objects.ts";
import { type Problem, problem } from "../../plan/problem.ts";
import { gravestOf } from "../../result/exit-codes.ts";
import { isDirectory, isFile, MOST_SETTINGS_BYTES, readFileText } from "../../runtime/files.ts";
import type { Scenario } from "../../scenario/define.ts";
import { abOf } from "../../scenario/definition/ab.ts";
import { partNamesOf } from "../../scenario/definition/per-target.ts";
import type { CommandIo } from "../execute.ts";
import type { FlagValues } from "../flags.ts";
import { fileKeyOf, type SharedOption } from "../options/shared-option.ts";
import { sharedOptions } from "../options/shared-options.ts";
import { readShared } from "../shared-flags.ts";
import type { RunPart, RunRequest, ScenarioParts } from "./parts.ts";
import type { SweepDoor } from "./sweep.ts";

/** The scenarios of a command line, and their parts. */

/** Marks of a scenario among the files of a folder. Other code, data and settings are ignored. */
const MARKS: readonly (readonly [end: RegExp, has: (text: string) => boolean])[] = [
  [/(?<!\.d)\.[cm]?[jt]s$/i, (text) => /^export\s+default\b/m.test(text)],
  [/\.ya?ml$/i, (text) => /^target:/m.test(text)],
  [/\.json$/i, isJsonScenario],
];

/** Placeholder for the name of the scenario in the paths of reports. */
export const NAME = "{name}";

/** Returns the given files, and those directly in given folders, by name. @param problems receives folders without scenarios */
export function findScenarios(given: readonly string[], problems: Problem[]): string[] {
  const found = given.flatMap((path) => {
    if (!isDirectory(path)) return [path];
    const files = readdirSync(path).toSorted();
    const scenarios = files.map((name) => join(path, name)).filter(isScenario);
    const hint = "A scenario is a .ts file that exports one, or a .yaml file with target.";
    if (scenarios.length === 0) problems.push(problem("missing", path, "has no scenario", hint));
    return scenarios;
  });
  return [...new Set(found)];
}

function isScenario(path: string): boolean {
  const [, has] = MARKS.find(([end]) => end.test(path)) ?? [];
  return has !== undefined && isFile(path) && statSync(path).size <= MOST_SETTINGS_BYTES && has(readFileText(path));
}

/** Reports have a target too, so they must be excluded. */
function isJsonScenario(text: string): boolean {
  const value = parseJson(text);
  return isObject(value) && "target" in value && "load" in value && !("levels" in value);
}

/** Returns the replacement for {@link NAME}. */
export function nameOfFile(file: string): string {
  return basename(file, extname(file));
}

/** Returns the flags of one scenario, with its name in the paths of its reports. */
export function flagsFor(file: string, flags: FlagValues): FlagValues {
  const name = nameOfFile(file);
  const named = (values: FlagValues, option: string): FlagValues => {
    const paths = values.texts(option).map((path) => path.replaceAll(NAME, name));
    return values.withTexts(option, paths);
  };
  return outputOptions().reduce(
    (values, option) => (values.has(option.name) ? named(values, option.name) : values),
    flags,
  );
}

/** The options whose value is the file of a report. */
export function outputOptions(): readonly SharedOption[] {
  return sharedOptions("run").filter((option) => fileKeyOf(option) !== undefined);
}

/** Measures the points of `--sweep`. Returns the most severe exit code. @throws UserError with all problems */
export async function runSweep(flags: FlagValues, command: SweepDoor, io: CommandIo): Promise<number> {
  const { measureSweep } = await import("./sweep.ts");
  return gravestOf(await measureSweep(flags, command, io));
}

/** Runs a scenario for each point of `--sweep`. @param run runs it once */
export function sweepScenario(
  { definition }: Scenario,
  { flags, onRuns, onReport }: Pick<RunRequest, "flags" | "onRuns" | "onReport">,
  run: (request: RunRequest, io: CommandIo) => Promise<number>,
  io: CommandIo,
): Promise<number> {
  const { params } = definition as { readonly params?: object };
  const parameters = Object.keys(params ?? {});
  const runPoint: SweepDoor["runPoint"] = (pointFlags, pointIo, watch) => {
    const problems: Problem[] = [];
    return run({ flags: pointFlags, values: readShared(pointFlags, "run", problems), problems, watch }, pointIo);
  };
  return runSweep(flags, { door: "run", parameters, runPoint, onRuns, onReport }, io);
}

/** Returns the parts of a scenario; undefined if it runs once. @throws UserError with all their problems */
export function partsOf({ definition }: Scenario): ScenarioParts | undefined {
  const options = abOf(definition);
  const names = partNamesOf(definition);
  return options === undefined && names === undefined ? undefined : { options, names };
}

/** Runs a scenario for each of its parts. @param run runs one of the parts @returns the most severe exit code */
export async function runParts(
  parts: ScenarioParts,
  request: RunRequest,
  run: RunPart,
  io: CommandIo,
): Promise<number> {
  const { measureParts } = await import("./parts.ts");
  return gravestOf(await measureParts(parts, request, run, io));
}
