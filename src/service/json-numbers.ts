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
