import { findEntry, keysWith } from "../../measure/metrics/catalogue.ts";
import { EXTRACTED, parseMetric, parseStatistic, suggestMetric } from "../../measure/metrics/metric-names.ts";
import { nearestName, nearHint } from "../../plan/nearest-name.ts";
import { defined } from "../../plan/objects.ts";
import { type Problem, problem } from "../../plan/problem.ts";
import { parseDurationNs } from "../../plan/units.ts";
import type { AssertedMetric, GoodputLimits } from "../assertion.ts";
import { limitsOf } from "../assertions.ts";

/**
 * Assertions as text, or as an object that says the same:
 *
 *     METRIC[(OF)] OPERATOR LIMIT [where TAG=VALUE, …] [abortAfter DURATION]
 *     { METRIC: OF, below: LIMIT, where: { TAG: VALUE }, abortAfter: DURATION }
 *
 * `METRIC` is a metric with one value, such as `throughput`, or a statistic: `OF` of percentiles, `mean`, `min` and `max` is a metric that has
 * it, or `extracted.NAME`. `latency.p99` is the same as `p99(latency)`: metrics have the names that `rampart compare` takes, also `derived.NAME`
 * and `share(extracted.NAME=TEXT)`.
 */

/** Operators in texts, with the object keys of the same meaning. */
export const OPERATORS = { "<=": "atMost", ">=": "atLeast", "==": "is", "<": "below", ">": "above" } as const;

type Comparison = (typeof OPERATORS)[keyof typeof OPERATORS];
const COMPARISONS: readonly string[] = Object.values(OPERATORS);

type Compared = Readonly<Record<Comparison, (limit: unknown) => object>>;

/** Names of metrics with one value. */
const SINGLE: readonly string[] = keysWith(undefined);

/** The words with which an assertion begins, besides the percentiles `p1` to `p99.9…`. */
export const METRIC_WORDS: readonly string[] = ["mean", "min", "max", "share", ...SINGLE];

const EXAMPLE = "Write p99(latency) < 25 ms, or { p99: latency, below: 25 ms }.";
const FORM = /^\s*([A-Za-z][\w.]*)\s*(?:\(([^)]*)\))?\s*(<=|>=|==|<|>)(?!=)\s*(.+?)\s*$/s;
/** Other notations of operators, with the correct operator. */
const OTHER_OPERATORS: readonly (readonly [RegExp, string])[] = [
  [/(?:===|(?<![<>=])=(?![<>=]))/, "=="],
  [/=</, "<="],
  [/=>/, ">="],
];
const WITHOUT_BRACKETS = /^\s*([A-Za-z][\w.]*)\s+([A-Za-z][\w.]*)\s*((?:<|>|==).+?)\s*$/s;
const TAIL = /^(.+?)(?:\s+where\s+(.+?))?(?:\s+abortAfter\s+(.+?))?$/s;

/** Converts an assertion to the form that its builder returns. @param problems receives the problems with it */
export function readAssertion(given: unknown, path: string, problems: Problem[]): unknown {
  const found = problems.length;
  const data = typeof given === "string" ? parseText(given, path, problems) : given;
  if (problems.length > found) return undefined;
  if (typeof data !== "object" || data === null || Array.isArray(data)) {
    problems.push(problem("invalid-value", path, "must be an assertion", EXAMPLE));
    return undefined;
  }
  return makeAssertion(data as Readonly<Record<string, unknown>>, path, problems);
}

function makeAssertion(data: Readonly<Record<string, unknown>>, path: string, problems: Problem[]): unknown {
  const { where, abortAfter, ...rest } = data;
  const comparisons = Object.keys(rest).filter((key) => COMPARISONS.includes(key));
  const metrics = Object.keys(rest).filter((key) => !COMPARISONS.includes(key));
  const [comparison] = comparisons;
  const [name] = metrics;
  if (comparison === undefined || comparisons.length > 1 || name === undefined || metrics.length > 1) {
    const message = `needs one metric and one of ${COMPARISONS.join(", ")}`;
    const limit = String(rest[name ?? ""] ?? "").replace(/^\s*<\s*/, "");
    const isTime = comparisons.length === 0 && metrics.length === 1 && parseDurationNs(limit) !== undefined;
    problems.push(problem("invalid-value", path, message, isTime ? `Write ${name}(latency) < ${limit}.` : EXAMPLE));
    return undefined;
  }
  const metric = readMetric(name, rest[name] ?? undefined, path, problems);
  if (metric === undefined) return undefined;
  const compared = (limitsOf(metric) as Compared)[comparison as Comparison](toLimit(rest[comparison]));
  return {
    ...compared,
    ...defined({ where, abortAfter }),
  };
}

function needsLimits(word: string): boolean {
  return findEntry(word)?.needsLimits === true;
}

