import type * as v from "valibot";
import { durationHint, nearestName, percentHint } from "../../plan/nearest-name.ts";
import { type Problem, problem } from "../../plan/problem.ts";
import { maskSecrets } from "../../plan/secrets.ts";
import { showValue } from "../../plan/show-value.ts";
import { DURATION_RULE, PERCENT_RULE } from "../fields.ts";
import { loadArgumentPath } from "../loads/table.ts";
import { renamedOption } from "../renamed.ts";

/** Mistakes in a scenario in a user's terms: from the issues of its schema. */

/** Members of the objects that builders return. In a scenario's terms they are the builder itself. */
const BUILDER_PARTS: ReadonlySet<string> = new Set(["options", "values", "metric"]);

const METRIC_PARTS: ReadonlySet<string> = new Set(["key", "statistic"]);

const CORRECT_IT = "Correct it in the scenario.";

/** Converts an issue of a scenario's schema. Its path names options as the scenario does, and arguments of loads by their names. */
export function toProblem(issue: v.BaseIssue<unknown>): Problem {
  const keys = keysOf(issue);
  const path = keys.join(".") || "the scenario";
  // A check of two options has both as its input, and is reported for one of them.
  const given = issue.type === "partial_check" ? issue.path?.at(-1)?.value : issue.input;
  const value = describeValue(given);
  if (issue.type === "strict_object") {
    if (issue.expected === "never") {
      const names = Array.isArray(issue.requirement) ? (issue.requirement as string[]) : [];
      const renamed = renamedOption(keys);
      if (renamed !== undefined) return problem("unknown-name", path, "is not an option here", renamed);
      const near = nearestName(keys.at(-1) ?? "", names);
      const known = names.length === 0 ? "" : ` The options are ${names.join(", ")}.`;
      const hint = near === undefined ? `Remove it or correct its name.${known}` : `Did you mean ${near}?`;
      return problem("unknown-name", path, "is not an option here", hint);
    }
    if (issue.expected === "Object") {
      return problem("invalid-value", path, "needs an object of options", CORRECT_IT, value);
    }
    return problem("missing", path, "is missing", "Add it.");
  }
  // Members of builders' objects have no messages of their own.
  if (issue.message.startsWith("Invalid "))
    return problem("invalid-value", path, "was not made by one of rampart's functions", "Use one of them.", value);
  return problem("invalid-value", path, issue.message, hintFor(issue, given), value);
}

function keysOf(issue: v.BaseIssue<unknown>): string[] {
  const path: readonly PathItem[] = issue.path ?? [];
  return path.flatMap(({ key }, at) => {
    const before = path[at - 1];
    if (BUILDER_PARTS.has(String(key)) || (before?.key === "metric" && METRIC_PARTS.has(String(key)))) return [];
    const argument = before?.key === "values" ? loadArgumentPath(before.input, Number(key)) : undefined;
    return argument ?? [String(key)];
  });
}

/** A step of an issue's path. */
interface PathItem {
  readonly key?: unknown;
  /** The value that the step goes into. */
  readonly input?: unknown;
}

/** Returns how to correct a value. */
function hintFor({ message, expected }: v.BaseIssue<unknown>, given: unknown): string {
  if (message === DURATION_RULE) return durationHint(given, CORRECT_IT);
  if (message === PERCENT_RULE) return percentHint(given, CORRECT_IT);
  if (message.startsWith("must be a list of ")) return "Put it in brackets: [ … ].";
  if (typeof given !== "string" || expected === null) return CORRECT_IT;
  // The allowed texts stand in quotes: ("http" | "grpc").
  const allowed = Array.from(expected.matchAll(/"([^"]+)"/g), ([, name = ""]) => name);
  const near = nearestName(given, allowed);
  return near === undefined ? CORRECT_IT : `Did you mean "${near}"?`;
}

function describeValue(value: unknown): string {
  if (typeof value === "function") return "a function, which was not called";
  if (isBuilt(value, "comparison")) return "one assertion";
  if (isBuilt(value, "below")) return "a metric without its limit";
  return maskSecrets(showValue(value));
}

/** Whether a value is an object of the functions for assertions, which has this member. */
function isBuilt(value: unknown, member: "comparison" | "below"): boolean {
  return typeof value === "object" && value !== null && Object.hasOwn(value, member);
}
