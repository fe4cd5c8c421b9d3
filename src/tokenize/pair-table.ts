/** A hash table of pairs of token ids. Large vocabularies have hundreds of thousands of merges, and a `Map` takes twice as long to fill. */
export class PairTable {
  private readonly mask: number;
  /** Three numbers per slot: left, right, value + 1; 0 in the third means free. */
  private readonly places: Int32Array;

  /** @param count the maximum number of pairs */
  constructor(count: number) {
    let size = 16;
    while (size < 2 * count) size *= 2;
    this.mask = size - 1;
    this.places = new Int32Array(3 * size);
  }

  /** Adds a pair; a later value replaces an earlier one. */
  set(left: number, right: number, value: number): void {
    const at = this.find(left, right);
    this.places[at] = left;
    this.places[at + 1] = right;
    this.places[at + 2] = value + 1;
  }

  /** The pair's value; -1 when it is not there. */
  get(left: number, right: number): number {
    return (this.places[this.find(left, right) + 2] as number) - 1;
  }

  private find(left: number, right: number): number {
    const { places, mask } = this;
    let hash = Math.imul(left, 0x9e3779b1) ^ Math.imul(right, 0x85ebca6b);
    hash ^= hash >>> 15;
    for (let place = hash & mask; ; place = (place + 1) & mask) {
      const at = 3 * place;
      if (places[at + 2] === 0 || (places[at] === left && places[at + 1] === right)) return at;
    }
  }
}
