import { joinExtracted } from "../../measure/extracted-tally.ts";
import type { MeasuredGroup, Measurement } from "../../measure/measurement.ts";
import {
  type OpenRequests,
  sumOpenRequests,
  toMeasurement,
  type WindowFrame,
  type WindowTally,
} from "../../measure/tally/window-tally.ts";
import { defined } from "../../plan/objects.ts";
import type { Call } from "../../transport/call.ts";
import type { RequestGroup, RequestGroups } from "../groups/request-groups.ts";

/** State of the sends that are counted. */
export interface CountedSends {
  readonly sentCount: number;
  readonly endedCount: number;
  /** Latest due time of a request that was sent; 0 when none had a due time. */
  readonly lastDueNs: number;
  readonly activeLanes: number;
  readonly client: { readonly calls: readonly Pick<Call, "isActive" | "slot" | "sendStartNs">[] };
  /** Step of each slot's request. */
  readonly slots: { readonly steps: readonly number[] };
  /** Judges deferred responses, and passes on the records. */
  drain(): void;
}

/** A group's part of a window. */
export interface GroupPart {
  readonly group: RequestGroup;
  readonly tally: WindowTally;
  readonly sentCount: number;
  readonly openBefore: OpenRequests;
  readonly openAfter: OpenRequests;
}

/** Counts each group's part of the windows of a level. */
export class GroupCounter {
  private readonly sends: CountedSends;
  private readonly groups: RequestGroups;
  private sentBefore: readonly number[] = [];
  private openBefore: readonly OpenRequests[] = [];

  constructor(sends: CountedSends, groups: RequestGroups) {
    this.sends = sends;
    this.groups = groups;
  }

  /** Begins the first window. */
  begin(startNs: number): void {
    this.sentBefore = [...this.groups.sentCounts];
    this.openBefore = this.openAt(startNs);
  }

  /** Ends a window and begins the next one. @param tallies tallies of the groups */
  cut(tallies: readonly WindowTally[], endNs: number): readonly GroupPart[] {
    const { sentBefore, openBefore } = this;
    this.begin(endNs);
    return this.groups.list.map((group, index) => ({
      group,
      tally: tallies[index] as WindowTally,
      sentCount: (this.sentBefore[index] as number) - (sentBefore[index] as number),
      openBefore: openBefore[index] as OpenRequests,
      openAfter: this.openBefore[index] as OpenRequests,
    }));
  }

  /** Returns the requests in flight, by group. */
  private openAt(atNs: number): OpenRequests[] {
    const { client, slots } = this.sends;
    const sentNs = this.groups.list.map((): number[] => []);
    for (const { isActive, slot, sendStartNs } of client.calls)
      if (isActive) sentNs[this.groups.ofStep[slots.steps[slot] as number] as number]?.push(sendStartNs);
    return sentNs.map((times) => sumOpenRequests(times, atNs));
  }
}

/** Returns the completed requests by member of a mix. */
export function countByMember(parts: readonly GroupPart[]): readonly number[] {
  const counts: number[] = [];
  for (const { group, tally } of parts) counts[group.member] = (counts[group.member] ?? 0) + tally.latency.count;
  return Array.from(counts, (count = 0) => count);
}

/** Computes the groups' parts of a window, which share its lanes. @param frame frame of the whole window */
export function toGroupWindows(
  parts: readonly GroupPart[],
  frame: WindowFrame,
  { laneNs, overheadPct }: Measurement,
): readonly MeasuredGroup[] {
  return parts.map(({ group, tally, sentCount, openBefore, openAfter }) => ({
    tags: group.tags,
    window: {
      ...toMeasurement(tally, { ...frame, sentCount, openBefore, openAfter }),
      laneNs: laneNs / parts.length,
      overheadPct,
    },
  }));
}

/**
 * Adds the groups' parts to a window. The targets of a mix extract values of their own, so those of the window are the groups'
 * together.
 */
export function withGroups(window: Measurement, groups: readonly MeasuredGroup[]): Measurement {
  const extracted = window.extracted ?? joinExtracted(groups.map((group) => group.window.extracted));
  return { ...window, groups, ...defined({ extracted }) };
}
