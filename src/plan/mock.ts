/** How the embedded target and `rampart mock` answer, as plain data. */

/** How the embedded target and `rampart mock` behave. */
export interface MockPlan {
  /** Time before each answer. */
  readonly latency: MockLatencyPlan;
  /** Share of requests answered with an error, 0 to 1. */
  readonly errorRatio: number;
  /** Bytes of extra output per response; 0: the model's own outputs only. */
  readonly responseBytes: number;
  /** The language model beside it. Default: as quick as can be, 16 tokens an answer. */
  readonly llm?: MockLlmPlan;
}

/** How the mock's language model answers. Token `i` leaves `firstToken + i * tokenGapMs` after its request. */
export interface MockLlmPlan {
  /** From a request to its first token. */
  readonly firstToken: MockLatencyPlan;
  /** From token to token, in milliseconds. */
  readonly tokenGapMs: number;
  /** Tokens of an answer whose request names no limit. */
  readonly outputTokens: number;
  /** Tokens of one event of a stream. */
  readonly tokensPerEvent: number;
  /** How many of a chat's first tokens are reasoning. */
  readonly reasoningTokens: number;
  /** Share of streams that break off in the middle, 0 to 1. */
  readonly cutRatio: number;
}

/** A distribution of latencies. */
export type MockLatencyPlan =
  | { readonly kind: "constant"; readonly ms: number }
  | { readonly kind: "uniform"; readonly minMs: number; readonly maxMs: number }
  | { readonly kind: "normal"; readonly meanMs: number; readonly deviationMs: number }
  | { readonly kind: "exponential"; readonly meanMs: number };
