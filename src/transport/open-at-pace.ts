import { msToNs, nsToSec } from "../plan/units.ts";
import { type Clock, systemClock } from "../runtime/clock.ts";

/**
 * Connections opened per second, by all threads together, after the first {@link BURST}. A backlog of 511 is then enough for a server
 * that has no core for 100 ms. When the backlog is full, the kernel drops handshakes, which are repeated only after a second.
 */
export const CONNECTIONS_PER_SEC = 5000;
/**
 * Number of connections opened at once. More would also delay signals and timers. It is below the backlogs of servers, mostly 511 or
 * more.
 */
const BURST = 64;
/**
 * Maximum number of connections that are being opened. The same number is added for each second in which none of them opens, as with
 * a silent server.
 */
const MOST_OPENING = 128;
const SILENCE_NS = msToNs(1000);
/**
 * A connection that takes this long, apart from pauses of the event loop, has lost a packet: the server's backlog may be full.
 */
const LOSS_NS = msToNs(900);
const PAUSE_NS = msToNs(20);
/** Slowest pace, as a ratio of the initial one. */
const SLOWEST_RATIO = 1 / 16;
const WAIT_MS = 1;

/** Callbacks and settings for opening connections. */
export interface Opening<T> {
  /** Opens a connection. Resolves when it is open or has failed. */
  open(item: T): Promise<void>;
  /** Returns whether to stop opening connections. */
  isClosed(): boolean;
  /** Default: {@link CONNECTIONS_PER_SEC}. */
  readonly perSec?: number | undefined;
  /** Default: this thread's clock. */
  readonly clock?: Clock;
}

/** Opens connections at a pace that the server's backlog can absorb. Resolves when all are open or have failed. */
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

/** Decides when the next connection may be opened. */
class Pace {
  private readonly clock: Clock;
  private readonly slowestPerSec: number;
  private perSec: number;
  /** Number of connections that may be opened now. */
  private allowance = BURST;
  private countedNs: number;
  /** Time in which the event loop had no turn, because other threads had the core. */
  private pausedNs = 0;
  private openingCount = 0;
  /** Time when a connection was last opened, or when the first one began to open. */
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

  /** Counts a connection that starts to open now. */
  begin(): Attempt {
    this.allowance--;
    if (this.openingCount++ === 0) this.heardNs = this.countedNs;
    return { beganNs: this.countedNs, pausedNs: this.pausedNs };
  }

  /** Counts a connection that is open, and halves the pace if packets were lost since the last time that it was halved. */
  end({ beganNs, pausedNs }: Attempt): void {
    this.openingCount--;
    this.heardNs = this.clock.nowNs();
    const tookNs = this.heardNs - beganNs - (this.pausedAt(this.heardNs) - pausedNs);
    if (tookNs < LOSS_NS || beganNs < this.slowedNs) return;
    this.perSec = Math.max(this.slowestPerSec, this.perSec / 2);
    this.slowedNs = this.heardNs;
  }

  /** Returns the sum of pauses until now. While connections wait, this is called every millisecond. */
  private pausedAt(nowNs: number): number {
    const gapNs = nowNs - this.countedNs;
    return this.pausedNs + (gapNs > PAUSE_NS ? gapNs : 0);
  }
}
