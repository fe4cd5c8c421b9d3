import type { Measurement } from "../../measure/measurement.ts";
import type { ServerDelta } from "../../measure/server-delta.ts";
import type { ServerCounters } from "../../service/server-counters.ts";
import type { MemberSession } from "../open/session.ts";
import type { LevelContext } from "./level-context.ts";
import { awaitDelta, successesToAwait } from "./settled-delta.ts";

/**
 * Counters of the servers of a mix, by window of a level. A server that cannot be queried has no counters; the others are measured without
 * it.
 */
export class MemberServers {
  private readonly context: LevelContext;
  private readonly members: readonly MemberSession[];
  private reading: Promise<void> | undefined;
  private countersBefore: readonly (ServerCounters[] | undefined)[] = [];

  constructor(context: LevelContext, members: readonly MemberSession[]) {
    this.context = context;
    this.members = members;
  }

  readCounters(): Promise<void> {
    this.reading = Promise.all(
      this.members.map(({ session }) => session.counters().catch((): undefined => undefined)),
    ).then((counters) => {
      this.countersBefore = counters;
    });
    return this.reading;
  }

  /**
   * Returns the increase of the counters of each server, by member. Waits briefly for counters that lag.
   * @param completed requests of each member in the window @param isFromNothing whether no request was in flight at its
   * start
   */
  async deltas(completed: readonly number[], isFromNothing: boolean): Promise<Measurement["memberServers"]> {
    await this.reading;
    const deltas = await Promise.all(
      this.members.map((member, index) => this.delta(member, index, completed[index] ?? 0, isFromNothing)),
    );
    const known = this.members.flatMap(({ name }, index): [string, ServerDelta][] => {
      const delta = deltas[index];
      return delta === undefined ? [] : [[name, delta]];
    });
    return Object.fromEntries(known);
  }

  private async delta(
    { session }: MemberSession,
    index: number,
    completed: number,
    isFromNothing: boolean,
  ): Promise<Measurement["server"]> {
    const { clock, signal } = this.context;
    const before = this.countersBefore[index];
    if (before === undefined || signal.error !== undefined) return undefined;
    const expected = successesToAwait(this.context, completed, isFromNothing);
    const settled = await awaitDelta(session, before, expected, clock).catch(() => undefined);
    if (settled === undefined) return undefined;
    this.countersBefore = this.countersBefore.with(index, settled.after);
    return settled.delta;
  }
}
