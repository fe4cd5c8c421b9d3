import type { TimelineColumn } from "../../../measure/timeline.ts";
import type { Plan } from "../../../plan/plan.ts";
import { nsToMs, nsToSec } from "../../../plan/units.ts";
import { formatPlace } from "../live-text.ts";
import type { LevelTally, RunSnapshot } from "../run-snapshot.ts";

/** Converts a column of the run's time line to a point of the page's charts, at its middle. */
export function toPagePoint({ startNs, endNs, requestCount, failedCount, cancelledCount, latency }: TimelineColumn) {
  const [p50Ms = null, p99Ms = null] = latency.quantiles([0.5, 0.99])?.map(nsToMs) ?? [];
  const sec = nsToSec(endNs - startNs);
  return {
    elapsedSec: nsToSec((startNs + endNs) / 2),
    requestsPerSec: (requestCount + failedCount + cancelledCount) / sec,
    failedPerSec: failedCount / sec,
    ...{ p50Ms, p99Ms },
  };
}

/** Converts a snapshot for the page. Null: not known. */
export function toPageState(plan: Plan, state: RunSnapshot) {
  const { recent, progress, windows, client } = state;
  const [p50Ms = null, p90Ms = null, p99Ms = null, p999Ms = null] = recent.latencyNs?.map(nsToMs) ?? [];
  const [firstP50Ms = null] = recent.firstResponseNs?.map(nsToMs) ?? [];
  return {
    scenario: plan.name,
    place: formatPlace(state.place),
    isFinished: state.isFinished,
    isStreaming: plan.target.isStreaming,
    elapsedSec: state.elapsedSec,
    doneRatio: progress?.doneRatio ?? null,
    leftSec: progress?.leftSec ?? null,
    sent: state.sentCount,
    completed: state.completedCount,
    failed: state.failedCount,
    cancelled: state.cancelledCount,
    inFlight: state.outstanding,
    requestsPerSec: recent.requestsPerSec,
    chunksPerSec: recent.chunksPerSec ?? null,
    ...{ p50Ms, p90Ms, p99Ms, p999Ms, firstP50Ms },
    windows:
      windows === undefined
        ? null
        : {
            count: windows.count,
            atMost: windows.atMost ?? null,
            isStable: windows.isStable ?? null,
            ...(windows.spread ?? {}),
          },
    cpuRatio: client.cpuRatio,
    loopLagMaxMs: nsToMs(client.loopLagMaxNs),
    levels: state.levels.map(toLevel),
  };
}

function toLevel({ place, completedCount, failedCount, latency }: LevelTally) {
  const [p50Ms = null, p99Ms = null] = latency.quantiles([0.5, 0.99])?.map(nsToMs) ?? [];
  const meanMs = latency.count === 0 ? null : nsToMs(latency.meanNs);
  const name = place === undefined ? "other levels" : formatPlace(place);
  return { place: name, completed: completedCount, failed: failedCount, meanMs, p50Ms, p99Ms };
}
