import { nsToSec } from "../plan/units.ts";
import type { ExportedRequest, ProfileExport } from "../report/read/profile-export.ts";

/**
 * Joins runs of several hosts into one run. Runs that overlap in time are not moved. If a run starts after all earlier runs
 * ended, it and all later runs are moved earlier by the gap, so that idle time does not lower the throughput.
 */

/** A pause between runs. */
export interface RunGap {
  /** The export that starts after the pause. */
  readonly path: string;
  readonly durationSec: number;
}

export interface JoinedExports {
  /** The exports in the given order, with shifted times. */
  readonly sources: readonly ProfileExport[];
  readonly gaps: readonly RunGap[];
  /** Time at which the first request was sent. */
  readonly startEpochNs: bigint;
  /** Paths of the exports in which no request has a response. */
  readonly unanswered: readonly string[];
}

interface Span {
  readonly source: ProfileExport;
  readonly startNs: bigint;
  readonly endNs: bigint;
  /** Number of requests with a response. */
  readonly answeredCount: number;
}

/** Joins exports by the start times of their first experiments. Reports exports without responses. */
export function joinExports(sources: readonly ProfileExport[]): JoinedExports {
  const spans = sources.map(spanOf).filter((span) => span !== undefined);
  const movedNs = new Map<ProfileExport, bigint>();
  const gaps: RunGap[] = [];
  let idleNs = 0n;
  let endNs: bigint | undefined;
  const inTime = spans.toSorted((a, b) => (a.startNs < b.startNs ? -1 : a.startNs > b.startNs ? 1 : 0));
  for (const span of inTime) {
    if (endNs !== undefined && span.startNs > endNs) {
      idleNs += span.startNs - endNs;
      gaps.push({ path: span.source.path, durationSec: nsToSec(Number(span.startNs - endNs)) });
    }
    movedNs.set(span.source, idleNs);
    endNs = endNs === undefined || span.endNs > endNs ? span.endNs : endNs;
  }
  const answered = spans.filter(({ answeredCount }) => answeredCount > 0).map(({ source }) => source.path);
  return {
    sources: sources.map((source) => moveUp(source, movedNs.get(source) ?? 0n)),
    gaps,
    startEpochNs: inTime[0]?.startNs ?? 0n,
    unanswered: sources.map(({ path }) => path).filter((path) => !answered.includes(path)),
  };
}

function spanOf(source: ProfileExport): Span | undefined {
  let startNs: bigint | undefined;
  let endNs = 0n;
  let answeredCount = 0;
  for (const { experiment, timestampNs, responseOffsetsNs } of source.requests()) {
    if (experiment !== 0) continue;
    startNs = startNs === undefined || timestampNs < startNs ? timestampNs : startNs;
    if (responseOffsetsNs.length > 0) answeredCount++;
    const doneNs = timestampNs + BigInt(responseOffsetsNs.at(-1) ?? 0);
    endNs = doneNs > endNs ? doneNs : endNs;
  }
  return startNs === undefined ? undefined : { source, startNs, endNs, answeredCount };
}

function moveUp(source: ProfileExport, byNs: bigint): ProfileExport {
  if (byNs === 0n) return source;
  return {
    ...source,
    *requests(): Generator<ExportedRequest> {
      for (const request of source.requests()) yield { ...request, timestampNs: request.timestampNs - byNs };
    },
  };
}
