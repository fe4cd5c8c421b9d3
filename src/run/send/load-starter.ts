import { type Drive, type DriveOf, leastInFlightOf, maxInFlightOf } from "../../load/drive.ts";
import { OPENED_AHEAD } from "../lanes.ts";
import type { ActiveLoad } from "./active-load.ts";
import { ClosedLoad } from "./closed-load.ts";
import type { Driver } from "./driver.ts";
import { GroupLoad } from "./groups/group-load.ts";
import { PeriodicLoad } from "./groups/periodic-load.ts";
import type { LevelStart } from "./messages.ts";
import { createScheduledLoad } from "./scheduled-load.ts";
import { type SessionFeed, sessionsOf } from "./session-feed.ts";
import { SessionLoad } from "./session-load.ts";

/** The driver and its loads, for the start of a drive. */
interface Host {
  readonly driver: Driver;
  /** Shared by all closed loops and ramps, so that one follows another without a pause. */
  readonly closed: ClosedLoad;
}

interface StartOptions {
  /** Whether no other start or stop has followed. A start does nothing more after another one. */
  isCurrent(): boolean;
  /** Start of a schedule or a ramp. Default: now. */
  readonly atNs?: number | undefined;
}

type Starter<D> = (host: Host, drive: D, options: StartOptions) => Promise<void>;

function createSessionLoad(driver: Driver, repeats: boolean): SessionLoad {
  return new SessionLoad(driver, sessionsOf(driver.feed) as SessionFeed, repeats);
}

const STARTERS: { readonly [K in Drive["kind"]]: Starter<DriveOf<K>> } = {
  closed: ({ driver, closed }, drive) => driver.use(closed).hold(drive),
  ramp: ({ driver, closed }, drive, { atNs }) => driver.use(closed).ramp(drive, atNs),
  periodic: ({ driver }, drive) => driver.use(new PeriodicLoad(driver, drive)).start(),
  groups: ({ driver }, { size }) => driver.use(new GroupLoad(driver, size)).start(),
  sessions: ({ driver }, { concurrency, repeats = false }) =>
    driver.use(createSessionLoad(driver, repeats)).start(concurrency),
  "session-arrivals": async ({ driver }, { arrivals, repeats = false }, { isCurrent, atNs }) => {
    await driver.halt();
    await driver.reserve(lanesAheadOf(driver));
    if (isCurrent()) driver.use(createSessionLoad(driver, repeats)).arrive(arrivals, atNs);
  },
  scheduled: async ({ driver }, { arrivals, maxOutstanding }, { isCurrent, atNs }) => {
    // Slots that wait after a failure get their place like all other slots.
    await driver.halt();
    await driver.reserve(lanesAheadOf(driver));
    const load = await createScheduledLoad(driver, driver.lanes, maxOutstanding);
    if (isCurrent()) driver.use(load).start(arrivals, atNs);
  },
};

/** Returns the number of lanes of a schedule whose connections are opened before it begins. */
function lanesAheadOf({ laneCount }: Pick<Driver, "laneCount">): number {
  return Math.min(laneCount, OPENED_AHEAD);
}

/** Changes to a prepared load. @param quota maximum number of requests @param atNs start of a schedule. Default: now */
export type BeginChange = (quota: number, atNs?: number) => void;

/** Starts the loads of a driver. The driver itself only knows its current load. */
export class LoadStarter implements Host {
  readonly driver: Driver;
  readonly closed: ClosedLoad;

  constructor(driver: Driver) {
    this.driver = driver;
    this.closed = new ClosedLoad(driver);
  }

  /** Opens the connections of a level, so that its first requests do not wait for them. */
  prepare(drive: Drive): Promise<void> {
    const { driver } = this;
    if (leastInFlightOf(drive) > driver.maxOutstanding) return Promise.resolve();
    return driver.reserve(maxInFlightOf(drive) ?? lanesAheadOf(driver));
  }

  /**
   * Whether the limit of outstanding requests allows a load from its start. If not, reports this, and sends nothing more. @param wanted
   * number to report
   */
  admits(drive: Drive, wanted = leastInFlightOf(drive)): boolean {
    if (leastInFlightOf(drive) <= this.driver.maxOutstanding) return true;
    this.driver.endAtLimit(wanted);
    return false;
  }

  /** Starts a level. @param quota maximum number of requests @param times start and end of a schedule. Default: now, and none */
  async start(drive: Drive, quota: number, { atNs, endNs }: Partial<LevelStart> = {}): Promise<void> {
    const start = STARTERS[drive.kind] as Starter<Drive>;
    return start(this, drive, { isCurrent: this.driver.begin(quota, endNs), atNs });
  }

  /**
   * Prepares another load while the current one continues: opens its connections. Returns a function that changes to it at once. Requests
   * in flight end under the new load. Loads that assign sequences, and loads whose lanes wait for their responses, wait for requests in
   * flight first.
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
    if (drive.kind === "closed" || drive.kind === "ramp")
      return { load: closed, begin: (atNs) => closed.change(drive, atNs) };
    if (drive.kind !== "scheduled") throw new Error(`a load cannot change to ${drive.kind}`);
    const load = await createScheduledLoad(driver, driver.lanes, drive.maxOutstanding);
    return { load, begin: (atNs) => load.start(drive.arrivals, atNs) };
  }
}
