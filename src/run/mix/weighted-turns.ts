/**
 * Takes turns by weight, spread as evenly as possible: smooth weighted round robin. After every sum-of-weights turns, each index has had
 * exactly its weight of turns. Where weights have a common divisor, this holds after fewer turns.
 */
export class WeightedTurns {
  private readonly weights: readonly number[];
  private readonly sum: number;
  private readonly credits: number[];

  /** @param weights whole numbers of 1 or more */
  constructor(weights: readonly number[]) {
    this.weights = weights;
    this.sum = weights.reduce((sum, weight) => sum + weight, 0);
    this.credits = weights.map(() => 0);
  }

  /** Returns the index whose turn it is. */
  next(): number {
    const { weights, credits } = this;
    let best = 0;
    for (let index = 0; index < weights.length; index++) {
      const credit = (credits[index] as number) + (weights[index] as number);
      credits[index] = credit;
      if (credit > (credits[best] as number)) best = index;
    }
    credits[best] = (credits[best] as number) - this.sum;
    return best;
  }

  /** Starts over. */
  rewind(): void {
    this.credits.fill(0);
  }
}
