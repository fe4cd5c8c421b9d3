import { formatJson } from "../json-text.ts";
import type { Payload } from "./payload.ts";
import type { JsonObject } from "./prompt-entry.ts";

/**
 * The order of the keys beside a payload, like in GenAI-Perf: `session` for synthetic sessions (`session_id`, `delay`), `trace` for a
 * payload file (`timestamp`, `delay`, `session_id`).
 */
export type MetadataOrder = "session" | "trace";

/**
 * Generates the text of `inputs.json` in pieces, like Python's `json.dumps(…, indent=2)`: two spaces per level, characters beyond ASCII
 * escaped, no line feed at the end. Joined, the pieces are `{"data": [{"payload": [{…}], "session_id": [s], …}, …]}`.
 */
export async function* formatInputsFile(
  payloads: AsyncIterable<Payload> | Iterable<Payload>,
  order: MetadataOrder,
): AsyncGenerator<string> {
  let separator = "\n    ";
  yield '{\n  "data": [';
  for await (const payload of payloads) {
    yield separator + formatRecord(toRecord(payload, order));
    separator = ",\n    ";
  }
  yield separator.startsWith(",") ? "\n  ]\n}" : "]\n}";
}

/** Returns one element of `data`, of which Triton's tensors are direct members. */
export function toRecord(payload: Payload, order: MetadataOrder): JsonObject {
  const timestamp = listOf("timestamp", payload.timestampMs);
  const delay = listOf("delay", payload.delayMs);
  const session = listOf("session_id", payload.sessionId);
  const metadata =
    order === "session" ? { ...session, ...delay, ...timestamp } : { ...timestamp, ...delay, ...session };
  return { ...(payload.isTensors ? payload.body : { payload: [payload.body] }), ...metadata };
}

function listOf(key: string, value: string | number | undefined): JsonObject {
  return value === undefined ? {} : { [key]: [value] };
}

function formatRecord(record: JsonObject): string {
  const text = formatJson(record, 2).replaceAll("\n", "\n    ");
  return text.replace(/[^\n -~]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);
}
