import { formatPct } from "./units.ts";

/** Longer names are not checked for typos. */
const MAX_CHARACTERS = 200;

/** Returns the name most similar to a mistyped one, if it is similar enough for a typo. */
export function nearestName(typed: string, names: readonly string[]): string | undefined {
  const otherCase = names.find((name) => name.toLowerCase() === typed.toLowerCase());
  if (otherCase !== undefined) return otherCase;
  // In a short name, most letters must be right.
  const third = Math.floor(typed.length / 3);
  const most = Math.max(1, Math.min(third, 2), Math.floor(typed.length / 4));
  const ranked = names
    // Computing a distance takes time proportional to the product of the lengths.
    .filter((name) => Math.abs(name.length - typed.length) <= most && typed.length <= MAX_CHARACTERS)
    .map((name) => ({ name, distance: editDistance(typed, name) }))
    .sort((a, b) => a.distance - b.distance);
  const best = ranked[0];
  return best !== undefined && best.distance <= most ? best.name : undefined;
}

/** Returns the hint for a mistyped name. @param otherwise the hint if no name is similar */
export function nameHint(typed: string, names: readonly string[], otherwise: string): string {
  return nearHint(nearestName(typed, names), otherwise);
}

/** Returns the hint that suggests a name. @param near the name to suggest, if there is one @param otherwise the hint if there is none */
export function nearHint(near: string | undefined, otherwise: string): string {
  return near === undefined ? otherwise : `Did you mean ${near}?`;
}

/** Other spellings of units of time, in lower case. */
const UNIT_SPELLINGS: readonly (readonly [unit: string, spelling: RegExp])[] = [
  ["us", /^(?:us|[µμ]s|usecs?|micros?|microsec(?:ond)?s?)$/],
  ["ms", /^(?:ms|msecs?|millis?|millisec(?:ond)?s?)$/],
  ["s", /^(?:s|secs?|seconds?)$/],
  ["min", /^(?:m|mins?|minutes?)$/],
  ["h", /^(?:h|hrs?|hours?)$/],
];

/** Suggests the duration for a mistyped one: `1 s` for `1 sec`. Undefined if the unit is missing or unknown. */
export function nearestDuration(typed: string): string | undefined {
  const [, digits, letters] = /^\s*(\d+(?:[.,]\d+)?|[.,]\d+)\s*([a-zµμ]+)\.?\s*$/i.exec(typed) ?? [];
  if (digits === undefined || letters === undefined) return undefined;
  const [unit] = UNIT_SPELLINGS.find(([, spelling]) => spelling.test(letters.toLowerCase())) ?? [];
  return unit === undefined ? undefined : `${digits.replace(",", ".")} ${unit}`;
}

/** Returns how to correct a mistyped duration. @param otherwise the hint if no duration can be suggested */
export function durationHint(typed: unknown, otherwise: string): string {
  const near = typeof typed === "string" ? nearestDuration(typed.replace(/^\s*-/, "")) : undefined;
  if (near !== undefined) return `Write "${near}".`;
  const number = typeof typed === "string" && typed.trim() !== "" ? Number(typed) : typed;
  if (number === 0) return 'Write a time with its unit, such as "1 s".';
  const isNumber = typeof number === "number" && number > 0 && number < Infinity;
  return isNumber ? `Add the unit: "${number} s" or "${number} ms".` : otherwise;
}

/** Suggests the percentage for a number without a percent sign, or for a ratio: `1 %` for 0.01 and for 1. Undefined if there is none. */
export function nearestPercent(typed: unknown): string | undefined {
  const [, before] = /^\s*%\s*(\d+(?:\.\d+)?)\s*$/.exec(String(typed)) ?? [];
  if (before !== undefined) return `${before} %`;
  const number = typeof typed === "string" && typed.trim() !== "" ? Number(typed) : typed;
  if (typeof number !== "number" || !(number > 0) || number === Infinity) return undefined;
  return formatPct(number < 1 ? number : number / 100, 6);
}

/** Returns how to correct a percentage without its sign. @param otherwise the hint if no percentage can be suggested */
export function percentHint(typed: unknown, otherwise: string): string {
  const near = nearestPercent(typed);
  return near === undefined ? otherwise : `Write "${near}".`;
}

/** Seconds in each unit of time that a rate can be per. */
const SECONDS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600 };

/**
 * Returns how to correct a number in quotes; undefined if the text is not a number, such as a percentage. A rate is converted
 * to a rate per second.
 */
export function numberHint(typed: unknown): string | undefined {
  const text = typeof typed === "string" ? typed.replace(/(?<=\d)[_,](?=\d{3})/g, "") : "";
  const [, number, unit = "s"] =
    /^\s*(\d+(?:\.\d+)?)(?![\d.]*[:%])\s*(?:users?|vus?|req(?:uest)?s?|[rq]ps|infer(?:ence)?s?|tok(?:en)?s?)?(?:\s*\/\s*([smh])[a-z]*)?\s*$/i.exec(
      text,
    ) ?? [];
  if (number === undefined) return undefined;
  const perSec = Number(number) / (SECONDS[unit.toLowerCase()] ?? 1);
  return `Write ${Number(perSec.toPrecision(6))}, without quotes.`;
}

/** Returns the number of letters to add, remove, replace or swap with the next one. */
function editDistance(a: string, b: string): number {
  let rows: [before: readonly number[], last: readonly number[]] = [
    [],
    Array.from({ length: b.length + 1 }, (_, index) => index),
  ];
  for (let i = 1; i <= a.length; i++) {
    const [before, last] = rows;
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const substitution = (last[j - 1] as number) + (a[i - 1] === b[j - 1] ? 0 : 1);
      const isSwapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      const swap = isSwapped ? (before[j - 2] as number) + 1 : substitution;
      row.push(Math.min(swap, substitution, (last[j] as number) + 1, (row[j - 1] as number) + 1));
    }
    rows = [last, row];
  }
  return rows[1][b.length] as number;
}
