import { isObject } from "../../plan/objects.ts";
import { splitEvents } from "../../service/openai/events.ts";
import type { ResponseField } from "../../service/openai/response-field.ts";
import type { ResponseKind } from "../../service/openai/response-kind.ts";

/**
 * Returns the kind of the responses to a template's requests: vectors, rankings, or text (`custom`), checked in AIPerf's order.
 * Undefined if this response does not show it.
 * @param reads the responses to one request, one item per read
 * @param field location of the content; default: detected from the names in the response
 */
export function detectCustomKind(reads: readonly string[], field: ResponseField | undefined): ResponseKind | undefined {
  for (const { data } of splitEvents(reads)) {
    const kind = kindOf(parse(data), field);
    if (kind !== undefined) return kind;
  }
  return undefined;
}

/** Returns the kind of an event's content; undefined if the event does not show it. */
function kindOf(data: unknown, field: ResponseField | undefined): ResponseKind | undefined {
  if (field !== undefined) {
    const found = field.find(data);
    if (found === null) return undefined;
    return isVector(found) ? "embeddings" : isRanking(found) ? "rankings" : "custom";
  }
  if (isVector(data)) return "embeddings";
  if (isRanking(data)) return "rankings";
  if (!isObject(data)) return data === undefined ? undefined : "custom";
  const { data: items, embedding, embeddings, rankings, results } = data;
  if (isVector(embedding) || isVector(embeddings)) return "embeddings";
  if (Array.isArray(items) && isObject(items[0]) && isVector(items[0]["embedding"])) return "embeddings";
  return isRanking(rankings) || isRanking(results) ? "rankings" : "custom";
}

/** Reports whether a value is an array of numbers, or an array of such arrays. */
function isVector(value: unknown): boolean {
  return Array.isArray(value) && value.length > 0 && (typeof value[0] === "number" || isVector(value[0]));
}

const SCORES = ["score", "relevance_score", "logit"];

/** Reports whether a value is an array of objects with a score. */
function isRanking(value: unknown): boolean {
  const first: unknown = Array.isArray(value) ? value[0] : undefined;
  return isObject(first) && SCORES.some((key) => typeof first[key] === "number");
}

function parse(data: string): unknown {
  try {
    return JSON.parse(data);
  } catch {
    return data === "[DONE]" ? undefined : data;
  }
}
