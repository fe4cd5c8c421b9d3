import { formatDurationNs, msToNs, msToSec } from "../../../plan/units.ts";
import { NO_BYTES } from "../../../runtime/bytes.ts";
import { type Clock, systemClock } from "../../../runtime/clock.ts";
import type { Bus } from "./bus.ts";
import { pack, unpack } from "./pack.ts";

/** The two directions of a link. */
export interface LinkSubjects {
  readonly send: string;
  readonly receive: string;
}

/** Events of a link, for its owner. */
export interface LinkListener {
  /** A message of the other side, in order and exactly once. */
  message(value: unknown): void;
  /**
   * The other side has been silent for too long, or the bus is gone. The link is closed. @param heardNs when the other side was
   * last heard
   */
  lost(reason: string, heardNs: number): void;
  /** Longest silence of the other side while the bus is connected. Default: 4 s. */
  readonly mostSilenceMs?: number;
}

/** A piece of a message on the bus: its number, the number of the next piece expected from the other side, and its bytes. */
type Frame = readonly [number: number, expected: number, isLast: boolean, bytes: Uint8Array];

/** Frames without bytes are only confirmations, and have no number. */
const NO_NUMBER = -1;
/** The number of the message to a side that is lost: it may have stood still, and would continue alone. */
const GONE = -2;

/** Space for what a frame adds to its bytes. */
const FRAME_BYTES = 64;
const MOST_PIECE_BYTES = 256 * 1024;
/** Largest number of unconfirmed bytes in transit. More bytes wait. */
const MOST_OPEN_BYTES = 4 * 1024 * 1024;
/** Unconfirmed pieces are sent again after this time; after twice the time if that does not help. */
const RESEND_MS = 500;
const MOST_RESEND_MS = 2000;
/** Longest time without sending a frame, so that the other side sees that this one is alive. */
const BEAT_MS = 1000;
/** Longest time that a confirmation waits for a message to travel with. */
const TICK_MS = 100;
/** Number of bytes whose confirmation does not wait, as the other side may be waiting for it. */
const MOST_UNCONFIRMED_BYTES = MOST_OPEN_BYTES / 8;
/**
 * A tick counts as at most this much silence: a late tick means that this thread had no core, and has not read what the other
 * side sent.
 */
const MOST_TICK_MS = 1000;
export const MOST_SILENCE_MS = 4000;
/** Longest time without a connection to the bus. */
const MOST_OUTAGE_MS = 30_000;

/** Exchanges messages between two processes over a lossy bus: in order, each exactly once, even across short outages of the bus. */
export class Link {
  private readonly bus: Bus;
  private readonly subjects: LinkSubjects;
  private readonly listener: LinkListener;
  private readonly clock: Clock;
  private readonly endListening: () => void;
  private readonly endTicks: () => void;
  /** Pieces that the other side has not confirmed, in order. The first `openCount` are in transit. */
  private pieces: { readonly number: number; readonly isLast: boolean; readonly bytes: Uint8Array }[] = [];
  private waiting = 0;
  private openCount = 0;
  private openBytes = 0;
  private nextNumber = 0;
  /** Number of the next piece from the other side. */
  private expected = 0;
  private parts: Uint8Array[] = [];
  private hasUnconfirmed = false;
  private unconfirmedBytes = 0;
  private resendMs = RESEND_MS;
  private resendAtNs = Number.POSITIVE_INFINITY;
  private sentAtNs = 0;
  private heardAtNs: number;
  /** Time without a sign of life from the other side while one could have arrived. */
  private silentNs = 0;
  private tickedAtNs: number;
  /** The last long time in which this thread had no core. */
  private standstill = { startNs: Number.NEGATIVE_INFINITY, lengthNs: 0 };
  /** Since when a bus may be away for a shorter time only, and that time. */
  private hastened: { readonly sinceNs: number; readonly mostOutageMs: number } | undefined;
  private wasConnected = true;
  private isClosed = false;
  /** Waits until all messages before a number are confirmed. */
  private drains: { readonly before: number; readonly resolve: () => void }[] = [];

  constructor(bus: Bus, subjects: LinkSubjects, listener: LinkListener, clock = systemClock) {
    this.bus = bus;
    this.subjects = subjects;
    this.listener = listener;
    this.clock = clock;
    this.heardAtNs = clock.nowNs();
    this.tickedAtNs = this.heardAtNs;
    this.endListening = bus.subscribe(subjects.receive, (frame) => this.receive(frame as Frame));
    this.endTicks = clock.every(TICK_MS, () => this.tick());
  }

