import type { Problem } from "../plan/problem.ts";
import { fileSystem } from "../runtime/files.ts";

/** Whether a file can be written at a path, without touching it. */
export function isWritable(path: string): boolean {
  try {
    const { accessSync, constants } = fileSystem();
    const slash = path.lastIndexOf("/");
    accessSync(slash < 0 ? "." : path.slice(0, slash + 1), constants.W_OK);
    return !isDirectory(path);
  } catch {
    return false;
  }
}

export function isDirectory(path: string): boolean {
  try {
    return fileSystem().statSync(path).isDirectory();
  } catch {
    // Whatever is there, it is none that can be used.
    return false;
  }
}

/** Files are refused before a run, not after it. */
export function checkOutputFiles(files: readonly (readonly [flag: string, path: string | undefined])[]): Problem[] {
  const problems: Problem[] = [];
  for (const [flag, path] of files) {
    if (path === undefined) continue;
    if (/\.[cm]?[jt]s$/.test(path)) {
      const hint = "Reports are no scripts: give another name.";
      problems.push({ path: flag, message: "would overwrite a script", value: path, hint });
      continue;
    }
    const twin = files.find(([other, otherPath]) => other !== flag && otherPath === path);
    if (twin !== undefined) {
      const hint = "Give each report a file of its own.";
      problems.push({ path: flag, message: `is also the file of ${twin[0]}`, value: path, hint });
      continue;
    }
    if (isWritable(path)) continue;
    problems.push({
      path: flag,
      message: "cannot be written",
      value: path,
      hint: "Give a path in an existing folder that can be written.",
    });
  }
  return problems;
}
