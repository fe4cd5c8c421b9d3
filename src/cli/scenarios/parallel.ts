import { defined } from "../../plan/objects.ts";
import type { Plan } from "../../plan/plan.ts";
import { addProblems, type Problem, problem, RunError, UserError } from "../../plan/problem.ts";
import {
  buildSweepModel,
  type MissingPoint,
  type PointValues,
  type Sweep,
  type SweptPoint,
  toSweepJson,
} from "../../report/sweep/sweep-model.ts";
import { exitCodeOf } from "../../result/exit-codes.ts";
import { joinLocally } from "../../run/peers/local-peers.ts";
import type { CommandIo, OnReport, OnRuns, PointWatch } from "../execute.ts";
import { expectedAtMost, formatDryRuns, showPlan, timeOfPlans } from "../expected-time.ts";
import type { FlagValues } from "../flags.ts";
import { silent } from "../guarded-io.ts";
import { checkPointFiles, showReports } from "./sweep.ts";

/** `perTarget(…)`: measures each target with a separate load, all at the same time, in one report. */

/** The targets of a scenario that have separate loads. */
export interface ParallelRun {
  readonly names: readonly string[];
  readonly flags: FlagValues;
  /** Returns the plan of a target, without files. @throws UserError */
  planOf(part: number): Plan;
  /** Runs the load of a target. Returns its exit code. */
  runPart(part: number, io: CommandIo, watch: PointWatch): Promise<number>;
  readonly onRuns: OnRuns | undefined;
  readonly onReport: OnReport | undefined;
}

/** Measures all targets at the same time. Returns the exit code of each. @throws UserError with all problems */
export async function runParallel(run: ParallelRun, io: CommandIo): Promise<readonly number[]> {
  const { names, flags } = run;
  const problems: Problem[] = checkFlags(flags);
  const plans = names.map((_, part) => planOf(run, part, problems));
  problems.push(...checkPointFiles(flags, "run", plans));
  if (problems.length > 0) throw new UserError(problems);
  if (run.onRuns !== undefined) {
    const runs = names.map((name, part) => ({ name, plan: plans[part] as Plan }));
    run.onRuns(runs, true);
    return [];
  }
  const time = timeOfPlans(plans, true);
  if (!flags.has("quiet")) io.err(`  at the same time: ${names.join(", ")}${expectedAtMost(time)}\n`);
  if (flags.has("dry-run")) {
    const targets = names.map((target, part) => ({ target, plan: showPlan(plans[part]) }));
    io.out(formatDryRuns(time, { targets }));
    return [];
  }
  const { sweep, codes } = await measure(run, io);
  const { onReport } = run;
  await showReports({ model: buildSweepModel(sweep), json: toSweepJson(sweep), flags, door: "run", onReport }, io);
  return codes;
}

function planOf(run: ParallelRun, part: number, problems: Problem[]): Plan | undefined {
  try {
    const plan = run.planOf(part);
    if (plan.repeat === undefined) return plan;
    const message = "targets with loads of their own are measured once";
    if (part === 0) problems.push(problem("conflict", "repeat", message, "Leave it out."));
  } catch (error) {
    const name = run.names[part] ?? "";
    addProblems(problems, error, (path) =>
      path.replace(/^(target|inputs)\b/, `target.${part}.$1`).replace(/^load\b/, `load.${name}`),
    );
  }
  return undefined;
}

/** Options that two runs at the same time cannot share. */
const NOT_SHARED = ["url", "bus", "watch-port"];

function checkFlags(flags: FlagValues): Problem[] {
  return NOT_SHARED.flatMap((name) =>
    flags.has(name)
      ? [problem("conflict", `--${name}`, "perTarget(…) makes several runs at the same time", "Leave it out.")]
      : [],
  );
}

async function measure(
  { names, runPart }: ParallelRun,
  io: CommandIo,
): Promise<{ readonly sweep: Sweep; readonly codes: readonly number[] }> {
  const peers = joinLocally(names.length);
  const found: (SweptPoint | undefined)[] = names.map(() => undefined);
  const missing: MissingPoint[] = [];
  const runs = names.map(async (name, part) => {
    const values: PointValues = [["target", name]];
    const peersOfPart = peers[part];
    const onReport: PointWatch["onReport"] = (plan, json) => {
      found[part] = { values, plan, json };
    };
    try {
      return await runPart(part, silent(io), {
        onReport,
        ...defined({ peers: peersOfPart }),
      });
    } catch (error) {
      if (!(error instanceof RunError)) throw error;
      missing.push({ values, reason: error.message });
      return exitCodeOf(error.code);
    } finally {
      await peersOfPart?.close();
    }
  });
  const codes = await Promise.all(runs);
  return {
    sweep: { noun: "targets", points: found.filter((one) => one !== undefined), missing, asked: names.length },
    codes,
  };
}
