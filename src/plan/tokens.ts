import * as v from "valibot";
import { filledSchema, type PlanOf } from "./schema.ts";

/** Settings for measuring the tokens of responses. */
export type TokensPlan = PlanOf<typeof tokensSchema>;

/** Returns the schema of the settings for measuring tokens. */
export function tokensSchema() {
  const named = filledSchema();
  return v.object({
    /** Type of the responses, as the service names it. */
    responses: named,
    /** Whether responses are streamed. */
    isStreamed: v.boolean(),
    /** Tokenizer: a folder, a model on Hugging Face's hub, or an encoding; `none`: use only the server's counts. */
    tokenizer: named,
    /** Branch, tag or commit on the hub. */
    revision: named,
    /** Settings to use if the tokenizer cannot be loaded. Absent: the run then ends with an error. */
    ifNotLoaded: v.exactOptional(v.object({ tokenizer: named })),
    /** Set: requests ask for an exact length, which is compared with the response. Absent: the length is only a limit. */
    isLengthAsked: v.exactOptional(v.literal(true)),
    /** JMESPath expression for the text of responses in a custom format. */
    field: v.exactOptional(named),
    /** Set: all windows are kept; requests without a response are counted elsewhere. Absent: only the windows of the result are kept. */
    keepsAllWindows: v.exactOptional(v.literal(true)),
    /** Set: the rate of tokens per user is GenAI-Perf's. Absent: a request has no such rate if its tokens arrived together. */
    keepsBunchedRates: v.exactOptional(v.literal(true)),
    /**
     * Set: the messages of a request, and the choices of a response, are counted as one text, like in GenAI-Perf. Absent: each
     * is counted separately.
     */
    joinsTexts: v.exactOptional(v.literal(true)),
    /** Set: tool calls do not count as output, like in GenAI-Perf. Absent: they count, like text. */
    omitsToolCalls: v.exactOptional(v.literal(true)),
    /** Set: gaps between tokens are measured too. */
    wantsGaps: v.exactOptional(v.literal(true)),
  });
}

/**
 * Limits of a good request by metric name in scenarios (`latency` for the whole request): maximum times in nanoseconds, and minimum rates.
 */
export type GoodputPlan = Readonly<Record<string, number>>;
