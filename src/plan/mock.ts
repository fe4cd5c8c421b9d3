/** How the embedded target and `rampart mock` behave. */
export interface MockPlan {
  /** Time before each response. */
  readonly latency: MockLatencyPlan;
  /** Ratio of requests answered with an error, 0 to 1. */
  readonly errorRatio: number;
  /** Bytes of extra output per response; 0: only the model's own outputs. */
  readonly responseBytes: number;
  /** The language model. Default: no delay, 16 tokens per response. */
  readonly llm?: MockLlmPlan;
}

/** Behaviour of the mock's language model. It sends token `i` at `firstToken + i * tokenGapMs` after the request. */
export interface MockLlmPlan {
  /** Time to first token. */
  readonly firstToken: MockLatencyPlan;
  /** Time between tokens, in milliseconds. */
  readonly tokenGapMs: number;
  /** Tokens of a response to a request without a limit. */
  readonly outputTokens: number;
  /** Tokens per event of a stream. */
  readonly tokensPerEvent: number;
  /** Number of reasoning tokens at the start of a chat response. */
  readonly reasoningTokens: number;
  /** Ratio of streams that break off in the middle, 0 to 1. */
  readonly cutRatio: number;
}

/** A distribution of latencies. */
export type MockLatencyPlan =
  | { readonly kind: "constant"; readonly ms: number }
  | { readonly kind: "uniform"; readonly minMs: number; readonly maxMs: number }
  | { readonly kind: "normal"; readonly meanMs: number; readonly deviationMs: number }
  | { readonly kind: "exponential"; readonly meanMs: number };
