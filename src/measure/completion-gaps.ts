import { msToNs } from "../plan/units.ts";
import { bucketStartNs, ExponentialHistogram } from "./exponential-histogram.ts";
import { RECORD_CANCELLED, type RecordColumns } from "./records.ts";
import { percentileAt, type Sketch } from "./sketch.ts";

/** A time in which requests were in flight and none ended, much longer than usual. Times are nanoseconds from the same start. */
export interface CompletionGap {
  readonly startNs: number;
  readonly endNs: number;
  /** How long such a time usually is in this measurement: half of the time is in shorter ones. */
  readonly typicalNs: number;
}

/** Shorter gaps are not worth a word. */
const SHORTEST_NS = msToNs(500);
/** A gap is much longer than usual above this multiple of the gaps that 90 % of the other time is in. */
const MUCH_LONGER = 5;
const USUAL_RATIO = 0.9;
/** Gaps that are shorter by less than this are like each other. */
const ALIKE_RATIO = 2 ** (1 / 4);
/** More other gaps as long as this one are usual where they take most of the time. */
const MOST_ALIKE = 1;
/** Fewer other gaps do not show what is usual. */
const FEWEST_GAPS = 30;
/** Most long gaps that are kept; the shorter half of them is dropped above that. */
const MOST_LONG = 256;

interface LongGap {
  startNs: number;
  readonly endNs: number;
  /** The earliest send of the requests that were in flight at its end. */
  sentNs: number;
}

/**
 * Finds gaps between completions from the records of a measurement. Memory is bounded.
 *
 * Only time in which a request was in flight counts, so that pauses of the load are not gaps. What the usual latency explains is not a gap either:
 * a request that is sent after a pause takes its time. What is usual comes from the same measurement, weighted by time: of independent
 * arrivals, one gap in more than 10^8 is as long by chance, and responses that come in bursts have long gaps as usual ones.
 */
export class CompletionGaps {
  private readonly short = new ExponentialHistogram();
  private long: LongGap[] = [];
  private latest: LongGap | undefined;
  private lastEndNs: number;

  /** @param startNs start of the measurement */
  constructor(startNs: number) {
    this.lastEndNs = startNs;
  }

  add(records: RecordColumns, count: number): void {
    const { flags, endNs: ends, sendStartNs: sends } = records;
    for (let row = 0; row < count; row++) {
      if (((flags[row] as number) & RECORD_CANCELLED) !== 0) continue;
      const endNs = ends[row] as number;
      const sentNs = sends[row] as number;
      const { latest, lastEndNs } = this;
      if (latest !== undefined && sentNs < latest.sentNs && endNs >= latest.endNs) latest.sentNs = sentNs;
      if (endNs <= lastEndNs) {
        // Failed requests are recorded out of order.
        if (endNs < lastEndNs && latest !== undefined) this.split(endNs);
        continue;
      }
      this.lastEndNs = endNs;
      if (endNs - lastEndNs >= SHORTEST_NS) this.keep({ startNs: lastEndNs, endNs, sentNs });
      else this.short.add(endNs - Math.max(lastEndNs, sentNs));
    }
  }

  /**
   * Returns the gaps until `endNs`, in the order of time.
   * @param openSentNs send times of the requests in flight at that time
   * @param latency that of the measurement's requests
   */
  find(endNs: number, openSentNs: readonly number[], latency: Sketch): CompletionGap[] {
    // More requests may be in flight than a call may have arguments.
    const sentNs = openSentNs.reduce((least, one) => Math.min(least, one), Number.POSITIVE_INFINITY);
    const rest = { startNs: this.lastEndNs, endNs, sentNs };
    const usualLatencyNs = latency.count === 0 ? 0 : percentileAt(latency, 50);
    const all = [...this.long, ...(lengthOf(rest) > 0 ? [rest] : [])];
    // From the shortest on: what has been found is not usual beside a longer one.
    const found = new Map<LongGap, number>();
    for (const gap of all.toSorted((a, b) => lengthOf(a) - lengthOf(b))) {
      const lengthNs = lengthOf(gap) - usualLatencyNs;
      if (lengthNs < SHORTEST_NS) continue;
      const usual = this.usualBeside(gap, all, found);
      if (usual !== undefined && lengthNs >= MUCH_LONGER * usual.longNs) found.set(gap, usual.typicalNs);
    }
    return all.flatMap((gap) => {
      const typicalNs = found.get(gap);
      return typicalNs === undefined ? [] : [{ startNs: gap.endNs - lengthOf(gap), endNs: gap.endNs, typicalNs }];
    });
  }

