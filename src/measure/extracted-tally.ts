import { defined } from "../plan/objects.ts";
import type { ExtractedName } from "../service/content.ts";
import { INTERVAL_CONFIDENCE, type IntervalOptions } from "./intervals/effective-count.ts";
import { type MeanEstimate, meanInterval } from "./intervals/mean-interval.ts";
import { deviationOf, effectiveCountOf, joinSketches, type Sketch, skewnessOf } from "./sketch.ts";
import { NumberTally } from "./tally/number-tally.ts";

/** Values extracted from responses: numbers as statistics, everything else as counts. Memory is bounded for runs of any length. */

/** Above this number of different texts, the longest count as {@link Extracted.otherCount}. */
const MAX_TEXTS = 1000;
const MAX_TEXT_CHARACTERS = 100;

/** The values of one name in a measurement; plain data. */
export interface Extracted extends ExtractedName {
  /** Responses in which the expression found nothing. */
  readonly missingCount: number;
  readonly numbers: Sketch;
  /**
   * Responses by value, for values that are not numbers; lists and objects as JSON. Short texts first, equally long ones in
   * alphabetical order.
   */
  readonly texts: readonly (readonly [text: string, count: number])[];
  /**
   * Responses with texts beyond the first 1000 different ones in that order. The order in which responses arrive does not
   * change the result.
   */
  readonly otherCount: number;
}

/** Returns the values of a name; undefined if there is no such name. */
export function findExtracted(extracted: readonly Extracted[] | undefined, name: string): Extracted | undefined {
  return extracted?.find((one) => one.name === name);
}

/**
 * Counts the responses with a text, of all responses. Undefined if unknown because there are too many different texts.
 * @param text as the target extracts it; a list or an object as JSON
 */
export function countText(
  { texts, otherCount, missingCount, numbers }: Extracted,
  text: string,
): { readonly count: number; readonly total: number } | undefined {
  const kept = toText(text);
  const found = texts.find(([one]) => one === kept)?.[1];
  if (found === undefined && otherCount > 0) return undefined;
  const counted = texts.reduce((sum, [, count]) => sum + count, 0);
  return { count: found ?? 0, total: counted + otherCount + missingCount + numbers.count };
}

/** Returns the mean of the numbers with its 95 % confidence interval. */
export function estimateExtractedMean(
  { numbers }: Extracted,
  { confidence = INTERVAL_CONFIDENCE }: IntervalOptions = {},
): MeanEstimate {
  const effective = effectiveCountOf(numbers, confidence);
  return meanInterval(numbers.mean, deviationOf(numbers), effective, { confidence, skewness: skewnessOf(numbers) });
}

/** Joins the values of several measurements by name; undefined if none has any. Leaves out a name that has several units. */
export function joinExtracted(parts: readonly (readonly Extracted[] | undefined)[]): readonly Extracted[] | undefined {
  const known = parts.flatMap((part) => part ?? []);
  if (parts.every((part) => part === undefined)) return undefined;
  // The members of a mix may extract different values.
  const byName = [...Map.groupBy(known, ({ name }) => name).values()];
  return byName.filter((same) => new Set(same.map(({ unit }) => unit)).size === 1).map(joinNamed);
}

function joinNamed(parts: readonly Extracted[]): Extracted {
  const sumOf = (pick: (part: Extracted) => number): number => parts.reduce((sum, part) => sum + pick(part), 0);
  const texts = new TextCounts();
  for (const part of parts) for (const [text, count] of part.texts) texts.add(text, count);
  return {
    ...ofName(parts[0] as Extracted),
    missingCount: sumOf(({ missingCount }) => missingCount),
    numbers: joinSketches(parts.map((part) => part.numbers)),
    ...texts.cut(sumOf(({ otherCount }) => otherCount)),
  };
}

/**
 * Counts different texts: the first 1000 in the order of {@link Extracted.texts}. A text that is dropped once never becomes one
 * of these again.
 */
class TextCounts {
  private counts = new Map<string, number>();
  private otherCount = 0;

  add(text: string, count: number): void {
    this.counts.set(text, (this.counts.get(text) ?? 0) + count);
    if (this.counts.size > 2 * MAX_TEXTS) this.prune();
  }

  cut(droppedCount = 0): Pick<Extracted, "texts" | "otherCount"> {
    this.prune();
    return { texts: [...this.counts], otherCount: this.otherCount + droppedCount };
  }

  private prune(): void {
    const sorted = [...this.counts].sort(([a], [b]) => a.length - b.length || (a < b ? -1 : 1));
    for (const [, count] of sorted.splice(MAX_TEXTS)) this.otherCount += count;
    this.counts = new Map(sorted);
  }
}

/** Collects the values of one name. */
class ExtractedColumn {
  private readonly named: ExtractedName;
  private missingCount = 0;
  private readonly numbers = new NumberTally();
  private readonly texts = new TextCounts();

  constructor(named: ExtractedName) {
    this.named = named;
  }

  add(value: unknown, atNs: number): void {
    if (value === null || value === undefined) this.missingCount++;
    else if (typeof value === "number") this.numbers.add(value, atNs);
    else this.texts.add(toText(value), 1);
  }

  cut(startNs: number, endNs: number): Extracted {
    const { named, missingCount, numbers, texts } = this;
    return {
      ...ofName(named),
      missingCount,
      numbers: numbers.cut(startNs, endNs),
      ...texts.cut(),
    };
  }
}

/** Collects the values of all names in one window. */
export class ExtractedTally {
  private readonly columns: readonly ExtractedColumn[];

  constructor(names: readonly ExtractedName[]) {
    this.columns = names.map((named) => new ExtractedColumn(named));
  }

  /** Adds the values of one response, in the order of the names. @param atNs end of the response */
  add(values: readonly unknown[], atNs: number): void {
    for (const [index, column] of this.columns.entries()) column.add(values[index], atNs);
  }

  /** Returns the values of the window, by name. */
  cut(startNs: number, endNs: number): Extracted[] {
    return this.columns.map((column) => column.cut(startNs, endNs));
  }
}

function ofName({ name, unit, better }: ExtractedName): ExtractedName {
  return { name, ...defined({ unit, better }) };
}

function toText(value: unknown): string {
  const text = typeof value === "string" ? value : (JSON.stringify(value) ?? String(value));
  return text.length > MAX_TEXT_CHARACTERS ? `${text.slice(0, MAX_TEXT_CHARACTERS)}…` : text;
}
