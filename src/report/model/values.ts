import type { Interval } from "../../measure/intervals/certainty.ts";
import { metricOf } from "../../measure/metrics/catalogue.ts";
import { formatMetric, shortUnit, unitOf } from "../../measure/metrics/metric-text.ts";
import type { MetricPlan } from "../../plan/assertions.ts";
import { countOf, formatCount, formatPct, nsToUs, secToNs, usToNs } from "../../plan/units.ts";
import type { Cell, CellQuantity, ModelTable } from "./report-model.ts";

/** Formats values for people: three digits, and one unit for all values of a column. */

/** A unit of time for a column. */
export interface TimeUnit {
  readonly name: string;
  readonly ns: number;
}

const TIME_UNITS: readonly TimeUnit[] = [
  { name: "min", ns: 60e9 },
  { name: "s", ns: 1e9 },
  { name: "ms", ns: 1e6 },
  { name: "us", ns: 1e3 },
];
const MICROSECONDS: TimeUnit = { name: "us", ns: 1e3 };
/** Above this, durations are in minutes. */
const LEAST_MINUTES_NS = 120e9;
/** A value below this fraction of its unit has zeros after the point, and is harder to read than a large number in the smaller unit. */
const LEAST_PART = 0.1;

/** Chooses the unit for times: that of the longest, or a smaller one if half of the others would be hard to read. */
export function timeUnitOf(values: readonly number[]): TimeUnit {
  const sizes = values.map(Math.abs).filter((value) => value > 0);
  if (sizes.length === 0) return MICROSECONDS;
  const sorted = sizes.toSorted((a, b) => a - b);
  const [middle, most] = [sorted[(sorted.length - 1) >> 1] as number, sorted.at(-1) as number];
  const fits = ({ name, ns }: TimeUnit): boolean => most >= (name === "min" ? LEAST_MINUTES_NS : ns);
  const largest = TIME_UNITS.findIndex(fits);
  if (largest < 0) return MICROSECONDS;
  const unit = TIME_UNITS[largest] as TimeUnit;
  return middle / unit.ns < LEAST_PART ? (TIME_UNITS[largest + 1] ?? MICROSECONDS) : unit;
}

/** Returns the unit of each column of times; undefined for other columns. */
export function unitsOf({ columns, rows }: Pick<ModelTable, "columns" | "rows">): (TimeUnit | undefined)[] {
  const timesOf = (at: number): number[] =>
    rows.map((row) => row[at]?.value).filter((value) => typeof value === "number");
  return columns.map(({ quantity }, at) => (quantity === "time" ? timeUnitOf(timesOf(at)) : undefined));
}

/** Chooses the unit of an axis for times up to this one. All are in microseconds. */
export function timeUnitFor(mostUs: number): { readonly name: string; readonly us: number } {
  const { name, ns } = timeUnitOf([usToNs(mostUs)]);
  return { name, us: nsToUs(ns) };
}

const MOST_DECIMALS = 9;

/** Formats a number with three digits, or with all digits before the point if there are more: `1,694`, `45.2`, `0.0123`. */
export function formatThreeDigits(value: number): string {
  if (!Number.isFinite(value)) return String(value);
  if (value === 0) return "0";
  const decimals = 2 - Math.floor(Math.log10(Math.abs(Number(value.toPrecision(3)))));
  if (decimals > MOST_DECIMALS) return value.toExponential(2);
  if (decimals > 0) return value.toFixed(decimals);
  return Math.round(value).toLocaleString("en-US");
}

/** Formats a time in a unit: `2.30 ms`. Default: the most suitable unit. */
export function formatTime(ns: number, unit: TimeUnit = timeUnitOf([ns])): string {
  return `${formatThreeDigits(ns / unit.ns)} ${unit.name}`;
}

/** Formats the duration of a run: `8.0 s`. */
export function formatSeconds(seconds: number): string {
  return seconds >= 1 && seconds < 120 ? `${seconds.toFixed(1)} s` : formatTime(secToNs(seconds));
}

/** Describes how many of all requests were not measured: `2 of them outside the measured time`. Empty if all were, and if none was. */
export function describeUnmeasured(all: number, measured: number): string {
  return measured === 0 || all <= measured ? "" : `${formatCount(all - measured)} of them outside the measured time`;
}

