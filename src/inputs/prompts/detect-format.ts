import { stat } from "node:fs/promises";
import { isObject, parseJson } from "../../plan/objects.ts";
import { userError } from "../../plan/problem.ts";
import { locate } from "../../runtime/files.ts";
import type { Json } from "../../service/openai/prompt-entry.ts";
import { LIST_KEYS } from "./conversations.ts";
import { readText } from "./lines.ts";
import type { InputFormat } from "./settings.ts";

const PROMPT_KEYS = ["text", "text_input", "image", "audio"];
const PAYLOAD_KEYS = ["timestamp", "delay", "session_id", "hash_ids", "input_length", "output_length"];
/** Header names in CSV traces, in lower case without whitespace and underscores. */
const TRACE_COLUMNS = { azure: "contexttokens", burstgpt: "requesttokens" } as const;

/**
 * Detects the format from the beginning of a file. GenAI-Perf's format has priority: lines with `text` or similar keys are `jsonl`. So are
 * a folder, and a file that the JSON Lines reader should reject.
 * @throws UserError for JSON of an unknown format, and for files that cannot be read
 */
export async function detectFormat(path: string): Promise<Exclude<InputFormat, "auto">> {
  if ((await stat(locate(path)).catch(() => undefined))?.isDirectory() === true) return "jsonl";
  const head = await readHead(path);
  const line = head.split("\n").find((text) => text.trim() !== "") ?? "";
  const record = parseJson(line) as Json | undefined;
  if (isObject(record)) return detectRecord(path, record);
  if (/^\s*[[{]/.test(head) && hasConversation(head)) return "sharegpt";
  const columns = line
    .toLowerCase()
    .replaceAll(/[\s_"]/g, "")
    .split(",");
  if (columns.includes(TRACE_COLUMNS.azure)) return "azure";
  if (columns.includes(TRACE_COLUMNS.burstgpt)) return "burstgpt";
  return "jsonl";
}

function detectRecord(path: string, record: Readonly<Record<string, Json>>): Exclude<InputFormat, "auto"> {
  const keys = Object.keys(record);
  if (PROMPT_KEYS.some((key) => keys.includes(key))) return "jsonl";
  if (PAYLOAD_KEYS.some((key) => keys.includes(key))) return "payload";
  if (LIST_KEYS.some((key) => Array.isArray(record[key]))) return "sharegpt";
  const message = `${path} has an unknown format: its first line has no text, image, audio, ${PAYLOAD_KEYS.join(", ")} or list of messages`;
  const found = keys.slice(0, 10).join(", ") || "no keys";
  throw userError("invalid-value", { setting: "inputs.file" }, message, { say: "give-format" }, found);
}

/** Whether the text contains a conversation, possibly spread over several lines. */
function hasConversation(head: string): boolean {
  return new RegExp(`"(?:${LIST_KEYS.join("|")})"\\s*:\\s*\\[`).test(head);
}

/** Reads at least the first line, unless it is longer than {@link MOST_PIECES} pieces. */
async function readHead(path: string): Promise<string> {
  let head = "";
  let pieces = 0;
  let isInLine = false;
  for await (const piece of readText(path)) {
    head += piece;
    const start: number = isInLine ? 0 : piece.search(/\S/);
    isInLine ||= start >= 0;
    if (isInLine && piece.includes("\n", start)) break;
    if (++pieces === MOST_PIECES) break;
  }
  return head;
}

const MOST_PIECES = 16;
