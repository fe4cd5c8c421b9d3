import type * as v from "valibot";
import { meantMetric } from "../../measure/metrics/metric-names.ts";
import { durationHint, nearestName, percentHint } from "../../plan/nearest-name.ts";
import { type Problem, problem } from "../../plan/problem.ts";
import { hintOfCheck } from "../../plan/schema.ts";
import { maskSecrets } from "../../plan/secrets.ts";
import { showValue } from "../../plan/show-value.ts";
import { formatCount, parseDurationNs } from "../../plan/units.ts";
import { ASSERTION_RULE, METRIC_RULE } from "../assertion-schema.ts";
import { DURATION_RULE, PERCENT_RULE } from "../fields.ts";
import { loadArgumentPath, loadCallOf } from "../loads/table.ts";
import { CODE_HINT, exampleOf, renamedOption } from "../renamed.ts";

/** Mistakes in a scenario in a user's terms: from the issues of its schema. */

/** Members of the objects that builders return. In a scenario's terms they are the builder itself. */
const BUILDER_PARTS: ReadonlySet<string> = new Set(["options", "values", "metric", "limit", "limits"]);

const METRIC_PARTS: ReadonlySet<string> = new Set(["key", "statistic"]);

/** The message says how to correct it. */
const NO_HINT = "";

/** Converts the issues of a scenario's schema. What is missing only because of another mistake is not one of its own. */
export function toProblems(issues: readonly v.BaseIssue<unknown>[]): Problem[] {
  const problems = issues.map(toProblem);
  return problems.filter((found, index) => !isConsequence(found, problems[index - 1], problems));
}

/** Whether it goes away with another one: an argument after a wrong one, or a field that has another tool's name. */
function isConsequence(found: Problem, before: Problem | undefined, all: readonly Problem[]): boolean {
  const parentOf = ({ path }: Problem): string => String(path).replace(/\.[^.]*$/, "");
  if (found.value === "nothing" && before?.message === found.message) return parentOf(before) === parentOf(found);
  if (found.code !== "missing") return false;
  const name = String(found.path).split(".").at(-1);
  return all.some(({ code, hint }) => code === "unknown-name" && new RegExp(`^Write ${name}\\b`).test(String(hint)));
}

/** Converts an issue of a scenario's schema. Its path names options as the scenario does, and arguments of loads by their names. */
export function toProblem(issue: v.BaseIssue<unknown>): Problem {
  const keys = keysOf(issue);
  const path = keys.join(".") || "the scenario";
  const given = givenOf(issue);
  const value = describeValue(given);
  const [, message = issue.message, fix] = /^(.*): write (.*)$/.exec(issue.message) ?? [];
  if (fix !== undefined) return problem("invalid-value", path, message, `Write ${fix}.`);
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
      return problem("invalid-value", path, "needs an object of options", optionsHint(issue, keys, given), value);
    }
    return problem("missing", path, "is missing", exampleOf(keys) ?? "Add it.");
  }
  // Members of builders' objects have no messages of their own.
  if (issue.message.startsWith("Invalid "))
    return problem("invalid-value", path, "was not made by one of rampart's functions", "Use one of them.", value);
  return problem("invalid-value", path, issue.message, hintFor(issue, given), value);
}

/** Returns the value that is wrong. */
function givenOf(issue: v.BaseIssue<unknown>): unknown {
  // A check of two options has both as its input, and is reported for one of them.
  if (issue.type === "partial_check") return issue.path?.at(-1)?.value;
  return isOfKind(issue) ? issue.path?.at(-1)?.input : issue.input;
}

/** Whether a value does not come from a builder at all: what it lacks is its `kind`, which no user writes. */
function isOfKind({ path, type }: v.BaseIssue<unknown>): boolean {
  return type === "variant" && path?.at(-1)?.key === "kind";
}

