import type { GenaiOption, KeyedOption } from "./genai-option.ts";
import { ALL_OPTIONS } from "./subcommands.ts";

/** A key with a value. */
export interface YamlKey {
  readonly key: string;
  readonly option: KeyedOption;
}

/** A key with child keys. */
export interface YamlGroup {
  readonly key: string;
  /** GenAI-Perf's name of the group in errors. */
  readonly label: string;
  readonly entries: readonly (YamlKey | YamlGroup)[];
}

/** GenAI-Perf's keys in the order of its export. */
const ORIGINAL_ORDER = `
  model_names analyze
  endpoint.model_selection_strategy endpoint.backend endpoint.custom endpoint.type endpoint.streaming
  endpoint.server_metrics_urls endpoint.url endpoint.grpc_method
  perf_analyzer.path perf_analyzer.verbose perf_analyzer.stimulus perf_analyzer.stability_percentage
  perf_analyzer.measurement.mode perf_analyzer.measurement.num perf_analyzer.warmup_request_count
  input.batch_size input.extra input.goodput input.header input.file input.num_dataset_entries input.random_seed
  input.audio.batch_size input.audio.length.mean input.audio.length.stddev input.audio.format input.audio.depths
  input.audio.sample_rates input.audio.num_channels
  input.image.width.mean input.image.width.stddev input.image.height.mean input.image.height.stddev
  input.image.batch_size input.image.format
  input.output_tokens.mean input.output_tokens.deterministic input.output_tokens.stddev
  input.synthetic_tokens.mean input.synthetic_tokens.stddev input.prefix_prompt.num input.prefix_prompt.length
  input.sessions.num input.sessions.turns.mean input.sessions.turns.stddev
  input.sessions.turn_delay.mean input.sessions.turn_delay.ratio input.sessions.turn_delay.stddev
  output.artifact_directory output.checkpoint_directory output.profile_export_file output.generate_plots
  output.enable_checkpointing
  tokenizer.name tokenizer.revision tokenizer.trust_remote_code process.input_path`
  .trim()
  .split(/\s+/);

/** Groups whose name in GenAI-Perf's errors differs from their key. */
const LABELS: Readonly<Record<string, string>> = {
  measurement: "perf_analyzer_measurement",
  length: "audio_length",
  width: "image_width",
  height: "image_height",
};

const KEYED = ALL_OPTIONS.filter(
  (option: GenaiOption): option is (typeof ALL_OPTIONS)[number] & KeyedOption => option.key !== undefined,
);

/** The keys of a YAML file as a tree, for reading, templates and the exported configuration. Rampart's own keys are last. */
export const YAML_KEYS = buildTree(
  KEYED.toSorted((a, b) => placeOf(a) - placeOf(b)).map((option) => ({ path: option.key.split("."), option })),
);

/** The key of Rampart's own options. It appears only in verbose templates, and not in the exported configuration. */
export const RAMPART_KEY = "rampart";

/** Reports whether an entry is a group. */
export function isGroup(entry: YamlKey | YamlGroup): entry is YamlGroup {
  return "entries" in entry;
}

function placeOf({ key }: KeyedOption): number {
  const place = ORIGINAL_ORDER.indexOf(key);
  return place < 0 ? ORIGINAL_ORDER.length : place;
}

function buildTree(
  leaves: readonly { readonly path: readonly string[]; readonly option: KeyedOption }[],
): (YamlKey | YamlGroup)[] {
  const byKey = Map.groupBy(leaves, ({ path }) => path[0] as string);
  return [...byKey].map(([key, below]) => {
    const only = below[0];
    if (only?.path.length === 1) return { key, option: only.option };
    const entries = buildTree(below.map(({ path, option }) => ({ path: path.slice(1), option })));
    return { key, label: LABELS[key] ?? key, entries };
  });
}
