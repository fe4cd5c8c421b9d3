import type { MeasuredGroup, Measurement } from "../../measure/measurement.ts";
import { type OpenRequests, sumOpenRequests } from "../../measure/open-requests.ts";
import type { ServerDelta } from "../../measure/server-delta.ts";
import { toMeasurement, type WindowFrame, WindowTally } from "../../measure/tally/window-tally.ts";
import { tokensPlanOf } from "../../registry/mix.ts";
import type { ServerCounters } from "../../service/statistics.ts";
import type { RequestGroup, RequestGroups } from "../groups/request-groups.ts";
import type { MemberSession } from "../open/session.ts";
import type { LevelContext } from "./level-context.ts";
import { awaitDelta } from "./settled-delta.ts";

/** What a group contributed to a window. */
export interface GroupPart {
  readonly group: RequestGroup;
  readonly tally: WindowTally;
  readonly sentCount: number;
  readonly openBefore: OpenRequests;
  readonly openAfter: OpenRequests;
}

/** Collects what each group of requests contributes to the windows of a level, and what the servers of a mix count. */
export class GroupCutter {
  private readonly context: LevelContext;
  private readonly groups: RequestGroups;
  private readonly members: readonly MemberSession[];
  private sentBefore: readonly number[] = [];
  private openBefore: readonly OpenRequests[] = [];
  private reading: Promise<void> | undefined;
  private countersBefore: readonly (ServerCounters[] | undefined)[] = [];

  constructor(context: LevelContext, groups: RequestGroups) {
    this.context = context;
    this.groups = groups;
    this.members = context.session.members ?? [];
  }

  /** Creates the tallies of a window, by group. */
  newTallies(): WindowTally[] {
    const { isScheduled, session, plan } = this.context;
    return this.groups.list.map(({ member, tags }) => {
      const { service } = this.members[member]?.session ?? session;
      const { wire, answerReader, isDecoupled, hasManyResponses } = service;
      return new WindowTally({
        isScheduled,
        countsReading: wire === "http",
        isDecoupled: isDecoupled || hasManyResponses === true,
        isStreamed: tokensPlanOf(plan, tags)?.isStreamed,
        extractedNames: answerReader?.names,
      });
    });
  }

  /** Begins the first window. */
  begin(startNs: number): void {
    this.sentBefore = [...this.groups.sentCounts];
    this.openBefore = this.openAt(startNs);
  }

  /** Reads the counters of the members' servers. A server that cannot be queried has none; the others are measured without it. */
  readCounters(): Promise<void> {
    this.reading = Promise.all(
      this.members.map(({ session }) => session.counters().catch((): undefined => undefined)),
    ).then((counters) => {
      this.countersBefore = counters;
    });
    return this.reading;
  }

  /** Ends a window and begins the next one. @param tallies those of the groups */
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

  /** Returns the increase of the counters of each member's server. Waits briefly for counters that lag. */
  async memberServers(parts: readonly GroupPart[]): Promise<Pick<Measurement, "memberServers">> {
    if (this.members.length === 0) return {};
    await this.reading;
    const deltas = await Promise.all(this.members.map((member, index) => this.serverDelta(member, index, parts)));
    const known = this.members.flatMap(({ name }, index): [string, ServerDelta][] => {
      const delta = deltas[index];
      return delta === undefined ? [] : [[name, delta]];
    });
    return { memberServers: Object.fromEntries(known) };
  }

  private async serverDelta(
    { session }: MemberSession,
    index: number,
    parts: readonly GroupPart[],
  ): Promise<Measurement["server"]> {
    const { driver, plan, signal } = this.context;
    const before = this.countersBefore[index];
    if (before === undefined || signal.error !== undefined) return undefined;
    const own = parts.filter(({ group }) => group.member === index);
    const completed = own.reduce((sum, { tally }) => sum + tally.latency.count, 0);
    const isFromNothing = parts.every(({ openBefore }) => openBefore.count === 0);
    const isExact = isFromNothing && plan.measurement.mode.kind === "requests" && driver.outstanding === 0;
    // The member's server may have failed; the others are measured without it.
    const settled = await awaitDelta(session, before, isExact ? completed : Math.min(1, completed), driver.clock).catch(
      () => undefined,
    );
    if (settled === undefined) return undefined;
    this.countersBefore = this.countersBefore.with(index, settled.after);
    return settled.delta;
  }

  /** Returns the requests in flight, by group. */
  private openAt(atNs: number): OpenRequests[] {
    const { client, slots } = this.context.driver;
    const sentNs = this.groups.list.map((): number[] => []);
    for (const { isActive, slot, sendStartNs } of client.calls)
      if (isActive) sentNs[this.groups.ofStep[slots.steps[slot] as number] as number]?.push(sendStartNs);
    return sentNs.map((times) => sumOpenRequests(times, atNs));
  }
}

/** Computes the groups' parts of a window, which share its lanes. @param frame that of the whole window */
export function toGroupWindows(
  parts: readonly GroupPart[],
  frame: WindowFrame,
  { laneNs, overheadPct }: Measurement,
): { readonly groups: readonly MeasuredGroup[] } {
  const groups = parts.map(({ group, tally, sentCount, openBefore, openAfter }) => ({
    tags: group.tags,
    window: {
      ...toMeasurement(tally, { ...frame, sentCount, openBefore, openAfter, gpu: undefined }),
      laneNs: laneNs / parts.length,
      overheadPct,
    },
  }));
  return { groups };
}
