import { problem, UserError, userError } from "../plan/problem.ts";
import { showValue } from "../plan/show-value.ts";
import { countOf } from "../plan/units.ts";

/** Checks for arguments of untyped callers that no schema checks. */

/**
 * Rejects more arguments than a builder accepts. @param call the builder with the names of its arguments: `rate(perSec,
 * options)`
 * @param hint hint on how to correct it @throws UserError
 */
export function refuseMore(call: string, given: IArguments | readonly unknown[], hint = "Remove what is more."): void {
  const [, names = ""] = /\((.*)\)/.exec(call) ?? [];
  const most = names === "" ? 0 : names.split(",").length;
  if (given.length <= most) return;
  const message = `takes ${most === 0 ? "no arguments" : countOf(most, "argument")}`;
  throw userError("invalid-value", call, message, hint, showValue(given[most]));
}

/** Rejects options that no schema checks later: unknown options, and options that are not text. @throws UserError */
export function refuseOthers(call: string, options: unknown, names: readonly string[]): void {
  const hint = `Its options are ${names.join(" and ")}.`;
  if (typeof options !== "object" || options === null)
    throw userError("invalid-value", call, "takes options as an object", hint, showValue(options));
  const problems = Object.entries(options).flatMap(([name, value]) => {
    if (!names.includes(name)) return [problem("unknown-name", call, `has no option ${name}`, hint)];
    if (value === undefined || typeof value === "string") return [];
    return [problem("invalid-value", call, `needs text as ${name}`, hint, showValue(value))];
  });
  if (problems.length > 0) throw new UserError(problems);
}

/** Rejects a load in the place of another argument. @param hint the right order @throws UserError */
export function refuseLoad(call: string, given: unknown, hint: string): void {
  if (typeof given === "object" && given !== null && "pacing" in given)
    throw userError("invalid-value", call, "begins with another argument, not with a load", hint);
}

/** Returns options with more fields. A value that is not an object is returned unchanged, so that the schema rejects it. */
export function withFields(options: unknown, fields: object): object {
  return typeof options === "object" && options !== null ? { ...options, ...fields } : (options as object);
}
