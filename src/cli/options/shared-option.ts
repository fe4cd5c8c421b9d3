import { durationHint } from "../../plan/nearest-name.ts";
import type { OutputFilesPlan } from "../../plan/output-files-plan.ts";
import { msToSec, nsToMs, parseDurationNs, parsePercent } from "../../plan/units.ts";

/** What an option of Rampart's is that several commands have, and what its value says. The options are in `shared-options.ts`. */

/** Rampart's own commands that measure. */
export const COMMANDS = ["run", "http", "llm", "triton"] as const;

/** Those that find out by themselves what answers at an address. */
export const BY_URL = ["llm", "triton"] as const;

/** The commands and modes that measure. */
export const MEASURING = [...COMMANDS, "perf_analyzer", "genai-perf"] as const;

/** What offers options. */
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

/** How its value is read, on all of them: a duration is `10s`, a percentage `1%` or 0, and the file `-` is standard output. */
type Kind = "switch" | "file" | "duration" | "percent" | "whole" | "decimal" | "choice" | "text";

/** One option. */
export interface SharedOption {
  /** Long name without dashes. */
  readonly name: string;
  /** Letter in Rampart's commands. */
  readonly short?: string;
  readonly help: string;
  readonly kind: Kind;
  /** Placeholder of the value. Default: that of its kind. */
  readonly value?: string;
  /** Path in the Plan of what it sets. Absent: the command itself does what it says. */
  readonly setting?: string | undefined;
  /** The value that a switch puts there. Default: true. */
  readonly puts?: number | boolean;
  readonly choices?: readonly string[];
  /** Bounds of a number. */
  readonly min?: number;
  readonly max?: number;
  readonly unit?: string;
  /** A number to show in hints. */
  readonly example?: number;
  /** The plan's value without the option; durations in milliseconds. Absent: none. */
  readonly default?: number | string | undefined;
  /** Describes what applies without the option, if there is no `default`. */
  readonly defaultText?: string;
  /** What a text stands for in the plan. Absent: itself. */
  readonly resolve?: (text: string) => PlanValue;
  /** Names that others give it, with dashes: the error for such a name suggests its own. */
  readonly meant?: readonly string[];
  /** What to write for other names that stand for a use of it, by these names. */
  readonly meantAs?: Readonly<Record<string, string>>;
  /** Whether each time it is given adds a text to a list in the plan. Without a setting, the command itself knows. */
  readonly isRepeatable?: true;
  /** Whether it says what to measure: help shows it before the command's other options. */
  readonly isFirst?: boolean;
  /** Whether help shows it on the first screen. */
  readonly isCommon?: boolean;
  /** Of a file: the end of its name where none is given; the rest is that of the command's input. Absent: a name is needed. */
  readonly ending?: string;
  /** What offers it. Absent: everything that measures. */
  readonly doors?: readonly Door[];
  /** What is different on one of them. */
  readonly differs?: Partial<Record<Door, Partial<SharedOption>>>;
}

/** `differs` of an option that is not on the first screen of these, which shows what is asked most, and fits. */
export const NOT_SHOWN = { llm: { isCommon: false }, triton: { isCommon: false } } as const;

/** The value that an option puts into a plan, or why it cannot and the fix; `given` is the text where it is one of several. */
export type PlanValue =
  | { readonly value: unknown }
  | { readonly message: string; readonly hint: string; readonly given?: string };

/** What was read for an option: a text, a number, milliseconds, percent, true for a switch, or all texts of one that may be repeated. */
export type GivenValue = string | number | true | readonly string[];

/** The placeholder of a value, by its kind. */
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

/** Describes what applies without an option; undefined if that is nothing. @param hasUnit whether the unit of a number is part of it */
export function defaultTextOf(option: SharedOption, hasUnit: boolean): string | undefined {
  const { kind, default: value, defaultText, unit } = option;
  if (value === undefined) return defaultText;
  if (kind === "duration") return formatNotation(kind, value as number);
  return hasUnit && unit !== undefined ? `${value} ${unit}` : String(value);
}

/** The kinds of values with a notation of their own. */
export type Notation = "duration" | "percent";

/** Why a text is not a value, in the words of the mode if it has them, and the fix. */
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

/** Writes milliseconds or percent as {@link readNotation} reads them. */
export function formatNotation(kind: Notation, value: number): string {
  if (kind === "percent") return value === 0 ? "0" : `${Number(value.toPrecision(12))}%`;
  return value < 1000 ? `${value}ms` : `${msToSec(value)}s`;
}

/** Standard output as a file. */
export const STDOUT_FILE = "/dev/stdout";

/** Returns the path of an output file: `-` stands for standard output. */
export function toOutputPath<T extends string | undefined>(path: T): T | typeof STDOUT_FILE {
  return path === "-" ? STDOUT_FILE : path;
}

/** Returns what an option puts into a plan. */
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
