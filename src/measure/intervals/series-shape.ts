import { studentQuantile } from "./distributions.ts";

/** Shape of a series of means over time: whether its level changes, or one stretch is far from the rest. */

/** A part of a series: a bin of time, or a batch. */
export interface SeriesPart {
  /** Start, in nanoseconds. Parts with a start have equal lengths, and parts without a sample may be omitted. Absent: unknown. */
  readonly startNs?: number;
  /** Number of samples, 0 or more, and their mean. Samples are not negative. */
  readonly count: number;
  readonly mean: number;
}

/** A contiguous stretch of a series that is far from the rest. */
interface Stretch {
  /** Index of the first part, and of the part after the last one. */
  readonly from: number;
  readonly to: number;
  /** Start and end on the clock of the parts; absent if unknown. They include the preceding time in which nothing ended. */
  readonly startNs?: number;
  readonly endNs?: number;
  /** Mean of the stretch divided by the mean of the rest: 2 is twice as much. */
  readonly factor: number;
}

/**
 * The shape of a series.
 *
 * - `steady`: its parts vary like independent ones
 * - `start-up`: it begins with a stretch that is far off, and the rest is consistent
 * - `burst`: another stretch is far off, and the rest is consistent
 * - `drift`: its level changes and stays changed; `ratio` is the median of the last fifth divided by that of the first, minus 1
 * - `correlated`: none of these, and its parts are similar over longer times, so that they are worth few independent ones
 */
export type SeriesShape =
  | { readonly kind: "steady" }
  | { readonly kind: "correlated" }
  | ({ readonly kind: "start-up" } & Stretch)
  | ({ readonly kind: "burst" } & Stretch)
  | { readonly kind: "drift"; readonly ratio: number };

/** Minimum number of parts for a shape. */
const FEWEST_PARTS = 10;
/** A stretch that covers a larger share of the series is not a burst. */
const LONGEST_STRETCH = 0.25;
/** A series whose parts are worth less than this share of their number is correlated. */
const CORRELATED_RATIO = 0.5;

/** Returns the shape of a series. @param parts in order of time */
export function shapeOf(parts: readonly SeriesPart[]): SeriesShape {
  const filled = parts.flatMap((part, index) => (part.count > 0 ? [{ ...part, index }] : []));
  if (filled.length < FEWEST_PARTS) return { kind: "steady" };
  const found = findStretch(filled);
  const rest = found === undefined ? filled : [...filled.slice(0, found.from), ...filled.slice(found.to)];
  const ratio = levelChange(rest.map(({ mean }) => mean));
  if (ratio !== undefined) return { kind: "drift", ratio };
  if (found !== undefined) return describeStretch(filled, found);
  const means = filled.map(({ mean }) => mean);
  return { kind: worthOf(means) < CORRELATED_RATIO * means.length ? "correlated" : "steady" };
}

interface FilledPart extends SeriesPart {
  readonly index: number;
}

interface Range {
  readonly from: number;
  readonly to: number;
}

/** A part is far off if it differs from the median of the parts by this many deviations and by this ratio of the median. */
const FAR_DEVIATIONS = 6;
const FAR_RATIO = 0.25;
/** Parts of a stretch are at least this share as far off as its farthest part. */
const OF_FARTHEST = 0.25;
/** With fewer samples, a single part is an outlier and not a stretch. */
const FEWEST_SAMPLES = 8;

/** Returns the stretch of parts that are far from the others on one side; undefined if there are none, or if they are not contiguous. */
function findStretch(parts: readonly FilledPart[]): Range | undefined {
  const far = farParts(parts);
  const [first] = far;
  const last = far.at(-1);
  if (first === undefined || last === undefined) return undefined;
  const range = extend(parts, { from: first, to: last + 1 });
  if (range.to - range.from > LONGEST_STRETCH * parts.length) return undefined;
  const inside = parts.slice(range.from, range.to);
  const samples = inside.reduce((sum, { count }) => sum + count, 0);
  if (inside.length === 1 && samples < FEWEST_SAMPLES) return undefined;
  const rest = [...parts.slice(0, range.from), ...parts.slice(range.to)];
  // Other parts that are far off too are further bursts.
  const others = farParts(rest).map((at) => rest[at] as FilledPart);
  return others.reduce((sum, { count }) => sum + count, 0) > Math.max(FEWEST_SAMPLES, samples / 4) ? undefined : range;
}

