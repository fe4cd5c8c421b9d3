/** Numbers as Python reads and writes them. */

const INTEGER = /^\s*[+-]?\d+(_\d+)*\s*$/;
const DECIMAL = /^\s*[+-]?(\d+(_\d+)*\.?(\d+(_\d+)*)?|\.\d+(_\d+)*)([eE][+-]?\d+(_\d+)*)?\s*$/;

/** `int(text)`: a whole number; undefined when the text is none or the number can not be held exactly. */
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

/** `repr(float)`: 20 is `20.0`, 1e16 is `1e+16`, 0.00001 is `1e-05`. */
export function formatFloat(value: number): string {
  const size = Math.abs(value);
  if (size !== 0 && (size >= 1e16 || size < 1e-4)) {
    const [digits = "", exponent = "0"] = value.toExponential().split("e");
    const power = Number(exponent);
    return `${digits}e${power < 0 ? "-" : "+"}${String(Math.abs(power)).padStart(2, "0")}`;
  }
  return Number.isInteger(value) ? `${value}.0` : String(value);
}

/** A number that `JSON.stringify` writes as Python would write a float. */
export function jsonFloat(value: number): object {
  return (JSON as typeof JSON & { rawJSON(text: string): object }).rawJSON(formatFloat(value));
}
