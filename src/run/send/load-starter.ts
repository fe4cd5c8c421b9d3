import { type Drive, type DriveOf, leastInFlightOf, maxInFlightOf, type ThinkTime } from "../../load/drive.ts";
import type { Cancel } from "../../runtime/clock.ts";
import type { ActiveLoad, Sender } from "./active-load.ts";
import type { Driver } from "./driver.ts";
import { GroupLoad } from "./groups/group-load.ts";
import { PeriodicLoad } from "./groups/periodic-load.ts";
import { createScheduledLoad } from "./scheduled-load.ts";
import { SendSlice } from "./send-slice.ts";
import { type SessionFeed, sessionsOf } from "./session-feed.ts";
import { SessionLoad } from "./session-load.ts";
import { isSameThinking, Thinking } from "./think-time.ts";

/** Time between two changes of a ramp. */
const RAMP_STEP_MS = 20;

/** Where a drive starts. */
interface Host {
  readonly driver: Driver;
  /** One for all closed loops and ramps, so that one follows another without a pause. */
  readonly closed: ClosedLoad;
}

/** How a drive starts. */
interface StartOptions {
  /** Whether no other start or stop has followed; a start does nothing more after another one. */
  isCurrent(): boolean;
  /** Start of a schedule. Default: now. */
  readonly atNs?: number | undefined;
}

type Starter<D> = (host: Host, drive: D, options: StartOptions) => Promise<void>;

function createSessionLoad(driver: Driver, repeats: boolean): SessionLoad {
  return new SessionLoad(driver, sessionsOf(driver.feed) as SessionFeed, repeats);
}

/** The way each kind of drive starts. */
const STARTERS: { readonly [K in Drive["kind"]]: Starter<DriveOf<K>> } = {
  closed: ({ driver, closed }, drive) => driver.use(closed).hold(drive),
  ramp: ({ driver, closed }, drive) => driver.use(closed).ramp(drive),
  periodic: ({ driver }, drive) => driver.use(new PeriodicLoad(driver, drive)).start(),
  groups: ({ driver }, { size }) => driver.use(new GroupLoad(driver, size)).start(),
  sessions: ({ driver }, { concurrency, repeats = false }) =>
    driver.use(createSessionLoad(driver, repeats)).start(concurrency),
  "session-arrivals": async ({ driver }, { arrivals, repeats = false }, { isCurrent, atNs }) => {
    await driver.halt();
    await driver.reserve(driver.laneCount);
    if (isCurrent()) driver.use(createSessionLoad(driver, repeats)).arrive(arrivals, atNs);
  },
  scheduled: async ({ driver }, { arrivals, maxOutstanding }, { isCurrent, atNs }) => {
    // Slots that wait after a failure get their place like all others.
    await driver.halt();
    await driver.reserve(driver.laneCount);
    const load = await createScheduledLoad(driver, driver.lanes, maxOutstanding);
    if (isCurrent()) driver.use(load).start(arrivals, atNs);
  },
};

/** Changes to a prepared load. @param quota number of requests that it may send @param atNs start of a schedule. Default: now */
export type BeginChange = (quota: number, atNs?: number) => void;

/** Starts the loads of a driver, which only knows the one that runs. */
export class LoadStarter implements Host {
  readonly driver: Driver;
  readonly closed: ClosedLoad;

  constructor(driver: Driver) {
    this.driver = driver;
    this.closed = new ClosedLoad(driver);
  }

  /** Opens the connections of a level, so that its first requests do not wait for them. */
  prepare(drive: Drive): Promise<void> {
    const { maxOutstanding, laneCount } = this.driver;
    if (leastInFlightOf(drive) > maxOutstanding) return Promise.resolve();
    return this.driver.reserve(maxInFlightOf(drive) ?? laneCount);
  }

