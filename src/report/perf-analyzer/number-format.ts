import { nsToUs } from "../../plan/units.ts";

/** Formats a number like a C++ stream with its defaults: six significant digits, no trailing zeros. */
export function formatStreamNumber(value: number): string {
  if (!Number.isFinite(value)) return Number.isNaN(value) ? "nan" : value > 0 ? "inf" : "-inf";
  if (value === 0) return "0";
  const exponent = Math.floor(Math.log10(Math.abs(Number(value.toPrecision(6)))));
  if (exponent < -4 || exponent >= 6) {
    const [mantissa, power] = value.toExponential(5).split("e") as [string, string];
    const sign = power.startsWith("-") ? "-" : "+";
    return `${trimZeros(mantissa)}e${sign}${power.replace(/[+-]/, "").padStart(2, "0")}`;
  }
  return trimZeros(value.toFixed(Math.max(0, 5 - exponent)));
}

function trimZeros(text: string): string {
  return text.includes(".") ? text.replace(/\.?0+$/, "") : text;
}

/** Converts nanoseconds to whole microseconds, rounded down. */
export function toWholeUs(ns: number): number {
  return Math.floor(nsToUs(ns));
}
