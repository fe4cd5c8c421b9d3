import { realpathSync } from "node:fs";
import { basename } from "node:path";
import { collect, type Problem, problem, UserError } from "../../plan/problem.ts";
import type { RunSet } from "../../report/compare/comparison.ts";
import type { MeasuredRun } from "../../report/read/runs/measured-run.ts";
import { readRuns } from "../../report/read/runs/read-runs.ts";

/** A side, and the runs that were left out of it. */
export interface ReadSide extends RunSet {
  /** Sources of runs that ended early. */
  readonly partial: readonly string[];
}

/** Reads the runs of each side. @throws UserError with the problems of all files */
export function readSides(sides: readonly (readonly string[])[]): ReadSide[] {
  const problems: Problem[] = [];
  const names = nameSides(sides);
  const read = sides.map((files, index) => readSide(names[index] ?? "", files, problems));
  if (problems.length > 0) throw new UserError(problems);
  return read;
}

function readSide(name: string, files: readonly string[], problems: Problem[]): ReadSide {
  const seen = new Set<string>();
  const runs = files.flatMap((path) => {
    try {
      const realPath = realpathSync(path);
      if (seen.has(realPath))
        problems.push(problem("conflict", path, "is given twice on one side", "Give each run once."));
      seen.add(realPath);
    } catch {
      // `readRuns` reports the reason.
    }
    return collect(problems, () => readRuns(path)) ?? [];
  });
  problems.push(...findCopies(runs));
  const complete = runs.filter(({ isPartial }) => !isPartial);
  if (runs.length > 0 && complete.length === 0)
    problems.push(problem("mismatch", name, "has only runs that ended early", "Give a run that ended as planned."));
  const partial = runs.filter(({ isPartial }) => isPartial).map(({ source }) => source);
  return { name, runs: complete, partial };
}

/** Finds runs that are copies of others. Counted twice, they would make the variation between runs look smaller than it is. */
function findCopies(runs: readonly MeasuredRun[]): Problem[] {
  const seen = new Map<string, string>();
  return runs.flatMap(({ source, levels, startedAt }) => {
    const key = JSON.stringify([startedAt, levels.map(({ label, values }) => [label, ...values])]);
    const other = seen.get(key);
    seen.set(key, source);
    // Runs in which all requests failed have the same few values. Without their start times, nothing shows that they
    // are copies.
    const isKnown = startedAt !== undefined || levels.some(hasResponses);
    return other === undefined || !isKnown
      ? []
      : [problem("conflict", source, `is the same run as ${other}`, "Give each run once.")];
  });
}

function hasResponses({ values }: MeasuredRun["levels"][number]): boolean {
  return values.get("errorRate")?.value !== 1 && values.size > 0;
}

/** Names each side by its first file and the number of further ones. Names without folders are enough if they differ. */
function nameSides(sides: readonly (readonly string[])[]): string[] {
  const long = sides.map((files) => nameFiles(files, (path) => path));
  const short = sides.map((files) => nameFiles(files, basename));
  return new Set(short).size === short.length ? short : long;
}

function nameFiles([first = "", ...more]: readonly string[], toName: (path: string) => string): string {
  return more.length === 0 ? toName(first) : `${toName(first)} and ${more.length} more`;
}
