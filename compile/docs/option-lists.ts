import type { Flag } from "../../src/cli/flags.ts";
import { defaultOf } from "../../src/cli/genai-perf/help.ts";
import { describeOption, type GenaiFlag } from "../../src/cli/genai-perf/options/genai-option.ts";
import { flagsOf, type SubcommandName } from "../../src/cli/genai-perf/options/subcommands.ts";
import type { Option } from "../../src/cli/options/option.ts";
import { OPTIONS } from "../../src/cli/perf-analyzer/options/table.ts";
import { formatTable } from "./table.ts";

/** The option lists of the guides, made from the option tables of the commands. */

/** An option as a guide lists it. */
type ListedOption = Pick<Option<never, never>, "names" | "help" | "isRepeatable" | "isRampart"> & {
  readonly group: string;
  /** What stands for its value. Absent for a switch. */
  readonly value?: string | undefined;
  /** The only values there are. */
  readonly choices?: readonly (string | number)[] | undefined;
  readonly unit?: string | undefined;
  readonly defaultText?: string | undefined;
};

/** Every option of perf_analyzer mode. Values that are choices show them. */
export function listPerfAnalyzerOptions(): string {
  return formatGroups(OPTIONS.map(({ choices: _, ...option }) => option));
}

/** Every option of GenAI-Perf mode: those of `profile`, then what the other subcommands add. */
export function listGenaiPerfOptions(): string {
  const subcommands: readonly SubcommandName[] = [
    "profile",
    "analyze",
    "config",
    "create-template",
    "process-export-files",
  ];
  const listed = new Set<string>();
  const options = subcommands.flatMap((subcommand) =>
    flagsOf(subcommand).flatMap((flag): ListedOption[] => {
      const key = flag.names[0] + flag.help;
      if (listed.has(key)) return [];
      listed.add(key);
      const { names, choices, ownChoices = [], isRepeatable = false, isRampart = false } = flag;
      const group = `${subcommand}: ${flag.group === "Rampart" ? "Rampart's own" : flag.group}`;
      const value = formatValue(flag);
      return [
        {
          names,
          group,
          value,
          choices: choices && [...choices, ...ownChoices],
          isRepeatable,
          isRampart,
          help: describeOption(flag),
          defaultText: defaultOf(flag),
        },
      ];
    }),
  );
  return formatGroups(options);
}

/** By the kind of the value; others are text. */
const VALUES: Readonly<Record<string, string>> = {
  file: "FILE",
  path: "PATH",
  integer: "N",
  integers: "N",
  positive: "N",
  decimal: "NUMBER",
  decimals: "NUMBER",
};

/** The usage of argparse has the option's name in capitals here, which says nothing. */
function formatValue({ count, kind, choices }: GenaiFlag): string | undefined {
  const value = choices === undefined ? (VALUES[kind] ?? "TEXT") : "NAME";
  if (count === "switch") return undefined;
  return count === "some" || count === "any" ? `${value} …` : value;
}

/** The options of one of Rampart's own commands. */
export function listOwnOptions(command: string, flags: readonly Flag[]): string {
  return formatGroups(
    flags.map(({ name, short, value, choices, default: given, defaultText = given, help, isRepeatable }) => ({
      names: short === undefined ? [`--${name}`] : [`-${short}`, `--${name}`],
      group: `rampart ${command}`,
      value,
      choices,
      help,
      defaultText,
      isRepeatable: isRepeatable === true,
    })),
    "##",
  );
}

function formatGroups(options: readonly ListedOption[], level = "###"): string {
  const groups = Map.groupBy(options, ({ group }) => group);
  return Array.from(groups, ([title, members = []]) => {
    const rows = members.map((option) => [formatNames(option), describe(option)]);
    return `${level} ${title}\n\n${formatTable(["option", "meaning"], rows)}`;
  }).join("\n\n");
}

function formatNames({ names, value, isRampart }: ListedOption): string {
  const isLong = (name: string): number => Number(name.startsWith("--"));
  const shortFirst = names.toSorted((a, b) => isLong(a) - isLong(b));
  const spelled = shortFirst.map(
    (name, index) => `\`${index === names.length - 1 && value !== undefined ? `${name} ${value}` : name}\``,
  );
  return `${spelled.join(", ")}${isRampart === true ? " *" : ""}`;
}

function describe({ help, choices, unit, defaultText, isRepeatable }: ListedOption): string {
  return [
    help,
    ...(choices === undefined ? [] : [`One of ${choices.join(", ")}.`]),
    ...(unit === undefined ? [] : [`In ${unit}.`]),
    ...(defaultText === undefined ? [] : [`Default: ${defaultText}.`]),
    ...(isRepeatable === true ? ["May be repeated."] : []),
  ].join(" ");
}
