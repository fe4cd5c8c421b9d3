/** Prompts that are made up, or read from a file, before a run; as plain data. */

/** A normal distribution of lengths in tokens; with a deviation of 0 always the mean. */
export interface LengthPlan {
  readonly mean: number;
  readonly stddev: number;
}

/** One kind of request of a mix. */
export interface MixPartPlan {
  readonly input: LengthPlan;
  readonly output: LengthPlan;
  /** How many of a hundred requests are of this kind. */
  readonly sharePct: number;
}

/** What requests to a generative model carry. */
export interface PromptsPlan {
  readonly kind: "prompts";
  /** What a request's body looks like; the service's names. */
  readonly format: string;
  readonly model: string;
  /** Whether bodies ask for events. */
  readonly isStreaming: boolean;
  /** What makes up and counts texts; `none`: only prompts of a file can be sent. */
  readonly tokenizer: string;
  readonly revision: string;
  /** A JSON Lines file of prompts, or a folder of them; empty: they are made up. */
  readonly file: string;
  /** The same seed and tokenizer give the same prompts on every runtime. */
  readonly seed: number;
  /** How many different requests are made up. */
  readonly count: number;
  readonly inputTokens: LengthPlan;
  /** Most tokens of an answer; null: left to the server. */
  readonly outputTokens: LengthPlan | null;
  /** Kinds of requests with lengths of their own instead; empty: all are alike. */
  readonly mix: readonly MixPartPlan[];
  /** Prompts to begin with, drawn from `count` different ones. */
  readonly prefix: { readonly count: number; readonly tokens: number } | null;
  /** Made-up conversations instead of single requests; null: none. */
  readonly sessions: { readonly count: number; readonly turns: LengthPlan; readonly delayMs: number } | null;
  /** Tokens of a system message that all requests share. */
  readonly systemTokens: number;
  /** Texts of one request, where several go into one; for rankings passages. */
  readonly textsPerRequest: number;
  /** Images of one request that are made up. */
  readonly images: { readonly count: number; readonly widthPx: LengthPlan; readonly heightPx: LengthPlan } | null;
  /** Streams are not asked for the server's own token counts. Absent: they are, where the format has a way to ask. */
  readonly isUsageLeftOut?: true;
  /** More keys for every body, merged after everything else. */
  readonly extra: Readonly<Record<string, unknown>>;
}
