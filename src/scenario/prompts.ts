import { resolve } from "node:path";
import * as v from "valibot";
import { DEFAULT_ISL } from "../plan/defaults.ts";
import { numberHint } from "../plan/nearest-name.ts";
import { defined } from "../plan/objects.ts";
import type { PromptsPlan } from "../plan/prompts.ts";
import { MOST_PROMPT_TOKENS } from "../plan/prompts.ts";
import {
  flagSchema,
  hinted,
  integerSchema,
  listSchema,
  numberSchema,
  type OutputOf,
  recordSchema,
  type Schema,
  withHint,
} from "../plan/schema.ts";
import type { Percent } from "../plan/units.ts";
import { formatPct, msToSec } from "../plan/units.ts";
import { BUILT_IN_TOKENIZER } from "../tokenize/tiktoken-names.ts";
import { refuseMore } from "./arguments.ts";
import {
  countSchema,
  type DurationSpread,
  nameSchema,
  shareSchema,
  spreadSchema,
  strictOptions,
  toMs,
  toPct,
} from "./fields.ts";
import { inputBuilder } from "./input-builder.ts";
import type { Inputs } from "./input-data.ts";
import type { LlmContent } from "./targets/llm-content.ts";

/** Adds up shares, in percent. */
function sumOf(parts: readonly { readonly share: Percent | 0 }[]): number {
  return parts.reduce((total, { share }) => total + toPct(share), 0);
}

/** A length in tokens: a fixed number, or `{ mean, stddev }` for a normal distribution. */
export type Length = number | { readonly mean: number; readonly stddev: number };

/** Synthetic images of {@link prompts}. */
export interface ImageOptions {
  /** Number of images per request. Default: 1. */
  readonly count?: number;
  /** Width in pixels. */
  readonly width: Length;
  /** Height in pixels. */
  readonly height: Length;
  /** Format of the files. Default: drawn for each image. */
  readonly format?: "png" | "jpeg";
}

/** Synthetic audio of {@link prompts}. */
export interface AudioOptions {
  /** Number of clips per request. Default: 1. */
  readonly count?: number;
  /** Length of a clip, 0.1 s or more: `"3 s"`, or `{ mean: "3 s", stddev: "500 ms" }` for a normal distribution. */
  readonly length: DurationSpread;
  /** Format of the files. Default: `"wav"`. */
  readonly format?: "wav" | "mp3";
  /** Bits per sample to draw from: 8, 16, 24 or 32. Default: `[16]`. */
  readonly depthsBits?: readonly number[];
  /** Sample rates to draw from. Default: `[16000]`. */
  readonly sampleRatesHz?: readonly number[];
  /** 1 (mono) or 2 (stereo). Default: 1. */
  readonly channels?: 1 | 2;
}

/** Options of {@link prompts}. */
export interface PromptOptions {
  /** Input length in tokens, without prefix and system message. Default: 550. */
  readonly isl?: Length;
  /** Maximum number of tokens in a response. Default: the server decides. */
  readonly osl?: Length;
  /** Several lengths instead of `isl` and `osl`, each with its share of the prompts; the shares add up to 100 %. Default: none. */
  readonly lengths?: readonly { readonly isl: Length; readonly osl: Length; readonly share: Percent | 0 }[];
  /** Number of different requests. They repeat if the load needs more. Default: 100. */
  readonly count?: number;
  /** Seed of the prompts. The same seed and tokenizer give the same prompts on every runtime. Default: 0. */
  readonly seed?: number;
  /** Prefixes of prompts: `count` different ones of `tokens` tokens, to get hits in a KV cache. Default: none. */
  readonly prefix?: { readonly count: number; readonly tokens: number };
  /**
   * Conversations for the load `sessions(…)`: number of conversations, number of turns in each, and pause between a response and the
   * next turn. The pause is a duration, or `{ mean, stddev }` for a normal distribution. Default: none; the pause is `"0 ms"`.
   */
  readonly sessions?: {
    readonly count: number;
    readonly turns: Length;
    readonly delay?: DurationSpread;
  };
  /** Number of tokens of a system message that all requests share. Default: 0. */
  readonly systemTokens?: number;
  /** Number of texts per request for embeddings, or of passages per request for rankings. Default: 1. */
  readonly batch?: number;
  /**
   * Synthetic images per request, for `multimodal`, `responses`, `messages`, `huggingfaceGenerate`, `nvclip` and `imageRetrieval`. Default:
   * none; one image, whose format (`"png"` or `"jpeg"`) is drawn.
   */
  readonly images?: ImageOptions;
  /** Synthetic audio clips per request, for `multimodal`. Default: none. */
  readonly audio?: AudioOptions;
  /** JSON Lines file of prompts (`{"text": "…"}`), or a folder of such files, instead of synthetic prompts. Default: none. */
  readonly file?: string;
  /**
   * Format of `file`: requests in Mooncake's format (`"mooncake"`), where requests with the same `session_id` are turns of a conversation,
   * with a pause of `delay` milliseconds after each; or conversations in ShareGPT's format (`"conversations"`), also as one JSON array.
   * Conversations need the load `sessions(…)`; with other loads, only the first turns of `"conversations"` are sent. Default: prompts.
   */
  readonly fileFormat?: "mooncake" | "conversations";
  /** Factor for the pauses in a file of conversations: 0.5 halves them. Default: 1. */
  readonly delayFactor?: number;
  /**
   * Requests the server's own token counts in streams of chats and completions (`stream_options.include_usage`); some servers reject
   * this. Default: true.
   */
  readonly usage?: boolean;
  /** Additional keys for every request body: `{ temperature: 0 }`. Default: none. */
  readonly extra?: Readonly<Record<string, unknown>>;
}

