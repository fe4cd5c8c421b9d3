import type * as v from "valibot";
import { nearestName, nearHint } from "../../plan/nearest-name.ts";
import { type Problem, problem } from "../../plan/problem.ts";
import { hintOf } from "../../plan/schema.ts";
import { maskSecrets } from "../../plan/secrets.ts";
import { showValue } from "../../plan/show-value.ts";
import { formatCount, parseDurationNs } from "../../plan/units.ts";
import { isAssertion } from "../assertion-schema.ts";
import { loadArgumentPath, loadCallOf, loadExampleOf } from "../loads/table.ts";
import { CODE_HINT, exampleOf, guessedOption, meantName, renamedIn, renamedOption } from "../renamed/hints.ts";

/** Conversion of a schema's issues to problems in the terms of a scenario. */

/** Members of the objects that builders return. In the terms of a scenario, they are the builder itself. */
const BUILDER_PARTS: ReadonlySet<string> = new Set(["options", "values", "metric", "limit", "limits"]);

const METRIC_PARTS: ReadonlySet<string> = new Set(["key", "statistic"]);

/** The message says how to correct it. */
const NO_HINT = "";

/** A problem and its origin. */
interface Found {
  readonly problem: Problem;
  readonly given: unknown;
  /** The option that was probably meant by an unknown one. */
  readonly meant?: string | undefined;
}

/** Converts the issues of a scenario's schema. Consequences of other mistakes are left out. */
export function toProblems(issues: readonly v.BaseIssue<unknown>[]): Problem[] {
  const all = issues.map(convert);
  return all.filter((found, index) => !isConsequence(found, all[index - 1], all)).map(({ problem: one }) => one);
}

/**
 * Whether an issue disappears with another one: a second rule that a number breaks, an argument after a wrong or missing one, or a field
 * with a wrong name.
 */
function isConsequence({ problem: found, given }: Found, before: Found | undefined, all: readonly Found[]): boolean {
  const parentOf = ({ path }: Problem): string => String(path).replace(/\.[^.]*$/, "");
  if (typeof given === "number" && before?.problem.path === found.path) return true;
  if (given === undefined && before?.problem.message === found.message)
    return parentOf(before.problem) === parentOf(found);
  // Options were given in the place of the address.
  if (given === undefined && before?.problem.path === `${found.path}.url`) return true;
  if (found.code !== "missing") return false;
  const name = String(found.path).split(".").at(-1);
  return all.some(({ meant }) => meant === name);
}

/** Converts an issue of a scenario's schema. Its path has the scenario's names of options, and the names of a load's arguments. */
export function toProblem(issue: v.BaseIssue<unknown>): Problem {
  return convert(issue).problem;
}

function convert(issue: v.BaseIssue<unknown>): Found {
  const keys = keysOf(issue);
  const path = keys.join(".") || "the scenario";
  const given = givenOf(issue);
  const value = describeValue(given);
  if (issue.type === "strict_object") {
    if (issue.expected === "never") return { ...unknownOption(issue, keys, path), given };
    if (issue.expected === "Object") {
      const hint = hintOf(issue, given) ?? optionsHint(issue, keys, given);
      return { problem: problem("invalid-value", path, "needs an object of options", hint, value), given };
    }
    return { problem: problem("missing", path, "is missing", exampleOf(keys) ?? "Add it."), given };
  }
  // Schemas of the members of builders' objects have no specific messages.
  const isOwn = !issue.message.startsWith("Invalid ");
  const message = isOwn ? issue.message : "was not made by one of rampart's functions";
  const hint = isOwn ? hintFor(issue, given) : "Use one of them.";
  // The message already describes the inner problem.
  const isTold = issue.type === "raw_check" || (issue.type === "never" && isAssertion(given));
  return { problem: problem("invalid-value", path, message, hint, isTold ? undefined : value), given };
}

function unknownOption(issue: v.BaseIssue<unknown>, keys: readonly string[], path: string): Omit<Found, "given"> {
  const names = Array.isArray(issue.requirement) ? (issue.requirement as string[]) : [];
  const renamed = renamedOption(keys, "code", names);
  const near = nearestName(keys.at(-1) ?? "", names);
  const known = names.length === 0 ? "" : ` The options are ${names.join(", ")}.`;
  const otherwise = guessedOption(keys) ?? `Remove it or correct its name.${known}`;
  const hint = renamed ?? nearHint(near, otherwise);
  return { problem: problem("unknown-name", path, "is not an option here", hint), meant: meantName(keys) ?? near };
}

/** Returns the wrong value. */
function givenOf(issue: v.BaseIssue<unknown>): unknown {
  // A check of two options has both as its input, and is reported for one of them.
  if (issue.type === "partial_check") return issue.path?.at(-1)?.value;
  return isOfKind(issue) ? issue.path?.at(-1)?.input : issue.input;
}

