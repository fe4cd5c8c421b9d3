/** Which sequences a schedule has under way, and which of them the next request of a lane continues. */
export class SequenceDeal {
  readonly count: number;
  private readonly laneCount: number;
  private readonly isSerial: boolean;
  private readonly random: () => number;
  /** By sequence: requests without an answer. */
  private readonly outstanding: number[] = [];
  /** By lane: its sequences that can go on. */
  private readonly ready: number[][] = [];
  private readonly blockedSinceNs: (number | undefined)[] = [];

  /**
   * @param count sequences under way at once; sequence `s` is lane `s % laneCount`'s
   * @param isSerial a sequence waits for its answer before it goes on; otherwise its requests follow one another as they are due
   * @param random a number from 0 up to but not 1, a new one with each call
   */
  constructor(count: number, laneCount: number, isSerial: boolean, random: () => number) {
    this.count = count;
    this.laneCount = laneCount;
    this.isSerial = isSerial;
    this.random = random;
    for (let lane = 0; lane < laneCount; lane++) this.ready.push([]);
    for (let sequence = 0; sequence < count; sequence++) {
      this.outstanding.push(0);
      this.readyOf(sequence).push(sequence);
    }
  }

  /** Takes one of the lane's sequences at random; undefined when all of them wait for answers. */
  take(lane: number): number | undefined {
    const ready = this.ready[lane] as number[];
    if (ready.length === 0) return undefined;
    const index = Math.floor(this.random() * ready.length);
    const sequence = ready[index] as number;
    if (this.isSerial) this.drop(ready, index);
    this.outstanding[sequence] = (this.outstanding[sequence] as number) + 1;
    return sequence;
  }

  isBusy(sequence: number): boolean {
    return (this.outstanding[sequence] as number) > 0;
  }

  /** Takes this sequence, to end it; it must not be busy. */
  takeForEnd(sequence: number): void {
    const ready = this.readyOf(sequence);
    if (this.isSerial) this.drop(ready, ready.indexOf(sequence));
    this.outstanding[sequence] = (this.outstanding[sequence] as number) + 1;
  }

  /** The answer to a request of the sequence has come. */
  giveBack(sequence: number): void {
    this.outstanding[sequence] = (this.outstanding[sequence] as number) - 1;
    if (this.isSerial) this.readyOf(sequence).push(sequence);
  }

  /** The lane's request that was due at this time has no sequence to go with. */
  block(lane: number, dueNs: number): void {
    this.blockedSinceNs[lane] = dueNs;
  }

  /** When the lane's waiting request was due, which it waits for no longer; undefined when none waits. */
  unblock(lane: number): number | undefined {
    const dueNs = this.blockedSinceNs[lane];
    this.blockedSinceNs[lane] = undefined;
    return dueNs;
  }

  private readyOf(sequence: number): number[] {
    return this.ready[sequence % this.laneCount] as number[];
  }

  /** The last one takes its place, so that nothing is moved. */
  private drop(ready: number[], index: number): void {
    const last = ready.pop() as number;
    if (index < ready.length) ready[index] = last;
  }
}
