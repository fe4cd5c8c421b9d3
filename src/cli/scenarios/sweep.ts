import { combineAxes, countPoints, MOST_POINTS, type SweepAxis } from "../../campaign/sweep.ts";
import { parseRange } from "../../load/levels.ts";
import { nearestName } from "../../plan/nearest-name.ts";
import type { Plan } from "../../plan/plan.ts";
import { ONLY_ONE, type Problem, problem, RunError, UserError } from "../../plan/problem.ts";
import { countOf, formatCount } from "../../plan/units.ts";
import { describeSpan } from "../../registry/estimate-time.ts";
import { inputFilesOf } from "../../registry/input-files.ts";
import type { ReportModel } from "../../report/model/report-model.ts";
import { MODEL_FILES, writeModelFiles } from "../../report/model-files.ts";
import type { ScenarioReportJson } from "../../report/schema/scenarios.ts";
import {
  buildSweepModel,
  type PointValues,
  type Sweep,
  type SweptPoint,
  toSweepJson,
} from "../../report/sweep/sweep-model.ts";
import { renderText, styleOf } from "../../report/text/render-text.ts";
import { EXIT, exitCodeOf } from "../../result/exit-codes.ts";
import { formatPoint } from "../../result/sweep.ts";
import { findLaunch } from "../../runtime/launch/launcher.ts";
import type { CommandIo, OnReport, OnRuns, PointWatch } from "../execute.ts";
import { formatDryRuns, showPlan, timeOfPlans } from "../expected-time.ts";
import type { FlagValues } from "../flags.ts";
import { silent, withoutRepeats } from "../guarded-io.ts";
import { type Door, fileKeyOf } from "../options/shared-option.ts";
import { sharedOptions } from "../options/shared-options.ts";
import { routeTextAroundReports } from "../output-files.ts";
import { readFiles } from "../shared-flags.ts";
import { beginSeries, type Series } from "./series.ts";

/** `--sweep`: runs the points of a scenario, or of a request, one after another, in one report. */

/** Functions of a command for the points of a sweep. */
export interface SweepDoor {
  readonly door: Extract<Door, "run" | "http" | "llm" | "triton">;
  /** Names of the scenario's parameters, which take precedence over options of the same name. */
  readonly parameters: readonly string[];
  /** Runs a point. Returns its exit code. */
  runPoint(flags: FlagValues, io: CommandIo, watch: PointWatch): Promise<number>;
  /** Receives the points, which are then not run. Not called if a plan needs a server that is started first. Absent: they are run. */
  readonly onRuns?: OnRuns | undefined;
  /** Receives the report on all points. */
  readonly onReport?: OnReport | undefined;
}

/** Options that do not affect what is measured. */
const NOT_SWEPT = ["set", "sweep", "fail-if", "save", "help", "help-all"];

/** Measures all points of a sweep, and reports them together. Returns the exit codes of the points. @throws UserError with all problems */
export async function measureSweep(flags: FlagValues, command: SweepDoor, io: CommandIo): Promise<readonly number[]> {
  const problems: Problem[] = [];
  const axes = readAxes(flags, command, problems);
  problems.push(...checkPointFiles(flags, command.door));
  if (findLaunch() !== undefined)
    problems.push(
      problem("conflict", "--sweep", "processes that were started together run only one", "Give each job one point."),
    );
  if (problems.length > 0) throw new UserError(problems);
  const points = combineAxes(axes);
  const withoutFiles = flags.without([...outputNames(command.door), "sweep", "dry-run"]);
  const flagsOf = (values: PointValues): FlagValues =>
    values.reduce((given, one) => place(given, one, command), withoutFiles);
  const once = withoutRepeats(silent(io));
  const plans = await planAll(points, (values, watch) => command.runPoint(flagsOf(values), once, watch));
  problems.push(...checkPointFiles(flags, command.door, plans));
  if (problems.length > 0) throw new UserError(problems);
  if (command.onRuns !== undefined) {
    const known = plans.filter((plan) => plan !== undefined);
    const runs = known.map((plan, at) => ({ name: formatPoint(points[at] ?? []), plan }));
    if (known.length === points.length) command.onRuns(runs, false);
    return [];
  }
  const time = timeOfPlans(plans);
  const span = time === undefined ? "" : `, expected to take ${describeSpan(time)}`;
  if (!flags.has("quiet")) io.err(`  a sweep of ${countOf(points.length, "point")}${span}\n`);
  if (flags.has("dry-run")) {
    const shown = points.map((values, at) => ({ values: Object.fromEntries(values), plan: showPlan(plans[at]) }));
    io.out(formatDryRuns(time, { points: shown }));
    return [];
  }
  const series = beginSeries(once);
  const { sweep, codes } = await measureAll(points, io, series, (values, watch) =>
    command.runPoint(flagsOf(values), series.io, watch),
  ).finally(series.end);
  const { door, onReport } = command;
  await showReports({ model: buildSweepModel(sweep), json: toSweepJson(sweep), flags, door, onReport }, io);
  return codes;
}

