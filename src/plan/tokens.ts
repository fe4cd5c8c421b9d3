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
  /** JMESPath expression for the text of responses in a custom format. */
  readonly field?: string;
  /** Set: keep every window; requests without an answer are counted elsewhere. Absent: keep only the windows of the result. */
  readonly keepsAllWindows?: true;
  /** Set: also measure the gaps between tokens. */
  readonly wantsGaps?: true;
}

/**
 * Limits of a good request by metric name in scenarios (`latency` for the whole request): maximum times in nanoseconds, and minimum rates.
 */
export type GoodputPlan = Readonly<Record<string, number>>;
