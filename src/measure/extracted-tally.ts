import { effectiveCount, INTERVAL_CONFIDENCE, type IntervalOptions } from "./intervals/effective-count.ts";
import { type MeanEstimate, meanInterval } from "./intervals/mean-interval.ts";
import { type PercentileEstimate, percentileRanks, withFloor } from "./intervals/percentile-interval.ts";
import { SampleBatches } from "./intervals/sample-batches.ts";
import { type SeriesShape, shapeOf } from "./intervals/series-shape.ts";

/** Values extracted from answers: numbers as statistics, everything else as counts. Memory is bounded for runs of any length. */

/** Above this many different numbers they are rounded to {@link DIGITS} significant digits. */
const MAX_NUMBERS = 65_536;
const DIGITS = 3;
/** Largest error of a rounded number, as a ratio. */
const ROUNDING_RATIO = 0.5 * 10 ** (1 - DIGITS);
/** Above this many different texts, new ones count as {@link ExtractedColumn.otherCount}. */
const MAX_TEXTS = 1000;
const MAX_TEXT_CHARACTERS = 100;

/** The values of one name. */
export class ExtractedColumn {
  readonly name: string;
  /** Answers in which the expression found nothing. */
  missingCount = 0;
  /** Number of values that are numbers. */
  numberCount = 0;
  min = Number.POSITIVE_INFINITY;
  max = Number.NEGATIVE_INFINITY;
  /** Whether percentiles are exact to three digits only, because there were too many different numbers. */
  isRounded = false;
  /** Texts beyond the first 1000 different ones. */
  otherCount = 0;
  /** Answers by value, for values that are not numbers; lists and objects as JSON. */
  readonly texts = new Map<string, number>();
  private sum = 0;
  private runningMean = 0;
  private squaredDeviation = 0;
  /** The order of the numbers. */
  private readonly batches = new SampleBatches();
  private numbers = new Map<number, number>();

  constructor(name: string) {
    this.name = name;
  }

  /** Average of the numbers; NaN without any. */
  get mean(): number {
    return this.sum / this.numberCount;
  }

  add(value: unknown): void {
    if (value === null || value === undefined) this.missingCount++;
    else if (typeof value === "number") {
      this.spread(1, value, 0);
      this.batches.add(value);
      this.addNumber(value, 1);
    } else this.addText(toText(value), 1);
  }

  /** Returns the smallest number that at least this share of the numbers does not exceed. @param percentile above 0 and below 100 */
  percentile(percentile: number): number {
    return this.atRank(Math.max(1, Math.ceil((percentile / 100) * this.numberCount)) - 1);
  }

  /** Returns {@link percentile} with its 95 % confidence interval; with the effective sample size of the average. */
  estimatePercentile(
    percentile: number,
    { confidence = INTERVAL_CONFIDENCE }: IntervalOptions = {},
  ): PercentileEstimate {
    const value = this.percentile(percentile);
    const effective = this.effectiveCountFor(confidence);
    const { low, high } = percentileRanks(this.numberCount, percentile, effective, confidence);
    const error = (rank: number): number => (this.isRounded ? Math.abs(this.atRank(rank)) * ROUNDING_RATIO : 0);
    return withFloor(this.numberCount, percentile, effective, {
      value,
      low: low === undefined ? null : Math.min(value, this.atRank(low) - error(low)),
      high: high === undefined ? null : Math.max(value, this.atRank(high) + error(high)),
    });
  }

  /** Returns the average with its 95 % confidence interval. */
  estimateMean({ confidence = INTERVAL_CONFIDENCE }: IntervalOptions = {}): MeanEstimate {
    const { mean, deviation, skewness } = this;
    return meanInterval(mean, deviation, this.effectiveCountFor(confidence), { confidence, skewness });
  }

  /** How the numbers change over time. */
  get shape(): SeriesShape {
    return shapeOf(this.batches.parts());
  }

  private get skewness(): number {
    let cubes = 0;
    for (const [value, count] of this.numbers) cubes += count * (value - this.mean) ** 3;
    return this.squaredDeviation === 0 ? 0 : (cubes * Math.sqrt(this.numberCount)) / this.squaredDeviation ** 1.5;
  }

