import type { RunResult } from "./run-result.ts";

/** Reports whether a run measured responses. False when nothing was answered, and when it ended before its first window. */
export function isMeasured({ completedCount, levels, warmup }: RunResult): boolean {
  const warmedUpCount = warmup === undefined ? 0 : warmup.sentCount - warmup.failedCount;
  return completedCount > warmedUpCount && levels.length > 0;
}
