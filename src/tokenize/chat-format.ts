import { loadJinja } from "../service/jinja.ts";
import { isObject } from "./part-config.ts";

/** How a model's tokenizer writes conversations as text. */
export interface ChatFormat {
  /** Jinja template of the text, in which `messages` are the conversation. */
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
/** The template among several. */
const DEFAULT_TEMPLATE = "default";

/** Returns the texts of the special tokens that a `tokenizer_config.json` names. */
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

/** Returns the format of conversations in a `tokenizer_config.json`; undefined without one. Of several the one named `default` counts. */
export function readChatFormat(config: unknown): ChatFormat | undefined {
  if (!isObject(config)) return undefined;
  const { chat_template: given } = config;
  const found: unknown = Array.isArray(given)
    ? given.find((one: unknown) => isObject(one) && one["name"] === DEFAULT_TEMPLATE)?.template
    : given;
  return typeof found === "string" ? { template: found, tokens: readSpecialTokens(config) } : undefined;
}

/** Parses the template. @throws Error when it is not valid */
export async function openChatFormat({ template, tokens }: ChatFormat): Promise<WriteChat> {
  const { Template } = await loadJinja();
  const parsed = new Template(template);
  return (messages) => parsed.render({ ...tokens, messages, add_generation_prompt: false });
}