/**
 * Synthetic prompts with exactly the requested number of tokens, or prompts from a file.
 * @example
 * input.prompts({ isl: 550, osl: { mean: 128, stddev: 16 } })
 */
export function prompts(options: PromptOptions = {}): Inputs<"payloads"> {
  refuseMore("input.prompts(options)", arguments);
  return { kind: "prompts", files: [], options };
}

/**
 * Complete request bodies from a file: an `inputs.json` as GenAI-Perf writes it, or JSON Lines (`.jsonl`) with one body per line. A
 * relative path starts at the scenario's folder.
 * @example
 * input.payloads("requests.jsonl")
 */
export function payloads(file: string): Inputs<"payloads"> {
  refuseMore("input.payloads(file)", arguments);
  return { kind: "payloads", files: [file], options: {} };
}

const DEFAULT_COUNT = 100;

/** Valid options of prompts. */
export type PromptsData = OutputOf<typeof promptsSchema>;

function promptsSchema() {
  const whole = integerSchema();
  const least = (value: number) =>
    v.pipe(numberSchema(), v.minValue(value, `must be ${value} or more`), v.finite("must be finite"));
  const length: Schema<Length> = withHint(
    v.union(
      [countSchema(), strictOptions({ mean: least(1), stddev: least(0) })],
      "must be tokens of 1 or more, or { mean, stddev }",
    ),
    numberHint,
  );
  const tokens = v.pipe(countSchema(), v.maxValue(MOST_PROMPT_TOKENS, `must be ${MOST_PROMPT_TOKENS} or less`));
  const inputLength: Schema<Length> = withHint(
    v.union(
      [tokens, strictOptions({ mean: v.pipe(least(1), v.maxValue(MOST_PROMPT_TOKENS)), stddev: least(0) })],
      `must be tokens from 1 to ${MOST_PROMPT_TOKENS}, or { mean, stddev }`,
    ),
    numberHint,
  );
  const share = shareSchema();
  const lengths = v.pipe(
    listSchema(strictOptions({ isl: inputLength, osl: length, share }), "{ isl, osl, share }"),
    v.nonEmpty("must have a kind of request"),
    v.check(
      hinted(
        (parts) => Math.abs(sumOf(parts) - 100) <= 0.5,
        (parts) => `Change the shares, which add up to ${formatPct(sumOf(parts) / 100, 4)}.`,
      ),
      "must have shares that add up to 100 %",
    ),
  );
  const entries = {
    isl: v.optional(inputLength),
    osl: v.optional(length),
    lengths: v.optional(lengths),
    count: v.optional(countSchema()),
    seed: v.optional(whole),
    prefix: v.optional(strictOptions({ count: countSchema(), tokens })),
    sessions: v.optional(strictOptions({ count: countSchema(), turns: length, delay: v.optional(spreadSchema()) })),
    systemTokens: v.optional(tokens),
    batch: v.optional(countSchema()),
    images: v.optional(
      strictOptions({
        count: v.optional(countSchema()),
        width: length,
        height: length,
        format: v.optional(v.picklist(["png", "jpeg"], 'must be "png" or "jpeg"')),
      }),
    ),
    audio: v.optional(audioSchema()),
    file: v.optional(nameSchema("a file")),
    fileFormat: v.optional(v.picklist(["mooncake", "conversations"], 'must be "mooncake" or "conversations"')),
    delayFactor: v.optional(least(0)),
    usage: v.optional(flagSchema()),
    extra: v.optional(recordSchema(v.string(), v.unknown(), "must be values by their keys")),
  };
  return strictOptions(
    entries,
    'Write { isl: 550 } or { file: "x.jsonl" }, or input.generate(() => ({ prompt: "…" })).',
  );
}

function audioSchema() {
  const length = spreadSchema();
  const numbers = v.pipe(listSchema(countSchema(), "numbers"), v.nonEmpty("must have a number"));
  return strictOptions({
    count: v.optional(countSchema()),
    length,
    format: v.optional(v.picklist(["wav", "mp3"], 'must be "wav" or "mp3"')),
    depthsBits: v.optional(numbers),
    sampleRatesHz: v.optional(numbers),
    channels: v.optional(v.picklist([1, 2], "must be 1 or 2")),
  });
}

