import type { Plan } from "../../plan/plan.ts";
import { gravestOf } from "../../result/exit-codes.ts";
import type { ReportModel } from "../model/report-model.ts";
import { type MeasuredRun, toRunFile } from "../read/runs/measured-run.ts";
import { rampartJson } from "../read/runs/rampart-json.ts";
import type { ComparisonJson } from "../schema/comparison.ts";
import { type ReasonJson, type ReportJson, VERDICT_NAMES, worstFirst } from "../schema/report-schema.ts";
import { joinChecks, type SweptPoint, suitesOfPoint } from "../sweep/sweep-model.ts";
import { compareRuns } from "./compare-runs.ts";
import type { RunSet } from "./comparison.ts";
import { toComparisonJson } from "./json.ts";
import type { ComparedSides } from "./limits.ts";
import { buildComparisonModel } from "./model.ts";

/** The report of `ab(…)`: the comparison of its targets, with the assertions of all blocks. */

/** A block with its report. */
export interface Block {
  /** Name of the block's target. */
  readonly target: string;
  readonly plan: Plan;
  readonly json: ReportJson;
}

/** Alternating blocks that have ended. */
export interface Alternation {
  readonly names: readonly [string, string];
  /** Smallest relative difference that matters, above 0: 0.05 for 5 %. */
  readonly precision: number;
  readonly isStrict: boolean;
  /** Blocks in the order of the run. */
  readonly blocks: readonly Block[];
}

/** Compares the blocks of both targets; undefined if one has no complete block. @param isAll as in {@link ComparedSides} */
export function compareBlocks({ names, precision, blocks }: Alternation, isAll: boolean): ComparedSides | undefined {
  const [base, next] = names.map((name) => toRunSet(name, blocks)) as [RunSet, RunSet];
  if (base.runs.length === 0 || next.runs.length === 0) return undefined;
  const comparison = compareRuns(base, next, { precision, acceptsWithinRuns: false });
  // The user asked how the targets differ, so that is not reported as a difference.
  return { comparison: { ...comparison, differences: [] }, limits: [], isAll };
}

/** Returns the runs of a target that ended as planned, ready for comparison. */
function toRunSet(name: string, blocks: readonly Block[]): RunSet {
  const runs = blocks.flatMap(({ target, json }, at): readonly MeasuredRun[] =>
    target === name ? rampartJson.read(toRunFile(`block ${blockName(target, at)}`, json)) : [],
  );
  return { name, runs: runs.filter(({ isPartial }) => !isPartial) };
}

function blockName(target: string, at: number): string {
  return `${at + 1} (${target})`;
}

/** Converts the comparison to JSON, with the whole report of each block. */
export function toAlternationJson(ab: Alternation, side: ComparedSides): ComparisonJson {
  const { precision, isStrict, blocks } = ab;
  const json = toComparisonJson([side], isStrict);
  const { name, headline } = buildAlternationModel(ab, side).verdict;
  const ofBlocks = blocks.flatMap(({ target, json: { verdict } }, at) =>
    verdict.reasons.map(
      (reason): ReasonJson => ({ ...reason, text: `block ${blockName(target, at)}: ${reason.text}` }),
    ),
  );
  return {
    ...json,
    verdict: {
      ...{ name, headline },
      reasons: worstFirst([...json.verdict.reasons, ...ofBlocks]),
      exitCode: gravestOf([json.verdict.exitCode, ...blocks.flatMap((block) => block.json.verdict.exitCode ?? [])]),
    },
    alternation: {
      ...{ precisionRatio: precision, isStrict },
      blocks: blocks.map(({ target, json: report }) => ({ target, report })),
    },
  };
}

/** Builds the model of the comparison, with the assertions of all blocks. */
export function buildAlternationModel({ isStrict, blocks }: Alternation, side: ComparedSides): ReportModel {
  const model = buildComparisonModel([side], isStrict);
  const points = blocks.map(({ target, plan, json }, at): SweptPoint => {
    return { values: [["block", blockName(target, at)]], plan, json };
  });
  const startedAt = blocks[0]?.json.startedAt;
  return {
    ...model,
    verdict: { ...model.verdict, ...judgeBlocks(blocks, model) },
    checks: [...model.checks, ...joinChecks(points, "blocks")],
    suites: [
      ...model.suites.map((suite) => (startedAt === undefined ? suite : { ...suite, startedAt })),
      ...points.flatMap(suitesOfPoint),
    ],
  };
}

/** Returns the changes to the comparison's verdict because of blocks that did not pass. */
function judgeBlocks(blocks: readonly Block[], { verdict }: ReportModel): Partial<ReportModel["verdict"]> {
  const names = blocks.map(({ json }) => json.verdict.name);
  const worst = VERDICT_NAMES.find((one) => names.includes(one) && one !== "passed" && one !== "measured");
  if (worst === undefined) return {};
  const count = names.filter((name) => name === worst).length;
  return {
    name: VERDICT_NAMES.find((one) => one === worst || one === verdict.name) ?? worst,
    headline: `${count} of ${blocks.length} blocks ${worst}; ${verdict.headline}`,
  };
}
