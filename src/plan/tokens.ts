/** Times of a request, in nanoseconds, as plans and scenarios name them. */
export const TOKEN_TIMES = [
  "timeToFirstToken",
  "timeToSecondToken",
  "interTokenLatency",
  "timeToFirstOutputToken",
  "timeToFirstReasoningToken",
  "normalizedTimePerOutputToken",
] as const;

/** Counts and rates of a request. */
export const TOKEN_COUNTS = ["outputTokens", "inputTokens", "reasoningTokens", "outputTokensPerSecPerUser"] as const;

export type TokenTimeName = (typeof TOKEN_TIMES)[number];
export type TokenCountName = (typeof TOKEN_COUNTS)[number];
export type TokenMetricName = TokenTimeName | TokenCountName;

/** How to measure the tokens of responses. */
export interface TokensPlan {
  /** Type of the responses, as the service names it. */
  readonly answers: string;
  /** Whether responses are streamed. */
  readonly isStreamed: boolean;
  /** Tokenizer: a folder, a model on Hugging Face's hub, or an encoding; `none`: use only the server's counts. */
  readonly tokenizer: string;
  /** Branch, tag or commit on the hub. */
  readonly revision: string;
  /** Set: requests ask for an exact length, which is compared with the response. Absent: a length is only a limit. */
  readonly isLengthAsked?: true;
  /** A JMESPath expression for the text of answers, where these are of no known form. */
  readonly field?: string;
  /** Every window counts, and requests without an answer are counted elsewhere. Absent: only the windows of the result count. */
  readonly keepsAllWindows?: true;
  /** The gaps between tokens are wanted too. */
  readonly wantsGaps?: true;
}

/** Limits of a good request: maximum times in nanoseconds, and a minimum rate. */
export type GoodputPlan = Readonly<
  Partial<
    Record<
      "timeToFirstToken" | "timeToSecondToken" | "interTokenLatency" | "latency" | "outputTokensPerSecPerUser",
      number
    >
  >
>;
