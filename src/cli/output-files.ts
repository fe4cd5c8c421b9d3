import type { Text } from "../plan/messages.ts";
import type { OutputFilesPlan } from "../plan/output-files-plan.ts";
import { type Problem, problem } from "../plan/problem.ts";
import { isSameFile, whyNotWritable } from "../report/output-place.ts";
import { findFile, isFile } from "../runtime/files.ts";
import type { CommandIo } from "./execute.ts";
import { changedIo } from "./guarded-io.ts";
import { STDOUT_FILE } from "./options/shared-option.ts";

type NamedFile = readonly [name: Text, path: string | undefined];

/** Checks output files before a run, so that the run does not fail at its end. */
export function checkOutputFiles(files: readonly NamedFile[]): Problem[] {
  const problems: Problem[] = [];
  for (const [flag, path] of files) {
    if (path === undefined) continue;
    if (/\.[cm]?[jt]s$/.test(path)) {
      const hint = "Give a name that does not end like a script.";
      problems.push(problem("overwrite", flag, "would overwrite a script", hint, path));
      continue;
    }
    const why = whyNotWritable(path);
    if (why !== undefined) {
      const hint = "Give a path in an existing folder that can be written.";
      problems.push(problem("unwritable", flag, `cannot be written: ${why}`, hint, path));
    }
  }
  return [...problems, ...findDuplicatePaths(files)];
}

/** Finds outputs that are the same file under different names. Devices and pipes may be used several times. */
export function findDuplicatePaths(files: readonly NamedFile[]): Problem[] {
  return files.flatMap(([flag, path], index): Problem[] => {
    if (path === undefined || !isReplaced(path)) return [];
    const twin = files.find(([, other], at) => at < index && other !== undefined && isSameFile(other, path));
    const hint = "Give each report a file of its own.";
    return twin === undefined ? [] : [problem("overwrite", flag, ["is also the file of ", twin[0]], hint, path)];
  });
}

/** Finds outputs that the run also reads. @param read paths that it reads; nonexistent ones are ignored */
export function findReadOutputs(files: readonly NamedFile[], read: readonly string[]): Problem[] {
  if (files.length === 0) return [];
  const inputs = read.filter((path) => path !== "" && isFile(path));
  return files.flatMap(([flag, path]): Problem[] => {
    if (path === undefined || path === "" || !isReplaced(path)) return [];
    const input = inputs.find((one) => isSameFile(one, path));
    const hint = "Give another path: a run does not write over what it reads.";
    if (input === undefined) return [];
    const name = input === path ? "" : `, ${input}`;
    return [problem("overwrite", flag, `is also a file that the run reads${name}`, hint, path)];
  });
}

/** Reports whether a write replaces the file at the path, instead of writing to it. */
function isReplaced(path: string): boolean {
  return findFile(path)?.isFile() ?? true;
}

/** Sends a command's text to standard error if a report is written to standard output. */
export function routeTextAroundReports(io: CommandIo, files: OutputFilesPlan): CommandIo {
  if (!Object.values(files).includes(STDOUT_FILE)) return io;
  return changedIo(io, { out: io.err, hasColor: false, outColumns: undefined });
}
