import type { OutputFilesPlan } from "../../plan/output-files-plan.ts";
import type { Plan } from "../../plan/plan.ts";
import { addProblems, messageOf, type Problem, problem, UserError, wordError } from "../../plan/problem.ts";
import { countOf, nsToSec } from "../../plan/units.ts";
import { joinTimes, type TimeSpan } from "../../registry/estimate-time.ts";
import { inputFilesOf } from "../../registry/input-files.ts";
import { MODEL_FILES, writeModelFiles } from "../../report/model-files.ts";
import type { ScenarioJson, ScenarioReportJson } from "../../report/schema/scenarios.ts";
import { modelOf } from "../../report/stored-report.ts";
import { toScenariosJson } from "../../report/sweep/scenarios-model.ts";
import { EXIT, gravestOf, wordOfExit } from "../../result/exit-codes.ts";
import { nowNs } from "../../runtime/clock.ts";
import { findLaunch } from "../../runtime/launch/launcher.ts";
import type { CommandIo } from "../execute.ts";
import { expectedAtMost, formatDryRuns, timeOfPlans } from "../expected-time.ts";
import { explainErrors } from "../explain-errors.ts";
import type { FlagValues } from "../flags.ts";
import { changedIo, silent } from "../guarded-io.ts";
import { fileKeyOf, type SharedOption } from "../options/shared-option.ts";
import { routeTextAroundReports } from "../output-files.ts";
import { readFiles } from "../shared-flags.ts";
import type { RunRequest } from "./parts.ts";
import { beginSeries, type Series } from "./series.ts";
import { NAME, nameOfFile, outputOptions } from "./several.ts";

/** Several scenarios in one run, with one verdict, and reports on all of them. */

/** The request for several scenarios. */
export interface SeveralRequest {
  readonly files: readonly string[];
  readonly flags: FlagValues;
  readonly problems: Problem[];
  /** The command as it was called. */
  readonly command: string;
  /** Runs one of them, or prints its plan, or only returns its plan. Returns its exit code. */
  run(file: string, flags: FlagValues, io: CommandIo, watched?: Partial<RunRequest>): Promise<number>;
}

/** A scenario's facts from its plan. */
interface Planned {
  readonly file: string;
  readonly name: string;
  /** Undefined: not known. */
  readonly time: TimeSpan | undefined;
  /** Files that it reads, if they are known. */
  readonly inputs: readonly string[];
}

/**
 * Runs scenarios one after another, and prints one verdict. All scenarios are planned first, so that mistakes are reported before any of
 * them runs. An interrupted scenario is the last. Returns the most severe exit code. @throws UserError with all problems
 */
export async function runSeveral(request: SeveralRequest, io: CommandIo): Promise<number> {
  const { flags, problems } = request;
  const perScenario: SeveralRequest = { ...request, flags: flags.without(jointOptions(flags).map(({ name }) => name)) };
  const planned = await planAll(perScenario, io);
  const inputs = planned.flatMap((one) => one.inputs);
  const files = readJointFiles(request, inputs);
  if (problems.length > 0) throw new UserError(problems);
  const time = joinTimes(planned.map((one) => one.time));
  if (!flags.has("quiet")) io.err(`  ${countOf(planned.length, "scenario")}${expectedAtMost(time)}\n`);
  if (flags.has("dry-run")) return showPlans(perScenario, time, io);
  const hasReports = Object.keys(files).length > 0;
  const [startedAt, startNs] = [new Date().toISOString(), nowNs()];
  const textIo = flags.has("quiet") ? silent(io) : routeTextAroundReports(io, files);
  const series = beginSeries(textIo);
  const scenarios = await runAll(planned, perScenario, hasReports, series).finally(series.end);
  const code = conclude(scenarios, textIo);
  if (!hasReports) return code;
  const json = toScenariosJson(scenarios, { startedAt, durationSec: nsToSec(nowNs() - startNs) });
  // Created as `rampart report` does from the file.
  const model = modelOf(JSON.parse(JSON.stringify(json)) as typeof json);
  if (model !== undefined) await writeModelFiles(files, model, json);
  return code;
}

/** Returns the options whose file is shared by all scenarios. */
function jointOptions(flags: FlagValues): readonly SharedOption[] {
  return outputOptions().filter(({ name }) => flags.text(name)?.includes(NAME) === false);
}

