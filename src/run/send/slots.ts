import type { RequestFeed } from "./feed.ts";

type GivenRequest = Pick<RequestFeed, "step" | "sequenceId" | "isSequenceEnd" | "isCut">;

/** The driver's data about each slot's request, and the free slots. */
export class Slots {
  /** Due time of the slot's request; NaN: no due time. */
  readonly intendedNs: number[] = [];
  /** Whether the slot's request was sent late. */
  readonly isDelayed: boolean[] = [];
  /** Step of the data, by slot. */
  readonly steps: number[] = [];
  /** Index of the sequence, by slot. */
  readonly sequences: number[] = [];
  readonly sequenceIds: number[] = [];
  readonly endsSequence: boolean[] = [];
  /** Whether the sequence was cut short, so that the response differs from the expected one. */
  readonly isCut: boolean[] = [];
  /** Free slots of each lane, for lanes with several slots. */
  private readonly free: number[][] = [];
  private laneCount = 1;

  get count(): number {
    return this.intendedNs.length;
  }

  /** Adds slots up to this total number. */
  grow(count: number): void {
    while (this.count < count) this.add();
  }

  /** Records when a slot's next request is due. */
  schedule(slot: number, intendedNs: number, isDelayed: boolean): void {
    this.grow(slot + 1);
    this.intendedNs[slot] = intendedNs;
    this.isDelayed[slot] = isDelayed;
  }

  /** Records a scheduled slot's request, the last one of the feed. */
  fill(slot: number, feed: GivenRequest, sequence: number): void {
    this.steps[slot] = feed.step;
    this.sequences[slot] = sequence;
    this.sequenceIds[slot] = feed.sequenceId;
    this.endsSequence[slot] = feed.isSequenceEnd;
    this.isCut[slot] = feed.isCut;
  }

  /** Copies the data of a slot of another instance. */
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

  /** Assigns all slots to lanes: slot `s` belongs to lane `s % laneCount`. @param isIdle whether a slot is free; default: all are */
  assignLanes(laneCount: number, isIdle: (slot: number) => boolean = () => true): void {
    this.laneCount = laneCount;
    // `take` requires the same number of slots for each lane.
    this.grow(Math.ceil(this.count / laneCount) * laneCount);
    this.free.length = 0;
    for (let lane = 0; lane < laneCount; lane++) this.free.push([]);
    for (let slot = this.count - 1; slot >= 0; slot--) if (isIdle(slot)) this.release(slot);
  }

  /** Takes a free slot of the lane. If all are busy, adds slots, because an open loop never waits. */
  take(lane: number): number {
    const free = this.freeOf(lane).pop();
    if (free !== undefined) return free;
    // A slot's number decides its lane, so add one slot for every lane.
    for (let i = 0; i < this.laneCount; i++) {
      const slot = this.add();
      if (slot % this.laneCount !== lane) this.release(slot);
    }
    return this.count - this.laneCount + lane;
  }

  /** Frees a slot. */
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
