import { maskText } from "./secrets.ts";

const MAX_CHARACTERS = 80;
const MAX_DEPTH = 4;
const MAX_ITEMS = 8;

/**
 * Formats an external value for an error message: as JSON on one line, cut with `…` after 80 characters or 4 levels. Never
 * throws, even for deeply nested JSON, bigints, cycles and throwing getters. Undefined is shown as `nothing`.
 */
export function showValue(value: unknown): string {
  if (value === undefined) return "nothing";
  if (typeof value === "number" || typeof value === "bigint" || typeof value === "symbol") return String(value);
  let text: string;
  try {
    text = JSON.stringify(prune(value, 0)) ?? String(value);
  } catch {
    text = typeof value;
  }
  return shorten(text);
}

/** Formats a value as complete JSON, or like {@link showValue} if it cannot be serialized. */
export function writeJson(value: unknown): string {
  try {
    return JSON.stringify(value);
  } catch {
    return showValue(value);
  }
}

/** Cuts a text to `most` characters, with `…`; default: 80. */
export function shorten(text: string, most = MAX_CHARACTERS): string {
  // A cut within a surrogate pair would not be valid XML.
  return text.length <= most ? text : `${text.slice(0, most - 1).replace(/[\ud800-\udbff]$/, "")}…`;
}

const MAX_MESSAGE_CHARACTERS = 2000;

/**
 * Cuts a message to `most` characters, with `…`; default: 2,000. Every message from external text is cut here: responses of
 * servers, results and errors of a scenario's functions, and names and values in files. Secrets are masked before the cut.
 */
export function limitMessage(text: string, most = MAX_MESSAGE_CHARACTERS): string {
  return text.length <= most ? text : shorten(maskText(text), most);
}

/** Returns a small copy of a value. */
function prune(value: unknown, depth: number): unknown {
  if (typeof value === "string") return value.slice(0, 2 * MAX_CHARACTERS);
  if (typeof value === "number" && !Number.isFinite(value)) return String(value);
  if (typeof value === "function") return "a function";
  if (typeof value === "bigint" || typeof value === "symbol") return String(value);
  if (typeof value !== "object" || value === null) return value;
  if (depth === MAX_DEPTH) return "…";
  if (Array.isArray(value)) return value.slice(0, MAX_ITEMS).map((item) => prune(item, depth + 1));
  const entries = Object.entries(value).slice(0, MAX_ITEMS);
  return Object.fromEntries(entries.map(([key, item]) => [key, prune(item, depth + 1)]));
}

/** Lists names for a message: `a, b and 3 more`. @param most maximum number of names */
export function listNames(names: readonly string[], most = 20): string {
  const shown = names.slice(0, most).join(", ");
  return names.length > most ? `${shown} and ${names.length - most} more` : shown;
}
