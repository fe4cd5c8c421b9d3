/** Numbers as Python reads them. */

const INTEGER = /^\s*[+-]?\d+(_\d+)*\s*$/;
const DECIMAL = /^\s*[+-]?(\d+(_\d+)*\.?(\d+(_\d+)*)?|\.\d+(_\d+)*)([eE][+-]?\d+(_\d+)*)?\s*$/;

/** `int(text)`: a whole number; undefined when the text is none or the number cannot be held exactly. */
export function parseInteger(text: string): number | undefined {
  if (!INTEGER.test(text)) return undefined;
  const value = Number(text.trim().replaceAll("_", ""));
  return Number.isSafeInteger(value) ? value : undefined;
}

/** `float(text)`, finite numbers only: no measurement means anything with nan or inf. */
export function parseDecimal(text: string): number | undefined {
  if (!DECIMAL.test(text)) return undefined;
  const value = Number(text.trim().replaceAll("_", ""));
  return Number.isFinite(value) ? value : undefined;
}