/** Extends a stretch by neighbours that are far from the rest, such as parts that it covers partly. */
function extend(parts: readonly FilledPart[], { from, to }: Range): Range {
  const rest = [...parts.slice(0, from), ...parts.slice(to)];
  const far = new Set(farParts(rest).map((at) => (at < from ? at : at + to - from)));
  let [start, end] = [from, to];
  while (far.has(start - 1)) start--;
  while (far.has(end)) end++;
  return { from: start, to: end };
}

/** Returns the indexes of the parts that are far from the median, on the side of the farthest one. */
function farParts(parts: readonly FilledPart[]): number[] {
  const means = parts.map(({ mean }) => mean);
  const middle = medianOf(means);
  const spread = spreadOf(means, middle);
  const usualCount = medianOf(parts.map(({ count }) => count));
  const farthest = means.reduce((most, mean) => (Math.abs(mean - middle) > Math.abs(most) ? mean - middle : most), 0);
  return parts.flatMap(({ mean, count }, index) => {
    const away = (mean - middle) * Math.sign(farthest);
    // The mean of few samples varies more.
    const deviation = spread * Math.sqrt(Math.max(1, usualCount / count));
    const limit = Math.max(FAR_DEVIATIONS * deviation, FAR_RATIO * middle, OF_FARTHEST * Math.abs(farthest));
    return away > limit ? [index] : [];
  });
}

/** A stretch that begins within this share of the series is its start: the first part may contain only a few samples. */
const START_RATIO = 0.02;

function describeStretch(parts: readonly FilledPart[], found: Range): SeriesShape {
  const { to } = found;
  const from = found.from <= START_RATIO * parts.length ? 0 : found.from;
  const rest = [...parts.slice(0, from), ...parts.slice(to)];
  return {
    kind: from === 0 ? "start-up" : "burst",
    from: from === 0 ? 0 : (parts[from] as FilledPart).index,
    to: (parts[to - 1] as FilledPart).index + 1,
    ...timesOf(parts, { from, to }),
    factor: meanOfParts(parts.slice(from, to)) / meanOfParts(rest),
  };
}

function timesOf(parts: readonly FilledPart[], { from, to }: Range): Pick<Stretch, "startNs" | "endNs"> {
  const starts = parts.map(({ startNs }) => startNs).filter((startNs) => startNs !== undefined);
  if (starts.length < parts.length) return {};
  const lengthNs = Math.min(...starts.slice(1).map((startNs, at) => startNs - (starts[at] as number)));
  const startNs = from === 0 ? (starts[0] as number) : (starts[from - 1] as number) + lengthNs;
  return { startNs, endNs: (starts[to - 1] as number) + lengthNs };
}

function meanOfParts(parts: readonly SeriesPart[]): number {
  const total = parts.reduce((sum, { count }) => sum + count, 0);
  return parts.reduce((sum, { mean, count }) => sum + mean * (count / total), 0);
}

/** Smaller changes of the level are not reported. */
const SMALLEST_CHANGE = 0.05;
/** Required confidence of a change of the level. The search considers two forms, at any time. */
const CHANGE_CONFIDENCE = 0.9999;
/** With fewer independent parts, an oscillation cannot be distinguished from a change. */
const FEWEST_INDEPENDENT = 15;
/** The medians of neighbouring fifths may move backward by this share of the change, or by as many of their standard errors. */
const BACKWARD_RATIO = 0.35;
const BACKWARD_ERRORS = 2;
/** Minimum share of the change between the second and the fourth fifth. Otherwise the change is at an end of the series. */
const INNER_RATIO = 0.2;

/**
 * Returns the change of the level of a series from its first to its last fifth, as a ratio; undefined if it does not change, or
 * returns. The medians of the fifths must move in one direction, and a line or a single step must be so much larger than the
 * residuals that chance does not explain it, even if the residuals correlate.
 */
function levelChange(means: readonly number[]): number | undefined {
  const fifths = Array.from({ length: 5 }, (_, fifth) =>
    medianOf(means.slice(Math.round((fifth * means.length) / 5), Math.round(((fifth + 1) * means.length) / 5))),
  );
  const [first, second, , fourth, last] = fifths as [number, number, number, number, number];
  const change = last - first;
  if (!(first > 0) || Math.abs(change) < SMALLEST_CHANGE * first) return undefined;
  const { isCertain, deviation, worth } = fitChange(clip(means));
  if (!isCertain) return undefined;
  const sign = Math.sign(change);
  // The standard error of a median is 1.25 times that of a mean.
  const error = 1.25 * deviation * Math.sqrt(5 / worth);
  const allowed = Math.max(BACKWARD_RATIO * Math.abs(change), BACKWARD_ERRORS * error);
  const isOneWay = fifths.every((median, at) => at === 0 || sign * (median - (fifths[at - 1] as number)) >= -allowed);
  const isInner = sign * (fourth - second) >= INNER_RATIO * Math.abs(change);
  return isOneWay && isInner ? change / first : undefined;
}

