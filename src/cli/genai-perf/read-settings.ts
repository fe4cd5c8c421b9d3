import { type Problem, problem } from "../../plan/problem.ts";
import { spellingsOf } from "../options/argparse.ts";
import type { Fault } from "../options/shared-option.ts";
import { Asked } from "./options/asked.ts";
import { readConfig } from "./options/config.ts";
import { type GenaiFlag, valueNameOf } from "./options/genai-option.ts";
import type { GivenCommand } from "./options/parse.ts";
import { readLoad, readPassed } from "./options/read-load.ts";
import { DEFAULTS, type SubcommandName } from "./options/subcommands.ts";
import { readSweep } from "./options/sweeps.ts";
import { quote, VALUE_KINDS } from "./options/value-kinds.ts";
import {
  type LastFlag,
  listChoices,
  type Subcommand,
  type ValueSource,
  ValuesBuilder,
} from "./options/values-builder.ts";
import { RuleSet } from "./rules/rule-set.ts";
import { checkTogether } from "./rules/rules.ts";
import { warnTogether } from "./rules/warnings.ts";

/** Settings from a command line and its YAML file. */
export interface ReadCommand {
  readonly kind: "settings";
  readonly asked: Asked;
  /** Whole sentences without a line break. */
  readonly warnings: readonly string[];
}

/** The settings, or all problems. */
export type SettingsResult =
  | ReadCommand
  /** argparse's errors: usage and exit code 2. */
  | {
      readonly kind: "usage";
      readonly subcommand: SubcommandName;
      readonly problems: readonly Problem[];
      /** Conflicts between the flags that could be read. */
      readonly further: readonly Problem[];
    }
  /** Errors that GenAI-Perf reports after argparse: exit code 1. */
  | { readonly kind: "config"; readonly problems: readonly Problem[] };

interface ReadFlag {
  readonly flag: GenaiFlag;
  readonly values: readonly (string | number)[];
  readonly from: ValueSource;
}

const NUMBER = "perf_analyzer.measurement.num";
/** The length of windows where a file asks for windows without one. */
const DEFAULT_INTERVAL_MS = 10_000;

/** Flags that are allowed with a configuration file without `--override-config`. */
const FREE_WITH_CONFIG: ReadonlySet<string> = new Set(["-f", "--override-config", "-v"]);

/** Reads flags and, for `config`, the file that they name. Does not throw for errors that a user can fix. */
export function readSettings(command: GivenCommand): SettingsResult {
  const { subcommand, given } = command;
  const usage: Problem[] = [];
  const flags = given.flatMap(({ option, typed, values }): ReadFlag[] => {
    const kind = option.flagKind ?? option.kind;
    const read: (string | number)[] = [];
    for (const word of values) {
      const value = readWord(option, word);
      if (typeof value === "object") {
        const message = `argument ${spellingsOf(option)}: ${value.message}`;
        usage.push(problem("invalid-value", typed, message, value.hint, word));
        return [];
      }
      read.push(value);
    }
    const isFloat = kind === "decimal" || kind === "decimals";
    return [{ flag: option, values: read, from: { place: typed, source: "flag", isFloat } }];
  });
  const result = applyFlags(command, flags);
  if (usage.length === 0) return result;
  return { kind: "usage", subcommand, problems: usage, further: findFurther(result) };
}

/** Reads a value by its kind and choices, with argparse's errors. */
function readWord({ kind, flagKind, choices, ownChoices = [] }: GenaiFlag, word: string): string | number | Fault {
  const value = VALUE_KINDS[flagKind ?? kind].readWord?.(word) ?? word;
  if (typeof value === "object" || choices === undefined) return value;
  if (choices.includes(value) || ownChoices.includes(String(value))) return value;
  const shown = typeof value === "string" ? quote(value) : value;
  return {
    message: `invalid choice: ${shown} (choose from ${listChoices(choices)})`,
    hint: `Give one of these${ownChoices.length === 0 ? "" : `, or of Rampart's own: ${ownChoices.join(", ")}`}.`,
  };
}

