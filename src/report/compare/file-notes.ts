import type { MeasuredRun } from "../read/runs/measured-run.ts";
import type { Comparison, RunSet } from "./comparison.ts";
import { listSome } from "./plan-differences.ts";

/** What the files of a comparison lack, and what they have that is not compared. */

/**
 * Reports whether a run's own numbers say how certain they are. Counted ratios do not count: the interval of an error rate follows from the
 * number of requests.
 */
export function hasIntervals({ levels }: MeasuredRun): boolean {
  return levels.some(({ values }) => [...values].some(([name, { low }]) => low !== undefined && name !== "errorRate"));
}

/** Describes the runs without intervals within the run, and what that means for verdicts. */
export function describeMissingIntervals(base: RunSet, next: RunSet): string[] {
  const hasOneRun = base.runs.length < 2 || next.runs.length < 2;
  const sides = [base, next].map(({ name, runs }) => ({
    name,
    runs,
    lacking: runs.filter((run) => !hasIntervals(run)),
  }));
  const lacking = sides.flatMap((side) => side.lacking);
  const summaries = lacking.filter(({ isSummary }) => isSummary === true);
  // A run that could have intervals and was too short for one adds nothing to what several runs say.
  if (lacking.length === 0 || (!hasOneRun && summaries.length === 0)) return [];
  const meaning = hasOneRun
    ? ", so no verdict can rest on a single run: give 2 runs on each side at least"
    : "; the verdicts need none, because they rest on how whole runs differ";
  const why = [
    ...new Set(lacking.map(({ isSummary, format }) => (isSummary === true ? `${format} has none` : TOO_ALIKE))),
  ].join("; ");
  if (sides.every((side) => side.lacking.length === side.runs.length))
    return [`no file has confidence intervals within its run (${why})${meaning}`];
  return sides.flatMap(({ name, runs, lacking: own }) => {
    if (own.length === 0) return [];
    const which = runs.length === 1 ? name : `${own.length} of ${runs.length} runs of ${name}`;
    return [`${which} ${own.length === 1 ? "has" : "have"} no confidence intervals within the run (${why})${meaning}`];
  });
}

const TOO_ALIKE = "its requests are too few or too alike for one";

/** Names what the files of both sides have that is not compared. */
export function describeNotCompared({ base, next }: Comparison): string[] {
  const [from, to] = [notComparedOf(base), notComparedOf(next)];
  if (from.join() === to.join()) return from.length === 0 ? [] : [`Not compared: ${listSome(from)}`];
  return [[base.name, from] as const, [next.name, to] as const].flatMap(([name, parts]) =>
    parts.length === 0 ? [] : [`Not compared of ${name}: ${listSome(parts)}`],
  );
}

/** Names what the files of a side have that is not compared, each once. */
export function notComparedOf({ runs }: RunSet): string[] {
  return [...new Set(runs.flatMap(({ notCompared = [] }) => notCompared))];
}
