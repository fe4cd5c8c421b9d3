import { wrapWords } from "../../plan/terminal-text.ts";
import { formatValue, USAGE_WIDTH } from "../options/argparse-usage.ts";
import { formatRow } from "../options/help-rows.ts";
import { describeOption, type GenaiFlag } from "./options/genai-option.ts";
import { HELP_FLAG, TOP_FLAGS } from "./options/parse.ts";
import { flagsOf, type SubcommandName } from "./options/subcommands.ts";
import { formatUsage } from "./usage.ts";

const HELP_COLUMN = 24;

/** Descriptions of the subcommands. */
export const ABOUT: Readonly<Record<SubcommandName, string>> = {
  config:
    "Runs what a YAML file says: a profile, or an analysis when the file has analyze, or a merge when it has process.",
  profile: "Measures a generative model on a server under one load.",
  analyze: "Measures a generative model again and again while one thing is varied.",
  "create-template": "Writes a YAML file with all options and their defaults, for the subcommand config.",
  "process-export-files": "Merges the profile exports of several runs into one result.",
};

/** Formats the help of a subcommand, or of the tool if none is given. */
export function formatHelp(subcommand: SubcommandName | undefined): string {
  if (subcommand === undefined) return formatTopHelp();
  return [
    formatUsage(subcommand),
    ...wrapWords(ABOUT[subcommand], USAGE_WIDTH),
    "",
    "options:",
    ...formatFlag(HELP_FLAG),
    ...[...Map.groupBy(flagsOf(subcommand), ({ group }) => group)].flatMap(formatSection),
    "",
    ...wrapWords(
      "Flags may be abbreviated, except Rampart's own. Flags after -- are perf_analyzer's and override those before it, except model, URL, endpoint, input data and profile export. Exit codes: 0 done, 1 failed, 2 wrong usage.",
      USAGE_WIDTH,
    ),
    "",
  ].join("\n");
}

function formatTopHelp(): string {
  return [
    formatUsage(undefined),
    "Measures generative models on inference servers; takes the command lines of NVIDIA's GenAI-Perf.",
    "",
    "subcommands:",
    ...Object.entries(ABOUT).flatMap(([name, about]) =>
      formatRow(name, about, { column: HELP_COLUMN, width: USAGE_WIDTH }),
    ),
    "",
    "options:",
    ...TOP_FLAGS.flatMap(formatFlag),
    "",
  ].join("\n");
}

function formatSection([group, flags = []]: readonly [
  group: string,
  flags: readonly GenaiFlag[] | undefined,
]): string[] {
  const title = group === "Rampart" ? "Rampart's own" : group;
  return ["", `${title}:`, ...flags.flatMap(formatFlag)];
}

function formatFlag(flag: GenaiFlag): string[] {
  const fallback = defaultOf(flag);
  const notes = [
    ...(flag.ownChoices === undefined ? [] : [`Rampart's own: ${flag.ownChoices.join(", ")}.`]),
    ...(flag.syntax === undefined ? [] : [`Given as ${flag.syntax}`]),
    ...(flag.isRepeatable === true ? ["May be repeated."] : []),
    ...(fallback === undefined ? [] : [`Default: ${fallback}.`]),
  ];
  const names = flag.names.map((name) => `${name}${formatValue(flag)}`).join(", ");
  return formatRow(names, [describeOption(flag), ...notes].join(" "), { column: HELP_COLUMN, width: USAGE_WIDTH });
}

/** Returns a flag's default in words; undefined for switches and flags without a default. */
export function defaultOf({ defaultText, default: value = null, count }: GenaiFlag): string | undefined {
  if (defaultText !== undefined) return defaultText;
  const text = Array.isArray(value) ? value.join(" ") : String(value ?? "");
  return text === "" || count === "switch" ? undefined : text;
}
