/**
 * The flags of genai-perf 0.0.16 by subcommand, with all spellings and the value that holds when a flag is left out, as its exported
 * configuration shows it; undefined where a flag alone stores nothing. Written down from the tool's help and documents.
 */

/** Spellings in the original's order, separated by blanks; then the default. */
export type OriginalFlag = readonly [names: string, fallback: unknown];

const PROFILE: readonly OriginalFlag[] = [
  ["--audio-length-mean", 0],
  ["--audio-length-stddev", 0],
  ["--audio-format", "wav"],
  ["--audio-depths", [16]],
  ["--audio-sample-rates", [16]],
  ["--audio-num-channels", 1],
  ["-m --model", []],
  ["--model-selection-strategy", "round_robin"],
  ["--backend", "tensorrtllm"],
  ["--endpoint", ""],
  ["--endpoint-type", "kserve"],
  ["--server-metrics-url --server-metrics-urls", ["http://localhost:9400/metrics"]],
  ["--streaming", false],
  ["-u --url", "localhost:8001"],
  ["--image-width-mean", 0],
  ["--image-width-stddev", 0],
  ["--image-height-mean", 0],
  ["--image-height-stddev", 0],
  ["--image-format", "png"],
  ["--batch-size-audio", 1],
  ["--batch-size-image", 1],
  ["--batch-size-text --batch-size -b", 1],
  ["--extra-inputs", null],
  ["--goodput -g", null],
  ["--header -H", []],
  ["--input-file", ""],
  ["--num-dataset-entries --num-prompts", 100],
  ["--num-prefix-prompts", 0],
  ["--output-tokens-mean --osl", null],
  ["--output-tokens-mean-deterministic", false],
  ["--output-tokens-stddev", 0],
  ["--random-seed", 0],
  ["--grpc-method", ""],
  ["--synthetic-input-tokens-mean --isl", 550],
  ["--synthetic-input-tokens-stddev", 0],
  ["--prefix-prompt-length", 100],
  ["--warmup-request-count --num-warmup-requests", 0],
  ["-v --verbose", false],
  ["--artifact-dir", "artifacts"],
  ["--checkpoint-dir", "checkpoint"],
  ["--generate-plots", false],
  ["--enable-checkpointing", false],
  ["--profile-export-file", "profile_export.json"],
  ["--concurrency", undefined],
  ["--measurement-interval -p", undefined],
  ["--request-count --num-requests", undefined],
  ["--request-rate", undefined],
  ["--fixed-schedule", undefined],
  ["-s --stability-percentage", 999],
  ["--num-sessions", 0],
  ["--session-concurrency", undefined],
  ["--session-delay-ratio", 1],
  ["--session-turn-delay-mean", 0],
  ["--session-turn-delay-stddev", 0],
  ["--session-turns-mean", 1],
  ["--session-turns-stddev", 0],
  ["--tokenizer", ""],
  ["--tokenizer-revision", "main"],
  ["--tokenizer-trust-remote-code", false],
];

const SWEEP: readonly OriginalFlag[] = [
  ["--sweep-type", undefined],
  ["--sweep-range", undefined],
  ["--sweep-list", undefined],
];

const OUTPUT = PROFILE.filter(([names]) =>
  /^--(artifact-dir|checkpoint-dir|generate-plots|enable-checkpointing|profile-export-file)$/.test(names),
);

export const ORIGINAL_FLAGS = {
  config: [["-f --file", undefined], ["--override-config", undefined], ...SWEEP, ...PROFILE],
  profile: PROFILE,
  analyze: [...SWEEP, ...PROFILE],
  "create-template": [
    ["-f --file", "genai_perf_config.yaml"],
    ["-v --verbose", false],
  ],
  "process-export-files": [["--input-directory -d", "aggregated"], ...OUTPUT, ["-v --verbose", false]],
} as const satisfies Record<string, readonly OriginalFlag[]>;
