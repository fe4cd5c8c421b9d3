import type { Plan } from "../../plan/plan.ts";
import { addProblems, type Problem, problem, UserError } from "../../plan/problem.ts";
import { compareRuns } from "../../report/compare/compare-runs.ts";
import type { RunSet } from "../../report/compare/comparison.ts";
import { toComparisonJson } from "../../report/compare/json.ts";
import type { ComparedSides } from "../../report/compare/limits.ts";
import { buildComparisonModel } from "../../report/compare/model.ts";
import { judgeComparison } from "../../report/compare/verdict.ts";
import { toReportJson } from "../../report/json/report-json.ts";
import type { ReportModel } from "../../report/model/report-model.ts";
import { MODEL_FILES } from "../../report/model-files.ts";
import type { MeasuredRun } from "../../report/read/runs/measured-run.ts";
import { rampartJson } from "../../report/read/runs/rampart-json.ts";
import { joinChecks, type SweptPoint } from "../../report/sweep/sweep-model.ts";
import { EXIT } from "../../result/exit-codes.ts";
import type { AbSide, abOf } from "../../scenario/definition/ab.ts";
import { toRatio } from "../../scenario/fields.ts";
import type { CommandIo, OnRuns, PointWatch } from "../execute.ts";
import { expectedAtMost, showPlan } from "../expected-time.ts";
import type { FlagValues } from "../flags.ts";
import { fileKeyOf } from "../options/shared-option.ts";
import { sharedOptions } from "../options/shared-options.ts";
import { silent } from "../output-files.ts";
import { readFiles } from "../shared-flags.ts";
import { showReports } from "./sweep.ts";

/** `ab(…)`: two targets in alternating blocks, with the verdict of their comparison. */

/** The blocks of a scenario. */
export interface AbRun {
  readonly options: NonNullable<ReturnType<typeof abOf>>;
  readonly flags: FlagValues;
  /** Returns the plan of a target, without files. @throws UserError */
  planOf(side: AbSide): Plan;
  /** Runs a block. Returns its exit code. */
  runBlock(side: AbSide, io: CommandIo, watch: PointWatch): Promise<number>;
  readonly onRuns: OnRuns | undefined;
}

const DEFAULT_PAIRS = 5;
const DEFAULT_NAMES = ["a", "b"] as const;

/** Measures both targets in turn, and reports the comparison. Returns the exit codes of the blocks and of the comparison. @throws UserError */
export async function runAlternating(run: AbRun, io: CommandIo): Promise<readonly number[]> {
  const { options, flags } = run;
  const { names = DEFAULT_NAMES, precision, strict = false } = options;
  const problems: Problem[] = checkFlags(flags);
  readFiles(flags, sharedOptions("run"), [], problems);
  const plans = ([0, 1] as const).map((side) => planOf(run, side, problems));
  if (problems.length > 0) throw new UserError(problems);
  const order = orderOf(options.pairs ?? DEFAULT_PAIRS);
  if (run.onRuns !== undefined) {
    run.onRuns(
      order.map((side) => ({ name: names[side], plan: plans[side] as Plan })),
      false,
    );
    return [];
  }
  if (!flags.has("quiet")) announce(order, plans, names, io);
  if (flags.has("dry-run")) {
    const shown = { order: order.map((side) => names[side]), plans: plans.map(showPlan) };
    io.out(`${JSON.stringify(shown, null, 2)}\n`);
    return [];
  }
  const { blocks, codes } = await measureBlocks(run, order, io);
  const [base, next] = ([0, 1] as const).map((side) =>
    toRunSet(
      names[side],
      blocks.filter((one) => one.side === side),
    ),
  );
  if (base === undefined || next === undefined || base.runs.length === 0 || next.runs.length === 0) {
    io.err("rampart: nothing can be compared: a target has no run that ended as planned\n");
    return codes;
  }
  const comparison = compareRuns(base, next, {
    precision: precision === undefined ? DEFAULT_PRECISION : toRatio(precision),
    acceptsWithinRuns: false,
  });
  const sides: ComparedSides[] = [{ comparison, limits: [], isAll: flags.has("verbose") }];
  const model = buildModel(sides, strict, blocks);
  const json = { ...toComparisonJson(sides, strict), order: order.map((side) => names[side]) };
  await showReports({ model, json, flags, door: "run" }, io);
  return [...codes, judgeComparison(sides, strict).exitCode];
}

