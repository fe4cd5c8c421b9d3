import type { Plan } from "../../plan/plan.ts";
import { describeLevel } from "../../registry/level-names.ts";
import type { RunObserver } from "../../result/observer.ts";
import type { RunResult } from "../../result/run-result.ts";
import { nowNs, toEpochNs } from "../../runtime/clock.ts";
import type { OverTimeJson } from "../schema/over-time.ts";
import { RunFollower } from "./run-follower.ts";

/** Follows the runs of a plan over time. */
export interface FollowedRuns {
  readonly observer: RunObserver;
  /** Returns what was seen of runs that have ended. @param results all of them, in order */
  toJson(results: readonly RunResult[]): OverTimeJson[];
}

/** Begins to follow. */
export function followRuns(plan: Plan): FollowedRuns {
  const { batchSize } = plan.target;
  const followers: RunFollower[] = [];
  const last = (): RunFollower | undefined => followers.at(-1);
  return {
    observer: {
      // A run begins.
      onProgress: () => {
        followers.push(new RunFollower(batchSize, nowNs()));
      },
      onBatch: (records, count) => last()?.addBatch(records, count),
      onMetrics: (reading) => last()?.addReading(reading, nowNs()),
      onLevelStart: (_unit, level, isWarmup, phase) =>
        last()?.beginSpan(phase?.label ?? describeLevel(plan, level), isWarmup, nowNs()),
      onWindow: (index, window, latencyNs) => last()?.addWindow(index, window, latencyNs),
      onLevelEnd: () => last()?.endSpan(nowNs()),
    },
    toJson: (results) =>
      results.map(({ startEpochNs, durationNs }, index) => {
        const startNs = Number(startEpochNs - toEpochNs(0));
        const follower = followers[index] ?? new RunFollower(batchSize, startNs);
        return follower.toJson(startNs, startNs + durationNs);
      }),
  };
}
