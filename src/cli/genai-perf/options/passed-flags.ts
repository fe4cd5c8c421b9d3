import type { Problem } from "../../../plan/problem.ts";
import { parseOptions } from "../../perf-analyzer/read-settings.ts";
import { LOAD_NAMES, type LoadName, loadOf } from "../loads.ts";

/** The flags of perf_analyzer after `--`, which its option table has parsed, except a load that genai-perf has too. Plain data. */
export interface PassedFlags {
  readonly given: readonly PassedFlag[];
  readonly positional: readonly string[];
  readonly problems: readonly Problem[];
}

/** One of them. */
export interface PassedFlag {
  /** The option's first name. */
  readonly name: string;
  /** As the user typed it. */
  readonly typed: string;
  /** Undefined for a switch without a word. */
  readonly value: string | undefined;
}

/** Parses the arguments after `--`. */
export function parsePassed(args: readonly string[]): PassedFlags {
  const { given, positional, problems } = parseOptions(args);
  return { given: given.map(({ option, ...flag }) => ({ name: option.names[0], ...flag })), positional, problems };
}

/** The flags of loads that genai-perf does not have, and the names of their folders. */
const PASSED_ONLY: Readonly<Record<string, string>> = {
  "--request-intervals": "request_intervals",
  "--periodic-concurrency-range": "periodic_concurrency",
};
/** The loads by perf_analyzer's flag; undefined for one that genai-perf does not have. */
const LOADS = new Map<string, LoadName | undefined>([
  ...LOAD_NAMES.map((kind) => [loadOf(kind).passedFlag, kind] as const),
  ...Object.keys(PASSED_ONLY).map((flag) => [flag, undefined] as const),
]);

/** Reports whether there is nothing after `--`. */
export function isEmpty({ given, positional, problems }: PassedFlags): boolean {
  return given.length + positional.length + problems.length === 0;
}

/** Reports whether a flag gives a load. */
export function givesLoad({ name }: PassedFlag): boolean {
  return LOADS.has(name);
}

/** Returns genai-perf's load of a flag; undefined if it has no such load. */
export function loadNameOf({ name }: PassedFlag): LoadName | undefined {
  return LOADS.get(name);
}

/** Reports whether a flag gives a load that genai-perf does not have. */
export function isPassedOnlyLoad({ name }: PassedFlag): boolean {
  return Object.hasOwn(PASSED_ONLY, name);
}

/** Returns the word for names of folders of a load that only flags after `--` can give; undefined without one. */
export function passedLoadName({ given }: PassedFlags): string | undefined {
  const last = given.findLast(isPassedOnlyLoad);
  return last && PASSED_ONLY[last.name];
}

/** Reports whether a flag is given. @param name the first name of the option */
export function isPassed({ given }: PassedFlags, name: string): boolean {
  return given.some((flag) => flag.name === name);
}

/** Returns the value of a flag; undefined without the flag. @param name the first name of the option */
export function passedValueOf({ given }: PassedFlags, name: string): string | undefined {
  return given.findLast((flag) => flag.name === name)?.value;
}

/** Returns a flag as the user typed it, with its value as a separate word. */
export function wordsOf({ typed, value }: PassedFlag): string[] {
  return value === undefined ? [typed] : [typed, value];
}
