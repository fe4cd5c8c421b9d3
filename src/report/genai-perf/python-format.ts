/** Numbers and JSON as Python prints them, where that text is an interface. */

import { JsonNumber, plainKey, rawJson } from "../../service/json-text.ts";

/** A number that Python holds as a float: a whole one is printed with `.0`. */
export class PythonFloat {
  readonly value: number;

  constructor(value: number) {
    this.value = value;
  }

  /** For `JSON.stringify`, which prints it as Python does too. */
  toJSON(): unknown {
    return rawJson(formatJsonFloat(this.value));
  }
}

/** What {@link formatPythonJson} takes: plain data. A `Map` is an object whose keys keep their order, whatever they look like. */
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

/** As `json.dumps(value, indent=2)`. Whole numbers are ints unless they are {@link PythonFloat}; keys that are undefined are left out. */
export function formatPythonJson(value: PythonJson, indent = ""): string {
  if (value === null) return "null";
  if (typeof value === "boolean") return String(value);
  if (typeof value === "number") return Number.isInteger(value) ? formatInt(value) : formatJsonFloat(value);
  if (typeof value === "string") return formatString(value);
  if (value instanceof PythonFloat) return formatJsonFloat(value.value);
  if (value instanceof JsonNumber) return value.text;
  const inner = `${indent}  `;
  if (isList(value))
    return enclose(
      "[",
      value.map((item) => formatPythonJson(item, inner)),
      "]",
      indent,
    );
  const entries = value instanceof Map ? [...value] : Object.entries(value);
  const members = entries
    .filter(([, item]) => item !== undefined)
    .map(([key, item]) => `${formatString(plainKey(key))}: ${formatPythonJson(item as PythonJson, inner)}`);
  return enclose("{", members, "}", indent);
}

function isList(value: PythonJson): value is readonly PythonJson[] {
  return Array.isArray(value);
}

function enclose(open: string, parts: readonly string[], close: string, indent: string): string {
  return parts.length === 0 ? open + close : `${open}\n${indent}  ${parts.join(`,\n${indent}  `)}\n${indent}${close}`;
}

/** Only ASCII: everything else is escaped, in UTF-16 units. */
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

/** A float as `repr` prints it: the shortest digits that give it back, an exponent below 1e-4 and from 1e16 up. */
export function formatFloat(value: number): string {
  if (Object.is(value, -0)) return "-0.0";
  const [mantissa, power] = value.toExponential().split("e") as [string, string];
  const exponent = Number(power);
  if (value !== 0 && (exponent < -4 || exponent >= 16))
    return `${mantissa}e${exponent < 0 ? "-" : "+"}${String(Math.abs(exponent)).padStart(2, "0")}`;
  // Up to these limits JavaScript writes digits as Python does, but for one: it has exponents below 1e-6.
  const text = String(value);
  return text.includes(".") ? text : `${text}.0`;
}

/** As `{:,.2f}`: two decimals, halves to the even digit, commas between thousands. */
export function formatTwoDecimals(value: number): string {
  if (!Number.isFinite(value)) return Number.isNaN(value) ? "nan" : value > 0 ? "inf" : "-inf";
  const [whole, decimals] = roundedTwoDecimals(Math.abs(value)).split(".") as [string, string];
  const sign = value < 0 || Object.is(value, -0) ? "-" : "";
  return `${sign}${whole.replace(/\B(?=(?:\d{3})+$)/g, ",")}.${decimals}`;
}

/** `toFixed` rounds the exact value too, but a half goes up there. Only multiples of 1/8 lie on a half. */
function roundedTwoDecimals(value: number): string {
  if (value >= 1e21) return `${BigInt(value)}.00`;
  const text = value.toFixed(2);
  const eighths = value * 8;
  if (!Number.isInteger(eighths) || eighths % 2 === 0) return text;
  // .125 and .625 go down to an even digit, .375 and .875 go up to one, as `toFixed` has it.
  return eighths % 4 === 1 ? (value - 0.005).toFixed(2) : text;
}
