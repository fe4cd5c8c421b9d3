import { msToNs, sum } from "../plan/units.ts";
import { bucketStartNs, ExponentialHistogram, type HistogramCounts } from "./exponential-histogram.ts";
import { RECORD_CANCELLED, type RecordColumns } from "./records.ts";
import { percentileAt, type Sketch } from "./sketch.ts";

/** A time in which requests were in flight and none ended, much longer than usual. All times are nanoseconds from the same start. */
export interface CompletionGap {
  readonly startNs: number;
  readonly endNs: number;
  /** Usual length of such a time in this measurement: half of the time is in shorter ones. */
  readonly typicalNs: number;
}

/** Shorter gaps are not reported. */
const SHORTEST_NS = msToNs(500);
/** A gap is much longer than usual above this multiple of the gap length below which 90 % of the other time is. */
const MUCH_LONGER = 5;
const USUAL_RATIO = 0.9;
/** Idle times from this length on are kept with their position, because they decide what is usual. */
const KEPT_NS = SHORTEST_NS / MUCH_LONGER;
/** Gaps whose lengths differ by less than this factor are alike. */
const ALIKE_RATIO = 2 ** (1 / 4);
/** If there are more other gaps as long as this one and they take most of the time, they are usual. */
const MOST_ALIKE = 1;
/** With fewer other gaps, it is unknown what is usual. */
const FEWEST_GAPS = 30;
/** Maximum number of idle times that are kept with their position. Above it, the shorter half of them is only counted. */
const MOST_KEPT = 4096;

/** Maximum number of gaps that are reported: the longest. */
const MOST_GAPS = 256;

/** A time between two ends of requests. */
interface IdleTime {
  readonly startNs: number;
  readonly endNs: number;
  /** The earliest send of the requests in flight at the end of the time; infinite if there are none. */
  readonly sentNs: number;
}

/** Times in which no request ended, of one sender or of several combined. Plain data. */
export interface IdleTimes {
  /** The idle times that are kept with their position, in order of time. */
  readonly kept: readonly IdleTime[];
  /** All other idle times by length, as far as a request was in flight. */
  readonly counted: HistogramCounts;
  /** All idle times of at least this length are kept. */
  readonly leastNs: number;
  /** The lengths of the counted idle times are only known to be below this; 0 for one sender, which knows them. */
  readonly unknownBelowNs: number;
}

/**
 * Collects the times between ends from the records of a measurement. Memory is bounded.
 *
 * Only time in which a request was in flight counts, so that pauses of the load are not gaps. Neither is time that the usual
 * latency explains: a request sent after a pause takes its time. What is usual comes from the same measurement, weighted by
 * time: of independent arrivals, one gap in more than 10^8 is as long by chance, and if responses come in bursts, long gaps are
 * usual.
 */
export class CompletionGaps {
  private readonly counted = new ExponentialHistogram();
  private kept: { -readonly [K in keyof IdleTime]: IdleTime[K] }[] = [];
  private latest: (typeof this.kept)[number] | undefined;
  private lastEndNs: number;
  private leastNs = KEPT_NS;

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
      if (endNs - lastEndNs >= KEPT_NS) this.keep({ startNs: lastEndNs, endNs, sentNs });
      else this.counted.add(endNs - Math.max(lastEndNs, sentNs));
    }
  }

  /** Returns the idle times until `endNs`. @param openSentNs send times of the requests in flight at `endNs` */
  until(endNs: number, openSentNs: readonly number[]): IdleTimes {
    // There may be more requests in flight than a call can have arguments.
    const sentNs = openSentNs.reduce((least, one) => Math.min(least, one), Number.POSITIVE_INFINITY);
    const last = { startNs: this.lastEndNs, endNs, sentNs };
    const { kept, counted, leastNs } = this;
    return { kept: [...kept, last], counted: countsOf(counted), leastNs, unknownBelowNs: 0 };
  }

  private keep(idle: (typeof this.kept)[number]): void {
    this.latest = idle;
    this.kept.push(idle);
    if (this.kept.length <= MOST_KEPT) return;
    const ordered = this.kept.toSorted((a, b) => spanOf(b) - spanOf(a));
    const longest = new Set(ordered.slice(0, MOST_KEPT / 2));
    this.leastNs = spanOf(ordered[MOST_KEPT / 2] as IdleTime);
    for (const one of this.kept) if (!longest.has(one)) this.counted.add(inFlightNs(one));
    this.kept = this.kept.filter((one) => longest.has(one));
  }

  /** Splits off the shorter part of an idle time in which a request did end. */
  private split(endNs: number): void {
    const at = this.kept.findIndex((idle) => idle.startNs < endNs && endNs < idle.endNs);
    const idle = this.kept[at];
    if (idle === undefined) return;
    if (endNs - idle.startNs > idle.endNs - endNs) this.kept[at] = { ...idle, endNs };
    else idle.startNs = endNs;
  }
}

