import type { Plan } from "../plan/plan.ts";
import type { Problem } from "../plan/problem.ts";
import { isSameFile, whyNotWritable } from "../report/output-place.ts";
import { fileSystem } from "../runtime/files.ts";
import type { CommandIo } from "./execute.ts";

/** Whether a file can be written at a path, without touching it. */
export function isWritable(path: string): boolean {
  return whyNotWritable(path) === undefined;
}

export function isDirectory(path: string): boolean {
  try {
    return fileSystem().statSync(path).isDirectory();
  } catch {
    // Whatever is there, it is none that can be used.
    return false;
  }
}

type NamedFile = readonly [flag: string, path: string | undefined];

/** Files are refused before a run, not after it. */
export function checkOutputFiles(files: readonly NamedFile[]): Problem[] {
  const problems: Problem[] = [];
  for (const [flag, path] of files) {
    if (path === undefined) continue;
    if (/\.[cm]?[jt]s$/.test(path)) {
      const hint = "Reports are no scripts: give another name.";
      problems.push({ path: flag, message: "would overwrite a script", value: path, hint });
      continue;
    }
    if (!isWritable(path)) {
      const hint = "Give a path in an existing folder that can be written.";
      problems.push({ path: flag, message: "cannot be written", value: path, hint });
    }
  }
  return [...problems, ...findTwins(files)];
}

/** Outputs that are each other's files, whatever they are called. Devices and pipes take several. */
function findTwins(files: readonly NamedFile[]): Problem[] {
  return files.flatMap(([flag, path], index): Problem[] => {
    if (path === undefined || !isReplaced(path)) return [];
    const twin = files.find(([, other], at) => at !== index && other !== undefined && isSameFile(other, path));
    const hint = "Give each report a file of its own.";
    return twin === undefined ? [] : [{ path: flag, message: `is also the file of ${twin[0]}`, value: path, hint }];
  });
}

/** Outputs that a run would read from. @param read paths of what it reads; a path without a file is left out */
export function findReadOutputs(files: readonly NamedFile[], read: readonly string[]): Problem[] {
  if (files.length === 0) return [];
  const inputs = read.filter((path) => path !== "" && isFile(path));
  return files.flatMap(([flag, path]): Problem[] => {
    if (path === undefined || path === "" || !isReplaced(path)) return [];
    const input = inputs.find((one) => isSameFile(one, path));
    const hint = "Give another path: a run does not write over what it reads.";
    if (input === undefined) return [];
    const name = input === path ? "" : `, ${input}`;
    return [{ path: flag, message: `is also a file that the run reads${name}`, value: path, hint }];
  });
}

/** Every text in a plan that may be the path of a file that it reads. */
export function inputFilesOf({ target, load, inputs, measurement }: Plan): string[] {
  const tls = "tls" in target ? target.tls : undefined;
  return textsIn([tls, load, inputs, measurement.tokens]);
}

/** All texts in plain data. */
export function textsIn(value: unknown): string[] {
  if (typeof value === "string") return [value];
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(textsIn) : [];
}

function isFile(path: string): boolean {
  try {
    return fileSystem().statSync(path).isFile();
  } catch {
    return false;
  }
}

/** Whether what is at the path is replaced, and not written to. */
function isReplaced(path: string): boolean {
  try {
    return fileSystem().statSync(path).isFile();
  } catch {
    return true;
  }
}

/** Standard output as a file. */
const STDOUT_FILE = "/dev/stdout";

/** The path of an output file: `-` stands for standard output. */
export function toOutputPath<T extends string | undefined>(path: T): T | typeof STDOUT_FILE {
  return path === "-" ? STDOUT_FILE : path;
}

/** Where a command's text goes: to standard error where standard output holds the JSON report alone. */
export function besideJson(io: CommandIo, jsonFile: string | undefined): CommandIo {
  if (jsonFile !== STDOUT_FILE) return io;
  // Defined, not assigned: what the process's own object reads anew each time cannot be assigned to.
  return Object.create(io, { out: { value: io.err }, hasColor: { value: false } }) as CommandIo;
}
