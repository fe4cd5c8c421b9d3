type TimeUnit = "us" | "ms" | "s" | "m" | "min" | "h";

/**
 * A duration with its unit: `"250 us"`, `"500ms"`, `"5 s"`, `"2 min"`, `"1m"`, `"1m30s"`, `"1 h 30 min"`. A number without a
 * unit is not allowed.
 */
export type Duration =
  | `${number} ${TimeUnit}`
  | `${number}${TimeUnit}`
  | `${number}${"m" | "min"}${number}s`
  | `${number}h${number}${"m" | "min"}`
  | `${number}h${number}m${number}s`
  | `${number} min ${number} s`
  | `${number} h ${number} min`;

/** A percentage with its sign: `"5 %"`, `"0.1%"`. A number without the sign is not allowed. */
export type Percent = `${number} %` | `${number}%`;

/** Requirement on a number, which appears in the compiler's error message. */
interface MustBe<R extends string> {
  readonly mustBe: R;
}

/** A whole number of 1 or more. The compiler checks only literals; other numbers are checked when the scenario is run. */
export type Count<N extends number> = `${N}` extends "0" | `-${string}` | `${string}${"." | "e-"}${string}`
  ? MustBe<"a whole number of 1 or more">
  : N;

/** A number above 0. */
export type Positive<N extends number> = `${N}` extends "0" | `-${string}` ? MustBe<"above 0"> : N;

type Digit = 0 | 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8 | 9;

/** A percentile: a number from 1 to below 100. A ratio such as 0.99 does not compile. */
export type Percentile<P extends number = number> = `${P}` extends
  | `0${string}`
  | `-${string}`
  | `${Digit}${Digit}${Digit}${string}`
  ? MustBe<"from 1 to below 100">
  : P;

/** Nanoseconds per unit, from the largest to the smallest: the order of the parts of a duration. */
const UNITS: readonly (readonly [spelling: string, ns: number])[] = [
  ["h", 3600e9],
  ["(?:min|m)", 60e9],
  ["s", 1e9],
  ["ms", 1e6],
  ["(?:us|µs)", 1e3],
];

const PARTS = UNITS.map(([spelling]) => `(?:(\\d+(?:\\.\\d+)?|\\.\\d+)\\s*${spelling}\\s*)?`);

/** Form of durations, as a regular expression. */
export const DURATION_PATTERN = `^\\s*(?=[\\d.])${PARTS.join("")}$`;

const DURATION = new RegExp(DURATION_PATTERN);

/** Parses a duration into nanoseconds. Returns undefined if it is not valid: without a unit, negative, or not a number. */
export function parseDurationNs(text: string): number | undefined {
  const [whole, ...counts] = DURATION.exec(text) ?? [];
  if (whole === undefined) return undefined;
  return UNITS.reduce((sum, [, ns], index) => sum + Number(counts[index] ?? 0) * ns, 0);
}

const PERCENT = /^\s*(\d+(?:\.\d+)?|\.\d+)\s*%\s*$/;

/** Form of percentages, as a regular expression. */
export const PERCENT_PATTERN = PERCENT.source;

/** Parses a percentage with its sign, such as `"5 %"`; undefined if it is not valid. */
export function parsePercent(text: string): number | undefined {
  const match = PERCENT.exec(text);
  return match === null ? undefined : Number(match[1]);
}

/** Formats a duration in the largest unit that gives at least 1, with up to 4 significant digits: `12.3 ms`. */
export function formatDurationNs(ns: number): string {
  const magnitude = Math.abs(ns);
  const [unit, perUnit] =
    magnitude >= 120e9 ? ["min", 60e9] : magnitude >= 1e9 ? ["s", 1e9] : magnitude >= 1e6 ? ["ms", 1e6] : ["us", 1e3];
  return `${Number((ns / (perUnit as number)).toPrecision(4))} ${unit}`;
}

/** Formats a rate or count with up to four significant digits and thousands separators: `12,300`. */
export function formatCount(value: number): string {
  const rounded = Math.abs(value) >= 1000 ? Math.round(value) : Number(value.toPrecision(4));
  return rounded.toLocaleString("en-US", { maximumFractionDigits: 3 });
}

/** Returns the form of a word that fits a number: `request` for 1, `requests` for any other. @param many default: `one` with an s */
export function plural(count: number, one: string, many = `${one}s`): string {
  return count === 1 ? one : many;
}

/** Formats a number of things: `1 request`, `12,300 requests`. @param many default: `one` with an s */
export function countOf(count: number, one: string, many?: string): string {
  return `${formatCount(count)} ${plural(count, one, many)}`;
}

/** Formats a ratio in percent: `12.3 %`. @param digits maximum number of significant digits, or `"whole"` for a whole number. Default: 3 */
export function formatPct(ratio: number, digits: number | "whole" = 3): string {
  if (digits === "whole") return `${Math.round(100 * ratio)} %`;
  return `${(ratio * 100 || 0).toLocaleString("en-US", { maximumSignificantDigits: digits })} %`;
}

/** Formats a time in nanoseconds since the epoch: `2026-01-31T08:00:00.123Z`. */
export function epochNsToIsoTime(epochNs: bigint): string {
  return new Date(Number(epochNs / 1_000_000n)).toISOString();
}

/** Nanoseconds per second. */
export const NS_PER_SEC = 1e9;

/** Nanoseconds per microsecond. */
export const NS_PER_US = 1e3;

export const nsToUs = (ns: number): number => ns / 1e3;
export const nsToMs = (ns: number): number => ns / 1e6;
export const nsToSec = (ns: number): number => ns / 1e9;
export const usToNs = (us: number): number => us * 1e3;
export const usToMs = (us: number): number => us / 1e3;
export const msToNs = (ms: number): number => ms * 1e6;
export const msToSec = (ms: number): number => ms / 1e3;
export const secToNs = (sec: number): number => sec * 1e9;
export const hoursToSec = (hours: number): number => hours * 3600;
export const secToMs = (sec: number): number => sec * 1e3;

/** Adds numbers. */
export function sum(values: Iterable<number>): number {
  let total = 0;
  for (const value of values) total += value;
  return total;
}