  private get deviation(): number | undefined {
    return this.numberCount < 2 ? undefined : Math.sqrt(this.squaredDeviation / (this.numberCount - 1));
  }

  private effectiveCountFor(confidence: number): number {
    return effectiveCount(this.numberCount, (this.deviation ?? 0) ** 2, this.batches.means(), confidence);
  }

  /** Returns the number at a rank in ascending order, from 0; NaN beyond the last. */
  private atRank(rank: number): number {
    let left = rank + 1;
    for (const value of [...this.numbers.keys()].sort((a, b) => a - b)) {
      left -= this.numbers.get(value) as number;
      if (left <= 0) return value;
    }
    return Number.NaN;
  }

  /** Adds the values of another column, which follow in time. */
  merge(other: ExtractedColumn): void {
    const { sum } = this;
    this.spread(other.numberCount, other.runningMean, other.squaredDeviation);
    this.batches.append(other.batches);
    this.missingCount += other.missingCount;
    this.otherCount += other.otherCount;
    this.isRounded ||= other.isRounded;
    for (const [value, count] of other.numbers) this.addNumber(value, count);
    for (const [text, count] of other.texts) this.addText(text, count);
    // Of the values as they were, not as they were rounded.
    this.sum = sum + other.sum;
    this.min = Math.min(this.min, other.min);
    this.max = Math.max(this.max, other.max);
  }

  /** Combines counts, means and squared deviations (Chan et al.). Call before `numberCount` changes. */
  private spread(count: number, mean: number, squaredDeviation: number): void {
    const total = this.numberCount + count;
    if (total === 0) return;
    const delta = mean - this.runningMean;
    this.squaredDeviation += squaredDeviation + (delta * delta * this.numberCount * count) / total;
    this.runningMean += (delta * count) / total;
  }

  private addNumber(value: number, count: number): void {
    this.numberCount += count;
    this.sum += value * count;
    this.min = Math.min(this.min, value);
    this.max = Math.max(this.max, value);
    const key = this.isRounded ? round(value) : value;
    this.numbers.set(key, (this.numbers.get(key) ?? 0) + count);
    if (this.numbers.size > MAX_NUMBERS && !this.isRounded) this.roundAll();
  }

  private roundAll(): void {
    this.isRounded = true;
    const rounded = new Map<number, number>();
    for (const [value, count] of this.numbers) rounded.set(round(value), (rounded.get(round(value)) ?? 0) + count);
    this.numbers = rounded;
  }

  private addText(text: string, count: number): void {
    const known = this.texts.get(text);
    if (known === undefined && this.texts.size >= MAX_TEXTS) this.otherCount += count;
    else this.texts.set(text, (known ?? 0) + count);
  }
}

/** The values of all names in one window. */
export class ExtractedTally {
  readonly columns: readonly ExtractedColumn[];

  constructor(names: readonly string[]) {
    this.columns = names.map((name) => new ExtractedColumn(name));
  }

  /** Adds the values of one answer, in the order of the names. */
  add(values: readonly unknown[]): void {
    for (const [index, column] of this.columns.entries()) column.add(values[index]);
  }

  /** Returns the values of a name; undefined when there is no such name. */
  find(name: string): ExtractedColumn | undefined {
    return this.columns.find((column) => column.name === name);
  }
}

/** Merges the values of several windows; undefined when none has any. */
export function mergeExtracted(tallies: readonly (ExtractedTally | undefined)[]): ExtractedTally | undefined {
  const known = tallies.filter((tally) => tally !== undefined);
  const [first] = known;
  if (first === undefined || known.length === 1) return first;
  // The members of a mix may extract different values.
  const names = new Set(known.flatMap(({ columns }) => columns.map(({ name }) => name)));
  const merged = new ExtractedTally([...names]);
  for (const tally of known) for (const column of tally.columns) merged.find(column.name)?.merge(column);
  return merged;
}

function round(value: number): number {
  return Number(value.toPrecision(DIGITS));
}

function toText(value: unknown): string {
  const text = typeof value === "string" ? value : (JSON.stringify(value) ?? String(value));
  return text.length > MAX_TEXT_CHARACTERS ? `${text.slice(0, MAX_TEXT_CHARACTERS)}…` : text;
}
