import type { NameOf } from "../../plan/messages.ts";
import type { Plan } from "../../plan/plan.ts";
import { UserError, wordProblem } from "../../plan/problem.ts";
import { inputFilesOf } from "../../registry/input-files.ts";
import { outputFilesOf } from "../../report/output-place.ts";
import { EXIT } from "../../result/exit-codes.ts";
import { type CommandIo, executePlan, type PointWatch } from "../execute.ts";
import { formatDryRun } from "../expected-time.ts";
import type { FlagValues } from "../flags.ts";
import { silent } from "../guarded-io.ts";
import { findReadOutputs, routeTextAroundReports } from "../output-files.ts";
import { conclude } from "../run.ts";

/**
 * Runs a plan that a command made from its flags, or prints it with `--dry-run`. Returns the exit code.
 * @param watch observer of a point of a sweep
 * @throws UserError
 */
export async function runMadePlan(plan: Plan, flags: FlagValues, io: CommandIo, watch?: PointWatch): Promise<number> {
  const problems = findReadOutputs(outputFilesOf(plan), inputFilesOf(plan));
  if (problems.length > 0) throw new UserError(problems);
  if (watch?.onPlan !== undefined) {
    watch.onPlan(plan);
    return EXIT.passed;
  }
  if (flags.has("dry-run")) {
    io.out(formatDryRun(plan, "code"));
    return EXIT.passed;
  }
  const reportIo = flags.has("quiet") ? silent(io) : routeTextAroundReports(io, plan.outputs.files);
  return conclude(plan, await executePlan(plan, reportIo, { watch }), flags, io);
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