export const promptsBuilder = inputBuilder({
  form: { name: "prompts", space: "input" },
  options: promptsSchema,
  makes: ["payloads"],
  toPlan: ({ options }, folder, { content }) => toPromptsPlan(options, content as LlmContent, folder),
  isPrompts: true,
});

/** The requests of the load `trace(…)`. */
export const tracedBuilder = inputBuilder({
  options: promptsSchema,
  makes: ["payloads"],
  toPlan: ({ options }, folder, { content }) => ({
    ...toPromptsPlan(options, content as LlmContent, folder, true),
    isTrace: true,
  }),
  isPrompts: true,
});

export const payloadsBuilder = inputBuilder({
  form: { name: "payloads", space: "input", args: ["file"] },
  files: () => v.tuple([nameSchema("a file")]),
  options: () => strictOptions({}),
  makes: ["payloads"],
  toPlan: ({ files }, folder) => ({ kind: "payloads", file: resolve(folder, files[0] ?? ""), readsTags: true }),
});

/** @param isGenerated whether texts are generated, whose lengths are counted in tokens. Default: unless a file has them */
function toPromptsPlan(
  given: PromptsData,
  content: LlmContent,
  folder: string,
  isGenerated = given.file === undefined || given.fileFormat === "mooncake",
): PromptsPlan {
  const { prefix = null, images, lengths = [], file, fileFormat, delayFactor } = given;
  return {
    kind: "prompts",
    format: content.endpoint.format,
    model: content.model,
    isStreaming: content.isStreaming,
    ...promptTokenizer(content, isGenerated),
    file: file === undefined ? "" : resolve(folder, file),
    ...defined({ fileFormat, delayRatio: delayFactor }),
    seed: given.seed ?? 0,
    count: given.count ?? DEFAULT_COUNT,
    isl: toLengthPlan(given.isl ?? DEFAULT_ISL),
    osl: given.osl === undefined ? null : toLengthPlan(given.osl),
    mix: lengths.map(({ isl, osl, share }): PromptsPlan["mix"][number] => ({
      input: toLengthPlan(isl),
      output: toLengthPlan(osl),
      sharePct: toPct(share),
    })),
    prefix,
    sessions: toSessionsPlan(given.sessions),
    systemTokens: given.systemTokens ?? 0,
    textsPerRequest: given.batch ?? 1,
    images: toImagesPlan(images),
    ...(given.audio === undefined ? {} : { audio: toAudioPlan(given.audio) }),
    ...(given.usage === false ? { isUsageLeftOut: true } : {}),
    extra: given.extra ?? {},
  };
}

/** Returns the tokenizer that makes prompts: the model's, or the built-in one, whose counts are close enough. */
function promptTokenizer(
  { tokenizer, revision, isTokenizerAssumed }: LlmContent,
  isGenerated: boolean,
): Pick<PromptsPlan, "tokenizer" | "revision" | "isApproximate" | "ifNotLoaded"> {
  const other = isGenerated
    ? ({ tokenizer: BUILT_IN_TOKENIZER, revision: "main", isApproximate: true } as const)
    : { tokenizer: "none", revision };
  if (tokenizer === "none") return other;
  return { tokenizer, revision, ...(isTokenizerAssumed === true ? { ifNotLoaded: other } : {}) };
}

/** Whether prompts request a response length. */
export function asksLength({ osl, lengths = [] }: PromptsData): boolean {
  return osl !== undefined || lengths.length > 0;
}

function toSessionsPlan(sessions: PromptsData["sessions"]): PromptsPlan["sessions"] {
  if (sessions === undefined) return null;
  const { count, turns, delay = "0 ms" } = sessions;
  const pause = typeof delay === "string" ? { mean: delay, stddev: undefined } : delay;
  return {
    count,
    turns: toLengthPlan(turns),
    delayMs: toMs(pause.mean),
    ...(pause.stddev === undefined ? {} : { delayStddevMs: toMs(pause.stddev) }),
  };
}

function toImagesPlan(images: PromptsData["images"]): PromptsPlan["images"] {
  if (images === undefined) return null;
  const { count = 1, width, height, format } = images;
  const sizes = { widthPx: toLengthPlan(width), heightPx: toLengthPlan(height) };
  return { count, ...sizes, ...defined({ format }) };
}

/** Converts audio to its form in a plan. */
export function toAudioPlan(audio: NonNullable<PromptsData["audio"]>): NonNullable<PromptsPlan["audio"]> {
  const { count = 1, length, format = "wav", depthsBits = [16], sampleRatesHz = [16_000], channels = 1 } = audio;
  const { mean, stddev } = typeof length === "string" ? { mean: length, stddev: "0 s" as const } : length;
  return {
    count,
    lengthS: { mean: msToSec(toMs(mean)), stddev: msToSec(toMs(stddev)) },
    format,
    depthsBits: [...depthsBits],
    sampleRatesHz: [...sampleRatesHz],
    channelCount: channels,
  };
}

function toLengthPlan(length: Length): PromptsPlan["isl"] {
  return typeof length === "number" ? { mean: length, stddev: 0 } : length;
}
