import type { FieldGroup } from "./field.ts";

/** The YAML keys below `input`. */

/** The groups that hold a mean and a standard deviation. */
type SpreadPath =
  | "input.audio.lengthSec"
  | "input.image.widthPx"
  | "input.image.heightPx"
  | "input.syntheticTokens"
  | "input.sessions.turns";

function spread(key: string, label: string, at: SpreadPath, what: string): FieldGroup {
  return {
    key,
    label,
    entries: [
      {
        key: "mean",
        at: `${at}.mean`,
        kind: at === "input.audio.lengthSec" ? "decimal" : "integer",
        min: 0,
        about: `Mean of ${what}.`,
      },
      {
        key: "stddev",
        at: `${at}.stddev`,
        kind: "decimal",
        min: 0,
        about: `Standard deviation of ${what}.`,
      },
    ],
  };
}

const AUDIO: FieldGroup = {
  key: "audio",
  label: "audio",
  entries: [
    {
      key: "batch_size",
      at: "input.audio.batchSize",
      kind: "integer",
      min: 0,
      about: "Audio clips in a request (type multimodal).",
    },
    spread("length", "audio_length", "input.audio.lengthSec", "a clip's length in seconds"),
    { key: "format", at: "input.audio.format", kind: "text", choices: ["wav", "mp3"], about: "wav or mp3." },
    {
      key: "depths",
      at: "input.audio.depthsBits",
      kind: "integers",
      min: 1,
      about: "Bits of a sample; one of these is drawn for each clip.",
    },
    {
      key: "sample_rates",
      at: "input.audio.sampleRatesKhz",
      kind: "decimals",
      min: 1,
      about: "Sample rates in kHz; one of these is drawn for each clip.",
    },
    { key: "num_channels", at: "input.audio.channels", kind: "integer", choices: [1, 2], about: "1 mono, 2 stereo." },
  ],
};

const IMAGE: FieldGroup = {
  key: "image",
  label: "image",
  entries: [
    spread("width", "image_width", "input.image.widthPx", "an image's width in pixels"),
    spread("height", "image_height", "input.image.heightPx", "an image's height in pixels"),
    {
      key: "batch_size",
      at: "input.image.batchSize",
      kind: "integer",
      min: 0,
      about: "Images in a request (types image_retrieval, multimodal, nvclip).",
    },
    {
      key: "format",
      at: "input.image.format",
      kind: "text",
      choices: ["png", "jpeg"],
      about: "png or jpeg.",
    },
  ],
};

const SESSIONS: FieldGroup = {
  key: "sessions",
  label: "sessions",
  entries: [
    { key: "num", at: "input.sessions.count", kind: "integer", min: 0, about: "Conversations to make up." },
    spread("turns", "turns", "input.sessions.turns", "the turns of a conversation"),
    {
      key: "turn_delay",
      label: "turn_delay",
      entries: [
        {
          key: "mean",
          at: "input.sessions.turnDelay.meanMs",
          kind: "integer",
          min: 0,
          about: "Mean pause between turns in milliseconds.",
        },
        {
          key: "ratio",
          at: "input.sessions.turnDelay.ratio",
          kind: "decimal",
          min: 0,
          about: "Factor for the pauses in a payload file.",
        },
        {
          key: "stddev",
          at: "input.sessions.turnDelay.stddevMs",
          kind: "integer",
          min: 0,
          about: "Standard deviation of the pause in milliseconds.",
        },
      ],
    },
  ],
};

const OUTPUT_TOKENS: FieldGroup = {
  key: "output_tokens",
  label: "output_tokens",
  entries: [
    {
      key: "mean",
      at: "input.outputTokens.mean",
      kind: "integer",
      min: 0,
      about: "Mean of the answer's length in tokens.\nLeft empty: the server decides.",
    },
    {
      key: "deterministic",
      at: "input.outputTokens.isDeterministic",
      kind: "boolean",
      about: "Ask for no fewer tokens than drawn (Triton and TensorRT-LLM engine).",
    },
    {
      key: "stddev",
      at: "input.outputTokens.stddev",
      kind: "decimal",
      min: 0,
      about: "Standard deviation of the answer's length in tokens.",
    },
  ],
};

/** The key `input`. */
export const INPUT_FIELDS: FieldGroup = {
  key: "input",
  label: "input",
  entries: [
    {
      key: "batch_size",
      at: "input.textBatchSize",
      kind: "integer",
      min: 1,
      about: "Texts in a request (types embeddings and rankings).",
    },
    { key: "extra", at: "input.extra", kind: "object", about: "Fields for every request body, as name: value." },
    {
      key: "goodput",
      at: "input.goodput",
      kind: "goodput",
      about:
        "Limits that a good request keeps, as metric: value\n(milliseconds, or tokens per second for throughput), for example:\n  request_latency: 300",
    },
    { key: "header", at: "input.headers", kind: "headers", about: "HTTP headers, as a list of Name:Value." },
    {
      key: "file",
      at: "input.file",
      kind: "file",
      about:
        'Where prompts come from; left empty they are made up.\n  a JSONL file or a folder of them, with lines such as {"text": "…"}\n' +
        "  synthetic:queries,passages  files of these names are made up\n  payload:trace.jsonl  requests with times, lengths or sessions",
    },
    {
      key: "num_dataset_entries",
      at: "input.datasetEntries",
      kind: "integer",
      min: 1,
      about: "Different requests to make; they are sent over and over.",
    },
    { key: "random_seed", at: "input.randomSeed", kind: "integer", about: "The same seed makes the same requests." },
    AUDIO,
    IMAGE,
    OUTPUT_TOKENS,
    spread("synthetic_tokens", "synthetic_tokens", "input.syntheticTokens", "the made-up prompt's length in tokens"),
    {
      key: "prefix_prompt",
      label: "prefix_prompt",
      entries: [
        {
          key: "num",
          at: "input.prefixPrompt.count",
          kind: "integer",
          min: 0,
          about: "Different prefixes put before prompts, to meet a server's KV cache.",
        },
        { key: "length", at: "input.prefixPrompt.tokens", kind: "integer", min: 0, about: "Tokens of a prefix." },
      ],
    },
    SESSIONS,
  ],
};
