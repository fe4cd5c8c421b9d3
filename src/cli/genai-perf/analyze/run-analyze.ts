import type { Checkpoint } from "../../../campaign/checkpoint.ts";
import { runSweep, type SweepSearch } from "../../../campaign/sweep.ts";
import { findBrokenLimits, formatLimit } from "../../../report/genai-perf/limits.ts";
import { drawSweep } from "../../../report/genai-perf/plots.ts";
import type { GenAiPerfResult } from "../../../report/genai-perf/result.ts";
import type { SweepRow } from "../../../report/genai-perf/sweep/sweep.ts";
import {
  removeSweepFiles,
  type SweepFiles,
  sweepFiles,
  writeSweepFiles,
} from "../../../report/genai-perf/sweep/sweep-files.ts";
import { formatAnswer, formatSweepTable } from "../../../report/genai-perf/sweep/sweep-table.ts";
import { formatPoint, type SweepSummary } from "../../../result/sweep.ts";
import type { CommandIo } from "../../execute.ts";
import type { SweepPlan } from "../plan/plan-sweep.ts";
import { SharedTokenWork } from "../profile/token-work.ts";
import { measurePoint } from "./measure-point.ts";

/** `genai-perf analyze`: runs one profile per point of a sweep, and summarizes them. */

/**
 * Runs a sweep or a search. A failed point is reported and the sweep continues. Ctrl-C ends the sweep.
 * @returns whether all points of a sweep passed, or all searches found an answer
 * @throws UserError, RunError
 */
export async function runAnalyze(
  plan: SweepPlan,
  checkpoint: Checkpoint<GenAiPerfResult>,
  io: CommandIo,
): Promise<boolean> {
  const { axes, loadTitle, plots } = plan;
  const tokens = new SharedTokenWork();
  const files = sweepFiles(plan.folder);
  try {
    const { sweep, isPassed } = await runSweep({
      axes,
      search: toSearch(plan),
      measure: async (parameters, repeat, isFirst) => {
        const outcome = await measurePoint({ plan, io, checkpoint, tokens }, parameters, isFirst, repeat);
        if (isFirst) await removeSweepFiles(files);
        return outcome;
      },
      onChange: (summary) => writeSweepFiles(files, summary, loadTitle),
      note: (text) => io.err(`rampart: ${text}\n`),
    });
    reportSweep(sweep, files, io);
    const what = axes.map(({ name }) => name).join(", ");
    if (plots !== undefined) await drawSweep(plots, sweep.points, what, files.plots, io);
    return isPassed;
  } finally {
    await tokens.close();
  }
}

function toSearch({ search }: SweepPlan): SweepSearch<SweepRow> | undefined {
  if (search === undefined) return undefined;
  const { limits, ...along } = search;
  return {
    ...along,
    limits: limits.map(formatLimit),
    findBroken: ({ result }) => findBrokenLimits(result, limits),
  };
}

function reportSweep(
  { points, failed, search, brokenLimits }: SweepSummary<SweepRow>,
  { csv, json }: SweepFiles,
  io: CommandIo,
): void {
  for (const { parameters, reason } of failed)
    io.err(`rampart: without results: ${formatPoint(parameters)}: ${reason}\n`);
  if (points.length === 0) return;
  io.out(`\n${formatSweepTable(points, search && brokenLimits)}`);
  for (const answer of search?.answers ?? []) io.out(formatAnswer(answer, search?.limits ?? []));
  io.err(`rampart: the sweep is in ${csv} and ${json}\n`);
}
