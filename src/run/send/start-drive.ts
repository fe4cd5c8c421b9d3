import type { Drive, DriveOf } from "../../load/drive.ts";
import type { LaneOptions } from "../lanes.ts";
import type { ActiveLoad, Sender } from "./active-load.ts";
import type { ClosedLoad } from "./closed-load.ts";
import type { Feed } from "./feed.ts";
import { GroupLoad } from "./groups/group-load.ts";
import { PeriodicLoad } from "./groups/periodic-load.ts";
import { createScheduledLoad } from "./scheduled-load.ts";
import { type SessionFeed, sessionsOf } from "./session-feed.ts";
import { SessionLoad } from "./session-load.ts";

/** The way each kind of drive starts: one entry per kind. */

/** The sender that a drive starts on. */
export interface DriveHost extends Sender {
  readonly closedLoad: ClosedLoad;
  readonly lanes: LaneOptions;
  readonly feed: Feed | undefined;
  /** Sends as this load decides from now on. */
  use<L extends ActiveLoad>(load: L): L;
  /** Stops sending. Resolves when nothing is outstanding. */
  halt(): Promise<void>;
}

/** How a drive starts. */
export interface StartOptions {
  /** Whether no other start or stop has followed; a start does nothing more after another one. */
  isCurrent(): boolean;
  /** Start of a schedule. Default: now. */
  readonly atNs?: number | undefined;
}

type Starter<D> = (host: DriveHost, drive: D, options: StartOptions) => Promise<void>;

function createSessionLoad(host: DriveHost, repeats: boolean): SessionLoad {
  return new SessionLoad(host, sessionsOf(host.feed) as SessionFeed, repeats);
}

const STARTERS: { readonly [K in Drive["kind"]]: Starter<DriveOf<K>> } = {
  closed: (host, drive) => host.use(host.closedLoad).hold(drive),
  ramp: (host, drive) => host.use(host.closedLoad).ramp(drive),
  periodic: async (host, drive, { isCurrent }) => {
    if (!isCurrent()) return;
    return host.use(new PeriodicLoad(host, drive)).start();
  },
  groups: (host, { size }) => host.use(new GroupLoad(host, size)).start(),
  sessions: (host, { concurrency, repeats = false }) => host.use(createSessionLoad(host, repeats)).start(concurrency),
  "session-arrivals": async (host, { arrivals, repeats = false }, { isCurrent, atNs }) => {
    if (!isCurrent()) return;
    await host.halt();
    await host.reserve(host.laneCount);
    if (isCurrent()) host.use(createSessionLoad(host, repeats)).arrive(arrivals, atNs);
  },
  scheduled: async (host, { arrivals, maxOutstanding }, { isCurrent, atNs }) => {
    if (!isCurrent()) return;
    // Slots that wait after a failure get their place like all others.
    await host.halt();
    await host.reserve(host.laneCount);
    const load = await createScheduledLoad(host, host.lanes, maxOutstanding);
    if (isCurrent()) host.use(load).start(arrivals, atNs);
  },
};

/** Starts a drive on its sender. */
export function startDrive(host: DriveHost, drive: Drive, options: StartOptions): Promise<void> {
  const start = STARTERS[drive.kind] as Starter<Drive>;
  return start(host, drive, options);
}
