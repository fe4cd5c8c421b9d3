import { type ParsedLine, parseOptions } from "../../perf-analyzer/options/table.ts";
import { LOAD_NAMES, type LoadName, loadOf } from "../loads.ts";

/** The flags of perf_analyzer after `--`, which were parsed with its option table, except loads that genai-perf has too. */
export type PassedFlags = Pick<ParsedLine, "given" | "positional" | "problems">;

/** One of these flags. */
export type PassedFlag = PassedFlags["given"][number];

/** Parses the arguments after `--`. */
export function parsePassed(args: readonly string[]): PassedFlags {
  const { given, positional, problems } = parseOptions(args);
  return { given, positional, problems };
}

/** Returns the first name of a flag. */
export function nameOfPassed({ option }: Pick<PassedFlag, "option">): string {
  return option.names[0];
}

/** The flags of loads that genai-perf does not have, and the names of their folders. */
const PASSED_ONLY: Readonly<Record<string, string>> = {
  "--request-intervals": "request_intervals",
  "--periodic-concurrency-range": "periodic_concurrency",
};
/** Loads by perf_analyzer's flag; undefined for a load that genai-perf lacks. */
const LOADS = new Map<string, LoadName | undefined>([
  ...LOAD_NAMES.map((kind) => [loadOf(kind).passedFlag, kind] as const),
  ...Object.keys(PASSED_ONLY).map((flag) => [flag, undefined] as const),
]);

/** Reports whether nothing is given after `--`. */
export function isEmpty({ given, positional, problems }: PassedFlags): boolean {
  return given.length + positional.length + problems.length === 0;
}

/** Reports whether a flag sets a load. */
export function givesLoad(flag: Pick<PassedFlag, "option">): boolean {
  return LOADS.has(nameOfPassed(flag));
}

/** Returns genai-perf's load of a flag; undefined if it has no such load. */
export function loadNameOf(flag: PassedFlag): LoadName | undefined {
  return LOADS.get(nameOfPassed(flag));
}

/** Reports whether a flag sets a load that genai-perf lacks. */
export function isPassedOnlyLoad(flag: PassedFlag): boolean {
  return Object.hasOwn(PASSED_ONLY, nameOfPassed(flag));
}

/** Returns the word in names of folders for a load that can be set only after `--`; undefined without such a load. */
export function passedLoadName({ given }: PassedFlags): string | undefined {
  const last = given.findLast(isPassedOnlyLoad);
  return last && PASSED_ONLY[nameOfPassed(last)];
}

/** Reports whether a flag is given. @param name the first name of the option */
export function isPassed({ given }: PassedFlags, name: string): boolean {
  return given.some((flag) => nameOfPassed(flag) === name);
}

/** Returns the value of a flag; undefined without the flag. @param name the first name of the option */
export function passedValueOf({ given }: PassedFlags, name: string): string | undefined {
  return given.findLast((flag) => nameOfPassed(flag) === name)?.value;
}

/** Returns a flag as the user typed it, with its value as a separate word. */
export function wordsOf({ typed, value }: PassedFlag): string[] {
  return value === undefined ? [typed] : [typed, value];
}
