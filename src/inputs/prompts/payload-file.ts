import { defined } from "../../plan/objects.ts";
import { userError } from "../../plan/problem.ts";
import { parseJson } from "../../service/json-text.ts";
import type { JsonObject, PromptEntry } from "../../service/openai/prompt-entry.ts";
import { readId, readInteger, readNumber, readPromptText } from "./fields.ts";
import { type JsonRecord, readWrittenObjects, type WrittenRecord } from "./json-lines.ts";
import { joinBefore, NO_OPENING, type Opening, type PromptMaker, type Slot } from "./prompt-maker.ts";

/** Keys with a meaning here. All other keys become fields of the request's body. */
const OWN_KEYS = [
  "text",
  "text_input",
  "hash_ids",
  "input_length",
  "output_length",
  "timestamp",
  "delay",
  "session_id",
];

/**
 * Reads the requests of a payload file in Mooncake's format: JSON Lines, or objects of several lines with comments. They have `timestamp`
 * and `delay` in milliseconds, `session_id`, `text_input` (or `text`) or an `input_length` in tokens to generate, from the blocks
 * `hash_ids` if given, `output_length`, and other keys for the body.
 * @throws UserError if a line is not valid
 */
export async function* readPayloadFile(path: string, maker: PromptMaker): AsyncGenerator<PromptEntry> {
  let position = 0;
  const sessions = new Set<string>();
  for await (const record of readWrittenObjects(path)) {
    const sessionId = readId(record, "session_id");
    const isOpening = maker.hasOpenings && (sessionId === undefined || !sessions.has(sessionId));
    if (isOpening && sessionId !== undefined) sessions.add(sessionId);
    const slot = { list: path, position: position++ };
    const entry = toEntry(record, slot, maker, isOpening ? maker.opening(slot) : NO_OPENING);
    yield sessionId === undefined ? entry : { ...entry, sessionId };
  }
}

function toEntry(record: WrittenRecord, slot: Slot, maker: PromptMaker, opening: Opening): PromptEntry {
  const timestampMs = readNumber(record, "timestamp");
  const delayMs = readNumber(record, "delay");
  const lengths = maker.lengths(slot);
  const output = readInteger(record, "output_length") || lengths.output;
  const prompt = makePrompt(record, slot, maker, opening.before);
  const extra = otherKeys(record);
  return {
    texts: [joinBefore(opening.prefix, prompt)],
    ...opening.frame,
    ...defined({ maxTokens: output }),
    ...(timestampMs === undefined ? {} : { timestampMs: Math.trunc(timestampMs) }),
    ...(delayMs === undefined ? {} : { delayMs: Math.trunc(delayMs * maker.settings.delayRatio) }),
    ...(Object.keys(extra).length === 0 ? {} : { extra }),
  };
}

function makePrompt(record: JsonRecord, slot: Slot, maker: PromptMaker, before: string): string {
  const given = readPromptText(record);
  const hashIds = readHashIds(record);
  const inputLength = readInteger(record, "input_length") || undefined;
  if (given !== undefined) return given;
  if (hashIds.length === 0) return maker.text(inputLength ?? maker.lengths(slot).input, slot, 0, before);
  if (inputLength !== undefined) return maker.blocks(inputLength, hashIds, record.place);
  const hint = 'Give the length of the prompt in tokens, such as "input_length": 1000.';
  throw userError("missing", record.place, "has 'hash_ids' without 'input_length'", hint);
}

function readHashIds(record: JsonRecord): number[] {
  const value = record.value["hash_ids"];
  if (value === undefined || value === null) return [];
  if (Array.isArray(value) && value.every((id) => typeof id === "number")) return value;
  throw userError("invalid-value", record.place, "'hash_ids' is not a list of numbers", 'Write "hash_ids": [1, 2].');
}

/** Returns the other keys, for the body, with their values as written. */
function otherKeys({ value, text }: WrittenRecord): JsonObject {
  if (Object.keys(value).every((key) => OWN_KEYS.includes(key))) return {};
  const members = Object.entries(parseJson(text) as JsonObject);
  return Object.fromEntries(members.filter(([key]) => !OWN_KEYS.includes(key)));
}