/** Reads the files that all scenarios share. @param problems receives those of each scenario too @param inputs files that are read */
function readJointFiles({ files, flags, problems }: SeveralRequest, inputs: readonly string[]): OutputFilesPlan {
  const joint = jointOptions(flags);
  const single = joint.filter((option) => !((fileKeyOf(option) ?? "") in MODEL_FILES));
  for (const { name } of single)
    problems.push(
      problem("overwrite", `--${name}`, "is one file for several scenarios", `Write ${NAME} in it.`, flags.text(name)),
    );
  const names = files.map(nameOfFile);
  const double = names.findIndex((name, at) => names.indexOf(name) !== at);
  const named = outputOptions().filter(({ name }) => double >= 0 && flags.text(name)?.includes(NAME) === true);
  for (const { name } of named) {
    const message = `${NAME} is ${names[double]} for ${files[names.indexOf(names[double] ?? "")]} and ${files[double]}`;
    problems.push(problem("overwrite", `--${name}`, message, "Rename one of them.", flags.text(name)));
  }
  if (findLaunch() !== undefined) {
    const message = "processes that were started together run only one";
    problems.push(problem("conflict", "SCENARIO", message, "Give each job one scenario."));
  }
  return readFiles(flags, joint, [...files, ...inputs], problems);
}

/** Plans all scenarios. @param problems receives the problems of the plans, each once */
async function planAll({ files, flags, problems, run }: SeveralRequest, io: CommandIo): Promise<Planned[]> {
  const planned: Planned[] = [];
  for (const file of files) {
    // The values of these options are part of a scenario.
    const place = (path: string): string => (/^--(set|sweep) /.test(path) ? `${file}: ${path}` : path);
    let scenario: Planned = { file, name: nameOfFile(file), time: undefined, inputs: [] };
    const keep = (plans: readonly Plan[], areAtOnce = false): void => {
      const inputs = plans.flatMap(inputFilesOf);
      scenario = { file, name: plans[0]?.name ?? scenario.name, time: timeOfPlans(plans, areAtOnce), inputs };
    };
    const watched: Partial<RunRequest> = {
      watch: { onPlan: (plan) => keep([plan]) },
      onRuns: (runs, areAtOnce) => {
        const plans = runs.map(({ plan }) => plan);
        keep(plans, areAtOnce);
      },
    };
    await run(file, flags, silent(io), watched).catch((error: unknown) => addProblems(problems, error, place));
    planned.push(scenario);
  }
  return planned;
}

/** Prints the plans of all scenarios as one document. Returns the most severe exit code. */
async function showPlans(
  { files, flags, command, run }: SeveralRequest,
  time: TimeSpan | undefined,
  io: CommandIo,
): Promise<number> {
  const scenarios: object[] = [];
  const codes: number[] = [];
  for (const file of files) {
    let text = "";
    const out = (part: string): void => {
      text += part;
    };
    codes.push(await explainErrors(command, io, () => run(file, flags, changedIo(io, { out })), flags));
    scenarios.push({ file, plan: text === "" ? null : JSON.parse(text) });
  }
  io.out(formatDryRuns(time, { scenarios }));
  return gravestOf(codes);
}

/** Runs all scenarios. @param hasReports whether their reports are kept */
async function runAll(
  planned: readonly Planned[],
  { flags, command, run }: SeveralRequest,
  hasReports: boolean,
  series: Series,
): Promise<ScenarioJson[]> {
  const { io } = series;
  const done: ScenarioJson[] = [];
  for (const [index, { file, name }] of planned.entries()) {
    if (done.some(({ exitCode }) => exitCode === EXIT.interrupted)) {
      done.push({ name, file, reason: "an earlier scenario was interrupted" });
      continue;
    }
    if (series.isInterrupted) {
      done.push({ name, file, exitCode: EXIT.interrupted, reason: "it was interrupted before it began" });
      continue;
    }
    io.out(`${index === 0 ? "" : "\n"}${index + 1}/${planned.length}  ${file}\n\n`);
    const reports: ScenarioReportJson[] = [];
    const reasons: string[] = [];
    const watched = hasReports ? { onReport: (json: ScenarioReportJson) => void reports.push(json) } : {};
    const measure = (): Promise<number> =>
      run(file, flags, io, watched).catch((error: unknown) => {
        reasons.push(messageOf(wordError(error, io.nameOf)));
        throw error;
      });
    const exitCode = await explainErrors(command, io, measure, flags);
    const [report] = reports;
    const shownName = report !== undefined && "name" in report ? report.name : name;
    const [reason = "it ended without one"] = reasons;
    done.push({ name: shownName, file, exitCode, ...(report === undefined ? { reason } : { report }) });
  }
  return done;
}

/** Prints the verdict. Returns the most severe exit code. */
function conclude(scenarios: readonly ScenarioJson[], io: CommandIo): number {
  const codes = scenarios.flatMap(({ exitCode }) => exitCode ?? []);
  const code = gravestOf(codes);
  const passed = codes.filter((one) => one === EXIT.passed).length;
  const rows = scenarios.map(({ file, exitCode }) => `  ${wordOfExit(exitCode).padEnd(13)}${file}\n`);
  const verdict = `${wordOfExit(code)}  ${passed} of ${countOf(scenarios.length, "scenario")} passed\n${rows.join("")}`;
  if (io.isQuiet !== true) io.out(`\n${verdict}`);
  else if (code !== EXIT.passed) io.err(verdict);
  return code;
}
