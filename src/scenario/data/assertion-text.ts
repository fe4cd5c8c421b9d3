import { nearestName } from "../../plan/nearest-name.ts";
import { type Problem, problem } from "../../plan/problem.ts";
import type { Duration } from "../../plan/units.ts";
import { average, errorRate, extracted, percentile, type RequestMetricName, throughput } from "../assertions.ts";
import { goodput, outputTokensPerSec } from "../token-assertions.ts";

/**
 * Assertions as text, or as an object that says the same:
 *
 *     METRIC[(OF)] OPERATOR LIMIT [where TAG=VALUE, …] [abortAfter DURATION]
 *     { METRIC: OF, below: LIMIT, where: { TAG: VALUE }, abortAfter: DURATION }
 *
 * `OF` of percentiles, `average`, `min` and `max` is a metric of requests, or `extracted.NAME`.
 */

/** The operators of texts, and the same as keys of objects. */
export const OPERATORS = { "<=": "atMost", ">=": "atLeast", "==": "is", "<": "below", ">": "above" } as const;

type Comparison = (typeof OPERATORS)[keyof typeof OPERATORS];
const COMPARISONS: readonly string[] = Object.values(OPERATORS);

type Compared = Readonly<Record<Comparison, (limit: unknown) => object>>;

/** What `OF` is: `name` of a metric of requests, or nothing; `limits` of goodput; `extracted` values only. */
type OfKind = "requests" | "none" | "limits" | "extracted";

interface Metric {
  readonly of: OfKind;
  /** Returns the metric. @param of what stands in the brackets */
  make(of: unknown): unknown;
}

const EXTRACTED = "extracted.";

/** The metrics of assertions by name, besides the percentiles `p0.1` to `p99.9…`. */
export const METRICS: Readonly<Record<string, Metric>> = {
  average: {
    of: "requests",
    make: (of) => (isExtracted(of) ? extracted(nameOf(of)).average() : average(of as RequestMetricName | undefined)),
  },
  min: { of: "extracted", make: (of) => extracted(nameOf(of)).min() },
  max: { of: "extracted", make: (of) => extracted(nameOf(of)).max() },
  throughput: { of: "none", make: () => throughput() },
  errorRate: { of: "none", make: () => errorRate() },
  outputTokensPerSec: { of: "none", make: () => outputTokensPerSec() },
  goodput: { of: "limits", make: (of) => goodput((of ?? {}) as Record<string, Duration>) },
};

const PERCENTILE = /^p(\d{1,2}(?:\.\d+)?)$/;

/** The names of metrics, as a regular expression. */
export const METRIC_PATTERN = `(?:p\\d{1,2}(?:\\.\\d+)?|${Object.keys(METRICS).join("|")})`;

const EXAMPLE = "Write it like p99(latency) < 25 ms, or { p99: latency, below: 25 ms }.";
const FORM = /^\s*([A-Za-z][\w.]*)\s*(?:\(([^)]*)\))?\s*(<=|>=|==|<|>)\s*(.+?)\s*$/s;
const TAIL = /^(.+?)(?:\s+where\s+(.+?))?(?:\s+abortAfter\s+(.+?))?$/s;

/** Converts an assertion to what its builder returns. @param problems gets what is wrong with it */
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
    problems.push(problem("invalid-value", path, message, EXAMPLE));
    return undefined;
  }
  const metric = findMetric(name, path, problems);
  const of = rest[name] ?? undefined;
  if (metric === undefined || !checkOf(name, metric, of, path, problems)) return undefined;
  const compared = (metric.make(of) as Compared)[comparison as Comparison](toLimit(rest[comparison]));
  return {
    ...compared,
    ...(where === undefined ? {} : { where }),
    ...(abortAfter === undefined ? {} : { abortAfter }),
  };
}

function findMetric(name: string, path: string, problems: Problem[]): Metric | undefined {
  if (Object.hasOwn(METRICS, name)) return METRICS[name];
  const [, share] = PERCENTILE.exec(name) ?? [];
  if (share !== undefined) {
    const value = Number(share);
    const make = (of: unknown): unknown =>
      isExtracted(of)
        ? extracted(nameOf(of)).percentile(value)
        : percentile(value, of as RequestMetricName | undefined);
    return { of: "requests", make };
  }
  const names = ["p50", "p90", "p95", "p99", "p99.9", ...Object.keys(METRICS)];
  const near = nearestName(name, names);
  const hint = near === undefined ? `The metrics are ${names.join(", ")}.` : `Did you mean ${near}?`;
  problems.push(problem("unknown-name", path, `there is no metric ${name}`, hint));
  return undefined;
}

/** Whether what stands in the brackets fits the metric. */
function checkOf(name: string, { of: kind }: Metric, of: unknown, path: string, problems: Problem[]): boolean {
  const rules: Readonly<Record<OfKind, readonly [isRight: boolean, message: string]>> = {
    requests: [of === undefined || typeof of === "string", `${name} is of one metric, such as latency`],
    none: [of === undefined || of === "", `${name} has nothing in brackets`],
    limits: [typeof of === "object", `${name} needs limits, such as ${name}(timeToFirstToken <= 200 ms)`],
    extracted: [isExtracted(of), `${name} is of an extracted value, such as ${name}(extracted.tokens)`],
  };
  const [isRight, message] = rules[kind];
  if (!isRight) problems.push(problem("invalid-value", path, message, "Correct it.", String(of)));
  return isRight;
}

function parseText(text: string, path: string, problems: Problem[]): Record<string, unknown> | undefined {
  const [isForm, name = "", of, operator = "", rest = ""] = FORM.exec(text) ?? [];
  if (isForm === undefined) {
    problems.push(problem("invalid-value", path, "is not METRIC(OF) OPERATOR LIMIT", EXAMPLE, text));
    return undefined;
  }
  const [, limit = "", tags, abortAfter] = TAIL.exec(rest) ?? [];
  const where = tags === undefined ? undefined : readTags(tags, path, problems);
  const isOfLimits = Object.hasOwn(METRICS, name) && METRICS[name]?.of === "limits";
  return {
    [name]: of === undefined ? undefined : isOfLimits ? readLimits(of, path, problems) : of.trim(),
    [OPERATORS[operator as keyof typeof OPERATORS]]: limit,
    ...(where === undefined ? {} : { where }),
    ...(abortAfter === undefined ? {} : { abortAfter }),
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
    // Times are at most, rates at least.
    const isRight = name !== undefined && (typeof value === "number") === (operator === ">=");
    if (isRight) limits[name] = value;
    else {
      const hint = "Write times like timeToFirstToken <= 200 ms, and rates like outputTokensPerSecPerUser >= 20.";
      problems.push(problem("invalid-value", path, "is not a limit of goodput", hint, part.trim()));
    }
  }
  return limits;
}

/** Converts `1 %` to 0.01 and the text of a number to the number. Other texts stay: durations. */
function toLimit(given: unknown): unknown {
  if (typeof given !== "string") return given;
  const [, number, percent] = /^([+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?)\s*(%?)$/i.exec(given) ?? [];
  if (number === undefined) return given;
  return percent === "%" ? Number(`${number}e-2`) : Number(number);
}

function isExtracted(of: unknown): of is string {
  return typeof of === "string" && of.startsWith(EXTRACTED) && of.length > EXTRACTED.length;
}

function nameOf(of: unknown): string {
  return String(of).slice(EXTRACTED.length);
}
