import { DEFAULT_PROMPTS } from "../../../inputs/prompts/settings.ts";
import { loadModeOf } from "../../../registry/load-modes.ts";
import { hasPlace, withValue } from "../../options/place.ts";
import { addTo, LIMITED, type Limits, readExtraInput, readLimits } from "./flag-readers.ts";
import { holds, inGroup, type Land, lands } from "./genai-option.ts";

/** GenAI-Perf's options of the input data, in the order of its flags. */

/** Parts of requests that exist only with these options. */
const OF_AUDIO = { within: ["input.audio.length.mean"] };
const OF_IMAGES = { within: ["input.image.width.mean", "input.image.height.mean"] };
const OF_OUTPUT = { within: ["input.output_tokens.mean"] };
const OF_PREFIX = { within: ["input.prefix_prompt.num"] };
const OF_SESSIONS = { within: ["input.sessions.num"] };

const PX = { min: 0, unit: "pixels", ...OF_IMAGES };
const TOKENS = { min: 0, unit: "tokens" };

function toHz(ratesKhz: readonly number[]): number[] {
  return ratesKhz.map((kHz) => Math.round(kHz * 1000));
}

/** Requests without text keep none. */
const landTexts: Land<number> = (plan, count) =>
  hasPlace(plan, "requests.prompts.textsPerRequest")
    ? plan
    : withValue(plan, "requests.prompts.textsPerRequest", count);

/** Seeds of all random draws. */
const SEEDS = ["requests.prompts.seed", "requests.layout.seed", "load.seed"];

/** Like GenAI-Perf, which never warms up with sessions. A warning says so. */
const landWarmup: Land<number> = (plan, count) =>
  loadModeOf(plan.load).dataOrder === "in-sessions" ? plan : withValue(plan, "measurement.warmupRequests", count);

/** Options of synthetic audio. */
export const AUDIO_OPTIONS = inGroup("Audio Input", [
  {
    names: ["--audio-length-mean"],
    setting: "inputs.audio.lengthS",
    key: "input.audio.length.mean",
    ...lands("decimal", "requests.prompts.audio.lengthS.mean", 0, { ...OF_AUDIO, min: 0, unit: "seconds" }),
    help: "Mean length of synthetic audio. Above 0, requests carry audio.",
  },
  {
    names: ["--audio-length-stddev"],
    key: "input.audio.length.stddev",
    ...lands("decimal", "requests.prompts.audio.lengthS.stddev", 0, { ...OF_AUDIO, min: 0, unit: "seconds" }),
    help: "Standard deviation of the length of synthetic audio.",
  },
  {
    names: ["--audio-format"],
    key: "input.audio.format",
    ...lands("text", "requests.prompts.audio.format", "wav", { choices: ["wav", "mp3"], ...OF_AUDIO }),
    help: "Format of synthetic audio.",
  },
  {
    names: ["--audio-depths"],
    setting: "inputs.audio.depthsBits",
    key: "input.audio.depths",
    ...lands("integers", "requests.prompts.audio.depthsBits", [16], { min: 1, unit: "bits", ...OF_AUDIO }),
    help: "Sample depths; one is drawn for each clip.",
  },
  {
    names: ["--audio-sample-rates"],
    setting: "inputs.audio.sampleRatesHz",
    key: "input.audio.sample_rates",
    ...lands("decimals", "requests.prompts.audio.sampleRatesHz", [16], {
      min: 1,
      unit: "kHz",
      convert: toHz,
      ...OF_AUDIO,
    }),
    help: "Sample rates; one is drawn for each clip.",
  },
  {
    names: ["--audio-num-channels"],
    setting: "inputs.audio.channelCount",
    key: "input.audio.num_channels",
    ...lands("integer", "requests.prompts.audio.channelCount", 1, { choices: [1, 2], ...OF_AUDIO }),
    help: "1 for mono, 2 for stereo.",
  },
]);

