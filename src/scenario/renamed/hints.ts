import { nearestName } from "../../plan/nearest-name.ts";
import { EXAMPLES, FUNCTIONS, IN_DATA, type Meant, OPTIONS } from "./names.ts";

/** Hints for names that the language does not have, and for what is missing. */

/** The beginning of hints that are code, which data does not have. */
export const CODE_HINT = "Write it like ";

/** How a scenario is written. */
export type Notation = "code" | "data";

/** Returns how to write a builder that YAML and JSON do not have; undefined for a name that is just unknown. */
export function renamedInData(name: string): string | undefined {
  const found = IN_DATA.get(name);
  return found === undefined ? undefined : `Write ${found}.`;
}

/** Returns how to write a function that the API does not have; undefined for a name that is just unknown. */
export function renamedFunction(name: string): string | undefined {
  const found = FUNCTIONS.get(name);
  return found === undefined ? undefined : `Write ${found}.`;
}

/**
 * Returns how to write an option that the language does not have; undefined for a name that is just unknown.
 * @param keys its path @param notation how the scenario is written. Default: code @param known the options that there are. Default: not known
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

/** Like {@link renamedOption}, also for a name that is only near to one that others have: `concurrent`. */
export function guessedOption(keys: readonly string[], notation: Notation = "code"): string | undefined {
  const names = [...OPTIONS.keys()].filter((name) => !/[.:]/.test(name));
  const near = nearestName(toCamelCase(keys.at(-1) ?? ""), names);
  const guessed = near === undefined ? undefined : [...keys.slice(0, -1), near];
  return renamedOption(keys, notation) ?? (guessed && renamedOption(guessed, notation));
}

/** Returns how to write an object with a field that has another tool's name; undefined for other values. */
export function renamedIn(given: unknown): string | undefined {
  const keys = Object.keys(typeof given === "object" ? { ...given } : {});
  return keys.flatMap((key) => guessedOption(["", key]) ?? [])[0];
}

/** Returns the name of the option that was meant, for one that the language does not have; undefined for a name that is just unknown. */
export function meantName(keys: readonly string[]): string | undefined {
  const [code = ""] = [findOption(keys) ?? []].flat();
  return /^\w+/.exec(code)?.[0];
}

function findOption(keys: readonly string[]): Meant | undefined {
  const name = toCamelCase(keys.at(-1) ?? "");
  const owner = /^\d+$/.test(keys.at(-2) ?? "") ? `${keys.at(-3)}[]` : (keys.at(-2) ?? "scenario");
  return OPTIONS.get(`${owner}.${name}`) ?? OPTIONS.get(name);
}

/** Returns a hint for code as one for data; undefined for a hint that is not one of these. */
export function hintForData(hint: string): string | undefined {
  const found = [...OPTIONS.values()].find((meant) => formatMeant(meant, "code") === hint);
  return found === undefined ? undefined : formatMeant(found, "data");
}

/** Returns what to write for a field that is missing; undefined when there is no example. @param keys its path */
export function exampleOf(keys: readonly string[], notation: Notation = "code"): string | undefined {
  const found = EXAMPLES.get(keys.at(-1) ?? "");
  return found === undefined ? undefined : formatMeant(found, notation);
}

function formatMeant(meant: Meant, notation: Notation): string {
  const [code, data] = typeof meant === "string" ? [meant, meant] : meant;
  return `Write ${notation === "code" ? code : data}.`;
}

/** The command lines of others have `request-count` and `request_count`. */
function toCamelCase(name: string): string {
  return name.replace(/[-_]+([a-z])/g, (_, letter: string) => letter.toUpperCase());
}
