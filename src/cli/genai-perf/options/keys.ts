import type { GenaiOption, KeyedOption } from "./genai-option.ts";
import { ALL_OPTIONS } from "./subcommands.ts";

/** The keys of a YAML file as a tree: reading, templates and the exported configuration follow it. */

/** A key with a value. */
export interface YamlKey {
  readonly key: string;
  readonly option: KeyedOption;
}

/** A key with keys below it. */
export interface YamlGroup {
  readonly key: string;
  /** The group's name in errors, as the original says it. */
  readonly label: string;
  readonly entries: readonly (YamlKey | YamlGroup)[];
}

/** The original's keys in the order in which it exports them. */
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

/** Groups that the original's errors call by another name than their key. */
const LABELS: Readonly<Record<string, string>> = {
  measurement: "perf_analyzer_measurement",
  length: "audio_length",
  width: "image_width",
  height: "image_height",
};

const KEYED = ALL_OPTIONS.filter(
  (option: GenaiOption): option is (typeof ALL_OPTIONS)[number] & KeyedOption => option.key !== undefined,
);

/** All of a file; Rampart's own keys last, in the order of their flags. */
export const YAML_KEYS = buildTree(
  KEYED.toSorted((a, b) => placeOf(a) - placeOf(b)).map((option) => ({ path: option.key.split("."), option })),
);

/** The key with Rampart's own options: only in verbose templates, and not in the exported configuration. */
export const OWN_KEY = "rampart";

/** Tells the two apart. */
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
