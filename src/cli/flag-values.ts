import { type Problem, problem } from "../plan/problem.ts";
import type { Duration } from "../plan/units.ts";
import type { FlagValues } from "./flags.ts";
import { type Notation, readNotation } from "./options/shared-option.ts";

/** Reads a flag with a duration above 0; undefined if it is not given or not valid. @param problems receives a value that is not valid */
export function readDuration(flags: FlagValues, name: string, problems: Problem[]): Duration | undefined {
  const text = flags.text(name);
  return text === undefined || readAs("duration", name, text, problems) === undefined ? undefined : (text as Duration);
}

/** Like {@link readDuration}, for a percentage up to 100 %. */
export function readPercent(name: string, text: string | undefined, problems: Problem[]): number | undefined {
  return text === undefined ? undefined : readAs("percent", name, text, problems);
}

/** Reads the text of a flag in a notation. @param problems receives a value that is not valid */
export function readAs(kind: Notation, name: string, text: string, problems: Problem[]): number | undefined {
  const read = readNotation(kind, text);
  if (typeof read === "number") return read;
  problems.push(problem("invalid-value", `--${name}`, read.message, read.hint, text));
  return undefined;
}

/** Range of numbers that a flag accepts. */
export interface NumberRange {
  readonly isWhole: boolean;
  readonly min: number;
  readonly max?: number | undefined;
  /** Example for the hint. Default: `min`. */
  readonly example?: number | undefined;
}

/**
 * Reads a flag with a number; undefined if it is not given or not valid.
 * @param text the value. Default: the given value. For a flag with a default, pass `flags.value(name)`
 * @param problems receives a value that is not valid
 */
export function readNumber(
  flags: FlagValues,
  name: string,
  { isWhole, min, max, example = min }: NumberRange,
  problems: Problem[],
  text = flags.text(name),
): number | undefined {
  if (text === undefined) return undefined;
  const value = text.trim() === "" ? Number.NaN : Number(text);
  const most = max ?? (isWhole ? Number.MAX_SAFE_INTEGER : Number.MAX_VALUE);
  if (value >= min && value <= most && (!isWhole || Number.isInteger(value))) return value;
  const range = max === undefined ? `of ${min} or more` : `from ${min} to ${max}`;
  const isHuge = max === undefined && value > most;
  const message = isHuge ? "is too large" : `is not a ${isWhole ? "whole number" : "number"} ${range}`;
  const isList = flags.knows("sweep") && /^\d+(?:[,:]\d+)+$/.test(text);
  const hint = isList ? `Write --sweep ${name}=${text}.` : `Give a number, such as ${example}.`;
  problems.push(problem("invalid-value", `--${name}`, message, hint, text));
  return undefined;
}

/** Reads `--header "NAME: VALUE"`, which may be given several times. @param problems receives wrong and repeated headers */
export function readHeaders(flags: FlagValues, problems: Problem[]): Record<string, string> {
  const headers = new Map<string, string>();
  for (const text of flags.texts("header")) {
    const colon = text.indexOf(":");
    const name = text.slice(0, Math.max(colon, 0)).trim();
    if (colon <= 0)
      problems.push(problem("invalid-value", "--header", "is not a header", 'Write "NAME: VALUE".', text));
    else if ([...headers.keys()].some((given) => given.toLowerCase() === name.toLowerCase()))
      problems.push(problem("conflict", "--header", `gives ${name} twice`, "Join the values in one header.", text));
    else headers.set(name, text.slice(colon + 1).trim());
  }
  return Object.fromEntries(headers);
}