/** Reads the text before the comparison. @param of text in the parentheses */
function readMetric(word: string, of: unknown, path: string, problems: Problem[]): AssertedMetric | undefined {
  const refuse = (message: string): undefined => {
    problems.push(problem("invalid-value", path, message, "", String(of)));
  };
  if (needsLimits(word)) {
    if (typeof of !== "object") return refuse(`${word} needs limits, such as ${word}(timeToFirstToken <= 200 ms)`);
    return { key: word, limits: of as GoodputLimits } as AssertedMetric;
  }
  const known =
    typeof of === "object" ? undefined : parseMetric(of === undefined || of === "" ? word : `${word}(${of})`);
  if (known !== undefined) return known as AssertedMetric;
  if (word === "share") return refuse("share is of a text that is extracted, such as share(extracted.finish=length)");
  if (SINGLE.includes(word)) return refuse(`${word} has nothing in brackets`);
  const statistic = METRIC_WORDS.includes(word) || PERCENTILE.test(word) ? toStatistic(word) : undefined;
  if (statistic === undefined) {
    const names = ["p50", "p90", "p95", "p99", "p99.9", ...METRIC_WORDS];
    const near = suggestMetric(word) ?? nearestName(word, names);
    const hint = nearHint(near, `The metrics are ${names.join(", ")}.`);
    problems.push(problem("unknown-name", path, `there is no metric ${word}`, hint));
    return undefined;
  }
  if ((of !== undefined && typeof of !== "string") || of === EXTRACTED)
    return refuse(`${word} is of one metric, such as latency`);
  // Unknown names are left to the schema of assertions, which suggests similar names.
  return { key: of ?? "latency", statistic } as AssertedMetric;
}

const PERCENTILE = /^p\d{1,2}(\.\d+)?$/;

/** Percentiles below 1 are also left to the schema of assertions. */
function toStatistic(word: string): AssertedMetric["statistic"] {
  return parseStatistic(word) ?? Number(word.slice(1));
}

function parseText(text: string, path: string, problems: Problem[]): Record<string, unknown> | undefined {
  const [isForm, name = "", of, operator = "", rest = ""] = FORM.exec(text) ?? [];
  if (isForm === undefined) {
    const [, statistic, metric, rest] = WITHOUT_BRACKETS.exec(text) ?? [];
    const [wrong, right] = OTHER_OPERATORS.find(([operator]) => operator.test(text)) ?? [];
    const corrected = right === undefined ? "" : text.replace(wrong ?? "", right);
    const hint = FORM.test(corrected)
      ? `Write ${corrected}.`
      : statistic === undefined
        ? EXAMPLE
        : `Write ${statistic}(${metric}) ${rest}.`;
    problems.push(problem("invalid-value", path, "is not METRIC(OF) OPERATOR LIMIT", hint, text));
    return undefined;
  }
  const [, limit = "", tags, abortAfter] = TAIL.exec(rest) ?? [];
  const where = tags === undefined ? undefined : readTags(tags, path, problems);
  return {
    [name]: of === undefined ? undefined : needsLimits(name) ? readLimits(of, path, problems) : of.trim(),
    [OPERATORS[operator as keyof typeof OPERATORS]]: limit,
    ...defined({ where, abortAfter }),
  };
}

function readTags(text: string, path: string, problems: Problem[]): Record<string, string> {
  const tags = new Map<string, string>();
  for (const part of text.split(",")) {
    const [, name, value] = /^\s*([^=\s]+)\s*={1,2}\s*(.+?)\s*$/.exec(part) ?? [];
    if (name !== undefined && value !== undefined) tags.set(name, value);
    else
      problems.push(problem("invalid-value", path, "where needs TAG=VALUE", "Write where length=long.", part.trim()));
  }
  return Object.fromEntries(tags);
}

/** Reads the limits of goodput: `timeToFirstToken <= 200 ms, outputTokensPerSecPerUser >= 20`. */
function readLimits(text: string, path: string, problems: Problem[]): Record<string, unknown> {
  const limits: Record<string, unknown> = {};
  for (const part of text.split(",")) {
    const [, name, operator, limit = ""] = /^\s*([A-Za-z]\w*)\s*(<=|>=)\s*(.+?)\s*$/.exec(part) ?? [];
    const value = toLimit(limit);
    // Limits of times use "at most", limits of rates "at least".
    const isRight = name !== undefined && (typeof value === "number") === (operator === ">=");
    if (isRight) limits[name] = value;
    else {
      const hint = "Write times like timeToFirstToken <= 200 ms, and rates like outputTokensPerSecPerUser >= 20.";
      problems.push(problem("invalid-value", path, "is not a limit of goodput", hint, part.trim()));
    }
  }
  return limits;
}

/** Converts the text of a number to a number. Other texts, durations and percentages, are unchanged. */
function toLimit(given: unknown): unknown {
  return typeof given === "string" && /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(given) ? Number(given) : given;
}
