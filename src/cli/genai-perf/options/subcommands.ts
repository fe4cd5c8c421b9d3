import { type GenaiFlag, type GenaiOption, hasFlag, valueNameOf } from "./genai-option.ts";
import { AUDIO_OPTIONS, IMAGE_OPTIONS, INPUT_OPTIONS, SESSION_OPTIONS } from "./input-options.ts";
import {
  ANALYZE_OPTIONS,
  CONFIG_OPTIONS,
  ENDPOINT_OPTIONS,
  KEYS_WITHOUT_FLAG,
  OTHER_OPTIONS,
  OUTPUT_OPTIONS,
  PROCESS_OPTIONS,
  PROFILING_OPTIONS,
  TEMPLATE_OPTIONS,
  TOKENIZER_OPTIONS,
} from "./original-options.ts";
import { RAMPART_MERGE_OPTIONS, RAMPART_OPTIONS, RAMPART_SWEEP_OPTIONS } from "./rampart-options.ts";

/** The subcommands, in GenAI-Perf's order. */
export const SUBCOMMANDS = ["config", "profile", "analyze", "create-template", "process-export-files"] as const;

/** A subcommand as typed. */
export type SubcommandName = (typeof SUBCOMMANDS)[number];

const PROFILE = [
  ...AUDIO_OPTIONS,
  ...ENDPOINT_OPTIONS,
  ...IMAGE_OPTIONS,
  ...INPUT_OPTIONS,
  ...OTHER_OPTIONS,
  ...OUTPUT_OPTIONS,
  ...PROFILING_OPTIONS,
  ...SESSION_OPTIONS,
  ...TOKENIZER_OPTIONS,
];

const FLAGS: Readonly<Record<SubcommandName, readonly GenaiOption[]>> = {
  config: [...CONFIG_OPTIONS, ...ANALYZE_OPTIONS, ...PROFILE, ...RAMPART_OPTIONS, ...RAMPART_SWEEP_OPTIONS],
  profile: [...PROFILE, ...RAMPART_OPTIONS],
  analyze: [...ANALYZE_OPTIONS, ...PROFILE, ...RAMPART_OPTIONS, ...RAMPART_SWEEP_OPTIONS],
  "create-template": [...TEMPLATE_OPTIONS, ...OTHER_OPTIONS],
  "process-export-files": [...PROCESS_OPTIONS, ...OUTPUT_OPTIONS, ...OTHER_OPTIONS, ...RAMPART_MERGE_OPTIONS],
};

/** All options, without duplicates. */
export const ALL_OPTIONS = [
  ...CONFIG_OPTIONS,
  ...TEMPLATE_OPTIONS,
  ...ANALYZE_OPTIONS,
  ...PROCESS_OPTIONS,
  ...KEYS_WITHOUT_FLAG,
  ...PROFILE,
  ...RAMPART_OPTIONS,
  ...RAMPART_SWEEP_OPTIONS,
];

/** Returns all flags of a subcommand, in the order of usage and help, without `-h`. */
export function flagsOf(subcommand: SubcommandName): GenaiFlag[] {
  return FLAGS[subcommand].filter(hasFlag);
}

/** The default of each value. */
export const DEFAULTS: ReadonlyMap<string, unknown> = new Map(
  ALL_OPTIONS.flatMap((option: GenaiOption) =>
    option.default === undefined ? [] : [[valueNameOf(option), option.default] as const],
  ),
);

/** Returns an option's name in messages if it is not given: its flag's first name, or its key. */
export function nameOf(value: string): string {
  return ALL_OPTIONS.find((one: GenaiOption) => valueNameOf(one) === value)?.names?.[0] ?? value;
}