  /** Whether the limit of outstanding requests allows a load from its start. If not, reports it, and sends nothing more. @param wanted number to report */
  admits(drive: Drive, wanted = leastInFlightOf(drive)): boolean {
    if (leastInFlightOf(drive) <= this.driver.maxOutstanding) return true;
    this.driver.endAtLimit(wanted);
    return false;
  }

  /** Starts a level, or changes to another one without a pause. @param quota maximum number of requests @param atNs start of a schedule */
  async start(drive: Drive, quota: number, atNs?: number): Promise<void> {
    const start = STARTERS[drive.kind] as Starter<Drive>;
    return start(this, drive, { isCurrent: this.driver.begin(quota), atNs });
  }

  /**
   * Prepares another load while the current one continues: opens its connections. Returns a function that changes to it at once. Requests in flight end under the new load. Loads that assign sequences, or lanes that wait for their
   * responses, wait for them first.
   */
  async prepareChange(drive: Drive): Promise<BeginChange> {
    const { driver, closed } = this;
    await this.prepare(drive);
    const { load, begin } = await this.createNext(drive);
    const isSame = load === closed && load === driver.load;
    if (!isSame && (driver.sequences !== undefined || driver.isSync)) await driver.stop();
    return (quota, atNs) => {
      if (this.admits(drive)) driver.replace(load, quota, () => begin(atNs));
    };
  }

  /** Creates the load that follows another one without a pause. */
  private async createNext(drive: Drive): Promise<{ readonly load: ActiveLoad; begin(atNs?: number): void }> {
    const { driver, closed } = this;
    if (drive.kind === "closed" || drive.kind === "ramp") return { load: closed, begin: () => closed.change(drive) };
    if (drive.kind !== "scheduled") throw new Error(`a load cannot change to ${drive.kind}`);
    const load = await createScheduledLoad(driver, driver.lanes, drive.maxOutstanding);
    return { load, begin: (atNs) => load.start(drive.arrivals, atNs) };
  }
}

/** Keeps a number of requests outstanding, which may change over time. Each slot sends one sequence after the other. */
class ClosedLoad implements ActiveLoad {
  private readonly sender: Sender;
  /** Slots below this keep a request outstanding. */
  private target = 0;
  private cancelRamp: Cancel | undefined;
  /** Slots that send after the reads; without `readsFirst` those of a new load, as many as fit into a slice at once. */
  private waiting: number[] = [];
  private cancelTurn: Cancel | undefined;
  /** Slots whose users think; undefined without a think time. */
  private thinking: Thinking | undefined;

  constructor(sender: Sender) {
    this.sender = sender;
  }

  get activeLanes(): number {
    return this.target;
  }

  /** Changes the number of outstanding requests. Resolves when at most that many are outstanding, and when all users have begun. */
  async hold({ concurrency, thinkTime }: Omit<DriveOf<"closed">, "kind">): Promise<void> {
    this.stopRamp();
    this.sender.setActiveLanes(concurrency);
    await this.sender.reserve(concurrency);
    const before = this.target;
    this.think(thinkTime);
    this.reach(concurrency, true);
    // At a lower level, the surplus must be answered before measuring.
    if (concurrency < before) await this.sender.waitForOutstanding(concurrency);
    if (thinkTime !== undefined && concurrency > before) await this.untilBegun(thinkTime);
  }

  async ramp(drive: DriveOf<"ramp">): Promise<void> {
    this.stopRamp();
    this.think(drive.thinkTime);
    await this.sender.reserve(drive.maxConcurrency);
    this.startRamp(drive);
  }

  /** Changes the number of outstanding requests at once. The connections must be open. */
  change(drive: DriveOf<"closed" | "ramp">): void {
    this.stopRamp();
    this.think(drive.thinkTime);
    if (drive.kind === "ramp") {
      this.startRamp(drive);
      return;
    }
    this.sender.setActiveLanes(drive.concurrency);
    this.reach(drive.concurrency, true);
  }

