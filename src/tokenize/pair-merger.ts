/** The merging of byte-pair encoding: the adjacent pair with the lowest rank becomes one token, until no pair is known. */

/** The known merges. */
export interface MergeTable {
  /** Returns the rank of a pair, where lower ranks merge first; -1 for an unknown pair. */
  rankOf(left: number, right: number): number;
  /** Returns the token that results from the merge of this rank. */
  tokenOf(rank: number): number;
}

/** Merges of token ids by their rank. Large vocabularies have hundreds of thousands, and a `Map` takes four times the memory. */
export class MergeList {
  private count = 0;
  private lefts = new Int32Array(1 << 8);
  private rights = new Int32Array(1 << 8);
  /** Rank + 1, at a place that the hash of the pair determines; 0 for a free one. */
  private places = new Int32Array(1 << 9);

  get length(): number {
    return this.count;
  }

  /** Adds a pair with the next rank. The rank of a pair that is added twice is the later one. */
  add(left: number, right: number): void {
    if (this.count === this.lefts.length) this.grow();
    this.lefts[this.count] = left;
    this.rights[this.count] = right;
    this.places[this.find(left, right)] = ++this.count;
  }

  /** Returns the rank of a pair; -1 if it is missing. */
  rankOf(left: number, right: number): number {
    return (this.places[this.find(left, right)] as number) - 1;
  }

  pairOf(rank: number): readonly [left: number, right: number] {
    return [this.lefts[rank] as number, this.rights[rank] as number];
  }

  private find(left: number, right: number): number {
    const { lefts, rights, places } = this;
    const mask = places.length - 1;
    let hash = Math.imul(left, 0x9e3779b1) ^ Math.imul(right, 0x85ebca6b);
    hash ^= hash >>> 15;
    for (let place = hash & mask; ; place = (place + 1) & mask) {
      const rank = (places[place] as number) - 1;
      if (rank < 0 || (lefts[rank] === left && rights[rank] === right)) return place;
    }
  }

  private grow(): void {
    const { lefts, rights, count } = this;
    this.lefts = new Int32Array(2 * count);
    this.rights = new Int32Array(2 * count);
    this.places = new Int32Array(4 * count);
    this.lefts.set(lefts);
    this.rights.set(rights);
    for (let rank = 0; rank < count; rank++)
      this.places[this.find(lefts[rank] as number, rights[rank] as number)] = rank + 1;
  }
}

/** Up to this number of symbols, scanning all pairs is faster than a heap. */
const MAX_SCANNED = 48;

/** Merges the symbols of one word in place. Returns their number; the rest of the array is undefined. */
export function mergePairs(symbols: number[], table: MergeTable): number {
  return symbols.length <= MAX_SCANNED ? mergeByScan(symbols, table) : mergeByHeap(symbols, table);
}

function mergeByScan(symbols: number[], table: MergeTable): number {
  let count = symbols.length;
  const ranks: number[] = [];
  for (let index = 0; index + 1 < count; index++)
    ranks.push(table.rankOf(symbols[index] as number, symbols[index + 1] as number));
  while (count > 1) {
    let best = -1;
    let bestRank = Number.POSITIVE_INFINITY;
    for (let index = 0; index + 1 < count; index++) {
      const rank = ranks[index] as number;
      if (rank >= 0 && rank < bestRank) {
        bestRank = rank;
        best = index;
      }
    }
    if (best < 0) break;
    symbols[best] = table.tokenOf(bestRank);
    for (let index = best + 1; index + 1 < count; index++) {
      symbols[index] = symbols[index + 1] as number;
      ranks[index] = ranks[index + 1] as number;
    }
    count--;
    if (best > 0) ranks[best - 1] = table.rankOf(symbols[best - 1] as number, symbols[best] as number);
    if (best + 1 < count) ranks[best] = table.rankOf(symbols[best] as number, symbols[best + 1] as number);
  }
  return count;
}

/** Positions are below this number. Ranks are multiplied by it, so that keys of pairs are ordered by rank, then by position. */
const POSITIONS = 2 ** 28;

/** Merges long words: pairs wait in a heap, and outdated pairs are skipped. */
function mergeByHeap(symbols: number[], table: MergeTable): number {
  const size = symbols.length;
  const next = Int32Array.from({ length: size }, (_, index) => (index + 1 < size ? index + 1 : -1));
  const previous = Int32Array.from({ length: size }, (_, index) => index - 1);
  const isGone = new Uint8Array(size);
  const heap = new KeyHeap();
  const push = (at: number): void => {
    const right = next[at] as number;
    if (right < 0) return;
    const rank = table.rankOf(symbols[at] as number, symbols[right] as number);
    if (rank >= 0) heap.push(rank * POSITIONS + at);
  };
  for (let index = 0; index + 1 < size; index++) push(index);
  for (let key = heap.pop(); key !== undefined; key = heap.pop()) {
    const at = key % POSITIONS;
    const rank = (key - at) / POSITIONS;
    const right = next[at] as number;
    if (isGone[at] === 1 || right < 0) continue;
    if (table.rankOf(symbols[at] as number, symbols[right] as number) !== rank) continue;
    symbols[at] = table.tokenOf(rank);
    isGone[right] = 1;
    const after = next[right] as number;
    next[at] = after;
    if (after >= 0) previous[after] = at;
    if ((previous[at] as number) >= 0) push(previous[at] as number);
    push(at);
  }
  let count = 0;
  for (let at = 0; at >= 0; at = next[at] as number) symbols[count++] = symbols[at] as number;
  return count;
}

/** A heap of numbers, with the smallest first. */
class KeyHeap {
  private readonly keys: number[] = [];

  push(key: number): void {
    const { keys } = this;
    let at = keys.length;
    keys.push(key);
    while (at > 0) {
      const parent = (at - 1) >>> 1;
      if ((keys[parent] as number) <= key) break;
      keys[at] = keys[parent] as number;
      at = parent;
    }
    keys[at] = key;
  }

  pop(): number | undefined {
    const { keys } = this;
    const top = keys[0];
    const last = keys.pop();
    if (keys.length === 0 || last === undefined) return top;
    let at = 0;
    for (;;) {
      let child = 2 * at + 1;
      if (child >= keys.length) break;
      if (child + 1 < keys.length && (keys[child + 1] as number) < (keys[child] as number)) child++;
      if ((keys[child] as number) >= last) break;
      keys[at] = keys[child] as number;
      at = child;
    }
    keys[at] = last;
    return top;
  }
}
