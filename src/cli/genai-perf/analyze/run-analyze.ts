import { formatLimit } from "../../../report/genai-perf/limits.ts";
import { drawSweep } from "../../../report/genai-perf/plots.ts";
import type { SearchSummary } from "../../../report/genai-perf/sweep/sweep-json.ts";
import { formatSweepTable } from "../../../report/genai-perf/sweep/sweep-table.ts";
import type { CommandIo } from "../../execute.ts";
import { openKeeper } from "../checkpoint/keep.ts";
import type { GenaiSettings } from "../options/settings.ts";
import type { GivenSettings } from "../options/settings-builder.ts";
import { toReportsPlan } from "../profile/to-outputs.ts";
import { SharedTokenWork } from "../profile/token-work.ts";
import { type Measure, measurePoint, type SweepParts } from "./measure-point.ts";
import { combineSweeps, formatPoint } from "./points.ts";
import { readSearchLimits } from "./search-limits.ts";
import { searchSweeps } from "./search-sweeps.ts";
import { removeSweepFiles, type SweepState, sweepFiles, writeSweepFiles } from "./sweep-report.ts";

/** `genai-perf analyze`: runs one profile per point of a sweep, and summarizes them. */

/**
 * Runs a sweep, or a search if the settings ask for one. A failed point is reported and the sweep continues. Ctrl-C ends the sweep.
 * @returns whether all points of a sweep passed, or all searches found an answer
 * @throws UserError, RunError
 */
export async function runAnalyze(settings: GenaiSettings, given: GivenSettings, io: CommandIo): Promise<boolean> {
  const limits = readSearchLimits(settings);
  const keeper = await openKeeper(settings, given, io);
  const tokens = new SharedTokenWork();
  try {
    return await sweep({ settings, given, io, keeper, tokens }, limits);
  } finally {
    await tokens.close();
  }
}

async function sweep(parts: SweepParts, limits: ReturnType<typeof readSearchLimits>): Promise<boolean> {
  const { settings, io } = parts;
  const state: SweepState = {
    measured: [],
    failed: [],
    search: limits === undefined ? undefined : { limits: limits.map(formatLimit), answers: [] },
    brokenLimits: new Map(),
  };
  const measure = createMeasure(parts, state);
  const isPassed =
    limits === undefined ? await measureAll(parts, measure) : await searchSweeps(parts, state, limits, measure);
  writeSweepFiles(settings, state);
  reportSweep(parts, state);
  const points = state.measured.map(({ point }) => point);
  const what = settings.analyze.sweeps.map(({ type }) => type).join(", ");
  if (settings.output.isPlotting)
    await drawSweep(toReportsPlan(settings, parts.given), points, what, sweepFiles(settings).plots, io);
  return isPassed;
}

function createMeasure(parts: SweepParts, state: SweepState): Measure {
  const note = (text: string): void => parts.io.err(`rampart: ${text}\n`);
  return async (parameters, progress, repeat = 0) => {
    note(`${progress}: ${formatPoint(parameters)}`);
    const isFirst = state.measured.length + state.failed.length === 0;
    const outcome = await measurePoint(parts, parameters, isFirst, repeat);
    if (isFirst) await removeSweepFiles(parts.settings);
    if (outcome.kind === "interrupted") {
      note(`the sweep ends at ${formatPoint(parameters)}, which is in no summary; what was measured before is`);
      return outcome;
    }
    if (outcome.kind === "measured") state.measured.push(outcome);
    else {
      state.failed.push(outcome);
      note(`${formatPoint(parameters)} failed: ${outcome.reason}`);
    }
    writeSweepFiles(parts.settings, state);
    return outcome;
  };
}

async function measureAll({ settings }: SweepParts, measure: Measure): Promise<boolean> {
  const points = combineSweeps(settings.analyze.sweeps);
  let isPassed = true;
  for (const [index, parameters] of points.entries()) {
    const outcome = await measure(parameters, `point ${index + 1} of ${points.length}`);
    if (outcome.kind === "interrupted") return false;
    if (outcome.kind === "failed" || outcome.complaint !== undefined) isPassed = false;
  }
  return isPassed;
}

function reportSweep({ settings, io }: SweepParts, { measured, failed, search, brokenLimits }: SweepState): void {
  const note = (text: string): void => io.err(`rampart: ${text}\n`);
  for (const { parameters, reason } of failed) note(`without results: ${formatPoint(parameters)}: ${reason}`);
  if (measured.length === 0) return;
  const points = measured.map(({ point }) => point);
  io.out(`\n${formatSweepTable(points, search === undefined ? undefined : brokenLimits)}`);
  for (const answer of search?.answers ?? []) io.out(formatAnswer(answer, search?.limits ?? []));
  const { csv, json } = sweepFiles(settings);
  note(`the sweep is in ${csv} and ${json}`);
}

function formatAnswer(
  { parameter, fixed, highest, lowestBroken, isClientLimited, highestVotes, lowestBrokenVotes }: SearchSummary,
  limits: readonly string[],
): string {
  const what = `${parameter}${fixed.length === 0 ? "" : ` with ${formatPoint(fixed)}`}`;
  const doubt = isClientLimited ? ", where the client may have been the limit and not the server" : "";
  const broken = lowestBrokenVotes === null ? [] : [formatVotes(lowestBrokenVotes.broken, lowestBrokenVotes)];
  if (highest === null)
    return `No ${what} keeps ${limits.join(" and ")}: ${lowestBroken} breaks it already${doubt}, in ${broken.join("")}.\n`;
  const end = lowestBroken === null ? "the end of the sweep" : `${lowestBroken} does not${doubt}`;
  const kept = highestVotes === null ? [] : [formatVotes(highestVotes.kept, highestVotes)];
  return `Highest ${what} that keeps ${limits.join(" and ")}: ${highest} (${end}), in ${[...kept, ...broken].join(" and ")}.\n`;
}

/** Formats how many measurements of a load agree with the answer. */
function formatVotes(agreeing: number, { kept, broken }: NonNullable<SearchSummary["highestVotes"]>): string {
  return `${agreeing} of ${kept + broken} measurements`;
}
