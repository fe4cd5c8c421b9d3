import { availableParallelism } from "node:os";
import { isBusy, saturationReason } from "../../measure/client-limit.ts";
import type { Measurement } from "../../measure/measurement.ts";
import { MOST_WORKERS } from "../../plan/plan.ts";
import type { LevelWorkers } from "../../result/run-result.ts";
import type { BegunWindow, CutWindow } from "../count/window-counter.ts";
import type { HostLimits } from "../host-limits.ts";
import type { SenderGrowth } from "../run-parts.ts";
import type { ClosedSender, LoadSender, SenderListener, SenderState, SenderTotals } from "../send/messages.ts";
import { joinCounts, joinStates, joinTotals, stateOfEnded } from "./join-parts.ts";
import type { JoinedRequests } from "./joined-requests.ts";
import type { Fleet } from "./open-fleet.ts";

/** Returns the maximum number of threads that a run adds by itself: one for each core. */
export function mostThreads(): number {
  return Math.min(MOST_WORKERS, availableParallelism());
}

/** Dependencies of a growing fleet. */
export interface GrowingParts {
  open(count: number): Promise<Fleet>;
  readonly mostCount: number;
  /** Returns whether the threads were the limit in a window. Default: whether one of them was busy all the time. */
  readonly isLimit?: ((window: Measurement) => boolean) | undefined;
}

/** Totals of the senders before the current ones. */
interface Earlier {
  readonly state: SenderState;
  readonly totals: SenderTotals;
  readonly windowCount: number;
}

/**
 * Threads that send. After a level for which they were the limit, one thread is added. The number is constant within a level: between two
 * levels nothing is in flight, and the new threads take over.
 */
export class GrowingFleet implements SenderGrowth {
  private readonly parts: GrowingParts;
  private threads: Fleet;
  private workers: LevelWorkers;
  private earlier: Earlier | undefined;
  private windowCount = 0;
  private current: LoadSender | undefined;
  private joined: JoinedRequests | undefined;
  private create: () => LoadSender = () => {
    throw new Error("the sender of a growing fleet is not created");
  };

  /** @param threads the initial threads */
  constructor(parts: GrowingParts, threads: Fleet) {
    this.parts = parts;
    this.threads = threads;
    this.workers = { count: threads.count };
  }

  get count(): number {
    return this.threads.count;
  }

  /** The limits of the agents that send. Undefined: this process sends. */
  get limits(): HostLimits | undefined {
    return this.threads.limits;
  }

  /** Time by which the clocks of the senders are set back. */
  get delayNs(): number {
    return this.threads.delayNs;
  }

  /** Number of threads that send the next level, and the reason for it. */
  get levelWorkers(): LevelWorkers {
    return this.workers;
  }

  createSender(listener: SenderListener, joined?: JoinedRequests): LoadSender {
    this.joined = joined;
    this.create = () => this.threads.createSender(listener, joined);
    this.current = this.create();
    const changed: Partial<LoadSender> = {
      aheadNs: () => this.sender.aheadNs?.() ?? 0,
      progress: () => this.withEarlier(this.sender.progress()),
      counts: () => joinCounts([this.sender.counts()], this.earlier ? [this.earlier.state] : []),
      until: async (...args) => this.withEarlier(await this.sender.until(...args)),
      close: async (...args) => this.closed(await this.sender.close(...args)),
      beginWindow: async (...args) => this.noteBegun(await this.sender.beginWindow(...args)),
      cut: async (...args) => this.numberWindow(await this.sender.cut(...args)),
    };
    return new Proxy(changed as LoadSender, {
      get: (target, name) => Reflect.get(target, name) ?? this.pass(name as keyof LoadSender),
    });
  }

  /** Adds a thread if the client was the limit of a level, and there is a core for it. Call when nothing is measured. */
  async growAfter(window: Measurement): Promise<void> {
    const { isLimit = isBusy, mostCount } = this.parts;
    if (!isLimit(window) || this.count >= mostCount) return;
    const { sender } = this;
    await sender.stop();
    await sender.drain();
    const threads = await this.parts.open(this.count + 1);
    const state = this.withEarlier(stateOfEnded(await sender.until({ kind: "now" })));
    const { totals } = this.closed(await sender.close());
    this.earlier = { state, totals, windowCount: this.windowCount };
    await this.threads.close();
    this.threads = threads;
    this.workers = { count: threads.count, reason: saturationReason(window) ?? "" };
    this.joined?.renew(threads.count);
    this.current = this.create();
  }

  async close(): Promise<void> {
    await this.threads.close();
  }

  private get sender(): LoadSender {
    return this.current ?? this.create();
  }

  private pass(name: keyof LoadSender): unknown {
    return (...args: readonly unknown[]) => (this.sender[name] as (...given: readonly unknown[]) => unknown)(...args);
  }

  private withEarlier(state: SenderState): SenderState {
    return this.earlier === undefined ? state : joinStates([this.earlier.state, state]);
  }

  private closed({ totals, ...rest }: ClosedSender): ClosedSender {
    return { ...rest, totals: this.earlier === undefined ? totals : joinTotals([this.earlier.totals, totals]) };
  }

  private noteBegun({ number, startNs }: BegunWindow): BegunWindow {
    return { number: this.noteWindow(number), startNs };
  }

  private noteWindow(number: number): number {
    this.windowCount = number + (this.earlier?.windowCount ?? 0);
    return this.windowCount;
  }

  /** Numbers windows over all senders. */
  private numberWindow({ window, nextNumber, ...rest }: CutWindow): CutWindow {
    const before = this.earlier?.windowCount ?? 0;
    const { numbers } = window;
    const numbered =
      numbers === undefined ? {} : { numbers: { first: numbers.first + before, last: numbers.last + before } };
    return { ...rest, window: { ...window, ...numbered }, nextNumber: this.noteWindow(nextNumber) };
  }
}
