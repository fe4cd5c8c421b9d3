import * as v from "valibot";
import { atLeast, filledSchema, integerSchema, isWhole, type PlanOf } from "./schema.ts";

/** Behaviour of the embedded target and of `rampart mock`. */
export type MockPlan = PlanOf<typeof mockSchema>;

/** A distribution of latencies. */
export type MockLatencyPlan = MockPlan["latency"];

/** Maximum number of tokens in a response of the mock. */
export const MAX_MOCK_TOKENS = 1_000_000;

/** Maximum size of the extra output in a response of the mock: 64 MiB. */
export const MAX_MOCK_RESPONSE_BYTES = 64 * 1024 * 1024;

/** The mock without settings: it responds at once, without errors. */
export const DEFAULT_MOCK = {
  latency: { kind: "constant", ms: 0 },
  errorRatio: 0,
  responseBytes: 0,
  llm: {
    firstToken: { kind: "constant", ms: 0 },
    tokenGapMs: 0,
    osl: 16,
    tokensPerEvent: 1,
    reasoningTokens: 0,
    cutRatio: 0,
  },
} as const satisfies MockPlan;

/** Returns the schema of the behaviour of the embedded target and of `rampart mock`. */
export function mockSchema() {
  const ms = v.pipe(v.number(), atLeast(0), v.maxValue(600_000, "must be 10 min at most"));
  const latency = v.variant("kind", [
    v.object({ kind: v.literal("constant"), ms }),
    v.object({ kind: v.literal("uniform"), minMs: ms, maxMs: ms }),
    v.object({ kind: v.literal("normal"), meanMs: ms, deviationMs: ms }),
    v.object({ kind: v.literal("exponential"), meanMs: ms }),
  ]);
  const ratio = v.pipe(v.number(), atLeast(0), v.maxValue(1, "must be 1 or less"));
  const whole = (least: number, most: number, says: string) =>
    v.pipe(v.number(), isWhole(), atLeast(least), v.maxValue(most, says));
  const tokens = (least: number) => whole(least, MAX_MOCK_TOKENS, "must be 1,000,000 at most");
  return v.object({
    /** Time before each response. */
    latency,
    /** Ratio of requests answered with an error, 0 to 1. */
    errorRatio: ratio,
    /** Seed of latencies and errors. Default: 0 */
    seed: v.exactOptional(integerSchema()),
    /** Bytes of extra output per response; 0: only the model's outputs. */
    responseBytes: whole(0, MAX_MOCK_RESPONSE_BYTES, "must be 64 MiB at most"),
    /** The language model: token `i` is sent at `firstToken + i * tokenGapMs`. Default: as in `DEFAULT_MOCK` */
    llm: v.exactOptional(
      v.object({
        firstToken: latency,
        tokenGapMs: ms,
        /** Number of tokens in a response, if the request has no limit. */
        osl: tokens(1),
        tokensPerEvent: tokens(1),
        /** Number of reasoning tokens at the start of a chat response. */
        reasoningTokens: tokens(0),
        /** Ratio of streams that are cut off in the middle, 0 to 1. */
        cutRatio: ratio,
        /** Tokenizer of prompts and responses, as in the client. Absent, or `none`: words are tokens. */
        tokenizer: v.exactOptional(filledSchema()),
      }),
    ),
  });
}
