/**
 * Request ids of a lane: `(lane << 48) | n` in decimal, like perf_analyzer's ids of asynchronous requests. Increments the digits in place,
 * so that an id needs no number conversion.
 */
export class LaneIds {
  private digits: Uint8Array;
  private isFresh = true;

  /** @param lane 0 to 65535 */
  constructor(lane: number) {
    this.digits = new TextEncoder().encode(String(BigInt(lane) << 48n));
  }

  /** Returns the digits of the next id, valid until the next call. */
  next(): Uint8Array {
    if (this.isFresh) this.isFresh = false;
    else this.increment();
    return this.digits;
  }

  private increment(): void {
    const digits = this.digits;
    for (let i = digits.length - 1; i >= 0; i--) {
      if (digits[i] !== NINE) {
        digits[i] = (digits[i] as number) + 1;
        return;
      }
      digits[i] = ZERO;
    }
    this.digits = new Uint8Array(digits.length + 1).fill(ZERO);
    this.digits[0] = ZERO + 1;
  }
}

const ZERO = 0x30;
const NINE = 0x39;
