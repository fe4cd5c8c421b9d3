import { readdirSync, statSync } from "node:fs";
import { basename, extname, join } from "node:path";
import type { Plan } from "../../plan/plan.ts";
import { addProblems, type Problem, problem, UserError } from "../../plan/problem.ts";
import { countOf } from "../../plan/units.ts";
import { estimateAllRuns } from "../../registry/run-time.ts";
import { EXIT } from "../../result/exit-codes.ts";
import { MOST_SETTINGS_BYTES, readFileText } from "../../runtime/files.ts";
import { findLaunch } from "../../runtime/launch/launcher.ts";
import type { Scenario } from "../../scenario/define.ts";
import { abOf } from "../../scenario/definition/ab.ts";
import { partNamesOf } from "../../scenario/definition/per-target.ts";
import type { PlanOverrides } from "../../scenario/to-plan.ts";
import type { CommandIo, OnRuns, PointWatch } from "../execute.ts";
import type { FlagValues } from "../flags.ts";
import type { PlanValues } from "../options/place.ts";
import { fileKeyOf, type SharedOption } from "../options/shared-option.ts";
import { sharedOptions } from "../options/shared-options.ts";
import { isDirectory, isFile } from "../output-files.ts";
import { readShared } from "../shared-flags.ts";
import type { ParallelRun } from "./parallel.ts";
import type { SweepDoor } from "./sweep.ts";

/** Several scenarios in one run, with one verdict. */

/** What a file in a folder has where it is a scenario; other code, data and settings are left alone. */
const MARKS: readonly (readonly [end: RegExp, has: (text: string) => boolean])[] = [
  [/(?<!\.d)\.[cm]?[jt]s$/i, (text) => /^export\s+default\b/m.test(text)],
  [/\.ya?ml$/i, (text) => /^target:/m.test(text)],
  [/\.json$/i, isJsonScenario],
];

/** Stands for the name of the scenario in the paths of reports. */
const NAME = "{name}";

/** The exit codes with their words, the gravest first. */
const VERDICTS: readonly (readonly [code: number, word: string])[] = [
  [EXIT.internal, "DEFECT"],
  [EXIT.usage, "REFUSED"],
  [EXIT.unreachable, "UNREACHABLE"],
  [EXIT.output, "NOT WRITTEN"],
  [EXIT.interrupted, "INTERRUPTED"],
  [EXIT.assertionFailed, "FAILED"],
  [EXIT.unstable, "UNRESOLVED"],
  [EXIT.passed, "PASSED"],
];

/** Returns the scenarios of a command line: its files, and those directly in its folders, by name. @param problems gets folders without any */
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

/** Reports have a target too. */
function isJsonScenario(text: string): boolean {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && "target" in value && "load" in value && !("levels" in value);
  } catch {
    return false;
  }
}

/** Reports problems of several scenarios together. */
export function checkSeveral(flags: FlagValues): Problem[] {
  const shared = outputOptions().flatMap(({ name }) => {
    const path = flags.text(name);
    return path === undefined || path.includes(NAME)
      ? []
      : [problem("overwrite", `--${name}`, "is one file for several scenarios", `Write ${NAME} in it.`, path)];
  });
  const hint = "Give each job one scenario.";
  return findLaunch() === undefined
    ? shared
    : [...shared, problem("conflict", "SCENARIO", "processes that were started together run only one", hint)];
}

/** Returns the flags of one scenario: its name stands in the paths of its reports. */
export function flagsFor(file: string, flags: FlagValues): FlagValues {
  const name = basename(file, extname(file));
  const named = (own: FlagValues, option: string): FlagValues =>
    own.withTexts(
      option,
      own.texts(option).map((path) => path.replaceAll(NAME, name)),
    );
  return outputOptions().reduce((own, option) => (own.has(option.name) ? named(own, option.name) : own), flags);
}

