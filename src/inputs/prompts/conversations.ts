import { defined, isObject } from "../../plan/objects.ts";
import { type UserError, userError } from "../../plan/problem.ts";
import type { Json, JsonObject, PromptEntry } from "../../service/openai/prompt-entry.ts";
import { readId, readInteger, readNumber } from "./fields.ts";
import { type JsonRecord, readJsonObjects } from "./json-lines.ts";
import { joinBefore, NO_OPENING, type PromptMaker, type Slot } from "./prompt-maker.ts";

/** Keys of the message list in common data sets. */
export const LIST_KEYS = ["conversations", "conversation", "messages", "turns", "items"];
const USER_ROLES = ["human", "user"];
const SYSTEM_ROLES = ["system"];

/** One request of a conversation and its recorded response. */
interface Turn {
  readonly text: string;
  response?: string;
  readonly maxTokens: number | undefined;
  readonly timestampMs: number | undefined;
  /** Delay after the previous response. */
  readonly delayMs: number | undefined;
}

interface Conversation {
  readonly system: string | undefined;
  readonly turns: readonly Turn[];
}

/**
 * Reads the requests of a conversation file: ShareGPT's format (`conversations: [{from, value}, …]`), messages with `role` and `content`,
 * or turns with `text`, `delay` and `output_length`; as a JSON array or one conversation per line. The length of a recorded response is the
 * maximum output length, unless the run sets another. Conversations without user messages are skipped.
 * @param isMultiTurn false: send only the first turn of each conversation, without a session
 * @throws UserError if a conversation is not valid
 */
export async function* readConversations(
  path: string,
  maker: PromptMaker,
  isMultiTurn: boolean,
): AsyncGenerator<PromptEntry> {
  let position = 0;
  let index = 0;
  for await (const record of readJsonObjects(path)) {
    const { system, turns } = parseConversation(record);
    const kept = isMultiTurn ? turns : turns.slice(0, 1);
    const sessionId = readId(record, "session_id") ?? readId(record, "id") ?? `conversation-${index}`;
    index++;
    for (const [turnIndex, turn] of kept.entries()) {
      const slot = { list: path, position: position++ };
      const entry = toEntry(turn, { slot, maker, system, isFirst: turnIndex === 0 });
      const next = kept[turnIndex + 1];
      const delayMs =
        next?.delayMs === undefined ? {} : { delayMs: Math.trunc(next.delayMs * maker.settings.delayRatio) };
      yield isMultiTurn ? { ...entry, sessionId, ...delayMs } : entry;
    }
  }
}

interface TurnPlace {
  readonly slot: Slot;
  readonly maker: PromptMaker;
  readonly system: string | undefined;
  readonly isFirst: boolean;
}

function toEntry(turn: Turn, { slot, maker, system, isFirst }: TurnPlace): PromptEntry {
  const { frame, prefix } = isFirst ? maker.opening(slot) : NO_OPENING;
  const maxTokens = turn.maxTokens ?? maker.lengths(slot).output ?? responseTokens(turn, maker);
  return {
    texts: [joinBefore(prefix, turn.text)],
    ...frame,
    ...(isFirst && system !== undefined ? { system: joinBefore(frame.system, system) } : {}),
    ...defined({ maxTokens, timestampMs: turn.timestampMs }),
  };
}

function responseTokens({ response }: Turn, maker: PromptMaker): number | undefined {
  if (response === undefined) return undefined;
  const count = maker.count(response);
  return count === undefined ? undefined : Math.max(1, count);
}

function parseConversation(record: JsonRecord): Conversation {
  const key = LIST_KEYS.find((name) => Array.isArray(record.value[name]));
  if (key === undefined) {
    const hint = 'Write {"conversations": [{"from": "human", "value": "…"}, {"from": "gpt", "value": "…"}]}.';
    const keys = Object.keys(record.value).slice(0, 10).join(", ") || "no keys";
    throw userError("missing", record.place, "has no list of messages", hint, keys);
  }
  const turns: Turn[] = [];
  let system: string | undefined;
  for (const [index, message] of (record.value[key] as readonly Json[]).entries()) {
    const place = `${record.place}, ${key}[${index}]`;
    if (!isObject(message)) throw badMessage(place, message);
    const role = String(message["from"] ?? message["role"] ?? "user");
    const text = contentOf(message, place);
    if (SYSTEM_ROLES.includes(role)) system = joinBefore(system, text);
    else if (USER_ROLES.includes(role)) turns.push(toTurn(text, { value: message, place }));
    else addResponse(turns.at(-1), text);
  }
  return { system, turns: turns.filter(({ text }) => text !== "") };
}

function toTurn(text: string, record: JsonRecord): Turn {
  return {
    text,
    maxTokens: readInteger(record, "output_length") || undefined,
    timestampMs: readNumber(record, "timestamp"),
    delayMs: readNumber(record, "delay"),
  };
}

/** Adds a response to its turn. A turn may have several responses, for example a tool's result. */
function addResponse(turn: Turn | undefined, text: string): void {
  if (turn !== undefined) turn.response = joinBefore(turn.response, text);
}

function contentOf(message: JsonObject, place: string): string {
  const content = message["value"] ?? message["content"] ?? message["text"] ?? message["text_input"] ?? "";
  if (typeof content === "string") return content.trim();
  if (!Array.isArray(content)) throw badMessage(place, message);
  const parts = content.map((part: Json) => (isObject(part) && typeof part["text"] === "string" ? part["text"] : ""));
  return joinBefore(...parts).trim();
}

function badMessage(place: string, message: Json): UserError {
  const hint = 'Write {"from": "human", "value": "…"} or {"role": "user", "content": "…"}.';
  return userError("invalid-value", place, "is not a message", hint, (JSON.stringify(message) ?? "").slice(0, 80));
}
