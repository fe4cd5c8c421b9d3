import { formatVerdict, judgeLimits, type ResultLimit } from "../../../report/genai-perf/limits.ts";
import type { Sweep } from "../settings.ts";
import type { Measure, PointOutcome, SweepParts } from "./measure-point.ts";
import { combineSweeps, findLoadSweep, formatPoint, type PointParameters } from "./points.ts";
import { createLadder, searchHighest } from "./search.ts";
import type { SweepState } from "./sweep-report.ts";

/**
 * Searches the highest load that keeps the limits, once for each combination of what else is varied. A point keeps them when its results
 * do and no more of its requests failed than allowed.
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
    const answer = await searchHighest(createLadder(load), async (value) => {
      const parameters = placeLoad(sweeps, fixed, load, value);
      const outcome = await measure(parameters, "search");
      if (outcome.kind === "interrupted") return undefined;
      const broken = complaintsOf(outcome, limits);
      if (outcome.kind === "measured") {
        state.brokenLimits.set(outcome.point.name, broken);
        if (outcome.isClientLimited) clientLimited.add(value);
      }
      const verdict = broken.length === 0 ? "keeps all limits" : `breaks ${broken.join("; ")}`;
      io.err(`rampart: ${formatPoint(parameters)} ${verdict}\n`);
      return broken.length === 0;
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
    });
  }
  return hasAll;
}

function complaintsOf(
  outcome: Exclude<PointOutcome, { readonly kind: "interrupted" }>,
  limits: readonly ResultLimit[],
): string[] {
  if (outcome.kind === "failed") return [outcome.reason];
  const { point, complaint } = outcome;
  const broken = judgeLimits(point.result, limits).filter(({ isKept }) => !isKept);
  return [...(complaint === undefined ? [] : [complaint]), ...broken.map(formatVerdict)];
}

/** In the sweeps' order, which folder names show. */
function placeLoad(sweeps: readonly Sweep[], fixed: PointParameters, load: Sweep, value: number): PointParameters {
  const others = [...fixed];
  return sweeps.map((sweep) => (sweep === load ? [load.type, value] : (others.shift() as PointParameters[number])));
}
