import { createLadder, searchHighest } from "../../../campaign/search.ts";
import { formatVerdict, judgeLimits, type ResultLimit } from "../../../report/genai-perf/limits.ts";
import type { Sweep } from "../options/settings.ts";
import { isDecimal } from "../options/sweeps.ts";
import type { Measure, PointOutcome, SweepParts } from "./measure-point.ts";
import { combineSweeps, findLoadSweep, formatPoint, type PointParameters } from "./points.ts";
import type { SweepState } from "./sweep-report.ts";

/**
 * Searches the highest load that meets the limits, once for each combination of the other parameters. A point meets them if its results do,
 * no more of its requests failed than allowed, and the measurement is stable where required.
 * @returns whether every search found one
 */
export async function searchSweeps(
  { settings, io }: SweepParts,
  state: SweepState,
  limits: readonly ResultLimit[],
  measure: Measure,
): Promise<boolean> {
  const { sweeps } = settings.analyze;
  const load = findLoadSweep(sweeps) as Sweep;
  let hasAll = true;
  for (const fixed of combineSweeps(sweeps.filter((sweep) => sweep !== load))) {
    const clientLimited = new Set<number>();
    const answer = await searchHighest(createLadder(load, !isDecimal(load.type)), async (value, repeat) => {
      const parameters = placeLoad(sweeps, fixed, load, value);
      const outcome = await measure(parameters, repeat === 0 ? "search" : "search, to confirm", repeat);
      if (outcome.kind === "interrupted") return undefined;
      const { failure, broken } = judgePoint(outcome, limits);
      const isKept = failure === undefined && broken.length === 0;
      if (outcome.kind === "measured") {
        state.brokenLimits.set(outcome.point.name, [...(failure === undefined ? [] : [failure]), ...broken]);
        if (outcome.isClientLimited) clientLimited.add(value);
      }
      const found = [
        ...(failure === undefined ? [] : [`fails: ${failure}`]),
        ...(broken.length === 0 ? [] : [`breaks ${broken.join("; ")}`]),
      ];
      io.err(`rampart: ${formatPoint(parameters)} ${isKept ? "keeps all limits" : found.join("; it ")}\n`);
      return isKept;
    });
    if (answer.kind === "stopped") return false;
    const isFound = answer.kind === "found";
    hasAll &&= isFound;
    const lowestBroken = isFound ? (answer.broken ?? null) : answer.lowest;
    state.search?.answers.push({
      parameter: load.type,
      fixed,
      highest: isFound ? answer.highest : null,
      lowestBroken,
      isClientLimited: lowestBroken !== null && clientLimited.has(lowestBroken),
      highestVotes: isFound ? answer.highestVotes : null,
      lowestBrokenVotes: (isFound ? answer.brokenVotes : answer.lowestVotes) ?? null,
    });
  }
  return hasAll;
}

/** Returns why a point does not count regardless of its results, and the limits that its results break. */
function judgePoint(
  outcome: Exclude<PointOutcome, { readonly kind: "interrupted" }>,
  limits: readonly ResultLimit[],
): { readonly failure: string | undefined; readonly broken: readonly string[] } {
  if (outcome.kind === "failed") return { failure: outcome.reason, broken: [] };
  const { point, complaint } = outcome;
  const broken = judgeLimits(point.result, limits).filter(({ isKept }) => !isKept);
  return { failure: complaint, broken: broken.map(formatVerdict) };
}

/** Inserts the load in the sweeps' order, which determines folder names. */
function placeLoad(sweeps: readonly Sweep[], fixed: PointParameters, load: Sweep, value: number): PointParameters {
  const others = [...fixed];
  return sweeps.map((sweep) => (sweep === load ? [load.type, value] : (others.shift() as PointParameters[number])));
}
