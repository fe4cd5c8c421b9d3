import { isObject } from "../plan/objects.ts";
import { loadJinja } from "../service/jinja.ts";

/** The text form of conversations for a model. */
export interface ChatFormat {
  /** Jinja template of the text, with the conversation as `messages`. */
  readonly template: string;
  /** Texts of the special tokens that the template may use, by name: `bos_token`, `eos_token`. */
  readonly tokens: Readonly<Record<string, string>>;
}

/** A message of a conversation. */
export interface ChatMessage {
  readonly role: string;
  readonly content: string;
}

/** Writes a conversation as text, without the beginning of a response. @throws Error with the template's or the library's message */
export type WriteChat = (messages: readonly ChatMessage[]) => string;

/** Names of special tokens in `tokenizer_config.json`: a text, or an object with its `content`. */
const TOKEN_NAMES = ["bos_token", "eos_token", "unk_token", "sep_token", "pad_token", "cls_token", "mask_token"];
/** Name of the template to use among several. */
const DEFAULT_TEMPLATE = "default";

/** Returns the texts of the special tokens in a `tokenizer_config.json`, by name. */
export function readSpecialTokens(config: unknown): Readonly<Record<string, string>> {
  const tokens: Record<string, string> = {};
  if (!isObject(config)) return tokens;
  for (const name of TOKEN_NAMES) {
    const value = config[name];
    const text = isObject(value) ? value["content"] : value;
    if (typeof text === "string") tokens[name] = text;
  }
  return tokens;
}

/** Returns the conversation format of a `tokenizer_config.json`, of several the `default`; undefined if it has none. */
export function readChatFormat(config: unknown): ChatFormat | undefined {
  if (!isObject(config)) return undefined;
  const { chat_template: given } = config;
  const found: unknown = Array.isArray(given)
    ? given.find((one: unknown) => isObject(one) && one["name"] === DEFAULT_TEMPLATE)?.template
    : given;
  return typeof found === "string" ? { template: found, tokens: readSpecialTokens(config) } : undefined;
}

/** Parses the template. @throws Error if it is not valid */
export async function openChatFormat({ template, tokens }: ChatFormat): Promise<WriteChat> {
  const { Template } = await loadJinja();
  const parsed = new Template(template);
  return (messages) => parsed.render({ ...tokens, messages, add_generation_prompt: false });
}
