/** A normal distribution of lengths in tokens. With a deviation of 0, always the mean. */
export interface LengthPlan {
  readonly mean: number;
  readonly stddev: number;
}

/** One kind of request in a mix. */
export interface MixPartPlan {
  readonly input: LengthPlan;
  readonly output: LengthPlan;
  /** Percentage of the requests. */
  readonly sharePct: number;
}

/** Prompts for a generative model, generated or read from a file before the run. */
export interface PromptsPlan {
  readonly kind: "prompts";
  /** Format of request bodies, as the service names it. */
  readonly format: string;
  readonly model: string;
  /** Whether bodies request a stream of events. */
  readonly isStreaming: boolean;
  /** Tokenizer to generate and count texts; `none`: only prompts from a file. */
  readonly tokenizer: string;
  readonly revision: string;
  /** JSON Lines file of prompts, or a folder of such files; empty: generate prompts. */
  readonly file: string;
  /** The same seed and tokenizer give the same prompts on every runtime. */
  readonly seed: number;
  /** Number of different requests to generate. */
  readonly count: number;
  readonly inputTokens: LengthPlan;
  /** Maximum output tokens; null: the server decides. */
  readonly outputTokens: LengthPlan | null;
  /** Kinds of requests with their own lengths; empty: all requests are the same kind. */
  readonly mix: readonly MixPartPlan[];
  /** Prefix prompts, drawn from `count` different ones. */
  readonly prefix: { readonly count: number; readonly tokens: number } | null;
  /** Generated conversations instead of single requests; null: none. */
  readonly sessions: { readonly count: number; readonly turns: LengthPlan; readonly delayMs: number } | null;
  /** Tokens of a system message shared by all requests. */
  readonly systemTokens: number;
  /** Texts per request, for formats that take several; for rankings: passages. */
  readonly textsPerRequest: number;
  /** Generated images per request. */
  readonly images: { readonly count: number; readonly widthPx: LengthPlan; readonly heightPx: LengthPlan } | null;
  /** Set: do not request the server's token counts in streams. Absent: request them if the format can. */
  readonly isUsageLeftOut?: true;
  /** Extra keys for every body, merged last. */
  readonly extra: Readonly<Record<string, unknown>>;
}
