import type { Plan } from "../plan/plan.ts";
import { removeOutput } from "./output-file.ts";
import { outputFilesOf } from "./output-place.ts";
import type { Report } from "./report.ts";

/** Removes the files of an earlier run once there is a run, so that they do not pass for its own should it fail. */
export function createEarlierFiles(plan: Plan): Report {
  let isDone = false;
  const removeOnce = (): void => {
    if (!isDone) removeEarlierFiles(plan);
    isDone = true;
  };
  return { onLevelStart: removeOnce, finish: removeOnce };
}

/** Removes what is at the paths of a plan's files, as far as it is a file. */
export function removeEarlierFiles(plan: Plan): void {
  for (const [, path] of outputFilesOf(plan)) removeOutput(path);
}
