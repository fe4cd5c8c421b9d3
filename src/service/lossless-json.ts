/**
 * JSON with extensions for tensor data: integers above 2^53 as `bigint`; the words `NaN`, `Inf` and `Infinity` as numbers, like
 * perf_analyzer; and numbers written like RapidJSON.
 */

const MARK = "\u0000rampart:";

/** Strings (skipped), long integers and the words for non-finite numbers. */
const TOKENS = /"[^"\\]*(?:\\.[^"\\]*)*"|(?<![\w.+-])-?\d{16,}(?![\d.eE])|-?\b(?:NaN|Infinity|Inf)\b/g;

/** Whether a text may contain such tokens outside of strings; much faster than marking them. */
const MAY_HAVE_TOKENS = /(?:^|[[,:\s-])(?:\d{16}|NaN|Inf)/;

/** Parses the text. @throws SyntaxError like `JSON.parse` */
export function parseLossless(text: string): unknown {
  if (!MAY_HAVE_TOKENS.test(text)) return JSON.parse(text);
  const marked = text.replace(TOKENS, (token) => (token.startsWith('"') ? token : JSON.stringify(MARK + token)));
  return JSON.parse(marked, (_key, value: unknown) => {
    if (typeof value !== "string" || !value.startsWith(MARK)) return value;
    return toNumber(value.slice(MARK.length));
  });
}

function toNumber(token: string): number | bigint {
  if (/\d/.test(token)) return BigInt(token);
  if (token.endsWith("NaN")) return Number.NaN;
  return token.startsWith("-") ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY;
}

/**
 * Formats a floating-point number like RapidJSON: the shortest digits that give the same double, always with a decimal point or an exponent
 * (`1.0`, `1.8521564417127638e31`); `null` for NaN and infinities.
 */
export function formatJsonDouble(value: number): string {
  if (!Number.isFinite(value)) return "null";
  if (Object.is(value, -0)) return "-0.0";
  const text = String(value).replace("e+", "e");
  return /[.e]/.test(text) ? text : `${text}.0`;
}
