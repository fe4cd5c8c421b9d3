import type { RequestFeed } from "./feed.ts";

type GivenRequest = Pick<RequestFeed, "step" | "sequenceId" | "isSequenceEnd" | "isCut">;

/** What the driver knows of the request that each slot carries, and which slots carry none. */
export class Slots {
  /** When the slot's request was due; NaN: it was sent as soon as could be. */
  readonly intendedNs: number[] = [];
  /** Whether it was sent later than it was due. */
  readonly isDelayed: boolean[] = [];
  /** Its step of the data. */
  readonly steps: number[] = [];
  /** Index of its sequence. */
  readonly sequences: number[] = [];
  readonly sequenceIds: number[] = [];
  readonly endsSequence: boolean[] = [];
  /** Whether its sequence was cut short, so that its answer is not what the data expects. */
  readonly isCut: boolean[] = [];
  /** By lane: slots without a request, where lanes may have several. */
  private readonly free: number[][] = [];
  private laneCount = 1;

  get count(): number {
    return this.intendedNs.length;
  }

  /** Makes slots until there are so many. */
  grow(count: number): void {
    while (this.count < count) this.add();
  }

  /** Notes the request that a slot is about to carry, the one that the feed gave last. */
  fill(slot: number, feed: GivenRequest, sequence: number, intendedNs: number, isDelayed: boolean): void {
    this.grow(slot + 1);
    this.intendedNs[slot] = intendedNs;
    this.isDelayed[slot] = isDelayed;
    this.steps[slot] = feed.step;
    this.sequences[slot] = sequence;
    this.sequenceIds[slot] = feed.sequenceId;
    this.endsSequence[slot] = feed.isSequenceEnd;
    this.isCut[slot] = feed.isCut;
  }

  /** Copies what is known of another's slot into one of these. */
  copy(slot: number, from: Slots, fromSlot: number): void {
    this.grow(slot + 1);
    this.intendedNs[slot] = from.intendedNs[fromSlot] as number;
    this.isDelayed[slot] = from.isDelayed[fromSlot] as boolean;
    this.steps[slot] = from.steps[fromSlot] as number;
    this.sequences[slot] = from.sequences[fromSlot] as number;
    this.sequenceIds[slot] = from.sequenceIds[fromSlot] as number;
    this.endsSequence[slot] = from.endsSequence[fromSlot] as boolean;
    this.isCut[slot] = from.isCut[fromSlot] as boolean;
  }

  /** Deals all slots to lanes, every one of them without a request: slot `s` is lane `s % laneCount`'s. */
  deal(laneCount: number): void {
    this.laneCount = laneCount;
    this.free.length = 0;
    for (let lane = 0; lane < laneCount; lane++) this.free.push([]);
    for (let slot = this.count - 1; slot >= 0; slot--) this.release(slot);
  }

  /** A slot of the lane without a request. All busy ones make a new round of slots, since an open loop never waits. */
  take(lane: number): number {
    const free = this.freeOf(lane).pop();
    if (free !== undefined) return free;
    // Slots belong to lanes by their number, so a whole round of them is added.
    for (let i = 0; i < this.laneCount; i++) {
      const slot = this.add();
      if (slot % this.laneCount !== lane) this.release(slot);
    }
    return this.count - this.laneCount + lane;
  }

  /** The slot's request is over. */
  release(slot: number): void {
    this.freeOf(slot % this.laneCount).push(slot);
  }

  private freeOf(lane: number): number[] {
    return this.free[lane] as number[];
  }

  private add(): number {
    this.intendedNs.push(Number.NaN);
    this.isDelayed.push(false);
    this.steps.push(0);
    this.sequences.push(0);
    this.sequenceIds.push(0);
    this.endsSequence.push(false);
    this.isCut.push(false);
    return this.count - 1;
  }
}
