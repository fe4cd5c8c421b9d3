import { INTERVAL_CONFIDENCE, type IntervalOptions } from "./intervals/effective-count.ts";
import { type MeanEstimate, meanInterval } from "./intervals/mean-interval.ts";
import { type PercentileEstimate, percentileRanks, withFloor } from "./intervals/percentile-interval.ts";
import {
  addMoments,
  deviationOf,
  effectiveCountOf,
  forEachValue,
  joinSketches,
  type Moments,
  rankCounts,
  type Sketch,
  skewnessOf,
  valueAtRank,
} from "./sketch.ts";
import { type BinChannel, BinTally } from "./tally/bin-tally.ts";

/** Values extracted from answers: numbers as statistics, everything else as counts. Memory is bounded for runs of any length. */

/** Above this many different numbers they are rounded to {@link DIGITS} significant digits. */
const MAX_NUMBERS = 65_536;
const DIGITS = 3;
/** Largest error of a rounded number, as a ratio. */
const ROUNDING_RATIO = 0.5 * 10 ** (1 - DIGITS);
/** Above this many different texts, new ones count as {@link Extracted.otherCount}. */
const MAX_TEXTS = 1000;
const MAX_TEXT_CHARACTERS = 100;

/** The values of one name in a measurement; plain data. */
export interface Extracted {
  readonly name: string;
  /** Answers in which the expression found nothing. */
  readonly missingCount: number;
  readonly numbers: Sketch;
  /** Whether percentiles are exact to three digits only, because there were too many different numbers. */
  readonly isRounded: boolean;
  /** Answers by value, for values that are not numbers; lists and objects as JSON. In the order of their first appearance. */
  readonly texts: readonly (readonly [text: string, count: number])[];
  /** Texts beyond the first 1000 different ones. */
  readonly otherCount: number;
}

/** Returns the values of a name; undefined when there is no such name. */
export function findExtracted(extracted: readonly Extracted[] | undefined, name: string): Extracted | undefined {
  return extracted?.find((one) => one.name === name);
}

/** Returns the smallest number that at least this share of the numbers does not exceed. @param percentile above 0 and below 100 */
export function extractedPercentile({ numbers }: Extracted, percentile: number): number {
  return valueAtRank(numbers, Math.max(1, Math.ceil((percentile / 100) * numbers.count)) - 1);
}

/** Returns {@link extractedPercentile} with its 95 % confidence interval; with the effective sample size of the average. */
export function estimateExtractedPercentile(
  extracted: Extracted,
  percentile: number,
  { confidence = INTERVAL_CONFIDENCE }: IntervalOptions = {},
): PercentileEstimate {
  const { numbers, isRounded } = extracted;
  const value = extractedPercentile(extracted, percentile);
  const effective = effectiveCountOf(numbers, confidence);
  const { low, high } = percentileRanks(numbers.count, percentile, effective, confidence);
  const errorOf = (number: number): number => (isRounded ? Math.abs(number) * ROUNDING_RATIO : 0);
  const end = (rank: number, sign: -1 | 1): number => {
    const number = valueAtRank(numbers, rank);
    return number + sign * errorOf(number);
  };
  return withFloor(numbers.count, percentile, effective, {
    value,
    low: low === undefined ? null : Math.min(value, end(low, -1)),
    high: high === undefined ? null : Math.max(value, end(high, 1)),
  });
}

/** Returns the average of the numbers with its 95 % confidence interval. */
export function estimateExtractedMean(
  { numbers }: Extracted,
  { confidence = INTERVAL_CONFIDENCE }: IntervalOptions = {},
): MeanEstimate {
  const effective = effectiveCountOf(numbers, confidence);
  return meanInterval(numbers.mean, deviationOf(numbers), effective, { confidence, skewness: skewnessOf(numbers) });
}

/** Joins the values of several measurements by their names; undefined when none has any. */
export function joinExtracted(parts: readonly (readonly Extracted[] | undefined)[]): readonly Extracted[] | undefined {
  const known = parts.flatMap((part) => part ?? []);
  if (parts.every((part) => part === undefined)) return undefined;
  // The members of a mix may extract different values.
  return [...new Set(known.map(({ name }) => name))].map((name) =>
    joinNamed(
      name,
      known.filter((one) => one.name === name),
    ),
  );
}

