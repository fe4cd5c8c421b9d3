import type { LLM_ENDPOINTS } from "../../service/openai/endpoints.ts";
import { type Flag, HELP_FLAG } from "../flags.ts";
import { sharedFlags } from "../shared-flags.ts";

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
  { name: "api-key-env", value: "NAME", help: "Environment variable with the API key." },
  ...sharedFlags("chat"),
  HELP_FLAG,
];
