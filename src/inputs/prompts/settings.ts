import type { SequencePair, Spread } from "../lengths.ts";
import type { AudioSettings } from "../media/synthetic-audio.ts";
import type { ImageSettings } from "../media/synthetic-image.ts";

/** Settings of a run's prompts. */
export interface PromptSettings {
  readonly source: PromptSource;
  /** Seed of all random choices. The same seed and tokenizer give the same prompts on every runtime. */
  readonly seed: number;
  /** Number of different requests to generate. They repeat if the load needs more. */
  readonly entryCount: number;
  /** Input length in tokens, without the opening. */
  readonly isl: Spread;
  /** Maximum number of tokens in a response. Absent: the server decides. */
  readonly osl?: Spread;
  /** Kinds of requests with their own lengths, instead of `isl` and `osl`. */
  readonly mix?: readonly SequencePair[];
  /** Texts per request, for endpoints that accept several (for rankings: passages); 0 for endpoints without texts. */
  readonly textsPerRequest: number;
  /** Images per request, generated or drawn from a file. */
  readonly imagesPerRequest: number;
  readonly audioPerRequest: number;
  readonly images?: ImageSettings;
  /** Generated audio, in addition to generated texts. */
  readonly audio?: AudioSettings;
  /** Prefix prompts, drawn from `count` different ones and joined to the prompt by a space. Their tokens are added to the input length. */
  readonly prefix?: { readonly count: number; readonly tokens: number };
  readonly systemTokens?: number;
  /** Generated sessions instead of single requests. */
  readonly sessions?: SessionSettings;
  /** Factor for delays from a file. */
  readonly delayRatio: number;
  /** Whether requests are rankings: a query and passages. */
  readonly isRanking: boolean;
}

/** Generated sessions. */
export interface SessionSettings {
  readonly count: number;
  /** Requests per session, at least one. */
  readonly turns: Spread;
  /** Delay between a response and the session's next request, in milliseconds. */
  readonly delayMs: Spread;
}

/** Source of prompts. */
export type PromptSource =
  /** Generated; for rankings as `queries` and `passages`. */
  | { readonly kind: "synthetic"; readonly names: readonly string[] }
  /** A JSON Lines file, or a folder of them. */
  | { readonly kind: "file"; readonly path: string }
  /** A payload file in Mooncake's format. */
  | { readonly kind: "payload"; readonly path: string }
  /** Conversations in ShareGPT's format: each becomes a session with all its turns, or only its first turn is sent. */
  | { readonly kind: "conversations"; readonly path: string; readonly isMultiTurn: boolean }
  /** A CSV trace of Azure's LLM inference service or of BurstGPT. */
  | { readonly kind: "trace"; readonly path: string; readonly dialect?: "azure" | "burstgpt" };

/** Whether the requests of each source have timestamps, and whether they can form sessions. Default: false. */
const TRAITS: Readonly<Record<PromptSource["kind"], { readonly hasTimes?: true; readonly canHaveSessions?: true }>> = {
  synthetic: {},
  file: {},
  payload: { hasTimes: true, canHaveSessions: true },
  conversations: { canHaveSessions: true },
  trace: { hasTimes: true },
};

/** Returns the traits of a source's requests. */
export function traitsOf({ kind }: PromptSource): (typeof TRAITS)[PromptSource["kind"]] {
  return TRAITS[kind];
}

/** Reports whether prompts are generated instead of read from files. */
export function isGenerated(source: PromptSource): source is Extract<PromptSource, { readonly kind: "synthetic" }> {
  return source.kind === "synthetic";
}

/** Format of a prompt file; `auto`: detected from its path. */
export type InputFormat = "auto" | "jsonl" | "payload" | "sharegpt" | "azure" | "burstgpt";

/** GenAI-Perf's defaults. */
export const DEFAULT_PROMPTS = {
  source: { kind: "synthetic", names: [] },
  entryCount: 100,
  isl: { mean: 550, stddev: 0 },
  textsPerRequest: 1,
  imagesPerRequest: 1,
  audioPerRequest: 1,
  delayRatio: 1,
  isRanking: false,
} as const satisfies Omit<PromptSettings, "seed">;

/**
 * Parses the value of `--input-file`: `synthetic:a,b`, `payload:FILE`, or a file or folder. In addition to GenAI-Perf's syntax:
 * `conversations:FILE` for ShareGPT's format, and `trace:FILE` or a path ending in `.csv` for CSV traces; or a file in the format of
 * `--input-format`.
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
