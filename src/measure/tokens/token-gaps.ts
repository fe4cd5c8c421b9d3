import { createRandomFor, drawIndex } from "../../runtime/random.ts";

/** Gaps between the tokens of streamed answers, by place in the answer: a sample in bounded memory, and the mean at each place. */

/** One gap: the one at position 1 is between the first read with content and the second. */
export interface TokenGap {
  /** 1 for the first gap of an answer. */
  readonly position: number;
  readonly gapNs: number;
}

/** What is drawn of gaps, as plain data. */
export interface GapSummary {
  /** All gaps there were. */
  readonly count: number;
  /** All of them, or a sample and the longest ones. */
  readonly gaps: readonly TokenGap[];
  /** The mean gap at each position, over all answers that are long enough. */
  readonly means: readonly TokenGap[];
}

const MOST_SAMPLED = 20_000;
const MOST_LONGEST = 100;
/** Means are kept for so many positions; gaps behind them are only sampled. */
const MOST_POSITIONS = 100_000;

/** Takes the reads of each answer. All gaps are kept up to a limit, from there on a random sample of them and the longest ones. */
export class TokenGaps {
  private readonly sampled: TokenGap[] = [];
  /** Ascending; those beyond the limit go. */
  private longest: TokenGap[] = [];
  /** By position, from 1 on. */
  private readonly sumsNs: number[] = [];
  private readonly counts: number[] = [];
  private readonly random = createRandomFor(0, "token gaps");
  private readonly mostSampled: number;
  private seen = 0;

  /** @param mostSampled default 20,000 */
  constructor(mostSampled: number = MOST_SAMPLED) {
    this.mostSampled = mostSampled;
  }

  /** All gaps there were. */
  get count(): number {
    return this.seen;
  }

  /** Adds one answer. @param contentNs when each read with content came, ascending */
  add(contentNs: readonly number[]): void {
    for (let position = 1; position < contentNs.length; position++) {
      const gapNs = (contentNs[position] as number) - (contentNs[position - 1] as number);
      this.addToMean(position, gapNs);
      this.sample({ position, gapNs });
    }
  }

  summarize(): GapSummary {
    return { count: this.count, gaps: this.gaps(), means: this.means() };
  }

  /** Gaps to draw: all of them, or the sample and the longest ones. */
  gaps(): TokenGap[] {
    if (this.seen <= this.mostSampled) return [...this.sampled];
    const drawn = new Set(this.sampled);
    return [...this.sampled, ...this.longest.filter((gap) => !drawn.has(gap))];
  }

  /** The mean gap at each position, over all answers that are long enough. */
  means(): TokenGap[] {
    return this.sumsNs.map((sumNs, i) => ({ position: i + 1, gapNs: sumNs / (this.counts[i] as number) }));
  }

  private addToMean(position: number, gapNs: number): void {
    if (position > MOST_POSITIONS) return;
    const row = position - 1;
    this.sumsNs[row] = (this.sumsNs[row] ?? 0) + gapNs;
    this.counts[row] = (this.counts[row] ?? 0) + 1;
  }

  /** Every gap has the same chance to be in the sample (reservoir sampling). */
  private sample(gap: TokenGap): void {
    this.seen++;
    this.keepLongest(gap);
    if (this.sampled.length < this.mostSampled) {
      this.sampled.push(gap);
      return;
    }
    const place = drawIndex(this.random, this.seen);
    if (place < this.mostSampled) this.sampled[place] = gap;
  }

  private keepLongest(gap: TokenGap): void {
    if (this.longest.length >= MOST_LONGEST && gap.gapNs <= (this.longest[0] as TokenGap).gapNs) return;
    const at = this.longest.findIndex(({ gapNs }) => gapNs > gap.gapNs);
    this.longest.splice(at < 0 ? this.longest.length : at, 0, gap);
    if (this.longest.length > MOST_LONGEST) this.longest.shift();
  }
}