type RunPoint = (values: PointValues, watch: PointWatch) => Promise<number>;

/** Returns the plan of each point, so that mistakes are reported before any point is run; undefined if a server must be started first. */
async function planAll(points: readonly PointValues[], run: RunPoint): Promise<(Plan | undefined)[]> {
  const plans: (Plan | undefined)[] = [];
  for (const values of points) {
    let found: Plan | undefined;
    await run(values, {
      onPlan: (plan) => {
        found = plan;
      },
    });
    plans.push(found);
  }
  return plans;
}

async function measureAll(
  points: readonly PointValues[],
  io: CommandIo,
  series: Series,
  run: RunPoint,
): Promise<{ readonly sweep: Sweep; readonly codes: readonly number[] }> {
  const done: SweptPoint[] = [];
  const missing: { readonly values: PointValues; readonly reason: string }[] = [];
  const codes: number[] = [];
  for (const [index, values] of points.entries()) {
    if (io.isQuiet !== true) io.err(`  point ${index + 1} of ${points.length}: ${formatPoint(values)} …\n`);
    try {
      codes.push(await run(values, { onReport: (plan, json) => done.push({ values, plan, json }) }));
    } catch (error) {
      if (!(error instanceof RunError)) throw error;
      codes.push(exitCodeOf(error.code));
      if (error.code !== "interrupted") missing.push({ values, reason: error.message });
    }
    if (series.isInterrupted) codes.push(EXIT.interrupted);
    if (codes.at(-1) === EXIT.interrupted) break;
  }
  return { sweep: { points: done, missing, asked: points.length }, codes };
}

/** Reads the options that are varied. @param problems receives all problems */
function readAxes(flags: FlagValues, { door, parameters }: SweepDoor, problems: Problem[]): SweepAxis<string>[] {
  const options = sharedOptions(door).filter(
    ({ kind, setting }) => kind !== "switch" && setting?.startsWith("outputs") !== true,
  );
  const known = [...parameters, ...options.map(({ name }) => name).filter((name) => !NOT_SWEPT.includes(name))];
  const hint = "Write --sweep users=1,8,64.";
  const axes = flags.texts("sweep").flatMap((text): SweepAxis<string>[] => {
    const [name = "", ...rest] = text.split("=");
    const written = rest
      .join("=")
      .split(",")
      .map((value) => value.trim());
    if (rest.length === 0 || name === "" || written.includes("")) {
      problems.push(problem("invalid-value", "--sweep", "is not NAME=VALUE,VALUE or NAME=START:END:STEP", hint, text));
      return [];
    }
    const values = written.flatMap((value) => readValues(name, value, parameters.includes(name), problems));
    if (!known.includes(name) && !flags.knows(name)) {
      const listed = parameters.length === 0 ? "" : `Its parameters are ${parameters.join(", ")}. `;
      const meant = options.find((option) => option.meant?.includes(`--${name}`))?.name ?? nearestName(name, known);
      const fix = meant === undefined ? `${listed}${hint}` : `Write --sweep ${meant}=${values.join(",")}.`;
      problems.push(problem("unknown-name", `--sweep ${name}`, "is neither a parameter nor an option", fix));
      return [];
    }
    if (
      !parameters.includes(name) &&
      (NOT_SWEPT.includes(name) || !flags.takesValue(name) || outputNames(door).includes(name))
    ) {
      problems.push(problem("unsupported", `--sweep ${name}`, "says nothing about what is measured", hint));
      return [];
    }
    const isSet = parameters.includes(name) && flags.texts("set").some((set) => set.split("=", 1)[0] === name);
    if (isSet || flags.has(name))
      problems.push(
        problem("conflict", `--sweep ${name}`, `--${isSet ? "set " : ""}${name} gives it one value`, ONLY_ONE),
      );
    const twice = values.find((value, at) => values.indexOf(value) !== at);
    if (twice !== undefined)
      problems.push(problem("invalid-value", `--sweep ${name}`, "has a value twice", "Give each value once.", twice));
    return [{ name, values }];
  });
  const [double] = axes.filter(({ name }, at) => axes.findIndex((other) => other.name === name) !== at);
  if (double !== undefined)
    problems.push(problem("conflict", `--sweep ${double.name}`, "is given twice", "Give all values in one."));
  const count = countPoints(axes);
  if (count > MOST_POINTS) problems.push(tooManyPoints("--sweep", count));
  return axes;
}

