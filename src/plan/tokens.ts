/** How the tokens of answers are measured. */
export interface TokensPlan {
  /** What kind of answers they are; the service's names. */
  readonly answers: string;
  /** Whether answers come token by token. */
  readonly isStreamed: boolean;
  /** What counts tokens: a folder, a model of the hub, an encoding; `none`: the server's own counts are all there is. */
  readonly tokenizer: string;
  /** The hub's branch, tag or commit. */
  readonly revision: string;
  /** Requests ask for the length of their answers, which is compared with what comes. Absent: a limit in them is only a limit. */
  readonly isLengthAsked?: true;
  /** A JMESPath expression for the text of answers, where these are of no known form. */
  readonly field?: string;
  /** Every window counts, and requests without an answer are counted elsewhere. Absent: only the windows of the result count. */
  readonly keepsAllWindows?: true;
  /** The gaps between tokens are wanted too. */
  readonly wantsGaps?: true;
}

/** What a good request keeps to, by the metric's name in scenarios (`latency` for the whole request): nanoseconds at most, or a rate at least. */
export type GoodputPlan = Readonly<Record<string, number>>;