  /** Sends a message of plain data. */
  send(message: unknown): void {
    if (this.isClosed) return;
    const bytes = pack(message);
    this.waiting += bytes.length;
    const most = Math.min(MOST_PIECE_BYTES, this.bus.mostBytes - FRAME_BYTES);
    for (let start = 0; start < bytes.length; start += most) {
      const isLast = start + most >= bytes.length;
      this.pieces.push({ number: this.nextNumber++, isLast, bytes: bytes.subarray(start, start + most) });
    }
    this.pump();
  }

  /** Number of bytes that the other side has not confirmed. */
  get waitingBytes(): number {
    return this.waiting;
  }

  /** Resolves when the other side has received everything that was sent until now, or when the link is closed. */
  drain(): Promise<void> {
    if (this.pieces.length === 0 || this.isClosed) return Promise.resolve();
    return new Promise((resolve) => this.drains.push({ before: this.nextNumber, resolve }));
  }

  /** Ends the waits whose messages have all been confirmed. */
  private settleDrains(): void {
    const first = this.pieces[0]?.number ?? Number.POSITIVE_INFINITY;
    for (const { before, resolve } of this.drains) if (before <= first) resolve();
    this.drains = this.drains.filter(({ before }) => before > first);
  }

  /** Shortens the wait for a bus that is away, from now on. */
  hasten(mostOutageMs: number): void {
    this.hastened = { sinceNs: this.clock.nowNs(), mostOutageMs };
  }

  close(): void {
    this.endListening();
    this.stop();
  }

  private stop(): void {
    if (this.isClosed) return;
    this.isClosed = true;
    this.endTicks();
    this.pieces = [];
    this.waiting = 0;
    this.settleDrains();
  }

  /** Sends as many waiting pieces as the limit allows. */
  private pump(): void {
    if (!this.bus.isConnected) return;
    for (let next = this.pieces[this.openCount]; next !== undefined; next = this.pieces[this.openCount]) {
      if (this.openCount > 0 && this.openBytes + next.bytes.length > MOST_OPEN_BYTES) return;
      if (this.openCount === 0) this.resendAtNs = this.clock.nowNs() + msToNs(this.resendMs);
      this.openCount++;
      this.openBytes += next.bytes.length;
      this.publish([next.number, this.expected, next.isLast, next.bytes]);
    }
  }

  private publish(frame: Frame): void {
    this.hasUnconfirmed = false;
    this.unconfirmedBytes = 0;
    this.sentAtNs = this.clock.nowNs();
    this.bus.publish(this.subjects.send, frame);
  }

  private confirm(): void {
    this.publish([NO_NUMBER, this.expected, false, NO_BYTES]);
  }

  private receive([number, confirmed, isLast, bytes]: Frame): void {
    if (number === GONE) {
      if (!this.isClosed) this.loseUnheard();
      return;
    }
    if (this.isClosed) {
      this.sayGone();
      return;
    }
    this.heardAtNs = this.clock.nowNs();
    this.silentNs = 0;
    this.forget(confirmed);
    if (number === NO_NUMBER) return;
    if (number !== this.expected) {
      // The piece was sent twice, or an earlier one was lost: the other side sends unconfirmed pieces again.
      this.hasUnconfirmed = true;
      return;
    }
    this.expected++;
    this.parts.push(bytes);
    this.noteUnconfirmed(bytes.length);
    if (!isLast) return;
    const whole = this.parts.length === 1 ? bytes : Buffer.concat(this.parts);
    this.parts = [];
    this.listener.message(unpack(whole));
  }

  /**
   * Confirms at once after a pause, and after many bytes. In a series of frames, replies carry the confirmation, or the next tick sends it.
   */
  private noteUnconfirmed(bytes: number): void {
    const before = this.unconfirmedBytes;
    this.unconfirmedBytes += bytes;
    const isMuch = before < MOST_UNCONFIRMED_BYTES && this.unconfirmedBytes >= MOST_UNCONFIRMED_BYTES;
    const isAfterPause = !this.hasUnconfirmed && this.clock.nowNs() - this.sentAtNs >= msToNs(TICK_MS);
    this.hasUnconfirmed = true;
    if (!isMuch && !isAfterPause) return;
    // Confirm after the frames that arrive together, and perhaps with a reply.
    this.clock.nextTurn(() => {
      if (this.hasUnconfirmed && !this.isClosed) this.confirm();
    });
  }