/** Options of synthetic images. */
export const IMAGE_OPTIONS = inGroup("Image Input", [
  {
    names: ["--image-width-mean"],
    key: "input.image.width.mean",
    ...lands("integer", "requests.prompts.images.widthPx.mean", 0, PX),
    help: "Mean width of synthetic images. With a height, requests carry images.",
  },
  {
    names: ["--image-width-stddev"],
    key: "input.image.width.stddev",
    ...lands("decimal", "requests.prompts.images.widthPx.stddev", 0, { ...PX, flagKind: "integer" }),
    help: "Standard deviation of the width of synthetic images.",
  },
  {
    names: ["--image-height-mean"],
    key: "input.image.height.mean",
    ...lands("integer", "requests.prompts.images.heightPx.mean", 0, PX),
    help: "Mean height of synthetic images.",
  },
  {
    names: ["--image-height-stddev"],
    key: "input.image.height.stddev",
    ...lands("decimal", "requests.prompts.images.heightPx.stddev", 0, { ...PX, flagKind: "integer" }),
    help: "Standard deviation of the height of synthetic images.",
  },
  {
    names: ["--image-format"],
    key: "input.image.format",
    ...lands("text", "requests.prompts.images.format", "png", {
      choices: ["png", "jpeg"],
      ...OF_IMAGES,
      landsIfGiven: true,
    }),
    defaultText: "drawn for each image",
    help: "Format of synthetic images.",
  },
]);

/** Options of prompts and request bodies. */
export const INPUT_OPTIONS = inGroup("Input", [
  {
    names: ["--batch-size-audio"],
    key: "input.audio.batch_size",
    ...lands("integer", "requests.prompts.audioPerRequest", 1, { min: 0 }),
    help: "Audio clips in a request, for the endpoint types multimodal, vision and template.",
  },
  {
    names: ["--batch-size-image"],
    key: "input.image.batch_size",
    ...lands("integer", "requests.prompts.imagesPerRequest", 1, { min: 0 }),
    help: "Images in a request, for the endpoint types multimodal, vision, image_retrieval, nvclip, responses, messages, huggingface_generate and template.",
  },
  {
    names: ["--batch-size-text", "--batch-size", "-b"],
    key: "input.batch_size",
    ...lands("integer", landTexts, 1, { min: 1 }),
    help: "Texts in a request, for embeddings and rankings.",
  },
  {
    names: ["--extra-inputs"],
    key: "input.extra",
    ...holds<Readonly<Record<string, unknown>> | null>("object", null),
    isRepeatable: true,
    read: readExtraInput,
    help: "Fields for every request body. The endpoint type template takes payload_template (a file, a name, or the template itself) and response_field (a path) from them.",
    syntax: "NAME:VALUE (numbers, true and false are recognised), NAME alone for null, or several as a JSON object.",
  },
  {
    names: ["--goodput", "-g"],
    key: "input.goodput",
    ...lands<Limits | null>("limits", "outputs.genaiPerf.goodput", null, LIMITED),
    read: readLimits("input.goodput"),
    help: "Limits that a good request keeps.",
    syntax: "METRIC:VALUE, for example time_to_first_token:200.",
  },
  {
    names: ["--header", "-H"],
    documentedNames: ["--H"],
    key: "input.header",
    ...holds<readonly string[]>("headers", []),
    isRepeatable: true,
    read: addTo("input.header"),
    help: "HTTP headers of every request.",
    syntax: "NAME:VALUE.",
  },
  {
    names: ["--input-file"],
    setting: "inputs.data",
    key: "input.file",
    ...lands("file", "requests.givenSource", ""),
    defaultText: "prompts are generated",
    help: 'Where prompts come from: a JSONL file with lines such as {"text": …, "image": PATH or address}, a folder of such files, synthetic:A,B for synthetic files of these names, conversations:FILE for conversations in the form of ShareGPT, trace:FILE for a CSV trace of Azure or BurstGPT, or payload:FILE for requests with a timestamp, delay, session_id, input_length, output_length, hash_ids, priority or text_input.',
  },
  {
    names: ["--num-dataset-entries", "--num-prompts"],
    setting: "inputs.count",
    key: "input.num_dataset_entries",
    ...lands("positive", "requests.prompts.entryCount", DEFAULT_PROMPTS.entryCount, { min: 1 }),
    help: "How many different requests to make; they are sent over and over.",
  },
  {
    names: ["--num-prefix-prompts"],
    key: "input.prefix_prompt.num",
    ...lands("integer", "requests.prompts.prefix.count", 0, { min: 0, ...OF_PREFIX }),
    help: "How many different prefixes to put before prompts, so that a server's KV cache is hit.",
  },
  {
    names: ["--output-tokens-mean", "--osl"],
    key: "input.output_tokens.mean",
    ...lands<number | null>("integer", "requests.prompts.osl.mean", null, TOKENS),
    defaultText: "the server decides",
    help: "Mean length of responses to ask for.",
  },
  {
    names: ["--output-tokens-mean-deterministic"],
    key: "input.output_tokens.deterministic",
    ...lands("boolean", "requests.layout.hasExactOutput", false),
    help: "Ask for no fewer tokens than that either; with Triton and the TensorRT-LLM engine.",
  },
  {
    names: ["--output-tokens-stddev"],
    key: "input.output_tokens.stddev",
    ...lands("decimal", "requests.prompts.osl.stddev", 0, { ...TOKENS, flagKind: "integer", ...OF_OUTPUT }),
    help: "Standard deviation of the length of responses; needs --output-tokens-mean.",
  },
  {
    names: ["--random-seed"],
    key: "input.random_seed",
    ...lands("integer", SEEDS, 0, { ifThere: true }),
    help: "The same seed makes the same requests.",
  },
  {
    names: ["--grpc-method"],
    setting: "target.method",
    key: "endpoint.grpc_method",
    ...lands("text", "target.method", "", { ifThere: true }),
    help: "Method to call, as PACKAGE.SERVICE/METHOD; for the endpoint type dynamic_grpc. The texts of --input-file are the commands that write its messages.",
  },
  {
    names: ["--synthetic-input-tokens-mean", "--isl"],
    key: "input.synthetic_tokens.mean",
    ...lands("integer", "requests.prompts.isl.mean", DEFAULT_PROMPTS.isl.mean, TOKENS),
    help: "Mean length of synthetic prompts.",
  },
  {
    names: ["--synthetic-input-tokens-stddev"],
    key: "input.synthetic_tokens.stddev",
    ...lands("decimal", "requests.prompts.isl.stddev", 0, { ...TOKENS, flagKind: "integer" }),
    help: "Standard deviation of the length of synthetic prompts.",
  },
  {
    names: ["--prefix-prompt-length"],
    key: "input.prefix_prompt.length",
    ...lands("integer", "requests.prompts.prefix.tokens", 100, { ...TOKENS, ...OF_PREFIX }),
    help: "Length of a prefix; needs --num-prefix-prompts.",
  },
  {
    names: ["--warmup-request-count", "--num-warmup-requests"],
    setting: "measurement.warmupRequests",
    key: "perf_analyzer.warmup_request_count",
    ...lands("integer", landWarmup, 0, { min: 0 }),
    help: "Requests sent before the measured ones.",
  },
]);