/**
 * Joins the idle times of parts of one load that ran at the same time: the load was idle while all parts were. The lengths of
 * the shorter idle times depend on how the ends in different parts interleave; their mean is known.
 * @param parts at least one
 */
export function joinIdleTimes(parts: readonly IdleTimes[]): IdleTimes {
  const [only, ...others] = parts as [IdleTimes, ...IdleTimes[]];
  if (others.length === 0) return only;
  const kept = others.reduce((joined, part) => commonTimes(joined, part.kept), only.kept);
  const timesNs = parts.map((part) => part.counted.sumNs + sumInFlightNs(part.kept));
  const endCount = parts.reduce((sum, part) => sum + part.counted.count + part.kept.length - 1, 0);
  const counted = new ExponentialHistogram();
  const count = Math.max(0, endCount - kept.length);
  const restNs = Math.max(0, Math.max(...timesNs) - sumInFlightNs(kept));
  if (count > 0) counted.addMany(restNs / count, count);
  const leastNs = Math.max(...parts.map((part) => part.leastNs));
  return { kept, counted: countsOf(counted), leastNs, unknownBelowNs: leastNs };
}

function commonTimes(times: readonly IdleTime[], others: readonly IdleTime[]): IdleTime[] {
  const common: IdleTime[] = [];
  for (let at = 0, other = 0; at < times.length && other < others.length; ) {
    const [one, two] = [times[at] as IdleTime, others[other] as IdleTime];
    const [startNs, endNs] = [Math.max(one.startNs, two.startNs), Math.min(one.endNs, two.endNs)];
    if (endNs > startNs) common.push({ startNs, endNs, sentNs: Math.min(one.sentNs, two.sentNs) });
    if (one.endNs <= two.endNs) at++;
    if (two.endNs <= one.endNs) other++;
  }
  return common;
}

/** Returns the gaps among idle times, in order of time. @param latency latencies of the same requests */
export function findGaps({ kept, counted, unknownBelowNs }: IdleTimes, latency: Sketch): CompletionGap[] {
  const usualLatencyNs = latency.count === 0 ? 0 : percentileAt(latency, 50);
  const others = new ExponentialHistogram();
  others.addAll(counted);
  for (const one of kept) if (inFlightNs(one) > 0) others.add(inFlightNs(one));
  // Begins with the shortest: compared with a longer gap, the gaps already found do not count as usual.
  const found = new Map<IdleTime, number>();
  for (const idle of kept.toSorted((a, b) => inFlightNs(a) - inFlightNs(b))) {
    const lengthNs = inFlightNs(idle);
    if (lengthNs - usualLatencyNs < SHORTEST_NS) continue;
    others.addMany(lengthNs, -1);
    const usual = usualBelow(others, lengthNs);
    const isGap = ({ longNs }: UsualGaps): boolean =>
      lengthNs - usualLatencyNs >= MUCH_LONGER * Math.max(longNs, unknownBelowNs);
    if (usual !== undefined && isGap(usual)) found.set(idle, usual.typicalNs);
    else others.addMany(lengthNs, 1);
  }
  const longest = new Set([...found.keys()].slice(-MOST_GAPS));
  return kept.flatMap((idle) => {
    const typicalNs = longest.has(idle) ? found.get(idle) : undefined;
    return typicalNs === undefined ? [] : [{ startNs: idle.endNs - inFlightNs(idle), endNs: idle.endNs, typicalNs }];
  });
}