/** A line or a step fitted to a series, and its residuals. */
interface FittedChange {
  readonly isCertain: boolean;
  /** Standard deviation of the residuals, and the number of independent values that they are worth. */
  readonly deviation: number;
  readonly worth: number;
}

/** Fits a line, and steps at any position in the middle half, and returns the best fit. */
function fitChange(values: readonly number[]): FittedChange {
  const { length } = values;
  const mean = values.reduce((sum, value) => sum + value, 0) / length;
  const fits = formsOf(length).map((form) => {
    const squares = form.reduce((sum, value) => sum + value * value, 0);
    const size = form.reduce((sum, value, at) => sum + value * ((values[at] as number) - mean), 0) / squares;
    return { form, size, squares, explained: size * size * squares };
  });
  const { form, size, squares } = fits.reduce((best, fit) => (fit.explained > best.explained ? fit : best));
  const left = values.map((value, at) => value - mean - size * (form[at] as number));
  const worth = worthOf(left);
  const deviation = Math.sqrt(left.reduce((sum, value) => sum + value * value, 0) / (length - 2));
  if (worth < FEWEST_INDEPENDENT) return { isCertain: false, deviation, worth };
  const error = deviation * Math.sqrt(length / worth / squares);
  const isCertain = Math.abs(size) > studentQuantile((1 + CHANGE_CONFIDENCE) / 2, worth - 2) * error;
  return { isCertain, deviation, worth };
}

/** Returns the forms of a change: the share of the change that has happened at each position, minus the mean over all positions. */
function formsOf(length: number): number[][] {
  const places = Array.from({ length }, (_, at) => at);
  const steps = places.filter((at) => at >= length / 4 && at <= (3 * length) / 4);
  const forms = [
    places.map((at) => at / (length - 1)),
    ...steps.map((split) => places.map((at) => (at < split ? 0 : 1))),
  ];
  return forms.map((form) => {
    const mean = form.reduce((sum, value) => sum + value, 0) / length;
    return form.map((value) => value - mean);
  });
}

/** A correlation at a lag of 2 counts above this number of standard errors. */
const CORRELATION_ERRORS = 2.5;

/**
 * Returns the number of independent values that these are worth for their mean, assuming an AR(1) process. Its coefficient is
 * the larger of the estimates from the correlations at lags 1 and 2, corrected for their bias (Kendall, Note on bias in the
 * estimation of autocorrelation, 1954): for a few parts that is less noisy than a sum over all lags.
 */
function worthOf(values: readonly number[]): number {
  const { length } = values;
  const mean = values.reduce((sum, value) => sum + value, 0) / length;
  const offsets = values.map((value) => value - mean);
  const squares = offsets.reduce((sum, value) => sum + value * value, 0);
  if (squares === 0) return length;
  const correlationAt = (lag: number): number => {
    const products = offsets.reduce(
      (sum, value, at) => (at < lag ? sum : sum + value * (offsets[at - lag] as number)),
      0,
    );
    const found = products / squares;
    return found + (1 + 4 * found) / length;
  };
  const [near, far] = [correlationAt(1), correlationAt(2)];
  const isFar = far > CORRELATION_ERRORS / Math.sqrt(length);
  const coefficient = Math.min(0.999, Math.max(0, near, isFar ? Math.sqrt(far) : 0));
  return (length * (1 - coefficient)) / (1 + coefficient);
}

/** Clips outliers towards the other values, so that they do not decide. */
function clip(values: readonly number[]): number[] {
  const sorted = values.toSorted((a, b) => a - b);
  const [low, high] = [0.25, 0.75].map((share) => sorted[Math.floor(share * (sorted.length - 1))] as number);
  const room = 3 * ((high as number) - (low as number));
  return values.map((value) => Math.max((low as number) - room, Math.min((high as number) + room, value)));
}

/**
 * Returns a robust deviation, which a few outliers do not change: 1.4826 times the median distance from the median, as for
 * normal values.
 */
function spreadOf(values: readonly number[], middle: number): number {
  return 1.4826 * medianOf(values.map((value) => Math.abs(value - middle)));
}

function medianOf(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const half = sorted.length / 2;
  return sorted.length % 2 === 1
    ? (sorted[Math.floor(half)] as number)
    : ((sorted[half - 1] as number) + (sorted[half] as number)) / 2;
}
