import { closedConcurrencyOf, type Drive, limitConcurrency, roundSizeOf } from "../../load/drive.ts";
import type { PreparedLoad } from "../../load/load-mode.ts";
import { countOf, divideDrive, type Share, shareOfDrive, WHOLE } from "../../load/share.ts";
import type { Driver } from "./driver.ts";
import type { LoadStep } from "./messages.ts";
import type { SessionFeed } from "./session-feed.ts";

/** A load, and the part of it that a sender owns. */
export interface OwnedDrive {
  readonly whole: Drive;
  readonly share: Share;
  readonly drive: Drive;
}

/** What decides how to send at a level. */
export interface DriveParts {
  readonly driver: Driver;
  /** What this sender owns of the load. Default: all of it. */
  readonly share?: Share | undefined;
  /** Set for a load of sessions. */
  readonly sessions: Pick<SessionFeed, "tally" | "turnCount" | "turnCountOf"> | undefined;
  readonly load: { readonly phases: readonly { readonly load: Pick<PreparedLoad, "drive"> }[] };
  /** Due time of each step, when the load follows the data. */
  readonly timestampsMs: readonly number[];
}

/** Returns how to send at a level, all senders together. */
function driveOf({ load, timestampsMs }: DriveParts, step: LoadStep): Drive {
  const { phaseIndex, level, draw, mostRequests } = step;
  const phase = load.phases[phaseIndex];
  if (phase === undefined) throw new Error(`the load has no phase ${phaseIndex}`);
  const drive = phase.load.drive(level, timestampsMs, draw);
  return mostRequests === undefined ? drive : limitConcurrency(drive, mostRequests);
}

/** Returns what a sender owns of a load. @param sender its share of loads that are divided among all senders */
function ownDrive(whole: Drive, sender: Share, { sequences, lanes }: Pick<Driver, "sequences" | "lanes">): OwnedDrive {
  const share = shareOfDrive(whole, sender, sequences === undefined ? undefined : lanes.sequenceCount);
  return { whole, share, drive: divideDrive(whole, share) };
}

/** What a sender owns of the load that runs. */
export class Ownership {
  private readonly parts: DriveParts;
  /** What it owns of loads that are divided among all senders. */
  private readonly whole: Share;
  private running: OwnedDrive | undefined;

  constructor(parts: DriveParts) {
    this.parts = parts;
    this.whole = parts.share ?? WHOLE;
  }

  /** Returns what it owns of a load. */
  of(step: LoadStep): OwnedDrive {
    return ownDrive(driveOf(this.parts, step), this.whole, this.parts.driver);
  }

  /** Sets the load that runs from now on. */
  use(owned: OwnedDrive): void {
    this.running = owned;
    const { whole, share } = owned;
    if (this.whole.count === 1) return;
    const { feed, laneCount } = this.parts.driver;
    const concurrency = closedConcurrencyOf(whole);
    feed?.ownPart(share, concurrency && Math.min(concurrency, laneCount * share.count));
  }

  /** Whether it owns nothing of the load that runs. */
  get isNothing(): boolean {
    const { index, count } = this.running?.share ?? WHOLE;
    return index >= count;
  }

  /** Number of requests that it keeps in flight, in rounds. Undefined: the load has no rounds. */
  get roundSize(): number | undefined {
    return this.running && roundSizeOf(this.running.drive);
  }

  /** Returns its share of a number of requests of the load that runs. Sessions are not divided. */
  shareOf(requestCount: number): number {
    const { sessions } = this.parts;
    const share = this.running?.share ?? WHOLE;
    return requestCount === sessions?.turnCount ? sessions.turnCountOf(share) : countOf(requestCount, share);
  }
}