  private keep(gap: LongGap): void {
    this.latest = gap;
    this.long.push(gap);
    if (this.long.length <= MOST_LONG) return;
    const longest = new Set(this.long.toSorted((a, b) => lengthOf(b) - lengthOf(a)).slice(0, MOST_LONG / 2));
    for (const one of this.long) if (!longest.has(one)) this.short.add(lengthOf(one));
    this.long = this.long.filter((one) => longest.has(one));
  }

  /** Cuts the shorter part off a gap in which a request ended after all. */
  private split(endNs: number): void {
    const at = this.long.findIndex((gap) => gap.startNs < endNs && endNs < gap.endNs);
    const gap = this.long[at];
    if (gap === undefined) return;
    if (endNs - gap.startNs > gap.endNs - endNs) this.long[at] = { ...gap, endNs };
    else gap.startNs = endNs;
  }

  /** Returns what is usual among the gaps shorter than one; undefined when these are too few, or gaps like this one are usual. */
  private usualBeside(
    gap: LongGap,
    all: readonly LongGap[],
    found: ReadonlyMap<LongGap, number>,
  ): UsualGaps | undefined {
    const others = new ExponentialHistogram();
    others.addAll(this.short);
    for (const one of all) if (one !== gap && !found.has(one)) others.add(lengthOf(one));
    return usualBelow(others, lengthOf(gap));
  }
}

/** What gaps usually are, weighted by time, within 0.6 %. */
interface UsualGaps {
  /** Half of the time is in shorter ones. */
  readonly typicalNs: number;
  /** 90 % of the time is in shorter ones. */
  readonly longNs: number;
}

/** Returns what is usual among the gaps shorter than one, each with the length in the middle of its bucket. */
function usualBelow({ offset, counts }: ExponentialHistogram, lengthNs: number): UsualGaps | undefined {
  const lengthsNs = Array.from(counts, (_, at) => bucketStartNs(offset + at + 0.5));
  const end = lengthsNs.filter((ns) => ns < lengthNs / ALIKE_RATIO).length;
  const sumsNs = lengthsNs.map((ns, at) => ns * (counts[at] as number));
  const [belowNs, restNs] = [sumsNs.slice(0, end), sumsNs.slice(end)].map(sumOf) as [number, number];
  const isUsual = sumOf(counts.subarray(end)) > MOST_ALIKE && restNs > belowNs;
  if (sumOf(counts.subarray(0, end)) < FEWEST_GAPS || isUsual) return undefined;
  const lengthAt = (ratio: number): number => {
    let at = 0;
    for (let seenNs = sumsNs[0] as number; at < end - 1 && seenNs < ratio * belowNs; seenNs += sumsNs[at] as number)
      at++;
    return lengthsNs[at] as number;
  };
  return { typicalNs: lengthAt(1 / 2), longNs: lengthAt(USUAL_RATIO) };
}

function sumOf(values: Iterable<number>): number {
  let sum = 0;
  for (const value of values) sum += value;
  return sum;
}

/**
 * Joins the gaps of measurements; undefined without any. In time: all. Of parallel parts: the times that are gaps of every part; what ended
 * usually once in each of several times ends that much more often together.
 */
export function joinGaps(
  parts: readonly (readonly CompletionGap[] | undefined)[],
  way: "in-time" | "parallel",
): readonly CompletionGap[] | undefined {
  const known = parts.map((gaps) => gaps ?? []);
  const joined = way === "in-time" ? known.flat() : known.reduce(commonGaps);
  return joined.length === 0 ? undefined : joined.toSorted((a, b) => a.startNs - b.startNs);
}

function commonGaps(gaps: readonly CompletionGap[], others: readonly CompletionGap[]): CompletionGap[] {
  return gaps.flatMap((one) =>
    others.flatMap((other) => {
      const startNs = Math.max(one.startNs, other.startNs);
      const endNs = Math.min(one.endNs, other.endNs);
      const typicalNs = 1 / (1 / one.typicalNs + 1 / other.typicalNs);
      return endNs - startNs < SHORTEST_NS ? [] : [{ startNs, endNs, typicalNs }];
    }),
  );
}

/** Returns how much of a measurement's time, 0 to 1, is in gaps with more than `waitNs` still to go. */
export function gapRatio(
  { gaps = [], durationNs }: { readonly gaps?: readonly CompletionGap[]; readonly durationNs: number },
  waitNs: number,
): number {
  const sumNs = gaps.reduce((sum, { startNs, endNs }) => sum + Math.max(0, endNs - startNs - waitNs), 0);
  return Math.min(1, sumNs / durationNs);
}

/** Reports whether so much of the time is in gaps that the requests which were not sent then decide a percentile. @param ratio see {@link gapRatio} */
export function isHiddenByGaps(ratio: number, percentile: number): boolean {
  return ratio >= 1 - percentile / 100;
}

function lengthOf({ startNs, endNs, sentNs }: LongGap): number {
  return endNs - Math.max(startNs, sentNs);
}