function applyFlags({ subcommand, passed }: GivenCommand, flags: readonly ReadFlag[]): SettingsResult {
  const builder = new ValuesBuilder(DEFAULTS);
  const effective = flags.filter((flag) => !isZeroForDefault(flag));
  // Without the file, settings that it may contain would be reported as missing.
  if (subcommand === "config" && !readFile(builder, effective)) return { kind: "config", problems: builder.problems };
  if (subcommand !== "config") builder.subcommand = subcommand;
  for (const flag of effective) readFlag(builder, flag);
  const last: LastFlag = (name) => {
    const found = effective.findLast(({ flag }) => flag.names[0] === name);
    return found === undefined ? undefined : { value: found.values[0], from: found.from };
  };
  if (subcommand !== "create-template" && subcommand !== "process-export-files") {
    readLoad(builder, last);
    readSweep(builder, last, subcommand === "analyze");
    readPassed(builder, passed);
  }
  if (subcommand === "config") builder.subcommand = inferSubcommand(builder);
  return finish(builder, flags.filter(isZeroForDefault));
}

/** Reports whether a flag counts as not given: GenAI-Perf does not distinguish 0 from a missing number. */
function isZeroForDefault({ flag, values }: ReadFlag): boolean {
  return flag.isRampart !== true && flag.count === "one" && flag.default !== 0 && values[0] === 0;
}

function finish(builder: ValuesBuilder, zeros: readonly ReadFlag[]): SettingsResult {
  if (new Asked(builder).type.alwaysStreams) builder.values.set("endpoint.streaming", true);
  const { values } = builder;
  if (values.get("perf_analyzer.measurement.mode") === "interval" && values.get(NUMBER) === null)
    values.set(NUMBER, DEFAULT_INTERVAL_MS);
  const rules = new RuleSet(builder);
  checkTogether(rules);
  const all = [...builder.problems, ...rules.problems];
  if (all.length > 0) return { kind: "config", problems: all };
  for (const { from } of zeros)
    rules.warnings.push(`${from.place} 0 has no effect: like in GenAI-Perf, 0 means that the option is not given.`);
  warnTogether(rules);
  return { kind: "settings", asked: new Asked(builder), warnings: rules.warnings };
}

/** Returns the problems that prevent a run, except argparse's errors. */
export function findFurther(result: SettingsResult): readonly Problem[] {
  if (result.kind === "usage") return result.further;
  return result.kind === "config" ? result.problems : [];
}

/** Returns whether a file exists and can be read. */
function readFile(builder: ValuesBuilder, flags: readonly ReadFlag[]): boolean {
  const file = flags.findLast(({ flag }) => flag.names[0] === "-f")?.values[0];
  const isRead = file === undefined || readConfig(builder, String(file));
  if (flags.some(({ flag }) => flag.names[0] === "--override-config")) return isRead;
  const overriding = flags.filter(({ flag }) => !FREE_WITH_CONFIG.has(flag.names[0]));
  if (overriding.length > 0)
    builder.fail(
      overriding.map(({ from }) => from.place).join(", "),
      "In order to use the CLI to override the config, the --override-config flag must be set.",
      undefined,
      "Add --override-config, or write it in the file.",
    );
  return isRead;
}

function readFlag(builder: ValuesBuilder, { flag, values, from }: ReadFlag): void {
  if (flag.read !== undefined) {
    flag.read(builder, values, from);
    return;
  }
  const isList = flag.count === "some" || flag.count === "any";
  // `--audio-depths` without a value has no effect, like in GenAI-Perf.
  if (flag.default === undefined || (isList && values.length === 0)) return;
  builder.set(valueNameOf(flag), flag.count === "switch" ? true : isList ? [...values] : values[0], from, flag);
}

function inferSubcommand(builder: ValuesBuilder): Subcommand {
  if (builder.given.has("analyze")) return "analyze";
  return builder.given.has("process.input_path") ? "process-export-files" : "profile";
}
