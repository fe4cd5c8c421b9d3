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
  const meaning = hasOneRun
    ? ", so no verdict can rest on a single run: give 2 runs on each side at least"
    : "; the verdicts need none, because they rest on how whole runs differ";
  const sides = [base, next].map((side) => ({ ...side, lacking: side.runs.filter((run) => !hasIntervals(run)) }));
  const formats = [...new Set(sides.flatMap(({ lacking }) => lacking.map(({ format }) => format)))].join(", ");
  if (sides.every(({ runs, lacking }) => lacking.length === runs.length))
    return [`no file has confidence intervals within its run (${formats})${meaning}`];
  return sides.flatMap(({ name, runs, lacking }) => {
    if (lacking.length === 0) return [];
    const which = runs.length === 1 ? name : `${lacking.length} of ${runs.length} runs of ${name}`;
    const has = lacking.length === 1 ? "has" : "have";
    return [`${which} ${has} no confidence intervals within the run (${formats})${meaning}`];
  });
}

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
