/** A binary heap of lanes ordered by due time, then by insertion. */
export class DueHeap {
  private readonly dueNs: number[] = [];
  private readonly lanes: number[] = [];
  private readonly turns: number[] = [];
  private nextTurn = 0;

  get size(): number {
    return this.lanes.length;
  }

  /** Due time of the first lane; Infinity when empty. */
  get firstDueNs(): number {
    return this.dueNs[0] ?? Number.POSITIVE_INFINITY;
  }

  push(lane: number, dueNs: number): void {
    let index = this.lanes.length;
    const turn = this.nextTurn++;
    this.dueNs.push(dueNs);
    this.lanes.push(lane);
    this.turns.push(turn);
    while (index > 0) {
      const parent = (index - 1) >> 1;
      // Existing entries have an earlier turn, so equal times stay before this one.
      if ((this.dueNs[parent] as number) <= dueNs) break;
      this.move(parent, index);
      index = parent;
    }
    this.put(index, lane, dueNs, turn);
  }

  /** Removes and returns the first lane. @throws when empty */
  pop(): number {
    const first = this.lanes[0];
    if (first === undefined) throw new Error("the heap is empty");
    const lane = this.lanes.pop() as number;
    const dueNs = this.dueNs.pop() as number;
    const turn = this.turns.pop() as number;
    if (this.lanes.length > 0) this.sink(lane, dueNs, turn);
    return first;
  }

  private sink(lane: number, dueNs: number, turn: number): void {
    const size = this.lanes.length;
    let index = 0;
    for (;;) {
      let child = index * 2 + 1;
      if (child >= size) break;
      if (child + 1 < size && this.isBefore(child + 1, this.dueNs[child] as number, this.turns[child] as number))
        child++;
      if (!this.isBefore(child, dueNs, turn)) break;
      this.move(child, index);
      index = child;
    }
    this.put(index, lane, dueNs, turn);
  }

  private isBefore(index: number, dueNs: number, turn: number): boolean {
    const otherNs = this.dueNs[index] as number;
    return otherNs < dueNs || (otherNs === dueNs && (this.turns[index] as number) < turn);
  }

  private move(from: number, to: number): void {
    this.put(to, this.lanes[from] as number, this.dueNs[from] as number, this.turns[from] as number);
  }

  private put(index: number, lane: number, dueNs: number, turn: number): void {
    this.lanes[index] = lane;
    this.dueNs[index] = dueNs;
    this.turns[index] = turn;
  }
}
