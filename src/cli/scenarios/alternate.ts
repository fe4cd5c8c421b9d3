import type { Plan } from "../../plan/plan.ts";
import {
  addProblems,
  formatRunError,
  type Problem,
  problem,
  RunError,
  UserError,
  wordError,
} from "../../plan/problem.ts";
import {
  type Alternation,
  type Block,
  buildAlternationModel,
  compareBlocks,
  toAlternationJson,
} from "../../report/compare/alternating.ts";
import { EXIT, exitCodeOf } from "../../result/exit-codes.ts";
import type { AbSide, abOf } from "../../scenario/definition/ab.ts";
import { toRatio } from "../../scenario/fields.ts";
import type { CommandIo, OnReport, OnRuns, PointWatch } from "../execute.ts";
import { expectedAtMost, formatDryRuns, showPlan, timeOfPlans } from "../expected-time.ts";
import type { FlagValues } from "../flags.ts";
import { silent } from "../guarded-io.ts";
import { beginSeries, type Series } from "./series.ts";
import { checkPointFiles, showReports } from "./sweep.ts";

/** `ab(…)`: measures two targets in alternating blocks, with the verdict of their comparison. */

/** The blocks of a scenario. */
export interface AbRun {
  readonly options: NonNullable<ReturnType<typeof abOf>>;
  readonly flags: FlagValues;
  /** Returns the plan of a target, without files. @throws UserError */
  planOf(side: AbSide): Plan;
  /** Runs a block. Returns its exit code. */
  runBlock(side: AbSide, io: CommandIo, watch: PointWatch): Promise<number>;
  readonly onRuns: OnRuns | undefined;
  readonly onReport: OnReport | undefined;
}

const DEFAULT_PAIRS = 5;
const DEFAULT_NAMES = ["a", "b"] as const;

/** Measures both targets in turn, and reports the comparison. Returns the exit codes of the blocks and of the comparison. @throws UserError */
export async function runAlternating(run: AbRun, io: CommandIo): Promise<readonly number[]> {
  const { options, flags } = run;
  const { names = DEFAULT_NAMES, precision, strict = false } = options;
  const problems: Problem[] = checkFlags(flags);
  const plans = ([0, 1] as const).map((side) => planOf(run, side, problems));
  problems.push(...checkPointFiles(flags, "run", plans));
  if (problems.length > 0) throw new UserError(problems);
  const order = orderOf(options.pairs ?? DEFAULT_PAIRS);
  if (run.onRuns !== undefined) {
    const blocks = order.map((side) => ({ name: names[side], plan: plans[side] as Plan }));
    run.onRuns(blocks, false);
    return [];
  }
  const time = timeOfPlans(order.map((side) => plans[side]));
  const targets = order.map((side) => names[side]);
  if (!flags.has("quiet")) io.err(`  ${order.length} blocks: ${targets.join(" ")}${expectedAtMost(time)}\n`);
  if (flags.has("dry-run")) {
    io.out(formatDryRuns(time, { order: targets, plans: plans.map(showPlan) }));
    return [];
  }
  const series = beginSeries(io);
  const { blocks, codes } = await measureBlocks(run, order, io, series).finally(series.end);
  const ratio = precision === undefined ? DEFAULT_PRECISION : toRatio(precision);
  const alternation: Alternation = { names, precision: ratio, isStrict: strict, blocks };
  const side = compareBlocks(alternation, flags.has("verbose"));
  if (side === undefined) {
    io.err("rampart: nothing can be compared: a target has no run that ended as planned\n");
    return codes;
  }
  const [model, json] = [buildAlternationModel(alternation, side), toAlternationJson(alternation, side)];
  await showReports({ model, json, flags, door: "run", onReport: run.onReport }, io);
  return [...codes, json.verdict.exitCode];
}

const DEFAULT_PRECISION = 0.05;

/** Returns a, b, b, a, a, b …: a drift of the machine then affects both targets equally. */
function orderOf(pairs: number): AbSide[] {
  return Array.from({ length: pairs }, (_, pair): AbSide[] => (pair % 2 === 0 ? [0, 1] : [1, 0])).flat();
}

function planOf(run: AbRun, side: AbSide, problems: Problem[]): Plan | undefined {
  try {
    const plan = run.planOf(side);
    if (plan.repeat === undefined) return plan;
    if (side === 0)
      problems.push(problem("conflict", "repeat", "ab(…) already repeats each target", "Use pairs of ab(…)."));
  } catch (error) {
    addProblems(problems, error, (path) => path.replace(/^target\b/, `target.${"ab"[side]}`));
  }
  return undefined;
}

function checkFlags(flags: FlagValues): Problem[] {
  if (!flags.has("url")) return [];
  return [problem("conflict", "--url", "ab(…) has two targets", "Give the addresses in the scenario.")];
}

async function measureBlocks(
  { options, runBlock }: AbRun,
  order: readonly AbSide[],
  io: CommandIo,
  series: Series,
): Promise<{ readonly blocks: readonly Block[]; readonly codes: readonly number[] }> {
  const { names = DEFAULT_NAMES } = options;
  const blocks: Block[] = [];
  const codes: number[] = [];
  for (const [index, side] of order.entries()) {
    if (io.isQuiet !== true) io.err(`  block ${index + 1} of ${order.length}: ${names[side]} …\n`);
    const onReport: PointWatch["onReport"] = (plan, json) => blocks.push({ target: names[side], plan, json });
    try {
      codes.push(await runBlock(side, silent(series.io), { onReport }));
    } catch (error) {
      // Earlier measurements are compared.
      if (!(error instanceof RunError) || blocks.length === 0) throw error;
      io.err(`rampart: ${formatRunError(wordError(error, io.nameOf))}\n`);
      codes.push(exitCodeOf(error.code));
      break;
    }
    if (series.isInterrupted) codes.push(EXIT.interrupted);
    if (codes.at(-1) === EXIT.interrupted) break;
  }
  return { blocks, codes };
}
