import * as v from "valibot";
import { aboveZero, aboveZeroSchema, atLeast, filledSchema, integerSchema, isWhole, type PlanOf } from "./schema.ts";

/** Prompts for a generative model, generated or read from a file before the run. */
export type PromptsPlan = PlanOf<typeof promptsSchema>;

/** Maximum length of a generated text, in tokens: as long as the longest contexts of models. */
export const MOST_PROMPT_TOKENS = 10_000_000;

export function promptsSchema() {
  const whole = (least: number) => v.pipe(v.number(), isWhole(), atLeast(least));
  const length = v.object({
    mean: v.pipe(v.number(), atLeast(1)),
    stddev: v.pipe(v.number(), atLeast(0)),
  });
  const share = v.pipe(v.number(), aboveZero(), v.maxValue(100, "must be 100 at most"));
  const named = filledSchema();
  return v.object({
    kind: v.literal("prompts"),
    /** Format of request bodies, as the service names it. */
    format: named,
    model: named,
    /** Whether bodies request a stream of events. */
    isStreaming: v.boolean(),
    /** Tokenizer that generates and counts texts; `none`: only prompts from a file. */
    tokenizer: named,
    revision: named,
    /** Set if the tokenizer is not the model's, so that the lengths of prompts are approximate. */
    isApproximate: v.exactOptional(v.literal(true)),
    /** Settings to use if the tokenizer cannot be loaded. Absent: the run then ends with an error. */
    ifNotLoaded: v.exactOptional(
      v.object({ tokenizer: named, revision: named, isApproximate: v.exactOptional(v.literal(true)) }),
    ),
    /** JSON Lines file of prompts, or a folder of such files; empty: generate prompts. */
    file: v.string(),
    /** Whether `file` is a trace: lengths, and times that the load follows. Absent: it contains prompts. */
    isTrace: v.exactOptional(v.literal(true)),
    /** Format of the lines of `file`: requests in Mooncake's format, or conversations. Absent: prompts. */
    fileFormat: v.exactOptional(v.picklist(["mooncake", "conversations"])),
    /** Factor for the pauses of `file`. Default: 1 */
    delayRatio: v.exactOptional(v.pipe(v.number(), atLeast(0))),
    /** The same seed and tokenizer give the same prompts on every runtime. */
    seed: integerSchema(),
    /** Number of different requests to generate. */
    count: whole(1),
    isl: length,
    /** Maximum output tokens; null: the server decides. */
    osl: v.nullable(length),
    /** Kinds of requests with separate lengths; empty: all requests are of the same kind. */
    mix: v.array(v.object({ input: length, output: length, sharePct: share })),
    /** Prefix prompts, drawn from `count` different ones. */
    prefix: v.nullable(v.object({ count: whole(1), tokens: whole(1) })),
    /** Generated conversations instead of single requests; null: none. */
    sessions: v.nullable(
      v.object({
        count: whole(1),
        turns: length,
        delayMs: v.pipe(v.number(), atLeast(0)),
        /** Absent: the delay is constant. */
        delayStddevMs: v.exactOptional(v.pipe(v.number(), atLeast(0))),
      }),
    ),
    systemTokens: whole(0),
    /** Texts per request, for formats that take several; for rankings: passages. */
    textsPerRequest: whole(0),
    /** Generated images per request. */
    images: v.nullable(
      v.object({
        count: whole(1),
        widthPx: length,
        heightPx: length,
        /** Absent: chosen at random for each image. */
        format: v.exactOptional(v.picklist(["png", "jpeg"])),
      }),
    ),
    /** Generated audio clips per request. Absent: none. */
    audio: v.exactOptional(
      v.object({
        count: whole(1),
        lengthS: v.object({
          mean: aboveZeroSchema(),
          stddev: v.pipe(v.number(), atLeast(0)),
        }),
        format: v.picklist(["wav", "mp3"]),
        /** Chosen at random for each clip, like the rate. */
        depthsBits: v.array(whole(1)),
        sampleRatesHz: v.array(whole(1)),
        channelCount: v.picklist([1, 2]),
      }),
    ),
    /** Set: token counts of the server are not requested in streams. Absent: they are requested if the format allows it. */
    isUsageLeftOut: v.exactOptional(v.literal(true)),
    /** Extra keys for every body, merged last. */
    extra: v.record(v.string(), v.unknown()),
  });
}