/** Options of sessions. */
export const SESSION_OPTIONS = inGroup("Session", [
  {
    names: ["--num-sessions"],
    key: "input.sessions.num",
    ...lands("integer", "requests.prompts.sessions.count", 0, { min: 0, ...OF_SESSIONS }),
    help: "Conversations to make up. Needs --session-concurrency.",
  },
  {
    names: ["--session-concurrency"],
    setting: "load.concurrency",
    kind: "integer",
    defaultText: "no sessions",
    help: "Conversations at the same time: each is held once, its turns with all that was said before. Wins over --concurrency and --request-rate.",
  },
  {
    names: ["--session-delay-ratio"],
    key: "input.sessions.turn_delay.ratio",
    ...lands("decimal", "requests.prompts.delayRatio", DEFAULT_PROMPTS.delayRatio, { min: 0 }),
    isFloat: true,
    help: "Factor for the pauses in a payload or conversations file; 0.5 halves them.",
  },
  {
    names: ["--session-turn-delay-mean"],
    key: "input.sessions.turn_delay.mean",
    ...lands("integer", "requests.prompts.sessions.delayMs.mean", 0, { min: 0, unit: "milliseconds", ...OF_SESSIONS }),
    help: "Mean pause after a response, before a conversation's next turn.",
  },
  {
    names: ["--session-turn-delay-stddev"],
    key: "input.sessions.turn_delay.stddev",
    ...lands("integer", "requests.prompts.sessions.delayMs.stddev", 0, {
      min: 0,
      unit: "milliseconds",
      ...OF_SESSIONS,
    }),
    help: "Standard deviation of the pause.",
  },
  {
    names: ["--session-turns-mean"],
    key: "input.sessions.turns.mean",
    ...lands("integer", "requests.prompts.sessions.turns.mean", 1, { min: 0, ...OF_SESSIONS }),
    help: "Mean number of turns of a conversation.",
  },
  {
    names: ["--session-turns-stddev"],
    key: "input.sessions.turns.stddev",
    ...lands("decimal", "requests.prompts.sessions.turns.stddev", 0, { min: 0, flagKind: "integer", ...OF_SESSIONS }),
    help: "Standard deviation of the number of turns of a conversation.",
  },
]);
