import type { MeasuredRun } from "../read/runs/measured-run.ts";
import type { FactDifference, RunSet } from "./comparison.ts";

/** What was measured differently: between the sides, and between the runs of a side. */

/** Returns how the plans of two sides differ. Of different formats only what both name can be compared. */
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

/** Describes what the runs of one side do not have in common; undefined when they are alike. */
export function describeMixedRuns({ name, runs }: RunSet): string | undefined {
  const mixed = [...valuesOf(runs)].filter(([, values]) => values.size > 1).map(([path]) => path);
  if (mixed.length === 0) return undefined;
  return `the runs of ${name} are not of one plan, so their variation is not that between runs: ${listSome(mixed)}`;
}

const MOST_LISTED = 8;

/** Lists the first names, and how many more there are. */
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
  const text = [...values].sort().join(" | ");
  return text.length > MOST_CHARACTERS ? `${text.slice(0, MOST_CHARACTERS)}…` : text;
}
