const INTEGER = /^\s*[+-]?\d+(_\d+)*\s*$/;
const DECIMAL = /^\s*[+-]?(\d+(_\d+)*\.?(\d+(_\d+)*)?|\.\d+(_\d+)*)([eE][+-]?\d+(_\d+)*)?\s*$/;

/** Parses like Python's `int(text)`. Undefined if the text is not an integer, or cannot be represented exactly. */
export function parseInteger(text: string): number | undefined {
  if (!INTEGER.test(text)) return undefined;
  const value = Number(text.trim().replaceAll("_", ""));
  return Number.isSafeInteger(value) ? value : undefined;
}

/** Parses like Python's `float(text)`, but only finite numbers. Measurements with nan or inf are meaningless. */
export function parseDecimal(text: string): number | undefined {
  if (!DECIMAL.test(text)) return undefined;
  const value = Number(text.trim().replaceAll("_", ""));
  return Number.isFinite(value) ? value : undefined;
}
