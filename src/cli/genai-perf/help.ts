import { ORIGINAL_TYPE_NAMES, OWN_TYPE_NAMES } from "./endpoints.ts";
import { fieldOf } from "./options/fields.ts";
import type { FlagSection, GenaiFlag, SubcommandName } from "./options/flags.ts";
import { HELP_FLAG, TOP_FLAGS } from "./options/parse.ts";
import { defaultSettings, getSetting } from "./options/settings.ts";
import { sectionsOf } from "./options/subcommand-flags.ts";
import { formatUsage, formatValue, WIDTH } from "./usage.ts";

/** The help of the tool and of each subcommand, made from the flag tables. */

const HELP_COLUMN = 24;

const ABOUT: Readonly<Record<SubcommandName, string>> = {
  config:
    "Runs what a YAML file says: a profile, or an analysis when the file has analyze, or a merge when it has process.",
  profile: "Measures a generative model on a server under one load.",
  analyze: "Measures a generative model again and again while one thing is varied.",
  "create-template": "Writes a YAML file with all options and their defaults, for the subcommand config.",
  "process-export-files": "Merges the profile exports of several runs into one result.",
};

/** The whole text of a subcommand, or of the tool when none is named. */
export function formatHelp(subcommand: SubcommandName | undefined): string {
  if (subcommand === undefined) return formatTopHelp();
  const more = [
    ...(subcommand === "create-template" || subcommand === "process-export-files"
      ? []
      : [
          "",
          ...wrap(
            `Endpoint types: ${ORIGINAL_TYPE_NAMES.join(", ")}; of Rampart's own: ${OWN_TYPE_NAMES.join(", ")}.`,
            WIDTH,
          ),
        ]),
    "",
    ...wrap(
      "Flags may be abbreviated, except Rampart's own. What follows -- is read as flags of perf_analyzer, and wins over what stands before; not model, URL, endpoint, input data and profile export. Exit codes: 0 done, 1 failed, 2 wrong usage.",
      WIDTH,
    ),
  ];
  return [
    formatUsage(subcommand),
    ...wrap(ABOUT[subcommand], WIDTH),
    "",
    "options:",
    ...formatFlag(HELP_FLAG),
    ...sectionsOf(subcommand).flatMap(formatSection),
    ...more,
    "",
  ].join("\n");
}

function formatTopHelp(): string {
  return [
    formatUsage(undefined),
    "Measures generative models on inference servers; takes the command lines of NVIDIA's GenAI-Perf.",
    "",
    "subcommands:",
    ...Object.entries(ABOUT).flatMap(([name, about]) => formatRow(name, about)),
    "",
    "options:",
    ...TOP_FLAGS.flatMap(formatFlag),
    "",
  ].join("\n");
}

function formatSection({ group, flags }: FlagSection): string[] {
  const title = group === "Rampart" ? "Of Rampart's own" : group;
  return ["", `${title}:`, ...flags.flatMap(formatFlag)];
}

function formatFlag(flag: GenaiFlag): string[] {
  const said = defaultOf(flag);
  const notes = [
    ...(flag.unit === undefined ? [] : [`In ${flag.unit}.`]),
    ...(flag.shape === "append" ? ["May be repeated."] : []),
    ...(said === undefined ? [] : [`Default: ${said}.`]),
    ...(flag.isLater === true ? ["Not supported yet."] : []),
  ];
  const names = flag.names.map((name) => `${name}${formatValue(flag)}`).join(", ");
  return formatRow(names, [flag.help, ...notes].join(" "));
}

/** A flag's default in words; undefined for switches and where there is none. */
export function defaultOf(flag: GenaiFlag): string | undefined {
  if (flag.default !== undefined) return flag.default;
  if (flag.at === undefined || flag.shape === "switch") return undefined;
  const value = getSetting(defaultSettings(), flag.at);
  if (value === null || value === "" || (Array.isArray(value) && value.length === 0)) return undefined;
  return Array.isArray(value) ? value.join(" ") : String(value);
}

/** The range a flag's value must be in, as its field says. */
export function rangeOf(flag: GenaiFlag): { readonly min?: number; readonly max?: number } {
  const field = flag.at === undefined ? undefined : fieldOf(flag.at);
  return {
    ...(field?.min === undefined ? {} : { min: field.min }),
    ...(field?.max === undefined ? {} : { max: field.max }),
  };
}

function formatRow(left: string, text: string): string[] {
  const lines = wrap(text, WIDTH - HELP_COLUMN);
  const head = `  ${left}`;
  const first = head.length <= HELP_COLUMN - 2 ? `${head.padEnd(HELP_COLUMN)}${lines.shift() ?? ""}` : head;
  return [first, ...lines.map((line) => " ".repeat(HELP_COLUMN) + line)];
}

function wrap(text: string, width: number): string[] {
  const lines: string[] = [];
  let line = "";
  for (const word of text.split(" ")) {
    if (line !== "" && line.length + 1 + word.length > width) {
      lines.push(line);
      line = word;
    } else line = line === "" ? word : `${line} ${word}`;
  }
  return line === "" ? lines : [...lines, line];
}
