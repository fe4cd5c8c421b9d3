import { entryNamed } from "../../measure/metrics/metric-names.ts";
import { plural } from "../../plan/units.ts";
import type { MeasuredRun } from "../read/runs/measured-run.ts";
import type { Comparison, FactDifference, RunSet } from "./comparison.ts";

/** Describes the data that the files of a comparison lack, and data in them that is not compared. */

/** Reports whether a run's metrics have intervals; those of ratios follow from the number of requests and do not count. */
export function hasIntervals({ levels }: MeasuredRun): boolean {
  const isCounted = (name: string): boolean => entryNamed(name)?.counts !== undefined;
  return levels.some(({ values }) => [...values].some(([name, { low }]) => low !== undefined && !isCounted(name)));
}

/** Describes the runs without intervals within the run, and the effect on verdicts. */
export function describeMissingIntervals(base: RunSet, next: RunSet): string[] {
  const hasOneRun = base.runs.length < 2 || next.runs.length < 2;
  const sides = [base, next].map(({ name, runs }) => ({
    name,
    runs,
    lacking: runs.filter((run) => !hasIntervals(run)),
  }));
  const lacking = sides.flatMap((side) => side.lacking);
  const summaries = lacking.filter(({ isSummary }) => isSummary === true);
  // If a run could have intervals but was too short for them, that does not matter beside several runs.
  if (lacking.length === 0 || (!hasOneRun && summaries.length === 0)) return [];
  const meaning = hasOneRun
    ? ", so no verdict can rest on a single run: give 2 runs on each side at least"
    : "; the verdicts need none, because they rest on how whole runs differ";
  const why = [
    ...new Set(lacking.map(({ isSummary, format }) => (isSummary === true ? `${format} has none` : TOO_ALIKE))),
  ].join("; ");
  if (sides.every((side) => side.lacking.length === side.runs.length))
    return [`no file has confidence intervals within its run (${why})${meaning}`];
  return sides.flatMap(({ name, runs, lacking: without }) => {
    if (without.length === 0) return [];
    const which = runs.length === 1 ? name : `${without.length} of ${runs.length} runs of ${name}`;
    return [
      `${which} ${plural(without.length, "has", "have")} no confidence intervals within the run (${why})${meaning}`,
    ];
  });
}

const TOO_ALIKE = "its requests are too few or too alike for one";

/** Names the data in the files of both sides that is not compared. */
export function describeNotCompared({ base, next }: Comparison): string[] {
  const [from, to] = [notComparedOf(base), notComparedOf(next)];
  if (from.join() === to.join()) return from.length === 0 ? [] : [`Not compared: ${listSome(from)}`];
  return [[base.name, from] as const, [next.name, to] as const].flatMap(([name, parts]) =>
    parts.length === 0 ? [] : [`Not compared of ${name}: ${listSome(parts)}`],
  );
}

/** Names the data in the files of a side that is not compared, each once. */
export function notComparedOf({ runs }: RunSet): string[] {
  return [...new Set(runs.flatMap(({ notCompared = [] }) => notCompared))];
}

/** Finds what was measured differently: between the sides, and between the runs of a side. */

/** Returns the differences between the plans of two sides. If the formats differ, only fields that both have can be compared. */
export function findDifferences(base: RunSet, next: RunSet): FactDifference[] {
  const isSameFormat = formatsOf(base).join() === formatsOf(next).join();
  const [from, to] = [valuesOf(base.runs), valuesOf(next.runs)];
  return [...new Set([...from.keys(), ...to.keys()])].flatMap((path): FactDifference[] => {
    const [left, right] = [from.get(path), to.get(path)];
    if (!isSameFormat && (left === undefined || right === undefined)) return [];
    const [a, b] = [describeValues(left), describeValues(right)];
    return a === b ? [] : [{ path, base: a, next: b }];
  });
}

/** Returns the formats of a side's files. */
export function formatsOf({ runs }: RunSet): string[] {
  return [...new Set(runs.map(({ format }) => format))];
}

/** Describes differences between the runs of one side; undefined if there are none. */
export function describeMixedRuns({ name, runs }: RunSet): string | undefined {
  const mixed = [...valuesOf(runs)].filter(([, values]) => values.size > 1).map(([path]) => path);
  if (mixed.length === 0) return undefined;
  return `the runs of ${name} are not of one plan, so their variation is not that between runs: ${listSome(mixed)}`;
}

const MOST_LISTED = 8;

/** Lists the first names, and the number of others. */
export function listSome(names: readonly string[]): string {
  const more = names.length - MOST_LISTED;
  return `${names.slice(0, MOST_LISTED).join(", ")}${more > 0 ? ` and ${more} more` : ""}`;
}

function valuesOf(runs: readonly MeasuredRun[]): Map<string, Set<string>> {
  const values = new Map<string, Set<string>>();
  for (const { facts } of runs)
    for (const [path, value] of facts) values.set(path, (values.get(path) ?? new Set()).add(value));
  return values;
}

const MOST_CHARACTERS = 60;

function describeValues(values: ReadonlySet<string> | undefined): string {
  if (values === undefined) return "(none)";
  const text = [...values]
    .map((value) => value || '""')
    .sort()
    .join(" | ");
  return text.length > MOST_CHARACTERS ? `${text.slice(0, MOST_CHARACTERS)}…` : text;
}
