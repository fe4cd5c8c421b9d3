import { createRandomFor, drawIndex } from "../../runtime/random.ts";

/** Gaps between the tokens of streamed responses, by position in the response: a sample in bounded memory, and the mean at each position. */

/** A gap between reads. Position 1 is the gap between the first and the second read with content. */
interface TokenGap {
  /** 1 for the first gap of a response. */
  readonly position: number;
  readonly gapNs: number;
}

/** Gap data for plots, as plain data. */
export interface GapSummary {
  /** Total number of gaps. */
  readonly count: number;
  /** All gaps, or a sample and the longest ones. */
  readonly gaps: readonly TokenGap[];
  /** Mean gap at each position, over all responses that are long enough. */
  readonly means: readonly TokenGap[];
}

const MOST_SAMPLED = 20_000;
const MOST_LONGEST = 100;
/** Highest position for which a mean is kept. Gaps at later positions are only sampled. */
const MOST_POSITIONS = 100_000;

/** Collects the gaps of each response. Keeps all gaps up to a limit; above it, a random sample and the longest ones. */
export class TokenGaps {
  private readonly sampled: TokenGap[] = [];
  /** In ascending order. Above the limit, the smallest are dropped. */
  private longest: TokenGap[] = [];
  /** Sums by position, from 1. */
  private readonly sumsNs: number[] = [];
  private readonly counts: number[] = [];
  private readonly random = createRandomFor(0, "token gaps");
  private readonly mostSampled: number;
  private seen = 0;

  /** @param mostSampled default: 20,000 */
  constructor(mostSampled: number = MOST_SAMPLED) {
    this.mostSampled = mostSampled;
  }

  /** Total number of gaps. */
  get count(): number {
    return this.seen;
  }

  /** Adds one response. @param contentNs arrival of each read with content, ascending */
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

  /** Returns the gaps to plot: all of them, or the sample and the longest ones. */
  gaps(): TokenGap[] {
    if (this.seen <= this.mostSampled) return [...this.sampled];
    const drawn = new Set(this.sampled);
    return [...this.sampled, ...this.longest.filter((gap) => !drawn.has(gap))];
  }

  /** Returns the mean gap at each position, over all responses that are long enough. */
  means(): TokenGap[] {
    return this.sumsNs.map((sumNs, i) => ({ position: i + 1, gapNs: sumNs / (this.counts[i] as number) }));
  }

  private addToMean(position: number, gapNs: number): void {
    if (position > MOST_POSITIONS) return;
    const row = position - 1;
    this.sumsNs[row] = (this.sumsNs[row] ?? 0) + gapNs;
    this.counts[row] = (this.counts[row] ?? 0) + 1;
  }

  /** Adds a gap to the sample by reservoir sampling: each gap has the same probability of being in the sample. */
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
