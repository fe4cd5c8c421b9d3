/** Formats numbers and JSON like Python, for texts that programs parse. */

import { JsonNumber, plainKey, rawJson } from "../../service/json-text.ts";

/** A number that is a float in Python. An integer value is printed with `.0`. */
export class PythonFloat {
  readonly value: number;

  constructor(value: number) {
    this.value = value;
  }

  /** Called by `JSON.stringify`. Formats like Python. */
  toJSON(): unknown {
    return rawJson(formatJsonFloat(this.value));
  }
}

/** Plain data for {@link formatPythonJson}. A `Map` is an object whose keys keep their order, including keys that look like numbers. */
export type PythonJson =
  | null
  | boolean
  | number
  | string
  | PythonFloat
  | JsonNumber
  | readonly PythonJson[]
  | ReadonlyMap<string, PythonJson>
  | { readonly [key: string]: PythonJson | undefined };

/** Formats like `json.dumps(value, indent=2)`. Integers are ints unless they are {@link PythonFloat}. Undefined properties are omitted. */
export function formatPythonJson(value: PythonJson, indent = ""): string {
  if (value === null) return "null";
  if (typeof value === "boolean") return String(value);
  if (typeof value === "number") return Number.isInteger(value) ? formatInt(value) : formatJsonFloat(value);
  if (typeof value === "string") return formatString(value);
  if (value instanceof PythonFloat) return formatJsonFloat(value.value);
  if (value instanceof JsonNumber) return value.text;
  const inner = `${indent}  `;
  const formatInner = (item: PythonJson): string => formatPythonJson(item, inner);
  if (isList(value)) return enclose("[", value.map(formatInner), "]", indent);
  const entries = value instanceof Map ? [...value] : Object.entries(value);
  const members = entries
    .filter(([, item]) => item !== undefined)
    .map(([key, item]) => `${formatString(plainKey(key))}: ${formatInner(item as PythonJson)}`);
  return enclose("{", members, "}", indent);
}

function isList(value: PythonJson): value is readonly PythonJson[] {
  return Array.isArray(value);
}

function enclose(open: string, parts: readonly string[], close: string, indent: string): string {
  return parts.length === 0 ? open + close : `${open}\n${indent}  ${parts.join(`,\n${indent}  `)}\n${indent}${close}`;
}

/** Escapes everything except ASCII, in UTF-16 units. */
function formatString(text: string): string {
  return JSON.stringify(text).replace(
    /[\u007f-\uffff]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

function formatInt(value: number): string {
  return Math.abs(value) < 1e21 ? String(value === 0 ? 0 : value) : BigInt(value).toString();
}

function formatJsonFloat(value: number): string {
  if (Number.isNaN(value)) return "NaN";
  if (!Number.isFinite(value)) return value > 0 ? "Infinity" : "-Infinity";
  return formatFloat(value);
}

/** Formats a float like `repr`: the shortest digits that parse to the same number, with an exponent below 1e-4 and from 1e16. */
export function formatFloat(value: number): string {
  if (Object.is(value, -0)) return "-0.0";
  const [mantissa, power] = value.toExponential().split("e") as [string, string];
  const exponent = Number(power);
  if (value !== 0 && (exponent < -4 || exponent >= 16))
    return `${mantissa}e${exponent < 0 ? "-" : "+"}${String(Math.abs(exponent)).padStart(2, "0")}`;
  // Within these limits JavaScript prints the same digits as Python, except that it uses exponents below 1e-6.
  const text = String(value);
  return text.includes(".") ? text : `${text}.0`;
}

/** Formats like `{:,.2f}`: two decimals, halves rounded to even, commas between thousands. */
export function formatTwoDecimals(value: number): string {
  if (!Number.isFinite(value)) return Number.isNaN(value) ? "nan" : value > 0 ? "inf" : "-inf";
  const [whole, decimals] = roundedTwoDecimals(Math.abs(value)).split(".") as [string, string];
  const sign = value < 0 || Object.is(value, -0) ? "-" : "";
  return `${sign}${whole.replace(/\B(?=(?:\d{3})+$)/g, ",")}.${decimals}`;
}

/** `toFixed` also rounds the exact value, but rounds a half up. Only multiples of 1/8 are exact halves. */
function roundedTwoDecimals(value: number): string {
  if (value >= 1e21) return `${BigInt(value)}.00`;
  const text = value.toFixed(2);
  const eighths = value * 8;
  if (!Number.isInteger(eighths) || eighths % 2 === 0) return text;
  // .125 and .625 round down to an even digit. .375 and .875 round up to one, like `toFixed`.
  return eighths % 4 === 1 ? (value - 0.005).toFixed(2) : text;
}
