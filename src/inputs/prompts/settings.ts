import type { AudioSettings } from "../media/synthetic-audio.ts";
import type { ImageSettings } from "../media/synthetic-image.ts";
import type { SequencePair, Spread } from "./lengths.ts";

/** What prompts a run is made of. */
export interface PromptSettings {
  readonly source: PromptSource;
  /** Decides everything random; the same seed and tokenizer give the same prompts on every runtime. */
  readonly seed: number;
  /** How many different requests are made up; sent again and again when the load needs more. */
  readonly entryCount: number;
  /** Input length in tokens, without what is put before a prompt. */
  readonly inputTokens: Spread;
  /** Most tokens of an answer; left to the server when absent. */
  readonly outputTokens?: Spread;
  /** Kinds of requests with lengths of their own, instead of `inputTokens` and `outputTokens`. */
  readonly mix?: readonly SequencePair[];
  /** Texts of one request, for endpoints that take several (for rankings: passages), or 0 for those that take none. */
  readonly textsPerRequest: number;
  /** Images of one request, made up or drawn from a file. */
  readonly imagesPerRequest: number;
  readonly audioPerRequest: number;
  /** Images that are made up, beside made-up texts. */
  readonly images?: ImageSettings;
  /** Sounds that are made up, beside made-up texts. */
  readonly audio?: AudioSettings;
  /** Prompts to begin with, drawn from `count` different ones; joined to the prompt by a space, on top of its length. */
  readonly prefix?: { readonly count: number; readonly tokens: number };
  /** Tokens of a system message that all requests share. */
  readonly systemTokens?: number;
  /** Tokens of a user message before the prompt, another one in each request or session. */
  readonly userContextTokens?: number;
  /** Made-up sessions instead of single requests. */
  readonly sessions?: SessionSettings;
  /** What delays read from a file are multiplied with. */
  readonly delayRatio: number;
  /** Whether requests are rankings: a query, and passages. */
  readonly isRanking: boolean;
}

/** Made-up sessions. */
export interface SessionSettings {
  readonly count: number;
  /** Requests of a session, at least one. */
  readonly turns: Spread;
  /** From an answer to the session's next request, in milliseconds. */
  readonly delayMs: Spread;
}

/** Where prompts come from. */
export type PromptSource =
  /** Made up; for rankings as `queries` and `passages`. */
  | { readonly kind: "synthetic"; readonly names: readonly string[] }
  /** A JSON Lines file, or a folder of them. */
  | { readonly kind: "file"; readonly path: string }
  /** A payload file in Mooncake's form. */
  | { readonly kind: "payload"; readonly path: string }
  /** Conversations in ShareGPT's form; each is a session of its turns, or its first turn only. */
  | { readonly kind: "conversations"; readonly path: string; readonly isMultiTurn: boolean }
  /** A CSV trace of Azure's LLM inference service or of BurstGPT. */
  | { readonly kind: "trace"; readonly path: string; readonly dialect?: "azure" | "burstgpt" };

/** What a file of prompts holds; `auto` leaves it to its name. */
export type InputFormat = "auto" | "jsonl" | "payload" | "sharegpt" | "azure" | "burstgpt";

/** What GenAI-Perf does when nothing is said. */
export const DEFAULT_PROMPTS = {
  source: { kind: "synthetic", names: [] },
  entryCount: 100,
  inputTokens: { mean: 550, stddev: 0 },
  textsPerRequest: 1,
  imagesPerRequest: 1,
  audioPerRequest: 1,
  delayRatio: 1,
  isRanking: false,
} as const satisfies Omit<PromptSettings, "seed">;

/**
 * The value of `--input-file`: `synthetic:a,b`, `payload:FILE`, or a file or folder. Beyond GenAI-Perf's: `conversations:FILE` for
 * ShareGPT's form, and `trace:FILE` or a path ending in `.csv` for CSV traces; or of the form that `--input-format` names.
 */
export function parseInputFile(value: string, format: InputFormat = "auto"): PromptSource {
  const path = format === "payload" ? value.replace(/^payload:/, "") : value;
  if (format === "jsonl") return { kind: "file", path };
  if (format === "payload") return { kind: "payload", path };
  if (format === "sharegpt")
    return { kind: "conversations", path: value.replace(/^conversations:/, ""), isMultiTurn: true };
  if (format === "azure" || format === "burstgpt") return { kind: "trace", path, dialect: format };
  const [, kind, rest = ""] = /^(synthetic|payload|conversations|trace):(.*)$/s.exec(value) ?? [];
  if (kind === "synthetic") {
    const names = rest.split(",").map((name) => name.trim());
    return { kind, names: names.filter((name) => name !== "") };
  }
  if (kind === "conversations") return { kind, path: rest, isMultiTurn: true };
  if (kind === "payload" || kind === "trace") return { kind, path: rest };
  return value.endsWith(".csv") ? { kind: "trace", path: value } : { kind: "file", path: value };
}
