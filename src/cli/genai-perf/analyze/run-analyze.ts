import { runSweep, type SweepSearch } from "../../../campaign/sweep.ts";
import { createLadder } from "../../../load/load-ladder.ts";
import { type Problem, problem, UserError } from "../../../plan/problem.ts";
import { findBrokenLimits, formatLimit, parseLimit, type ResultLimit } from "../../../report/genai-perf/limits.ts";
import { drawSweep } from "../../../report/genai-perf/plots.ts";
import type { SweepRow } from "../../../report/genai-perf/sweep/sweep.ts";
import {
  removeSweepFiles,
  type SweepFiles,
  sweepFiles,
  writeSweepFiles,
} from "../../../report/genai-perf/sweep/sweep-files.ts";
import { formatResponse, formatSweepTable } from "../../../report/genai-perf/sweep/sweep-table.ts";
import { formatPoint, type SweepSummary } from "../../../result/sweep.ts";
import type { CommandIo } from "../../execute.ts";
import { openCheckpoint } from "../checkpoint/keep.ts";
import { loadOf } from "../loads.ts";
import type { GenaiSettings } from "../options/settings.ts";
import type { GivenSettings } from "../options/settings-builder.ts";
import { isDecimal } from "../options/sweeps.ts";
import { axesOf, findLoadSweep } from "../points.ts";
import { toReportsPlan } from "../profile/to-plan.ts";
import { SharedTokenWork } from "../profile/token-work.ts";
import { measurePoint } from "./measure-point.ts";

/** `genai-perf analyze`: runs one profile per point of a sweep, and summarizes them. */

/**
 * Runs a sweep, or a search if the settings ask for one. A failed point is reported and the sweep continues. Ctrl-C ends the sweep.
 * @returns whether all points of a sweep passed, or all searches found an answer
 * @throws UserError, RunError
 */
export async function runAnalyze(settings: GenaiSettings, given: GivenSettings, io: CommandIo): Promise<boolean> {
  const { analyze, output, perfAnalyzer } = settings;
  const search = toSearch(settings);
  const checkpoint = await openCheckpoint(settings, io);
  const tokens = new SharedTokenWork();
  const files = sweepFiles(output.artifactDir);
  const { title } = loadOf(findLoadSweep(analyze.sweeps)?.type ?? perfAnalyzer.stimulus.kind);
  try {
    const { sweep, isPassed } = await runSweep({
      axes: axesOf(analyze.sweeps),
      search,
      measure: async (parameters, repeat, isFirst) => {
        const outcome = await measurePoint({ settings, given, io, checkpoint, tokens }, parameters, isFirst, repeat);
        if (isFirst) await removeSweepFiles(files);
        return outcome;
      },
      onChange: (summary) => writeSweepFiles(files, summary, title),
      note: (text) => io.err(`rampart: ${text}\n`),
    });
    reportSweep(sweep, files, io);
    const what = analyze.sweeps.map(({ type }) => type).join(", ");
    if (output.isPlotting) await drawSweep(toReportsPlan(settings, given), sweep.points, what, files.plots, io);
    return isPassed;
  } finally {
    await tokens.close();
  }
}

/** Undefined if the settings ask for no search. @throws UserError for invalid limits */
function toSearch({ analyze, rampart }: GenaiSettings): SweepSearch<SweepRow> | undefined {
  const load = findLoadSweep(analyze.sweeps);
  if (rampart.searchLimits === null || load === undefined) return undefined;
  const limits: ResultLimit[] = [];
  const problems: Problem[] = [];
  for (const [name, value] of Object.entries(rampart.searchLimits)) {
    const limit = parseLimit(name, value);
    const hint = "Write for example request_latency.p99:300, or request_latency:300 for the average.";
    if (typeof limit === "string") problems.push(problem("invalid-value", "--search-limits", limit, hint, name));
    else limits.push(limit);
  }
  if (problems.length > 0) throw new UserError(problems);
  return {
    parameter: load.type,
    ladder: createLadder(load, !isDecimal(load.type)),
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
  for (const response of search?.responses ?? []) io.out(formatResponse(response, search?.limits ?? []));
  io.err(`rampart: the sweep is in ${csv} and ${json}\n`);
}
