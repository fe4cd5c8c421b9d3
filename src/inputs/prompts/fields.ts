import { type UserError, userError } from "../../plan/problem.ts";
import type { Json } from "../../service/openai/prompt-entry.ts";
import type { JsonRecord } from "./json-lines.ts";

/**
 * Returns the text of a key; undefined if it is absent, null or empty.
 * @throws UserError with file, line and key, like all functions here
 */
function readString(record: JsonRecord, key: string): string | undefined {
  const value = record.value[key];
  if (value === undefined || value === null || value === "") return undefined;
  if (typeof value === "string") return value;
  throw wrongType(record, key, "text", `"${key}": "…"`);
}

/** Returns the text of one key and the texts of a list under another key, trimmed; empty if both are absent. */
export function readStrings(record: JsonRecord, key: string, listKey: string): string[] {
  const one = readString(record, key);
  const list = record.value[listKey] ?? [];
  if (!Array.isArray(list) || !list.every((item) => typeof item === "string" && item !== ""))
    throw wrongType(record, listKey, "a list of texts", `"${listKey}": ["…"]`);
  return [...(one === undefined ? [] : [one]), ...(list as string[])].map((text) => text.trim());
}

/** Returns a text or a number as text. */
export function readId(record: JsonRecord, key: string): string | undefined {
  const value = record.value[key];
  return typeof value === "number" ? String(value) : readString(record, key);
}

/** Returns a number of at least 0; undefined if it is absent or null. */
export function readNumber(record: JsonRecord, key: string): number | undefined {
  const value = record.value[key];
  if (value === undefined || value === null) return undefined;
  if (typeof value === "number" && Number.isFinite(value) && value >= 0) return value;
  throw wrongType(record, key, "a number of at least 0", `"${key}": 1`);
}

/** Returns an integer of at least 0; undefined if it is absent or null. */
export function readInteger(record: JsonRecord, key: string): number | undefined {
  const value = readNumber(record, key);
  if (value === undefined || Number.isInteger(value)) return value;
  throw wrongType(record, key, "a whole number", `"${key}": ${Math.round(value)}`);
}

/** Returns the prompt under `text` or `text_input`. @throws UserError if both are present */
export function readPromptText(record: JsonRecord): string | undefined {
  const text = readString(record, "text");
  const textInput = readString(record, "text_input");
  if (text !== undefined && textInput !== undefined) {
    const message = "Each data entry must have only one of 'text_input' or 'text' key name";
    throw userError("conflict", record.place, message, "Remove one of them.");
  }
  return (text ?? textInput)?.trim();
}

function wrongType(record: JsonRecord, key: string, expected: string, example: string): UserError {
  const message = `'${key}' is not ${expected}`;
  return userError("invalid-value", record.place, message, `Write ${example}.`, textOf(record.value[key]));
}

function textOf(value: Json | undefined): string {
  const text = JSON.stringify(value) ?? "";
  return text.length > 80 ? `${text.slice(0, 80)}…` : text;
}
