import { msToNs, msToSec } from "../../../plan/units.ts";
import { type Clock, systemClock } from "../../../runtime/clock.ts";
import type { Bus } from "./bus.ts";
import { pack, unpack } from "./pack.ts";

/** The two directions of a link. */
export interface LinkSubjects {
  readonly send: string;
  readonly receive: string;
}

/** What a link reports to its owner. */
export interface LinkListener {
  /** A message of the other side, in order and exactly once. */
  message(value: unknown): void;
  /** The other side has been silent for too long, or the bus is gone. The link is closed. @param heardNs when it was last heard */
  lost(reason: string, heardNs: number): void;
  /** Longest silence of the other side while the bus is connected. Default: 4 s. */
  readonly mostSilenceMs?: number;
}

/** A piece of a message on the bus: its number, the number of the next piece expected from the other side, and its bytes. */
type Frame = readonly [number: number, expected: number, isLast: boolean, bytes: Uint8Array];

/** Frames without bytes only confirm, and have no number. */
const NO_NUMBER = -1;
/** The number of the reply to a side that is lost: it may have stood still, and would continue alone. */
const GONE = -2;
const NO_BYTES = new Uint8Array(0);

/** Room for what a frame adds to its bytes. */
const FRAME_BYTES = 64;
const MOST_PIECE_BYTES = 256 * 1024;
/** Bytes on the way that are not confirmed. Others wait. */
const MOST_OPEN_BYTES = 4 * 1024 * 1024;
/** Pieces that are not confirmed after this time are sent again; after twice the time, when that is not enough. */
const RESEND_MS = 500;
const MOST_RESEND_MS = 2000;
/** Longest time without a frame, so that the other side knows of this one. */
const BEAT_MS = 1000;
/** The longest that a confirmation waits for a message that takes it along. */
const TICK_MS = 100;
/** Bytes whose confirmation does not wait, as the other side may wait for it. */
const MOST_UNCONFIRMED_BYTES = MOST_OPEN_BYTES / 8;
/** A tick counts as no more silence: where it came later, this thread had no core, and has not read what the other side sent. */
const MOST_TICK_MS = 1000;
export const MOST_SILENCE_MS = 4000;
/** Longest time without the bus. */
const MOST_OUTAGE_MS = 30_000;

/**
 * Messages between two processes over a bus that may lose them: in order, without loss, each once, also when the bus was away for some time.
 */
export class Link {
  private readonly bus: Bus;
  private readonly subjects: LinkSubjects;
  private readonly listener: LinkListener;
  private readonly clock: Clock;
  private readonly endListening: () => void;
  private readonly endTicks: () => void;
  /** Pieces that the other side has not confirmed, in order. The first `openCount` are on the way. */
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
  /** Time without a sign of the other side, in which it could have been heard. */
  private silentNs = 0;
  private tickedAtNs: number;
  private wasConnected = true;
  private isClosed = false;
  private drained: PromiseWithResolvers<void> | undefined;

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

  /** Sends a message: plain data. */
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

  /** Resolves when the other side has everything, or when the link is closed. */
  async drain(): Promise<void> {
    if (this.pieces.length === 0 || this.isClosed) return;
    this.drained ??= Promise.withResolvers<void>();
    await this.drained.promise;
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
    this.drained?.resolve();
  }

  /** Puts on the way what fits. */
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
      if (!this.isClosed) this.lose("it had heard nothing of this side for too long");
      return;
    }
    if (this.isClosed) {
      this.publish([GONE, this.expected, false, NO_BYTES]);
      return;
    }
    this.heardAtNs = this.clock.nowNs();
    this.silentNs = 0;
    this.forget(confirmed);
    if (number === NO_NUMBER) return;
    if (number !== this.expected) {
      // It was sent twice, or one before it was lost: the other side sends again what is not confirmed.
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
   * Confirms at once what comes after a pause, and many bytes. Where frames follow each other, replies take the confirmation along, or the next
   * tick sends it.
   */
  private noteUnconfirmed(bytes: number): void {
    const before = this.unconfirmedBytes;
    this.unconfirmedBytes += bytes;
    const isMuch = before < MOST_UNCONFIRMED_BYTES && this.unconfirmedBytes >= MOST_UNCONFIRMED_BYTES;
    const isAfterPause = !this.hasUnconfirmed && this.clock.nowNs() - this.sentAtNs >= msToNs(TICK_MS);
    this.hasUnconfirmed = true;
    if (!isMuch && !isAfterPause) return;
    // After what arrives together with it, and perhaps with a reply.
    this.clock.nextTurn(() => {
      if (this.hasUnconfirmed && !this.isClosed) this.confirm();
    });
  }

  /** Forgets the pieces before this number, which the other side has. */
  private forget(confirmed: number): void {
    const count = this.pieces.findIndex(({ number }) => number >= confirmed);
    const gone = this.pieces.splice(0, count === -1 ? this.pieces.length : count);
    if (gone.length === 0) return;
    this.waiting -= sumOfBytes(gone);
    // What was confirmed may not have been sent again yet, after an outage.
    this.openBytes -= sumOfBytes(gone.slice(0, this.openCount));
    this.openCount = Math.max(0, this.openCount - gone.length);
    this.resendMs = RESEND_MS;
    this.resendAtNs = this.openCount === 0 ? Number.POSITIVE_INFINITY : this.clock.nowNs() + msToNs(RESEND_MS);
    this.pump();
    if (this.pieces.length > 0) return;
    this.drained?.resolve();
    this.drained = undefined;
  }

  private tick(): void {
    const nowNs = this.clock.nowNs();
    const { isConnected } = this.bus;
    this.silentNs += Math.min(nowNs - this.tickedAtNs, msToNs(MOST_TICK_MS));
    this.tickedAtNs = nowNs;
    if (isConnected && !this.wasConnected) {
      this.silentNs = 0;
      this.sendAgain();
    }
    this.wasConnected = isConnected;
    if (!isConnected) {
      if (nowNs - Math.max(this.heardAtNs, this.sentAtNs) > msToNs(MOST_OUTAGE_MS))
        this.lose("the bus cannot be reached");
      return;
    }
    const { mostSilenceMs = MOST_SILENCE_MS } = this.listener;
    if (this.silentNs > msToNs(mostSilenceMs)) {
      this.lose(`nothing was heard of it for ${msToSec(mostSilenceMs)} s`);
      return;
    }
    if (nowNs >= this.resendAtNs) {
      this.resendMs = Math.min(MOST_RESEND_MS, 2 * this.resendMs);
      this.sendAgain();
    }
    if (this.hasUnconfirmed || nowNs - this.sentAtNs >= msToNs(BEAT_MS)) this.confirm();
  }

  private sendAgain(): void {
    this.openCount = 0;
    this.openBytes = 0;
    this.pump();
  }

  /** Until it is closed, it replies to the other side that it is lost, if that is heard again. */
  private lose(reason: string): void {
    this.stop();
    this.listener.lost(reason, this.heardAtNs);
  }
}

function sumOfBytes(pieces: readonly { readonly bytes: Uint8Array }[]): number {
  return pieces.reduce((sum, { bytes }) => sum + bytes.length, 0);
}