/** Returns the options that must be given; those that a builder's own arguments become are not options. */
function optionsHint({ requirement }: v.BaseIssue<unknown>, [field]: readonly string[], given: unknown): string {
  if (field === "assert") return 'Write goodput({ timeToFirstToken: "200 ms" }).';
  const names = (Array.isArray(requirement) ? (requirement as string[]) : []).filter((name) => !ARGUMENTS.has(name));
  if (names.length === 0 && typeof given === "string" && parseDurationNs(given) !== undefined)
    return `Write { for: "${given}" }.`;
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
    // A user's option may have the name of such a member.
    if (isUnknown && at === path.length - 1) return [String(key)];
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
function hintFor(issue: v.BaseIssue<unknown>, given: unknown): string {
  const { message, expected } = issue;
  if (message === DURATION_RULE) return durationHint(given, "The units are us, ms, s, min and h.");
  if (message === PERCENT_RULE) return percentHint(given, NO_HINT);
  if (message === METRIC_RULE) return metricHint(String(given), allowedTexts(expected));
  if (message === "must be a list of assertions" && !isBuilt(given, "comparison")) return assertionHint(given);
  if (message.startsWith("must be a list of ")) return "Put it in brackets: [ … ].";
  if (message === "must be true or false" && (given === "true" || given === "false")) return `Write ${given}.`;
  if (isThenable(given)) return "A function of a field cannot be async: await it in setup.";
  if (message.startsWith("must be a duration of ")) return durationHint(given, NO_HINT);
  if (message === 'needs protocol: "grpc"') return 'Add protocol: "grpc", or leave it out.';
  const number = /^must be (?:a number|tokens)/.test(message)
    ? /^\s*(\d+(?:\.\d+)?)(?!\d*:)/.exec(String(given))?.[1]
    : undefined;
  if (typeof given === "string" && number !== undefined) return `Write ${number}, without quotes.`;
  if (message.startsWith(ASSERTION_RULE)) return assertionHint(given);
  const call = callHint(issue, given) ?? valueHint(issue, given);
  if (call !== undefined) return call;
  if (typeof given !== "string" || expected === null) return NO_HINT;
  if (given === "none") return "Leave it out.";
  const near = nearestName(given, allowedTexts(expected));
  return near === undefined ? NO_HINT : `Did you mean "${near}"?`;
}

/** Calls of loads, for an argument of a wrong type. */
const CALLS: Readonly<Record<string, string>> = {
  ramp: "ramp(1, 64)",
  hold: 'hold(16, { for: "30 s" })',
  steps: "steps([1, 2, 4])",
  rate: 'rate(100, { for: "30 s" })',
  "rate-steps": "rateSteps([50, 100])",
  "rate-ramp": "rateRamp(10, 500)",
  sessions: "sessions(8)",
};

/** Returns the call that was meant, for a value of a wrong type where a builder belongs, or among its arguments. */
function callHint({ message, path }: v.BaseIssue<unknown>, given: unknown): string | undefined {
  const isNumber = typeof given === "number";
  if (message === "must be host:port or a URL" && typeof given === "object")
    return 'Write the address first: triton("localhost:8000", { model: "NAME" }).';
  const renamed = Object.keys(typeof given === "object" ? { ...given } : {}).flatMap(
    (key) => renamedOption([key]) ?? [],
  );
  if (renamed[0] !== undefined) return renamed[0];
  if (isNumber && message.includes(" hold(…),")) return `Write hold(${given}).`;
  if (message.startsWith("must be ramp(…), hold(…)")) return `Write ${CALLS["hold"]}.`;
  if (message.startsWith("must be ramp(…), ")) return `Write ${CALLS["ramp"]}.`;
  if (message.startsWith("must be triton(…),")) return 'Write triton("localhost:8000", { model: "NAME" }).';
  if (typeof given === "string" && message.includes(`input.${given}(`)) return `Write input.${given}(…).`;
  if (message.startsWith("must be input.")) return 'Write input.json("data.json"), or another of them.';
  if (message === "must be a file" && Array.isArray(given)) return "Write each file as an argument, without brackets.";
  const load = path?.find(({ key }) => key === "values")?.input as { readonly kind?: unknown } | undefined;
  const example = CALLS[String(load?.kind)];
  return isNumber || example === undefined ? undefined : `${CODE_HINT}${example}.`;
}

/** Returns how to correct a value of the right type that breaks a rule; undefined where its rule has no hint. */
function valueHint(issue: v.BaseIssue<unknown>, given: unknown): string | undefined {
  const { type, requirement, message } = issue;
  const [, meant] = /: did you mean (\S+)\?$/.exec(message) ?? [];
  if (meant !== undefined) return `Write ${meant}.`;
  const limit = typeof requirement === "number" ? formatCount(requirement) : undefined;
  if (limit !== undefined && type === "min_value") return `Write ${limit} or a larger number.`;
  if (limit !== undefined && type === "max_value") return `Write ${limit} or a smaller number.`;
  if (limit !== undefined && type === "gt_value") return "Write a larger number, such as 1.";
  if (type === "lt_value" && message.includes("percentile")) return "Use max(…), the largest value.";
  if (type === "integer" && typeof given === "number") {
    const below = Math.floor(given);
    return below < 1 ? "Write 1 or a larger number." : `Write ${below} or ${below + 1}.`;
  }
  if (!message.startsWith('must be a duration such as "3 s", or {')) return hintOfCheck(issue, given);
  return typeof given === "object"
    ? 'Write { mean: "3 s", stddev: "1 s" }.'
    : durationHint(given, "The units are us, ms, s, min and h.");
}

function isThenable(given: unknown): boolean {
  return typeof given === "object" && given !== null && "then" in given;
}

/** Returns the texts that are allowed, which stand in quotes: `("http" | "grpc")`. */
function allowedTexts(expected: string | null): string[] {
  return Array.from((expected ?? "").matchAll(/"([^"]+)"/g), ([, name = ""]) => name);
}

/** Returns the name that was meant, or all. @param known those that have the statistic */
function metricHint(given: string, known: readonly string[]): string {
  const meant = meantMetric(given);
  if (meant !== undefined) return known.includes(meant) ? `Write "${meant}".` : `Write ${meant}.`;
  const near = nearestName(given, known);
  return near === undefined ? `Use one of ${known.join(", ")}.` : `Did you mean "${near}"?`;
}

/** A limit as text, as in k6 and in YAML: `p(95)<500`. */
const LIMIT_TEXT = /^\s*p\(?(\d+(?:\.\d+)?)\)?\s*(?:\((\w+)\))?\s*<=?\s*(\d+(?:\.\d+)?)\s*(us|ms|s|min)?\s*$/;

function assertionHint(given: unknown): string {
  const [isLimit, percentile, of = "latency", limit, unit = "ms"] = LIMIT_TEXT.exec(String(given)) ?? [];
  if (isLimit === undefined) return 'Write p99("latency").below("50 ms"), or another metric with its limit.';
  return `Write percentile(${percentile}, "${of}").below("${limit} ${unit}").`;
}

function describeValue(value: unknown): string {
  if (isThenable(value)) return "a promise";
  if (typeof value === "function") return "a function, which was not called";
  if (isBuilt(value, "comparison")) return "one assertion";
  if (isBuilt(value, "below")) return "a metric without its limit";
  const load = loadCallOf(value);
  if (load !== undefined) return load;
  return maskSecrets(showValue(value));
}

/** Whether a value is an object of the functions for assertions, which has this member. */
function isBuilt(value: unknown, member: "comparison" | "below"): boolean {
  return typeof value === "object" && value !== null && Object.hasOwn(value, member);
}