/** Describes a number of judged items: `the assertion failed`, `1 of 3 assertions failed`. @param what predicate for a single item */
export function countJudged(count: number, all: number, one: string, what: string): string {
  if (all === 1) return `the ${one} ${what}`;
  return `${count} of ${countOf(all, one)} ${count === 1 ? what : what.replace(/^is /, "are ")}`;
}

const BYTE_UNITS = ["bytes", "kB", "MB", "GB", "TB"];

/** Formats a number of bytes: `8.75 MB`. */
export function formatBytes(bytes: number): string {
  const power = Math.min(BYTE_UNITS.length - 1, Math.floor(Math.log10(Math.max(1, bytes)) / 3));
  return `${power === 0 ? bytes : formatThreeDigits(bytes / 1000 ** power)} ${BYTE_UNITS[power]}`;
}

/** Formats a value of a column. @param unit of times. Default: the most suitable unit for the value */
export function formatValue(value: number | string, quantity: CellQuantity, unit?: TimeUnit): string {
  if (typeof value === "string") return value;
  switch (quantity) {
    case "time":
      return formatTime(value, unit);
    case "ratio":
      return formatPct(value);
    case "count":
      return Number.isInteger(value) ? value.toLocaleString("en-US") : formatThreeDigits(value);
    case "rate":
    case "mean":
      return formatThreeDigits(value);
    default:
      return Number.isInteger(value) ? value.toLocaleString("en-US") : String(Number(value.toPrecision(6)));
  }
}

/** Mark of a value with too few independent samples to trust it. */
export const MARK = "*";

/** Formats a cell: its value, with the mark. Empty without a value. @param unit of times */
export function formatCell({ value, mark }: Cell, quantity: CellQuantity, unit?: TimeUnit): string {
  return value === undefined ? "" : `${formatValue(value, quantity, unit)}${mark === "uncertain" ? MARK : ""}`;
}

/** Formats an interval: `2.12 to 2.13 ms`, `at least 2.12 ms`. Empty without a bound, and if its ends look the same. */
export function formatInterval({ interval }: Cell, quantity: CellQuantity, unit?: TimeUnit): string {
  const { low = null, high = null } = interval ?? {};
  const end = (value: number | null): string => (value === null ? "" : formatValue(value, quantity, unit));
  if (low !== null && high !== null && end(low) === end(high)) return "";
  if (low === null) return high === null ? "" : `at most ${end(high)}`;
  return high === null ? `at least ${end(low)}` : joinEnds(end(low), end(high));
}

/** Adds the sign of a value before its size: `-12 %`, `+3.1`; `±0.00` if the size is formatted as 0. */
export function withSign(value: number, size: string): string {
  return `${/[1-9]/.test(size) ? (value < 0 ? "-" : "+") : "±"}${size}`;
}

/** Joins the ends of an interval, with the unit only once if both have it. */
function joinEnds(low: string, high: string): string {
  const unit = high.includes(" ") ? high.slice(high.indexOf(" ")) : "";
  return `${unit !== "" && low.endsWith(unit) ? low.slice(0, -unit.length) : low} to ${high}`;
}

/** Formats an interval after its value: ` (2.12 to 2.13 ms)`. Empty if a bound is missing. */
export function endsAfter({ low, high }: Interval, format: (value: number) => string): string {
  return low === null || high === null ? "" : ` (${joinEnds(format(low), format(high))})`;
}

/** Returns the quantity of a metric's values. */
export function quantityOfMetric(metric: MetricPlan): CellQuantity {
  return metricOf(metric).quantity;
}

/**
 * Formats a value of a metric with its unit and three digits; with more if three digits would make it look equal to its limit.
 * @param unit of throughput
 * @param limit limit that it is compared with. Default: none
 */
export function formatMetricValue(metric: MetricPlan, value: number, unit: string, limit?: number): string {
  const exact = formatMetric(metric, value, unit);
  const quantity = quantityOfMetric(metric);
  if (quantity === "number") return exact;
  const name = quantity === "time" || quantity === "ratio" ? "" : shortUnit(unitOf(metric, unit));
  const short = (one: number): string => `${formatValue(one, quantity)}${name === "" ? "" : ` ${name}`}`;
  return limit !== undefined && value !== limit && short(value) === short(limit) ? exact : short(value);
}