/** Whether a value does not come from a builder: it lacks the `kind`, which users never write. */
function isOfKind({ path, type }: v.BaseIssue<unknown>): boolean {
  return type === "variant" && path?.at(-1)?.key === "kind";
}

/** Returns the options that must be given. Members for a builder's arguments are not options. */
function optionsHint({ requirement }: v.BaseIssue<unknown>, [field]: readonly string[], given: unknown): string {
  if (field === "assert") return 'Write goodput({ timeToFirstToken: "200 ms" }).';
  const names = (Array.isArray(requirement) ? (requirement as string[]) : []).filter((name) => !ARGUMENTS.has(name));
  const isFor = names.every((name) => name === "for");
  if (isFor && typeof given === "string" && parseDurationNs(given) !== undefined) return `Write { for: "${given}" }.`;
  if (field === "load" && typeof given === "number")
    return `Write { requests: ${given} } or, in a ramp, { step: ${given} }.`;
  return names.length === 0
    ? "Write options by name: { … }."
    : `Write { ${names.map((name) => `${name}: …`).join(", ")} }.`;
}

const ARGUMENTS: ReadonlySet<string> = new Set(["load", "file", "name"]);

function keysOf(issue: v.BaseIssue<unknown>): string[] {
  const path: readonly PathItem[] = isOfKind(issue) ? (issue.path?.slice(0, -1) ?? []) : (issue.path ?? []);
  const isUnknown = issue.type === "strict_object" && issue.expected === "never";
  return path.flatMap(({ key }, at) => {
    const before = path[at - 1];
    // A user's option may have the same name as such a member.
    if (isUnknown && at === path.length - 1) return [String(key)];
    if (BUILDER_PARTS.has(String(key)) || (before?.key === "metric" && METRIC_PARTS.has(String(key)))) return [];
    const argument = before?.key === "values" ? loadArgumentPath(before.input, Number(key)) : undefined;
    return argument ?? [String(key)];
  });
}

/** A step of an issue's path. */
interface PathItem {
  readonly key?: unknown;
  /** The value that the step enters. */
  readonly input?: unknown;
}

/** Returns a hint on how to correct a value, from its schema or from the value. */
function hintFor(issue: v.BaseIssue<unknown>, given: unknown): string {
  if (isThenable(given)) return "A function of a field cannot be async: await it in setup.";
  const hint = hintOf(issue, given) ?? renamedIn(given) ?? callHint(issue, given) ?? valueHint(issue, given);
  if (hint !== undefined) return hint;
  if (typeof given !== "string" || issue.expected === null) return NO_HINT;
  if (given === "none") return "Leave it out.";
  const near = nearestName(given, allowedTexts(issue.expected));
  return near === undefined ? NO_HINT : `Did you mean "${near}"?`;
}

/** Returns an example of the load, for an argument with a wrong type. */
function callHint({ path }: v.BaseIssue<unknown>, given: unknown): string | undefined {
  const example = loadExampleOf(path?.find(({ key }) => key === "values")?.input);
  return (typeof given === "number" && !Number.isNaN(given)) || example === undefined
    ? undefined
    : `${CODE_HINT}${example}.`;
}

/** Returns a hint on how to correct a value of the right type that breaks a rule; undefined if the rule has no hint. */
function valueHint({ type, requirement, expected }: v.BaseIssue<unknown>, given: unknown): string | undefined {
  if (type === "raw_check" && expected !== null) return `Write ${expected}.`;
  if (type === "integer" && typeof given === "number" && Number.isFinite(given)) {
    const below = Math.floor(given);
    return below < 1 ? "Write 1 or a larger number." : `Write ${below} or ${below + 1}.`;
  }
  const limit = typeof requirement === "number" ? formatCount(requirement) : undefined;
  if (limit === undefined) return undefined;
  if (type === "min_value") return `Write ${limit} or a larger number.`;
  if (type === "max_value") return `Write ${limit} or a smaller number.`;
  return type === "gt_value" ? "Write a larger number, such as 1." : undefined;
}

function isThenable(given: unknown): boolean {
  return typeof given === "object" && given !== null && "then" in given;
}

/** Returns the allowed texts from their list in quotes: `("http" | "grpc")`. */
function allowedTexts(expected: string | null): string[] {
  return Array.from((expected ?? "").matchAll(/"([^"]+)"/g), ([, name = ""]) => name);
}

function describeValue(value: unknown): string {
  if (Array.isArray(value) && value.some((item) => loadCallOf(item) !== undefined))
    return `[${value.map(describeValue).join(", ")}]`;
  if (isThenable(value)) return "a promise";
  if (typeof value === "function") return "a function, which was not called";
  if (isAssertion(value)) return "one assertion";
  if (isMetric(value)) return "a metric without its limit";
  const load = loadCallOf(value);
  if (load !== undefined) return load;
  return maskSecrets(showValue(value));
}

/** Whether a value is a metric without a call of its limit. */
function isMetric(value: unknown): boolean {
  return typeof value === "object" && value !== null && Object.hasOwn(value, "below");
}