/** Returns a copy of the counts, because the histogram may continue to count. */
function countsOf({ offset, counts, count, sumNs }: ExponentialHistogram): HistogramCounts {
  return { offset, counts: counts.slice(), count, sumNs };
}

function spanOf({ startNs, endNs }: IdleTime): number {
  return endNs - startNs;
}

/** Returns the time for which a request was in flight during an idle time; 0 or less if there was none. */
function inFlightNs({ startNs, endNs, sentNs }: IdleTime): number {
  return endNs - Math.max(startNs, sentNs);
}

function sumInFlightNs(times: readonly IdleTime[]): number {
  return times.reduce((sum, one) => sum + Math.max(0, inFlightNs(one)), 0);
}

/** Usual lengths of gaps, weighted by time, within 0.6 %. */
interface UsualGaps {
  /** Half of the time is in shorter gaps. */
  readonly typicalNs: number;
  /** 90 % of the time is in shorter gaps. */
  readonly longNs: number;
}

/** Returns the usual lengths among the gaps shorter than one, each taken as the middle of its bucket. */
function usualBelow({ offset, counts }: ExponentialHistogram, lengthNs: number): UsualGaps | undefined {
  const lengthsNs = Array.from(counts, (_, at) => bucketStartNs(offset + at + 0.5));
  const end = lengthsNs.filter((ns) => ns < lengthNs / ALIKE_RATIO).length;
  const sumsNs = lengthsNs.map((ns, at) => ns * (counts[at] as number));
  const [belowNs, restNs] = [sumsNs.slice(0, end), sumsNs.slice(end)].map(sum) as [number, number];
  const isUsual = sum(counts.subarray(end)) > MOST_ALIKE && restNs > belowNs;
  if (sum(counts.subarray(0, end)) < FEWEST_GAPS || isUsual) return undefined;
  const lengthAt = (ratio: number): number => {
    let at = 0;
    for (let seenNs = sumsNs[0] as number; at < end - 1 && seenNs < ratio * belowNs; seenNs += sumsNs[at] as number)
      at++;
    return lengthsNs[at] as number;
  };
  return { typicalNs: lengthAt(1 / 2), longNs: lengthAt(USUAL_RATIO) };
}

/**
 * Joins the gaps of consecutive measurements; undefined if there are none. Gaps of parallel parts are found in their {@link
 * joinIdleTimes}.
 */
export function joinGaps(
  parts: readonly (readonly CompletionGap[] | undefined)[],
): readonly CompletionGap[] | undefined {
  const joined = parts.flatMap((gaps) => gaps ?? []);
  return joined.length === 0 ? undefined : joined.toSorted((a, b) => a.startNs - b.startNs);
}

/** Returns the ratio of a measurement's time, 0 to 1, that is in gaps with more than `waitNs` remaining. */
export function gapRatio(
  { gaps = [], durationNs }: { readonly gaps?: readonly CompletionGap[]; readonly durationNs: number },
  waitNs: number,
): number {
  const sumNs = gaps.reduce((sum, { startNs, endNs }) => sum + Math.max(0, endNs - startNs - waitNs), 0);
  return Math.min(1, sumNs / durationNs);
}

/**
 * Reports whether the gaps take so much of the time that the requests not sent during them decide a percentile. @param ratio
 * see {@link gapRatio}
 */
export function isHiddenByGaps(ratio: number, percentile: number): boolean {
  return ratio >= 1 - percentile / 100;
}
