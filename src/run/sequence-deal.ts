/** Which sequences a schedule has under way, and which of them the next request of a lane continues. */
export class SequenceDeal {
  readonly count: number;
  private readonly laneCount: number;
  private readonly isSerial: boolean;
  private readonly random: () => number;
  /** By sequence: requests without an answer. */
  private readonly outstanding: number[] = [];
  private readonly blockedSinceNs: (number | undefined)[] = [];
  private readonly candidates: number[] = [];

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
    for (let sequence = 0; sequence < count; sequence++) this.outstanding.push(0);
  }

  /** One of the lane's sequences at random; undefined when all of them wait for answers. */
  pick(lane: number): number | undefined {
    const { candidates } = this;
    candidates.length = 0;
    for (let sequence = lane; sequence < this.count; sequence += this.laneCount)
      if (!this.isSerial || !this.isBusy(sequence)) candidates.push(sequence);
    return candidates[Math.floor(this.random() * candidates.length)];
  }

  isBusy(sequence: number): boolean {
    return (this.outstanding[sequence] as number) > 0;
  }

  add(sequence: number): void {
    this.outstanding[sequence] = (this.outstanding[sequence] as number) + 1;
  }

  remove(sequence: number): void {
    this.outstanding[sequence] = (this.outstanding[sequence] as number) - 1;
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
}
