import { msToNs, nsToSec } from "../plan/units.ts";
import { type Clock, systemClock } from "../runtime/clock.ts";

/**
 * Connections opened per second, of all threads together, after the first {@link BURST}. A backlog of 511 then lasts while its server has
 * no core for 100 ms. Above it the kernel drops handshakes, which come again only after a second.
 */
export const CONNECTIONS_PER_SEC = 5000;
/** Connections opened at once: more would also keep signals and timers waiting. Below the backlogs of servers, mostly 511 or more. */
const BURST = 64;
/** Most connections that are being opened; as many more for each second without any of them open, as with a server that is silent. */
const MOST_OPENING = 128;
const SILENCE_NS = msToNs(1000);
/** A connection that takes this long, besides pauses of the event loop, has lost a packet: the server's backlog may be full. */
const LOSS_NS = msToNs(900);
const PAUSE_NS = msToNs(20);
/** The pace does not become slower than this part of itself. */
const SLOWEST_RATIO = 1 / 16;
const WAIT_MS = 1;

/** How connections are opened. */
export interface Opening<T> {
  /** Opens one. Resolves when it is open or has failed. */
  open(item: T): Promise<void>;
  /** Whether to open no more. */
  isClosed(): boolean;
  /** Default: {@link CONNECTIONS_PER_SEC}. */
  readonly perSec?: number | undefined;
  /** Default: this thread's clock. */
  readonly clock?: Clock;
}

/** Opens connections at a pace, so that the server's backlog has room for them. Resolves when all are open or have failed. */
export async function openAtPace<T>(items: readonly T[], opening: Opening<T>): Promise<void> {
  const { clock = systemClock } = opening;
  const pace = new Pace(opening.perSec ?? CONNECTIONS_PER_SEC, clock);
  const all: Promise<void>[] = [];
  for (const item of items) {
    while (!pace.admits() && !opening.isClosed()) await new Promise<void>((resolve) => clock.after(WAIT_MS, resolve));
    if (opening.isClosed()) break;
    const attempt = pace.begin();
    all.push(opening.open(item).then(() => pace.end(attempt)));
  }
  await Promise.all(all);
}

/** A connection that is being opened. */
interface Attempt {
  readonly beganNs: number;
  /** Sum of pauses until then. */
  readonly pausedNs: number;
}

/** Says when the next connection may be opened. */
class Pace {
  private readonly clock: Clock;
  private readonly slowestPerSec: number;
  private perSec: number;
  /** Connections that may be opened now. */
  private allowance = BURST;
  private countedNs: number;
  /** Time in which the event loop had no turn, because others had the core. */
  private pausedNs = 0;
  private openingCount = 0;
  /** When a connection was last open, or began after none was being opened. */
  private heardNs: number;
  private slowedNs = Number.NEGATIVE_INFINITY;

  constructor(perSec: number, clock: Clock) {
    this.clock = clock;
    this.perSec = perSec;
    this.slowestPerSec = perSec * SLOWEST_RATIO;
    this.countedNs = clock.nowNs();
    this.heardNs = this.countedNs;
  }

  admits(): boolean {
    const nowNs = this.clock.nowNs();
    this.allowance = Math.min(BURST, this.allowance + this.perSec * nsToSec(nowNs - this.countedNs));
    this.pausedNs = this.pausedAt(nowNs);
    this.countedNs = nowNs;
    const silences = Math.floor((nowNs - this.heardNs) / SILENCE_NS);
    return this.allowance >= 1 && this.openingCount < MOST_OPENING * (1 + silences);
  }

  /** Counts a connection that is opened now. */
  begin(): Attempt {
    this.allowance--;
    if (this.openingCount++ === 0) this.heardNs = this.countedNs;
    return { beganNs: this.countedNs, pausedNs: this.pausedNs };
  }

  /** Counts a connection that is open, and halves the pace where packets were lost since it last did. */
  end({ beganNs, pausedNs }: Attempt): void {
    this.openingCount--;
    this.heardNs = this.clock.nowNs();
    const tookNs = this.heardNs - beganNs - (this.pausedAt(this.heardNs) - pausedNs);
    if (tookNs < LOSS_NS || beganNs < this.slowedNs) return;
    this.perSec = Math.max(this.slowestPerSec, this.perSec / 2);
    this.slowedNs = this.heardNs;
  }

  /** Returns the sum of pauses until now. While connections wait, the pace is asked every millisecond. */
  private pausedAt(nowNs: number): number {
    const gapNs = nowNs - this.countedNs;
    return this.pausedNs + (gapNs > PAUSE_NS ? gapNs : 0);
  }
}
