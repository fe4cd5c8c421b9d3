import type { NameOf } from "../../plan/messages.ts";
import type { Plan } from "../../plan/plan.ts";
import { formatRunError, UserError, wordProblem } from "../../plan/problem.ts";
import { inputFilesOf } from "../../registry/input-files.ts";
import { judgeRun } from "../../report/judge-run.ts";
import { outputFilesOf } from "../../report/output-place.ts";
import { EXIT, hasOnlyFailures } from "../../result/exit-codes.ts";
import { type CommandIo, type ExecutedPlan, executePlan, type PointWatch } from "../execute.ts";
import { formatDryRun, type LoadNotation } from "../expected-time.ts";
import type { FlagValues } from "../flags.ts";
import { silent } from "../guarded-io.ts";
import { findReadOutputs, routeTextAroundReports } from "../output-files.ts";

interface MadeRun {
  readonly flags: FlagValues;
  /** Observer of one of several runs. */
  readonly watch?: PointWatch | undefined;
  /** How the load was written. Default: in code. */
  readonly notation?: LoadNotation;
}

/** Runs a plan, or prints it with `--dry-run`. Returns the exit code. @param execute Default: without functions @throws UserError */
export async function runMadePlan(
  plan: Plan,
  { flags, watch, notation = "code" }: MadeRun,
  io: CommandIo,
  execute = (reportIo: CommandIo): Promise<ExecutedPlan> => executePlan(plan, reportIo, { watch }),
): Promise<number> {
  const problems = findReadOutputs(outputFilesOf(plan), inputFilesOf(plan));
  if (problems.length > 0) throw new UserError(problems);
  if (watch?.onPlan !== undefined) {
    watch.onPlan(plan);
    return EXIT.passed;
  }
  if (flags.has("dry-run")) {
    io.out(formatDryRun(plan, notation));
    return EXIT.passed;
  }
  const reportIo = flags.has("quiet") ? silent(io) : routeTextAroundReports(io, plan.outputs.files);
  return conclude(plan, await execute(reportIo), flags, io);
}

/** Concludes a run: says what no report does, with `--quiet` also why it did not pass. Returns the exit code. */
async function conclude(plan: Plan, executed: ExecutedPlan, flags: FlagValues, io: CommandIo): Promise<number> {
  const { result, outputError, repeated } = executed;
  if (result.error !== undefined) io.err(`rampart: ${formatRunError(result.error)}\n`);
  else if (hasOnlyFailures(result) && result.hint !== undefined) io.err(`rampart: ${result.hint}\n`);
  if (outputError !== undefined) io.err(`rampart: ${formatRunError(outputError)}\n`);
  const { exitCode } = judgeRun(plan, repeated ?? result);
  const isSaid = result.error !== undefined && exitCode !== EXIT.assertionFailed && exitCode !== EXIT.unstable;
  if (flags.has("quiet") && exitCode !== EXIT.passed && !isSaid) {
    const { describeVerdict } = await import("../verdict-lines.ts");
    for (const line of describeVerdict(plan, executed)) io.err(`rampart: ${plan.name}: ${line}\n`);
  }
  return exitCode === EXIT.passed && outputError !== undefined ? EXIT.output : exitCode;
}

/** Flags for the fields of a scenario that a command makes, by the prefix of a problem's path. */
export type FlagsOfFields = readonly (readonly [path: RegExp, flag: string])[];

/** Flag for the limits of such a command. */
const LIMITS: FlagsOfFields[number] = [/^assert\b.*/, "--fail-if"];

/** Names a command's flags instead of the fields of the scenario that it makes. Errors without problems are unchanged. */
export function inFlags(error: unknown, nameOf: NameOf, fields: FlagsOfFields): unknown {
  if (!(error instanceof UserError)) return error;
  return new UserError(
    error.problems.map((found) => {
      const worded = wordProblem(found, nameOf);
      const [pattern, flag = ""] = [...fields, LIMITS].find(([path]) => path.test(worded.path)) ?? [];
      const path = pattern === undefined ? worded.path : worded.path.replace(pattern, flag);
      return { ...worded, path, hint: worded.hint.replace(" in the scenario", "") };
    }),
  );
}