const DEFAULT_PRECISION = 0.05;

/** Returns a, b, b, a, a, b …: a drift of the machine then changes both alike. */
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
  const files = sharedOptions("run").flatMap((option) => {
    const key = fileKeyOf(option);
    const isWritten = key !== undefined && key !== "csv" && key in MODEL_FILES;
    if (key === undefined || isWritten || !flags.has(option.name)) return [];
    return [
      problem(
        "conflict",
        `--${option.name}`,
        "cannot hold more than one run, and ab(…) makes several",
        "Leave it out.",
      ),
    ];
  });
  if (!flags.has("url")) return files;
  return [...files, problem("conflict", "--url", "ab(…) has two targets", "Give the addresses in the scenario.")];
}

function announce(
  order: readonly AbSide[],
  plans: readonly (Plan | undefined)[],
  names: readonly [string, string],
  io: CommandIo,
): void {
  const span = expectedAtMost(
    order.map((side) => plans[side]),
    (...timesMs) => timesMs.reduce((total, ms) => total + ms, 0),
  );
  io.err(`  ${order.length} blocks: ${order.map((side) => names[side]).join(" ")}${span}\n`);
}

interface Block extends SweptPoint {
  readonly side: AbSide;
}

async function measureBlocks(
  { options, runBlock }: AbRun,
  order: readonly AbSide[],
  io: CommandIo,
): Promise<{ readonly blocks: readonly Block[]; readonly codes: readonly number[] }> {
  const { names = DEFAULT_NAMES } = options;
  const blocks: Block[] = [];
  const codes: number[] = [];
  for (const [index, side] of order.entries()) {
    if (io.isQuiet !== true) io.err(`  block ${index + 1} of ${order.length}: ${names[side]} …\n`);
    const onExecuted: PointWatch["onExecuted"] = (plan, { result }) => {
      const json = toReportJson(plan, result, { warned: [], nameOf: io.nameOf });
      blocks.push({ side, values: [["block", `${index + 1} (${names[side]})`]], plan, json });
    };
    codes.push(await runBlock(side, silent(io), { onExecuted }));
    if (codes.at(-1) === EXIT.interrupted) break;
  }
  return { blocks, codes };
}

/** Returns the runs of a target that ended as planned, as they are compared. */
function toRunSet(name: string, blocks: readonly Block[]): RunSet {
  const runs = blocks.flatMap(({ values, json }): readonly MeasuredRun[] =>
    rampartJson.read({
      path: values.map((value) => value.join(" ")).join(),
      head: "",
      readText: () => "",
      readDocument: () => ({ ...json }),
    }),
  );
  return { name, runs: runs.filter(({ isPartial }) => !isPartial) };
}

/** The comparison, with what was asserted in all blocks. */
function buildModel(sides: readonly ComparedSides[], isStrict: boolean, blocks: readonly Block[]): ReportModel {
  const model = buildComparisonModel(sides, isStrict);
  const checks = joinChecks(blocks, "blocks");
  const broken = blocks.filter(({ json }) => json.verdict.name === "failed").length;
  const verdict =
    broken === 0
      ? model.verdict
      : {
          ...model.verdict,
          name: "failed" as const,
          headline: `${broken} of ${blocks.length} blocks failed; ${model.verdict.headline}`,
        };
  return { ...model, verdict, checks: [...model.checks, ...checks] };
}