  /** Drops the pieces before this number, which the other side has received. */
  private forget(confirmed: number): void {
    const count = this.pieces.findIndex(({ number }) => number >= confirmed);
    const gone = this.pieces.splice(0, count === -1 ? this.pieces.length : count);
    if (gone.length === 0) return;
    this.waiting -= sumOfBytes(gone);
    // After an outage, a confirmed piece may not have been sent again yet.
    this.openBytes -= sumOfBytes(gone.slice(0, this.openCount));
    this.openCount = Math.max(0, this.openCount - gone.length);
    this.resendMs = RESEND_MS;
    this.resendAtNs = this.openCount === 0 ? Number.POSITIVE_INFINITY : this.clock.nowNs() + msToNs(RESEND_MS);
    this.pump();
    this.settleDrains();
  }

  private tick(): void {
    const nowNs = this.clock.nowNs();
    const { isConnected } = this.bus;
    const { mostSilenceMs = MOST_SILENCE_MS } = this.listener;
    const passedNs = nowNs - this.tickedAtNs;
    this.noteStandstill(nowNs);
    this.silentNs += Math.min(passedNs, msToNs(MOST_TICK_MS));
    if (passedNs > msToNs(mostSilenceMs)) this.silentNs = 0;
    this.tickedAtNs = nowNs;
    if (isConnected && !this.wasConnected) {
      this.silentNs = 0;
      this.sendAgain();
    }
    this.wasConnected = isConnected;
    if (!isConnected) {
      if (nowNs > this.outageEndNs) this.lose("the bus cannot be reached");
      return;
    }
    if (this.silentNs > msToNs(mostSilenceMs)) {
      this.lose(`nothing was heard of it for ${msToSec(mostSilenceMs)} s`);
      // It does not need to wait for this side.
      this.sayGone();
      return;
    }
    if (nowNs >= this.resendAtNs) {
      this.resendMs = Math.min(MOST_RESEND_MS, 2 * this.resendMs);
      this.sendAgain();
    }
    if (this.hasUnconfirmed || nowNs - this.sentAtNs >= msToNs(BEAT_MS)) this.confirm();
  }

  /** Until when a bus may be away. */
  private get outageEndNs(): number {
    const { sinceNs, mostOutageMs } = this.hastened ?? { sinceNs: 0, mostOutageMs: MOST_OUTAGE_MS };
    const lastNs = Math.max(this.heardAtNs, this.sentAtNs);
    return Math.min(lastNs + msToNs(MOST_OUTAGE_MS), Math.max(lastNs, sinceNs) + msToNs(mostOutageMs));
  }

  private sendAgain(): void {
    this.openCount = 0;
    this.openBytes = 0;
    this.pump();
  }

  private noteStandstill(nowNs: number): void {
    const lengthNs = nowNs - this.tickedAtNs;
    if (lengthNs > msToNs(MOST_SILENCE_MS - MOST_TICK_MS)) this.standstill = { startNs: this.tickedAtNs, lengthNs };
  }

  /** The other side has lost this one, perhaps because this one stood still. */
  private loseUnheard(): void {
    const nowNs = this.clock.nowNs();
    this.noteStandstill(nowNs);
    const { startNs, lengthNs } = this.standstill;
    const unheard = "it had heard nothing of this process";
    if (nowNs - startNs - lengthNs > msToNs(MOST_SILENCE_MS)) this.lose(`${unheard} for too long`);
    else this.lose(`${unheard}, which did not run for ${formatDurationNs(lengthNs)}`, startNs);
  }

  private sayGone(): void {
    this.publish([GONE, this.expected, false, NO_BYTES]);
  }

  /**
   * Until it is closed, it replies to the other side that it is lost, if that is heard again. @param heardNs when the other side was last
   * heard. Messages from before a standstill are read after it
   */
  private lose(reason: string, heardNs = this.heardAtNs): void {
    this.stop();
    this.listener.lost(reason, heardNs);
  }
}

function sumOfBytes(pieces: readonly { readonly bytes: Uint8Array }[]): number {
  return pieces.reduce((sum, { bytes }) => sum + bytes.length, 0);
}
