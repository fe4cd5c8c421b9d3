import { messageOf, userError } from "../../../plan/problem.ts";
import { finishPayload, type LayoutSettings, type Payload } from "../../../service/openai/payload.ts";
import type { Json, JsonObject, PromptEntry } from "../../../service/openai/prompt-entry.ts";
import { openChatFormat } from "../../../tokenize/chat-format.ts";
import type { Tokenizer } from "../../../tokenize/tokenizer.ts";

/** Requests to the engine of TensorRT-LLM: token ids instead of text, as tensors with GenAI-Perf's names. */

/** GenAI-Perf's output length of requests without one. */
const DEFAULT_OUTPUT_TOKENS = 256;

/** Extra inputs that are not tensors, but control how a request is built. False is the same as omitting the input. */
const SWITCHES = { endId: "set_end_id", chat: "apply_chat_template" } as const;

type Encode = (prompt: string) => readonly number[];

/** Returns a function that creates the request of an entry. @throws UserError for an extra input that the tokenizer lacks */
export async function openTokenIds(
  layout: LayoutSettings,
  tokenizer: Tokenizer,
): Promise<(entry: PromptEntry) => Payload> {
  const { [SWITCHES.endId]: setsEndId, [SWITCHES.chat]: appliesChat, ...extra } = layout.extra;
  const encode = isOn(appliesChat) ? await openChat(tokenizer) : tokenizer.encode.bind(tokenizer);
  const tensors: Record<string, Json> = isOn(setsEndId) ? { end_id: [endIdOf(tokenizer)] } : {};
  for (const [name, value] of Object.entries(extra)) tensors[name] = [value];
  return (entry) => createRequest(entry, layout, encode, tensors);
}

function createRequest(entry: PromptEntry, layout: LayoutSettings, encode: Encode, extra: JsonObject): Payload {
  const { texts, maxTokens } = entry;
  const ids = encode(texts[0] ?? "");
  const body: Record<string, Json> = {
    input_ids: { content: ids, shape: [ids.length] },
    input_lengths: [ids.length],
    request_output_len: [maxTokens ?? DEFAULT_OUTPUT_TOKENS],
    ...(layout.isStreaming ? { streaming: [true] } : {}),
    ...(layout.hasExactOutput && maxTokens !== undefined ? { min_length: [maxTokens] } : {}),
    ...extra,
  };
  for (const [name, value] of Object.entries(entry.extra ?? {})) body[name] = [value];
  return finishPayload(body, entry, true);
}

/** Returns a function that encodes prompts as the first message of a conversation. */
async function openChat(tokenizer: Tokenizer): Promise<Encode> {
  const { chat, name } = tokenizer;
  const at = `--extra-inputs ${SWITCHES.chat}`;
  const hint = "Leave it out, or name a tokenizer with a folder whose tokenizer_config.json has a chat_template.";
  if (chat === undefined) throw userError("missing", at, `the tokenizer ${name} has no chat template`, hint);
  try {
    const write = await openChatFormat(chat);
    const toText = (prompt: string): string => write([{ role: "user", content: prompt }]);
    // Finds a template that fails before the first request.
    toText("");
    return (prompt) => tokenizer.encode(toText(prompt));
  } catch (error) {
    throw userError("unsupported", at, `the chat template of the tokenizer ${name} fails: ${messageOf(error)}`, hint);
  }
}

function endIdOf({ endId, name }: Tokenizer): number {
  if (endId !== undefined) return endId;
  const message = `the files of the tokenizer ${name} name no end token`;
  const hint = "Give its id, for example --extra-inputs end_id:2, or a tokenizer whose tokenizer_config.json has it.";
  throw userError("missing", `--extra-inputs ${SWITCHES.endId}`, message, hint);
}

function isOn(value: unknown): boolean {
  return value !== undefined && value !== false;
}