function joinNamed(name: string, parts: readonly Extracted[]): Extracted {
  const sumOf = (pick: (part: Extracted) => number): number => parts.reduce((sum, part) => sum + pick(part), 0);
  const numbers = joinSketches(parts.map((part) => part.numbers));
  const isRounded = parts.some((part) => part.isRounded) || numbers.values.length > MAX_NUMBERS;
  const texts = new TextCounts();
  for (const part of parts) for (const [text, count] of part.texts) texts.add(text, count);
  return {
    name,
    missingCount: sumOf(({ missingCount }) => missingCount),
    numbers: isRounded ? roundNumbers(numbers) : numbers,
    isRounded,
    texts: [...texts.counts],
    otherCount: sumOf(({ otherCount }) => otherCount) + texts.otherCount,
  };
}

/** Rounds the values to a few digits, so that there are fewer different ones. */
function roundNumbers(numbers: Sketch): Sketch {
  const counts = new Map<number, number>();
  forEachValue(numbers, (value, count) => {
    counts.set(round(value), (counts.get(round(value)) ?? 0) + count);
  });
  return { ...numbers, ...rankCounts(counts) };
}

/** Counts different texts, up to 1000. */
class TextCounts {
  readonly counts = new Map<string, number>();
  otherCount = 0;

  add(text: string, count: number): void {
    const known = this.counts.get(text);
    if (known === undefined && this.counts.size >= MAX_TEXTS) this.otherCount += count;
    else this.counts.set(text, (known ?? 0) + count);
  }
}

/** Collects the values of one name. */
class ExtractedColumn {
  private readonly name: string;
  private missingCount = 0;
  private moments: Moments = { count: 0, mean: 0, squaredDeviation: 0 };
  private sum = 0;
  private min = Number.POSITIVE_INFINITY;
  private max = Number.NEGATIVE_INFINITY;
  private numbers = new Map<number, number>();
  private isRounded = false;
  private readonly texts = new TextCounts();
  private readonly bins = new BinTally();
  private readonly channel: BinChannel = this.bins.newChannel("numbers");

  constructor(name: string) {
    this.name = name;
  }

  add(value: unknown, atNs: number): void {
    if (value === null || value === undefined) this.missingCount++;
    else if (typeof value === "number") this.addNumber(value, atNs);
    else this.texts.add(toText(value), 1);
  }

  cut(startNs: number, endNs: number): Extracted {
    const { name, missingCount, moments, sum, min, max, isRounded, texts } = this;
    const isEmpty = moments.count === 0;
    const numbers: Sketch = {
      ...moments,
      ...(isEmpty ? { min: 0, max: 0 } : { mean: sum / moments.count, min, max }),
      step: 0,
      ...rankCounts(this.numbers),
      bins: this.bins.cut(startNs, endNs).samplesOf(this.channel),
    };
    return { name, missingCount, numbers, isRounded, texts: [...texts.counts], otherCount: texts.otherCount };
  }

  private addNumber(value: number, atNs: number): void {
    this.moments = addMoments(this.moments, { count: 1, mean: value, squaredDeviation: 0 });
    this.sum += value;
    this.min = Math.min(this.min, value);
    this.max = Math.max(this.max, value);
    this.channel.add(this.bins.add(atNs), value);
    const key = this.isRounded ? round(value) : value;
    this.numbers.set(key, (this.numbers.get(key) ?? 0) + 1);
    if (this.numbers.size > MAX_NUMBERS && !this.isRounded) this.roundAll();
  }

  private roundAll(): void {
    this.isRounded = true;
    const rounded = new Map<number, number>();
    for (const [value, count] of this.numbers) rounded.set(round(value), (rounded.get(round(value)) ?? 0) + count);
    this.numbers = rounded;
  }
}

/** Collects the values of all names in one window. */
export class ExtractedTally {
  private readonly columns: readonly ExtractedColumn[];

  constructor(names: readonly string[]) {
    this.columns = names.map((name) => new ExtractedColumn(name));
  }

  /** Adds the values of one answer, in the order of the names. @param atNs when it ended */
  add(values: readonly unknown[], atNs: number): void {
    for (const [index, column] of this.columns.entries()) column.add(values[index], atNs);
  }

  /** Returns the values of the window, by name. */
  cut(startNs: number, endNs: number): Extracted[] {
    return this.columns.map((column) => column.cut(startNs, endNs));
  }
}

function round(value: number): number {
  return Number(value.toPrecision(DIGITS));
}

function toText(value: unknown): string {
  const text = typeof value === "string" ? value : (JSON.stringify(value) ?? String(value));
  return text.length > MAX_TEXT_CHARACTERS ? `${text.slice(0, MAX_TEXT_CHARACTERS)}…` : text;
}