function tooManyPoints(path: string, count: number): Problem {
  const message = `has ${formatCount(count)} points, above the limit of ${formatCount(MOST_POINTS)}`;
  return problem("invalid-value", path, message, "Give fewer values: each option multiplies the points.");
}

/** Returns the values of a range, or a single value. @param isParameter whether a text such as `16:9` may be meant literally */
function readValues(name: string, text: string, isParameter: boolean, problems: Problem[]): string[] {
  const path = `--sweep ${name}`;
  const range = parseRange(text);
  const [, from, to] = /^(\d+)\.\.\.?(\d+)$/.exec(text) ?? [];
  if (from !== undefined)
    problems.push(problem("invalid-value", path, "is not a range", `Write ${name}=${from}:${to}.`, text));
  if (range === undefined) return [text];
  const { start, end, step } = range;
  if (start >= end || step === 0) {
    if (!isParameter)
      problems.push(
        problem("invalid-value", path, "is not a range START:END:STEP that rises", `Write ${name}=1:5.`, text),
      );
    return [text];
  }
  // The end is included even if fractions are rounded above it.
  const count = Math.floor((end - start) / step + 1e-9) + 1;
  if (count <= MOST_POINTS)
    return Array.from({ length: count }, (_, at) => String(Number((start + at * step).toPrecision(12))));
  problems.push(tooManyPoints(path, count));
  return [text];
}

function outputNames(door: Door): string[] {
  return sharedOptions(door)
    .filter((option) => fileKeyOf(option) !== undefined)
    .map(({ name }) => name);
}

/** Checks the files of a report on several runs. @param plans plans of the runs, if they are known */
export function checkPointFiles(flags: FlagValues, door: Door, plans: readonly (Plan | undefined)[] = []): Problem[] {
  const problems: Problem[] = [];
  const read = plans.flatMap((plan) => (plan === undefined ? [] : inputFilesOf(plan)));
  readFiles(flags, sharedOptions(door), read, problems);
  const single = sharedOptions(door)
    .filter((option) => !((fileKeyOf(option) ?? "json") in MODEL_FILES))
    .map(({ name }) => name);
  return [
    ...problems,
    ...[...single, "save"]
      .filter((name) => flags.has(name))
      .map((name) =>
        problem("conflict", `--${name}`, "cannot hold more than one run", "Leave it out, or measure one run."),
      ),
  ];
}

/** A report on several runs, and its destination. */
interface JointReport {
  readonly model: ReportModel;
  readonly json: ScenarioReportJson;
  readonly flags: FlagValues;
  readonly door: Door;
  readonly onReport: OnReport | undefined;
}

/** Prints the report on several runs, and writes its files. @throws RunError if a file cannot be written */
export async function showReports({ model, json, flags, door, onReport }: JointReport, io: CommandIo): Promise<void> {
  const files = readFiles(flags, sharedOptions(door), [], []);
  const textIo = flags.has("quiet") ? silent(io) : routeTextAroundReports(io, files);
  textIo.out(renderText(model, { isVerbose: flags.has("verbose"), ...styleOf(textIo) }));
  onReport?.(json);
  await writeModelFiles(files, model, json);
}

function place(flags: FlagValues, [name, value]: PointValues[number], { parameters }: SweepDoor): FlagValues {
  return parameters.includes(name)
    ? flags.withTexts("set", [...flags.texts("set"), `${name}=${value}`])
    : flags.withTexts(name, [value]);
}