  /** New users begin within the mean think time. A run that ends before does not wait for it. */
  private untilBegun({ meanMs }: ThinkTime): Promise<void> {
    return new Promise((resolve) => {
      this.sender.clock.after(meanMs, resolve, true);
    });
  }

  private think(thinkTime: ThinkTime | undefined): void {
    if (isSameThinking(this.thinking?.thinkTime, thinkTime)) return;
    this.thinking?.clear();
    const { clock } = this.sender;
    this.thinking = thinkTime && new Thinking(thinkTime, clock, () => this.sender.guard(() => this.sendThought()));
  }

  /** Sends for the users whose think time is over. */
  private sendThought(): void {
    const { sender, thinking } = this;
    if (thinking === undefined) return;
    const slice = new SendSlice(sender.clock);
    while (slice.takeOne()) {
      const slot = thinking.take();
      if (slot === undefined) break;
      if (slot >= this.target || sender.quota <= 0) this.endSequence(slot);
      else if (sender.isIdle(slot)) sender.send(slot, slot, Number.NaN, false);
    }
    sender.flush();
    thinking.arm();
  }

  private startRamp(drive: DriveOf<"ramp">): void {
    this.sender.shareSteps();
    const { clock } = this.sender;
    const startNs = clock.nowNs();
    const adjust = (): void => this.reach(drive.concurrencyAt(clock.nowNs() - startNs));
    adjust();
    this.cancelRamp = clock.every(RAMP_STEP_MS, () => this.sender.guard(adjust));
  }

  next(slot: number): void {
    if (slot >= this.target || this.sender.quota <= 0) this.endSequence(slot);
    else if (this.thinking !== undefined) this.thinking.rest(slot);
    else if (this.sender.readsFirst) {
      this.waiting.push(slot);
      this.scheduleWaiting();
    } else this.sender.send(slot, slot, Number.NaN, false);
  }

  private sendWaiting(): void {
    this.clearTurn();
    const { waiting, sender } = this;
    this.waiting = [];
    const slice = new SendSlice(sender.clock);
    let next = 0;
    for (; next < waiting.length && slice.takeOne(); next++) {
      const slot = waiting[next] as number;
      // The load may have changed meanwhile.
      if (slot < this.target && sender.isIdle(slot)) sender.send(slot, slot, Number.NaN, false);
    }
    sender.flush();
    if (next === waiting.length) return;
    this.waiting = [...waiting.slice(next), ...this.waiting];
    this.scheduleWaiting();
  }

  private scheduleWaiting(): void {
    this.cancelTurn ??= this.sender.clock.nextTurn(() => this.sender.guard(() => this.sendWaiting()));
  }

  stop(): void {
    this.stopRamp();
    this.clearTurn();
    this.waiting = [];
    this.think(undefined);
    this.reach(0);
  }

  private clearTurn(): void {
    this.cancelTurn?.();
    this.cancelTurn = undefined;
  }

  /** @param isTogether whether all new users begin at this time, not one after the other */
  private reach(wanted: number, isTogether = false): void {
    const before = this.target;
    // One above the limit, which ends the load.
    const target = Math.min(wanted, this.sender.maxOutstanding + 1);
    this.target = target;
    // Waiting slots are idle, so the loop below finds them again.
    this.waiting = [];
    for (let slot = 0; slot < target; slot++) {
      if (!this.sender.isIdle(slot) || this.thinking?.has(slot) === true) continue;
      if (isTogether && this.thinking !== undefined) this.thinking.begin(slot);
      else this.waiting.push(slot);
    }
    if (this.waiting.length > 0) this.sendWaiting();
    for (let slot = target; slot < before; slot++) if (this.sender.isIdle(slot)) this.endSequence(slot);
    this.sender.flush();
  }

  private endSequence(slot: number): void {
    if (this.sender.sequences?.isOpen(slot) === true) this.sender.sendEnd(slot, slot);
  }

  private stopRamp(): void {
    this.cancelRamp?.();
    this.cancelRamp = undefined;
  }
}
