import { isObject, parseJson } from "../../plan/objects.ts";
import { isPage, PAGE_FOUND, SENT_ERROR } from "../response-faults.ts";
import type { ResponseKind } from "./response-kind.ts";

/** The result of checking an event. */
export interface EventFinding {
  /** Reason why it is not valid; absent if it is valid. */
  readonly reason?: string;
  /** Whether it has data besides an end mark. */
  readonly hasContent: boolean;
}

/** A line of an event: a field, with or without a value, or a comment. */
const LINE = /^\uFEFF?(?:(?:data|event|id|retry)(?::|$)|:)/;

const EMPTY: EventFinding = { hasContent: false };

/** Whether a body begins like an event. */
export function isEventText(text: string): boolean {
  return /^\uFEFF?(?:(?:data|event|id|retry)?:)/.test(text);
}

/** Checks whether a text is a valid event of a service. @param kind undefined: data may be plain text */
export function explainEvent(kind: ResponseKind | undefined, text: string): EventFinding {
  const lines = text.split(/\r\n|\n|\r/).filter((line) => line !== "");
  if (lines.length === 0) return EMPTY;
  if (!lines.some((line) => LINE.test(line)))
    return {
      hasContent: false,
      reason: isPage(text) ? PAGE_FOUND : "the stream contains something that is not an event",
    };
  const data = lines
    .map((line) => line.replace(/^\uFEFF/, ""))
    .filter((line) => line.startsWith("data:"))
    .map((line) => line.slice("data:".length))
    .join("\n")
    .trim();
  const isError = lines.some((line) => /^event:.*error/i.test(line));
  if (isError) return { hasContent: data !== "", reason: SENT_ERROR };
  return data === "" || data === "[DONE]" ? EMPTY : explainData(kind, data);
}

function explainData(kind: ResponseKind | undefined, data: string): EventFinding {
  const json = parseJson(data);
  if (json === undefined) {
    const isBareText = kind === undefined && !/^[{[]/.test(data);
    return isBareText ? { hasContent: true } : { hasContent: true, reason: "the data of an event is not JSON" };
  }
  const first: unknown = Array.isArray(json) ? json[0] : json;
  if (isObject(first) && reportsError(first)) return { hasContent: true, reason: SENT_ERROR };
  if (kind !== undefined && !isObject(first))
    return { hasContent: true, reason: "the data of an event is not a JSON object" };
  return { hasContent: true };
}

/** Whether a document reports an error, other than a null or empty one. */
export function reportsError({ error, object, type }: Readonly<Record<string, unknown>>): boolean {
  const hasError = error !== undefined && error !== null && error !== "" && error !== false;
  return hasError || object === "error" || type === "error";
}
