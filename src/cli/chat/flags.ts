import type { LLM_ENDPOINTS } from "../../service/openai/endpoints.ts";
import { type Flag, HELP_FLAG } from "../flags.ts";

/** The endpoints that answer with text. */
export const CHAT_ENDPOINTS = [
  "chat",
  "completions",
  "responses",
  "messages",
] as const satisfies readonly (keyof typeof LLM_ENDPOINTS)[];

/** The options of `rampart chat`. */
export const FLAGS: readonly Flag[] = [
  { name: "model", short: "m", value: "NAME", defaultText: "the server's only model", help: "Model to ask." },
  {
    name: "endpoint",
    value: "NAME",
    choices: CHAT_ENDPOINTS,
    default: "chat",
    help: "The API to use: chat completions, completions, responses (OpenAI), or messages (Anthropic).",
  },
  {
    name: "tokenizer",
    value: "NAME",
    defaultText: "the server's own counts",
    help: "Also count tokens with this tokenizer: a folder, a model of Hugging Face's hub, or an encoding of tiktoken.",
  },
  { name: "max-tokens", value: "N", default: "64", help: "Most tokens of the answer." },
  { name: "header", short: "H", value: '"NAME: VALUE"', help: "Header; may be given several times." },
  { name: "api-key-env", value: "NAME", help: "Environment variable with the API key." },
  { name: "insecure", short: "k", help: "Accept any certificate." },
  {
    name: "timeout",
    value: "DURATION",
    default: "60s",
    help: "The request fails when the answer is not complete after this long.",
  },
  HELP_FLAG,
];
