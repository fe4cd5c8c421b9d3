/** The concurrent sequences of a schedule. Chooses the sequence of each request. */
export class SequencePool {
  readonly count: number;
  private readonly laneCount: number;
  private readonly isSerial: boolean;
  private readonly random: () => number;
  /** Number of outstanding requests of each sequence. */
  private readonly outstanding: number[] = [];
  /** Each lane's sequences that can continue. */
  private readonly ready: number[][] = [];
  private readonly blockedSinceNs: (number | undefined)[] = [];

  /**
   * @param count number of concurrent sequences; sequence `s` belongs to lane `s % laneCount`
   * @param isSerial whether a sequence waits for its response before its next request
   * @param random returns a number in [0, 1)
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

  /** Takes one of the lane's sequences at random; undefined when all wait for responses. */
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

  /** Takes the given sequence to end it. It must not be busy. */
  takeForEnd(sequence: number): void {
    const ready = this.readyOf(sequence);
    if (this.isSerial) this.drop(ready, ready.indexOf(sequence));
    this.outstanding[sequence] = (this.outstanding[sequence] as number) + 1;
  }

  /** Releases a sequence after a response. */
  release(sequence: number): void {
    this.outstanding[sequence] = (this.outstanding[sequence] as number) - 1;
    if (this.isSerial) this.readyOf(sequence).push(sequence);
  }

  /** Records that the lane's request with this due time waits for a sequence. */
  block(lane: number, dueNs: number): void {
    this.blockedSinceNs[lane] = dueNs;
  }

  /** Ends the lane's wait and returns the due time of its request; undefined when none waits. */
  unblock(lane: number): number | undefined {
    const dueNs = this.blockedSinceNs[lane];
    this.blockedSinceNs[lane] = undefined;
    return dueNs;
  }

  private readyOf(sequence: number): number[] {
    return this.ready[sequence % this.laneCount] as number[];
  }

  /** Removes by replacing with the last element, so that nothing is shifted. */
  private drop(ready: number[], index: number): void {
    const last = ready.pop() as number;
    if (index < ready.length) ready[index] = last;
  }
}