/** The options whose value is the file of a report. */
function outputOptions(): readonly SharedOption[] {
  return sharedOptions("run").filter((option) => fileKeyOf(option) !== undefined);
}

/**
 * Plans scenarios, so that a mistake in one is reported before another is run.
 * @param problems gets those of the plans, each once
 * @param plan plans one of them, which is then not run
 * @returns the longest time of each, in milliseconds; undefined where it is not known
 */
export async function planSeveral(
  files: readonly string[],
  problems: Problem[],
  plan: (file: string, watched: Pick<RunRequest, "watch" | "onRuns">) => Promise<unknown>,
): Promise<(number | undefined)[]> {
  const times: (number | undefined)[] = [];
  for (const file of files) {
    // What these options name is part of a scenario.
    const place = (path: string): string => (/^--(set|sweep) /.test(path) ? `${file}: ${path}` : path);
    let mostMs: number | undefined;
    const watched: Pick<RunRequest, "watch" | "onRuns"> = {
      watch: {
        onPlan: (one) => {
          mostMs = estimateAllRuns(one)?.mostMs;
        },
      },
      onRuns: (runs, areAtOnce) => {
        const all = runs.map((one) => estimateAllRuns(one.plan)?.mostMs ?? Number.NaN);
        const joined = areAtOnce ? Math.max(...all) : all.reduce((total, ms) => total + ms, 0);
        mostMs = Number.isNaN(joined) ? undefined : joined;
      },
    };
    await plan(file, watched).catch((error: unknown) => addProblems(problems, error, place));
    times.push(mostMs);
  }
  return times;
}

/**
 * Runs scenarios one after the other, and prints one verdict. An interrupted one is the last.
 * @param run runs one of them, and returns its exit code
 * @returns 0 if all passed, otherwise the gravest exit code
 */
export async function runSeveral(
  files: readonly string[],
  io: CommandIo,
  run: (file: string) => Promise<number>,
): Promise<number> {
  const codes: number[] = [];
  for (const [index, file] of files.entries()) {
    io.out(`${index === 0 ? "" : "\n"}${index + 1}/${files.length}  ${file}\n\n`);
    codes.push(await run(file));
    if (codes.at(-1) === EXIT.interrupted) break;
  }
  const code = gravestOf(codes);
  const passed = codes.filter((one) => one === EXIT.passed).length;
  const rows = files.map((file, index) => `  ${wordOf(codes[index]).padEnd(13)}${file}\n`);
  const verdict = `${wordOf(code)}  ${passed} of ${countOf(files.length, "scenario")} passed\n${rows.join("")}`;
  if (io.isQuiet !== true) io.out(`\n${verdict}`);
  else if (code !== EXIT.passed) io.err(verdict);
  return code;
}

/** Measures the points of `--sweep`. Returns the gravest exit code. @throws UserError with all problems */
export async function runSweep(flags: FlagValues, command: SweepDoor, io: CommandIo): Promise<number> {
  const { measureSweep } = await import("./sweep.ts");
  return gravestOf(await measureSweep(flags, command, io));
}

/** What is asked of a scenario. */
export interface RunRequest {
  readonly flags: FlagValues;
  /** What flags put into its plan. */
  readonly values: PlanValues;
  /** Those of the flags, which are reported with those of the parameters. */
  readonly problems: Problem[];
  /** Of a point of a sweep. */
  readonly watch?: PointWatch;
  /** Receives the runs of a scenario that has several, which are then not run. Absent: they are run. */
  readonly onRuns?: OnRuns;
}

/** Runs a scenario for each point of `--sweep`. @param run runs it once */
export function sweepScenario(
  { definition }: Scenario,
  { flags, onRuns }: Pick<RunRequest, "flags" | "onRuns">,
  run: (request: RunRequest, io: CommandIo) => Promise<number>,
  io: CommandIo,
): Promise<number> {
  const { params } = definition as { readonly params?: object };
  const parameters = Object.keys(params ?? {});
  const runPoint: SweepDoor["runPoint"] = (pointFlags, pointIo, watch) => {
    const problems: Problem[] = [];
    return run({ flags: pointFlags, values: readShared(pointFlags, "run", problems), problems, watch }, pointIo);
  };
  return runSweep(flags, { door: "run", parameters, runPoint, onRuns }, io);
}

