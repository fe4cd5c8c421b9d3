import { durationHint } from "../../plan/nearest-name.ts";
import type { OutputFilesPlan } from "../../plan/output-files-plan.ts";
import { msToSec, nsToMs, parseDurationNs, parsePercent } from "../../plan/units.ts";

/** An option of Rampart that several commands share, and its value. The options are in `shared-options.ts`. */

/** Rampart's own commands that measure. */
export const COMMANDS = ["run", "http", "llm", "triton"] as const;

/** Commands that identify the server at an address themselves. */
export const BY_URL = ["llm", "triton"] as const;

/** The commands and modes that measure. */
export const MEASURING = [...COMMANDS, "perf_analyzer", "genai-perf"] as const;

/** A command or mode that offers options. */
export type Door =
  | (typeof MEASURING)[number]
  | "agent"
  | "chat"
  | "compare"
  | "doctor"
  | "init"
  | "k8s"
  | "mock"
  | "report";

/** Kind of value, with the same notation in all commands: a duration is `10s`, a percentage `1%` or 0. */
type Kind = "switch" | "file" | "duration" | "percent" | "whole" | "decimal" | "choice" | "text";

/** One option. */
export interface SharedOption {
  /** Long name without dashes. */
  readonly name: string;
  /** Letter in Rampart's commands. */
  readonly short?: string;
  readonly help: string;
  readonly kind: Kind;
  /** Placeholder of the value. Default: the one of its kind. */
  readonly value?: string;
  /** Path of the setting in the Plan. Absent: the command itself handles the option. */
  readonly setting?: string | undefined;
  /** Value of a switch in the plan. Default: true. */
  readonly puts?: number | boolean;
  readonly choices?: readonly string[];
  readonly min?: number;
  readonly max?: number;
  readonly unit?: string;
  /** Example number for hints. */
  readonly example?: number;
  /** The plan's value without the option; durations in milliseconds. Absent: none. */
  readonly default?: number | string | undefined;
  /** Describes the default, if there is no `default`. */
  readonly defaultText?: string;
  /** Converts a text to the plan's value. Absent: the text itself. */
  readonly resolve?: (text: string) => PlanValue;
  /** Names in other tools, with dashes. The error for such a name suggests this option. */
  readonly meant?: readonly string[];
  /**
   * Replacements for other names that correspond to a use of this option, by these names: `--slo ttft=<200>ms` for `--ttft`. A user's
   * amount is put in place of the one in angle brackets.
   */
  readonly meantAs?: Readonly<Record<string, string>>;
  /** True if each occurrence adds a text to a list in the plan. Without a setting, the command itself handles the list. */
  readonly isRepeatable?: true;
  /** Whether it determines what is measured: help shows it before the command's other options. */
  readonly isFirst?: boolean;
  /** Whether help shows it on the first screen. */
  readonly isCommon?: boolean;
  /** For a file: the extension of its name if none is given; the rest is the name of the command's input. Absent: a name is required. */
  readonly ending?: string;
  /** Commands and modes that offer it. Absent: all that measure. */
  readonly doors?: readonly Door[];
  /** Differences in some commands or modes. */
  readonly differs?: Partial<Record<Door, Partial<SharedOption>>>;
}

/** `differs` for an option that is not on the first screen of these commands, which shows the most frequent options. */
export const NOT_SHOWN = { llm: { isCommon: false }, triton: { isCommon: false } } as const;

/** The value of an option for a plan, or a problem with its fix; `given` is the wrong one of several texts. */
export type PlanValue =
  | { readonly value: unknown }
  | { readonly message: string; readonly hint: string; readonly given?: string };

/** The value that was read: a text, a number, milliseconds, percent, true for a switch, or all texts if repeated. */
export type GivenValue = string | number | true | readonly string[];

/** Placeholders of values by kind. */
export const PLACEHOLDERS: Readonly<Record<Kind, string | undefined>> = {
  switch: undefined,
  file: "FILE|-",
  duration: "DURATION",
  percent: "PERCENT",
  whole: "N",
  decimal: "N",
  choice: "NAME",
  text: "TEXT",
};

/** Returns the key of an option's file in a plan; undefined if its value is not an output file. */
export function fileKeyOf({ kind, setting }: SharedOption): keyof OutputFilesPlan | undefined {
  return kind === "file" ? (setting?.split(".").at(-1) as keyof OutputFilesPlan | undefined) : undefined;
}

/** Describes the default of an option; undefined if there is none. @param hasUnit whether to include the unit of a number */
export function defaultTextOf(option: SharedOption, hasUnit: boolean): string | undefined {
  const { kind, default: value, defaultText, unit } = option;
  if (value === undefined) return defaultText;
  if (kind === "duration") return formatNotation(kind, value as number);
  return hasUnit && unit !== undefined ? `${value} ${unit}` : String(value);
}

/** Kinds of values with a special notation. */
export type Notation = "duration" | "percent";

/** Reason why a text is not a valid value, in the mode's words if it has them, and the fix. */
export interface Fault {
  readonly message: string;
  readonly hint: string;
}

/** Reads the text of a duration above 0 as milliseconds, or of a percentage up to 100 % as percent. */
export function readNotation(kind: Notation, text: string): number | Fault {
  if (kind === "duration") {
    const ns = parseDurationNs(text);
    if (ns !== undefined && ns > 0) return nsToMs(ns);
    const hint = 'Give a duration with its unit, such as "10s".';
    if (ns === 0) return { message: "is not longer than 0", hint };
    return { message: "is not a duration", hint: durationHint(text, hint) };
  }
  const percent = text.trim() === "0" ? 0 : parsePercent(text);
  if (percent !== undefined && percent <= 100) return percent;
  if (percent !== undefined) return { message: "is more than 100 %", hint: "Give 100% at most." };
  const number = Number(text);
  const meant = number > 0 && number < 1 ? formatNotation("percent", 100 * number) : "1%";
  return { message: "is not a percentage up to 100 %", hint: `Give it with its sign: ${meant}.` };
}

/** Formats milliseconds or percent in the notation that {@link readNotation} reads. */
export function formatNotation(kind: Notation, value: number): string {
  if (kind === "percent") return value === 0 ? "0" : `${Number(value.toPrecision(12))}%`;
  return value < 1000 ? `${value}ms` : `${msToSec(value)}s`;
}

/** Standard output as a file. */
export const STDOUT_FILE = "/dev/stdout";

/** Returns the path of an output file: `-` means standard output. */
export function toOutputPath<T extends string | undefined>(path: T): T | typeof STDOUT_FILE {
  return path === "-" ? STDOUT_FILE : path;
}

/** Returns the value of an option for a plan. */
export function toPlanValue({ kind, puts, resolve }: SharedOption, given: GivenValue): PlanValue {
  if (typeof given === "object") {
    const values = given.map((text) => resolve?.(text) ?? { value: text });
    return values.find((one) => "message" in one) ?? { value: values.map((one) => "value" in one && one.value) };
  }
  if (kind === "file") return { value: toOutputPath(String(given)) };
  if (kind === "percent") return { value: Number(given) / 100 };
  if (kind === "switch") return { value: puts ?? given };
  return resolve?.(String(given)) ?? { value: given };
}
