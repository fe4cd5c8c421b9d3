import type { RequestRateLoadPlan } from "../../../load/request-rate.ts";
import type { SchedulePartPlan } from "../../../plan/load-options.ts";
import type { LoadPlan } from "../../../plan/load-plan.ts";
import type { GenaiSettings } from "../options/settings.ts";

/** Returns the load: when requests are sent. */
export function toLoad(settings: GenaiSettings): LoadPlan {
  const { stimulus } = settings.perfAnalyzer;
  switch (stimulus.kind) {
    case "request_rate":
      return toRateLoad(settings, stimulus.ratePerSec);
    case "fixed_schedule": {
      const part = schedulePartOf(settings);
      return { kind: "fixed-schedule", ...(part === undefined ? {} : { part }) };
    }
    case "session_concurrency":
      return { kind: "session-concurrency", concurrency: stimulus.sessions };
    case "concurrency": {
      const rampMs = toSpanMs(settings.rampart.concurrencyRampSec);
      const levels = { kind: "list", values: [stimulus.requests] } as const;
      return { kind: "concurrency", levels, search: "linear", ...(rampMs === undefined ? {} : { rampMs }) };
    }
  }
}

function toRateLoad({ input, rampart }: GenaiSettings, ratePerSec: number): RequestRateLoadPlan {
  const { rateDistribution, rateSmoothness, concurrencyLimit, rateRampSec } = rampart;
  const overMs = toSpanMs(rateRampSec);
  return {
    kind: "request-rate",
    levels: { kind: "list", values: [ratePerSec] },
    search: "linear",
    distribution: rateDistribution,
    seed: input.randomSeed,
    ...(rateDistribution === "gamma" ? { smoothness: rateSmoothness } : {}),
    ...(concurrencyLimit === null ? {} : { maxOutstanding: concurrencyLimit }),
    ...(overMs === undefined ? {} : { ramp: { fromPerSec: 0, overMs } }),
  };
}

/** 0 seconds mean no ramp. */
function toSpanMs(seconds: number | null): number | undefined {
  return seconds === null || seconds === 0 ? undefined : seconds * 1000;
}

/** Returns the part of a payload file that is sent by its timestamps; undefined for all of it, and for other loads. */
export function schedulePartOf({ perfAnalyzer, rampart }: GenaiSettings): SchedulePartPlan | undefined {
  const { hasScheduleAutoOffset, scheduleStartMs, scheduleEndMs, scheduleSpeedRatio } = rampart;
  if (perfAnalyzer.stimulus.kind !== "fixed_schedule") return undefined;
  const isWhole = !hasScheduleAutoOffset && scheduleStartMs === null && scheduleEndMs === null;
  if (isWhole && scheduleSpeedRatio === 1) return undefined;
  return {
    startMs: scheduleStartMs,
    endMs: scheduleEndMs,
    startsAtFirst: hasScheduleAutoOffset,
    speedRatio: scheduleSpeedRatio,
  };
}
