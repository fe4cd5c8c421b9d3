import { nearestName } from "../../plan/nearest-name.ts";
import { EXAMPLES, FUNCTIONS, IN_DATA, type Meant, OPTIONS } from "./names.ts";

/** Hints for unknown names that have a replacement, and for missing fields. */

/** Beginning of hints that contain code, which are not for data. */
export const CODE_HINT = "Write it like ";

/** Notation of a scenario. */
export type Notation = "code" | "data";

/** Returns the replacement for an unknown builder in YAML and JSON; undefined if there is none. */
export function renamedInData(name: string): string | undefined {
  const found = IN_DATA.get(name);
  return found === undefined ? undefined : `Write ${found}.`;
}

/** Returns the replacement for an unknown function of the API; undefined if there is none. */
export function renamedFunction(name: string): string | undefined {
  const found = FUNCTIONS.get(name);
  return found === undefined ? undefined : `Write ${found}.`;
}

/**
 * Returns the replacement for an unknown option; undefined if there is none.
 * @param keys its path @param notation notation of the scenario. Default: code @param known the existing options. Default: not known
 */
export function renamedOption(
  keys: readonly string[],
  notation: Notation = "code",
  known: readonly string[] = [],
): string | undefined {
  const name = toCamelCase(keys.at(-1) ?? "");
  const found = known.flatMap((one) => OPTIONS.get(`${one}:${name}`) ?? [])[0] ?? findOption(keys);
  return found === undefined ? undefined : formatMeant(found, notation);
}

/** Like {@link renamedOption}, but also for a name that is similar to one of other tools: `concurrent`. */
export function guessedOption(keys: readonly string[], notation: Notation = "code"): string | undefined {
  const names = [...OPTIONS.keys()].filter((name) => !/[.:]/.test(name));
  const near = nearestName(toCamelCase(keys.at(-1) ?? ""), names);
  const guessed = near === undefined ? undefined : [...keys.slice(0, -1), near];
  return renamedOption(keys, notation) ?? (guessed && renamedOption(guessed, notation));
}

/** Returns the right way to write an object that has a field with another tool's name; undefined for other values. */
export function renamedIn(given: unknown): string | undefined {
  const keys = Object.keys(typeof given === "object" ? { ...given } : {});
  return keys.flatMap((key) => guessedOption(["", key]) ?? [])[0];
}

/** Returns the name of the existing option for an unknown one; undefined if there is none. */
export function meantName(keys: readonly string[]): string | undefined {
  const [code = ""] = [findOption(keys) ?? []].flat();
  return /^\w+/.exec(code)?.[0];
}

function findOption(keys: readonly string[]): Meant | undefined {
  const name = toCamelCase(keys.at(-1) ?? "");
  const owner = /^\d+$/.test(keys.at(-2) ?? "") ? `${keys.at(-3)}[]` : (keys.at(-2) ?? "scenario");
  return OPTIONS.get(`${owner}.${name}`) ?? OPTIONS.get(name);
}

/** Converts a hint for code to one for data; undefined for other hints. */
export function hintForData(hint: string): string | undefined {
  const found = [...OPTIONS.values()].find((meant) => formatMeant(meant, "code") === hint);
  return found === undefined ? undefined : formatMeant(found, "data");
}

/** Returns an example for a missing field; undefined if there is none. @param keys its path */
export function exampleOf(keys: readonly string[], notation: Notation = "code"): string | undefined {
  const found = EXAMPLES.get(keys.at(-1) ?? "");
  return found === undefined ? undefined : formatMeant(found, notation);
}

function formatMeant(meant: Meant, notation: Notation): string {
  const [code, data] = typeof meant === "string" ? [meant, meant] : meant;
  return `Write ${notation === "code" ? code : data}.`;
}

/** Converts to camel case: the command lines of other tools have `request-count` and `request_count`. */
function toCamelCase(name: string): string {
  return name.replace(/[-_]+([a-z])/g, (_, letter: string) => letter.toUpperCase());
}
