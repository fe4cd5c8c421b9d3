import type { Plan } from "../plan/plan.ts";
import { removeOutput } from "./output-file.ts";
import { outputFilesOf } from "./output-place.ts";
import type { Report } from "./report.ts";

/** Removes the files of an earlier run when the run starts, so that they are not taken for its own if it fails. */
export function createEarlierFiles(plan: Plan): Report {
  let isDone = false;
  const removeOnce = (): void => {
    if (!isDone) removeEarlierFiles(plan);
    isDone = true;
  };
  return { onLevelStart: removeOnce, finish: removeOnce };
}

/** Removes regular files at the paths of a plan's files. */
export function removeEarlierFiles(plan: Plan): void {
  for (const [, path] of outputFilesOf(plan)) removeOutput(path);
}
