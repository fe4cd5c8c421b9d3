import type { FlagSection, GenaiFlag, SubcommandName } from "./flags.ts";
import { OWN_SECTION, OWN_SWEEP_SECTION, PLOT_FORMATS_FLAG } from "./own-flags.ts";
import { OTHER_SECTION, OUTPUT_SECTION, PROFILE_SECTIONS } from "./profile-flags.ts";
import type { SettingPath } from "./settings.ts";

/** Which flags each subcommand has. */

const CONFIG_SECTION: FlagSection = {
  group: "Config",
  flags: [
    { names: ["-f", "--file"], shape: "one", kind: "text", isRequired: true, help: "The YAML file to run." },
    {
      names: ["--override-config"],
      shape: "switch",
      kind: "text",
      help: "Let the other flags of the command line win over the file; without it they are refused.",
    },
  ],
};

const TEMPLATE_SECTION: FlagSection = {
  group: "Template",
  flags: [
    {
      names: ["-f", "--file"],
      shape: "one",
      kind: "text",
      at: "templateFile",
      help: "The YAML file to write; it must not exist.",
    },
  ],
};

const ANALYZE_SECTION: FlagSection = {
  group: "Analyze",
  flags: [
    {
      names: ["--sweep-type"],
      shape: "one",
      kind: "text",
      choices: ["batch_size", "concurrency", "num_dataset_entries", "input_sequence_length", "request_rate"],
      help: "What to vary.",
    },
    {
      names: ["--sweep-range"],
      shape: "one",
      kind: "text",
      default: "concurrency 1:1024, request_rate 16:8192, batch_size 1:128, the others 100:1000",
      help: "From where to where, as MIN:MAX, doubling, or as MIN:MAX:STEP.",
    },
    {
      names: ["--sweep-list"],
      shape: "one",
      kind: "text",
      help: "The values themselves, separated by commas. Wins over --sweep-range.",
    },
  ],
};

const PROCESS_SECTION: FlagSection = {
  group: "Process Export Files",
  flags: [
    {
      names: ["--input-directory", "-d"],
      shape: "single",
      kind: "text",
      at: "process.inputDir",
      metavar: "INPUT_PATH",
      help: "Folder with a folder for each host, which holds its profile export and JSON report.",
    },
  ],
};

const OWN_PROCESS_SECTION: FlagSection = {
  group: "Rampart",
  flags: [
    { ...PLOT_FORMATS_FLAG, isOwn: true },
    {
      names: ["--tokenizer"],
      shape: "one",
      kind: "text",
      at: "tokenizer.name",
      isOwn: true,
      default: "the one that the reports name",
      help: "Counts tokens: a folder with tokenizer.json, a name on the Hugging Face hub, or none.",
    },
  ],
};

/** The original's settings that nothing obeys yet, whatever their value. */
const LATER: ReadonlySet<SettingPath> = new Set<SettingPath>(["endpoint.grpcMethod"]);

const PROFILE: readonly FlagSection[] = PROFILE_SECTIONS.map(({ group, flags }) => ({
  group,
  flags: flags.map((flag) => (flag.at !== undefined && LATER.has(flag.at) ? { ...flag, isLater: true } : flag)),
}));

const SECTIONS: Readonly<Record<SubcommandName, readonly FlagSection[]>> = {
  config: [CONFIG_SECTION, ANALYZE_SECTION, ...PROFILE, OWN_SWEEP_SECTION],
  profile: [...PROFILE, OWN_SECTION],
  analyze: [ANALYZE_SECTION, ...PROFILE, OWN_SWEEP_SECTION],
  "create-template": [TEMPLATE_SECTION, OTHER_SECTION],
  "process-export-files": [PROCESS_SECTION, OUTPUT_SECTION, OTHER_SECTION, OWN_PROCESS_SECTION],
};

/** The headings of a subcommand with their flags, as help shows them. `-h` belongs to none. */
export function sectionsOf(subcommand: SubcommandName): readonly FlagSection[] {
  return SECTIONS[subcommand];
}

/** All flags of a subcommand, in order, without `-h`. */
export function flagsOf(subcommand: SubcommandName): GenaiFlag[] {
  return SECTIONS[subcommand].flatMap(({ flags }) => flags);
}
