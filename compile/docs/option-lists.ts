import type { Flag } from "../../src/cli/flags.ts";
import { defaultOf } from "../../src/cli/genai-perf/help.ts";
import type { GenaiFlag, SubcommandName, ValueKind } from "../../src/cli/genai-perf/options/flags.ts";
import { sectionsOf } from "../../src/cli/genai-perf/options/subcommand-flags.ts";
import { FLAG_HELP, type FlagGroup } from "../../src/cli/perf-analyzer/flag-help.ts";
import { flagName, laterFlags, OBEYED_FLAGS } from "../../src/cli/perf-analyzer/flags.ts";
import { formatTable } from "./table.ts";

/** The option lists of the guides, made from the option tables of the commands. */

/** An option as a guide lists it. */
interface ListedOption {
  readonly names: readonly string[];
  /** What stands for its value. Absent for a switch. */
  readonly value?: string | undefined;
  /** The only values there are. */
  readonly choices?: readonly (string | number)[] | undefined;
  readonly help: string;
  readonly unit?: string | undefined;
  readonly default?: string | undefined;
  readonly isRepeatable?: boolean | undefined;
  readonly isOwn?: boolean | undefined;
}

const PERF_ANALYZER_GROUPS: Readonly<Record<FlagGroup, string>> = {
  general: "What to measure",
  measurement: "Load and measurement",
  input: "Input data",
  server: "Server",
  telemetry: "The server's metrics and trace settings",
  output: "Results",
  deprecated: "Deprecated",
  rampart: "Rampart's own",
};

/** Every option of perf_analyzer mode. */
export function listPerfAnalyzerOptions(): string {
  const groups = Object.entries(PERF_ANALYZER_GROUPS).map(([group, title]) =>
    formatGroup(
      title,
      OBEYED_FLAGS.flatMap((flag) => {
        const said = FLAG_HELP[flagName(flag)];
        if (said?.group !== group) return [];
        const names = [flag.short === undefined ? "" : `-${flag.short}`, flag.name === "" ? "" : `--${flag.name}`];
        return [{ ...said, names: names.filter((name) => name !== ""), value: flag.value, isOwn: flag.isOwn }];
      }),
    ),
  );
  const later = laterFlags().map((flag) => `\`${flagName(flag)}\``);
  return [...groups, `Recognised, but refused unless they have their default value: ${later.join(", ")}.`].join("\n\n");
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
  return subcommands
    .flatMap((subcommand) =>
      sectionsOf(subcommand).map(({ group, flags }) => {
        const added = flags.filter(({ names, help }) => !listed.has(names[0] + help));
        for (const { names, help } of added) listed.add(names[0] + help);
        const options = added.map((flag) => ({
          names: flag.names,
          value: formatValue(flag),
          choices: flag.choices,
          help: flag.isLater === true ? `${flag.help} Not supported yet.` : flag.help,
          unit: flag.unit,
          default: defaultOf(flag),
          isRepeatable: flag.shape === "append",
          isOwn: flag.isOwn,
        }));
        return formatGroup(`${subcommand}: ${group === "Rampart" ? "Rampart's own" : group}`, options);
      }),
    )
    .filter((text) => text !== "")
    .join("\n\n");
}

const VALUES: Readonly<Record<ValueKind, string>> = {
  text: "TEXT",
  integer: "N",
  positive: "N",
  decimal: "NUMBER",
  file: "FILE",
};

/** The usage of argparse has the option's name in capitals here, which says nothing. */
function formatValue({ shape, kind, choices }: GenaiFlag): string | undefined {
  const value = choices === undefined ? VALUES[kind] : "NAME";
  if (shape === "switch") return undefined;
  return shape === "some" || shape === "any" ? `${value} …` : value;
}

/** The options of one of Rampart's own commands. */
export function listOwnOptions(command: string, flags: readonly Flag[]): string {
  return formatGroup(
    `rampart ${command}`,
    flags.map(({ name, short, value, choices, default: preset, help }) => ({
      names: [...(short === undefined ? [] : [`-${short}`]), `--${name}`],
      value,
      choices,
      help,
      default: preset,
    })),
  );
}

/** Empty where there is no option. */
function formatGroup(title: string, options: readonly ListedOption[]): string {
  if (options.length === 0) return "";
  const rows = options.map((option) => [formatNames(option), describe(option)]);
  return `### ${title}\n\n${formatTable(["option", "meaning"], rows)}`;
}

function formatNames({ names, value, isOwn }: ListedOption): string {
  const spelled = names.map(
    (name, index) => `\`${index === names.length - 1 && value !== undefined ? `${name} ${value}` : name}\``,
  );
  return `${spelled.join(", ")}${isOwn === true ? " *" : ""}`;
}

function describe({ help, choices, unit, default: preset, isRepeatable }: ListedOption): string {
  return [
    help,
    ...(choices === undefined ? [] : [`One of ${choices.join(", ")}.`]),
    ...(unit === undefined ? [] : [`In ${unit}.`]),
    ...(preset === undefined ? [] : [`Default: ${preset}.`]),
    ...(isRepeatable === true ? ["May be repeated."] : []),
  ].join(" ");
}