/** What a scenario runs several times for: the two targets of `ab(…)`, or the targets of a mix whose loads are their own. */
export interface ScenarioParts {
  readonly options?: NonNullable<ReturnType<typeof abOf>> | undefined;
  readonly names?: readonly string[] | undefined;
}

/** Returns the parts of a scenario; undefined when it runs once. @throws UserError with all problems of them */
export function partsOf({ definition }: Scenario): ScenarioParts | undefined {
  const options = abOf(definition);
  const names = partNamesOf(definition);
  return options === undefined && names === undefined ? undefined : { options, names };
}

/** Runs a scenario for each of its parts. @param run runs one of them */
export async function runParts(
  { options, names }: ScenarioParts,
  request: RunRequest,
  run: (own: PlanOverrides, request: RunRequest, io: CommandIo) => Promise<number>,
  io: CommandIo,
): Promise<number> {
  const { flags, watch, onRuns } = request;
  if (watch !== undefined && onRuns === undefined) {
    const [field, call, more] =
      options === undefined
        ? ["load", "perTarget(…)", ", or sweep users or rate, which replace this load"]
        : ["target", "ab(…)", ""];
    const message = `${call} already runs the scenario several times`;
    throw new UserError(problem("conflict", field, message, `Leave out --sweep${more}.`));
  }
  if (options !== undefined && names !== undefined)
    throw new UserError(problem("conflict", "load", "ab(…) has targets with one load", "Use another load."));
  const values = new Map([...request.values].filter(([key]) => !key.startsWith("outputs.files.")));
  // Several runs at the same time have one terminal.
  if (names !== undefined) values.set("outputs.isLive", false);
  const asked: RunRequest = { ...request, values, flags: flags.without(["dry-run", "quiet"]) };
  const ownOf = (part: number): PlanOverrides => (names === undefined ? { side: part === 0 ? 0 : 1 } : { part });
  const plans = await planParts(names?.length ?? 2, (part, partWatch) =>
    run(ownOf(part), { ...asked, watch: partWatch }, io),
  );
  const planOf = (part: number): Plan => (plans[part] as () => Plan)();
  const runPart: ParallelRun["runPart"] = (part, partIo, partWatch) =>
    run(ownOf(part), { ...asked, watch: partWatch }, partIo);
  if (names !== undefined) {
    const { runParallel } = await import("./parallel.ts");
    return gravestOf(await runParallel({ names, flags, planOf, runPart, onRuns }, io));
  }
  const { runAlternating } = await import("./alternate.ts");
  return gravestOf(await runAlternating({ options: options ?? {}, flags, planOf, runBlock: runPart, onRuns }, io));
}

/** Returns what returns the plan of each part, or throws what is wrong with it. */
async function planParts(
  count: number,
  run: (part: number, watch: PointWatch) => Promise<number>,
): Promise<(() => Plan)[]> {
  const plans: (() => Plan)[] = [];
  for (let part = 0; part < count; part++) {
    try {
      await run(part, { onPlan: (plan) => plans.push(() => plan) });
    } catch (error) {
      plans.push(() => {
        throw error;
      });
    }
  }
  return plans;
}

/** Returns the gravest of exit codes; 0 if there are none. */
export function gravestOf(codes: readonly number[]): number {
  return VERDICTS.find(([one]) => codes.includes(one))?.[0] ?? EXIT.passed;
}

function wordOf(code: number | undefined): string {
  return VERDICTS.find(([one]) => one === code)?.[1] ?? "not run";
}
