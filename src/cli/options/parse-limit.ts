import { metricOf } from "../../measure/metrics/catalogue.ts";
import {
  findMetric,
  fromOption,
  type NamedMetric,
  parseMetric,
  suggestMetric,
} from "../../measure/metrics/metric-names.ts";
import type { AssertionPlan, Comparison, MetricPlan } from "../../plan/assertions.ts";
import { nearHint, percentHint } from "../../plan/nearest-name.ts";
import { type Problem, problem } from "../../plan/problem.ts";
import { parseDurationNs, parsePercent } from "../../plan/units.ts";
import type { ChangeLimit } from "../../report/compare/limits.ts";

/**
 * Parses limits of `--fail-if`: `METRIC > LIMIT`, with `>`, `>=`, `<` or `<=`.
 *
 * With a sign, the limit applies to the change from base to new: `+5%`, `-3%`; for ratios of requests, in percentage points. Without a
 * sign, it applies to the new value: a duration for times, `1%` or 0 for ratios, a number for everything else.
 */

const PATTERN = /^\s*([^<>]+?)\s*(>=|<=|>|<)\s*([+-]?)\s*(.*?)\s*$/s;
const PATH = "--fail-if";
const GRAMMAR = "Write METRIC > +PERCENT or METRIC > VALUE, such as 'p99 > +5%', 'throughput < -3%' or 'p99 > 25ms'.";
const GRAMMAR_OF_RUN = "Write METRIC > VALUE, such as 'p99 > 25ms', 'errorRate > 1%' or 'throughput < 100'.";

/** Parses a limit; returns a problem if it is not valid. */
export function parseLimit(text: string): ChangeLimit | Problem {
  return parse(text, true);
}

/** @param hasChange whether limits on changes are allowed; a single run has no change */
function parse(text: string, hasChange: boolean): ChangeLimit | Problem {
  const match = PATTERN.exec(text);
  const grammar = hasChange ? GRAMMAR : GRAMMAR_OF_RUN;
  if (match === null) return problem("invalid-value", PATH, "has no comparison with a limit", grammar, text);
  const [, name = "", comparison, sign = "", given = ""] = match;
  const metric = findMetric(fromOption(name));
  if (metric === undefined) return problem("unknown-name", PATH, `there is no metric ${name}`, hintFor(name), text);
  const limit =
    sign !== ""
      ? parseChange(metric, sign, given)
      : hasChange
        ? parseValue(metric, given)
        : parseValueOfRun(metric, given, `${name} ${comparison}`);
  if ("hint" in limit) return problem("invalid-value", PATH, limit.message, limit.hint, text);
  return { text: text.trim(), metric, comparison: comparison as ChangeLimit["comparison"], ...limit };
}

/** The comparison that keeps a limit, by the comparison that breaks it. */
const OPPOSITE: Readonly<Record<ChangeLimit["comparison"], Comparison>> = {
  ">": "at-most",
  ">=": "below",
  "<": "at-least",
  "<=": "above",
};

/** Parses a limit of a run, which has no change, as the assertion that keeps it; returns a problem if it is not valid. */
export function toAssertion(text: string): AssertionPlan | Problem {
  const limit = parse(text, false);
  if ("code" in limit) return limit;
  const metric = parseMetric(limit.metric.name);
  if (limit.of !== "value" || metric === undefined)
    return problem(
      "invalid-value",
      PATH,
      "limits a change between runs, and this is one run",
      "Give a value, such as 25ms.",
      text,
    );
  const why = whyNotOfRun(metric);
  if (why !== undefined) return problem("unsupported", PATH, why.message, why.hint, text);
  return { metric, comparison: OPPOSITE[limit.comparison], limit: limit.amount };
}

/** Returns the reason why a metric of comparisons cannot be limited in a run; undefined if it can. */
function whyNotOfRun(metric: MetricPlan): Pick<Problem, "message" | "hint"> | undefined {
  const { needsLimits, isOfReports } = metricOf(metric);
  if (needsLimits === true) {
    const hint = "Write a scenario with goodput({ latency: \"20 ms\" }), or limit the times, such as 'p99 > 25ms'.";
    return { message: "goodput needs the limits of a good request, which an option cannot give", hint };
  }
  if (isOfReports !== true) return undefined;
  return { message: "this metric is of reports, and not measured while a run lasts", hint: GRAMMAR_OF_RUN };
}

type Parsed = Pick<ChangeLimit, "of" | "amount"> | { readonly message: string; readonly hint: string };

function parseChange({ quantity }: NamedMetric, sign: string, given: string): Parsed {
  const pct = parsePercent(given);
  if (pct === undefined && sign === "-" && parseDurationNs(given) !== undefined)
    return { message: "a time cannot be negative", hint: `Write ${given}.` };
  if (pct === undefined) return { message: "a change is in percent", hint: `Write ${sign}5%.` };
  const amount = (sign === "-" ? -pct : pct) / 100;
  return { of: quantity === "ratio" ? "points" : "relative", amount };
}

function parseValue({ quantity, label }: NamedMetric, given: string): Parsed {
  const pct = parsePercent(given);
  if (quantity === "time") {
    const ns = parseDurationNs(given);
    if (ns !== undefined) return { of: "value", amount: ns };
    const hint =
      pct === undefined ? "Write +5% for a change, or 25ms for a time." : `Write +${given} or -${given} for a change.`;
    return { message: `${label} is limited by a change or a time`, hint };
  }
  if (quantity === "ratio" && pct !== undefined) return { of: "value", amount: pct / 100 };
  if (pct !== undefined) return { message: "a change needs a sign", hint: `Write +${given} or -${given}.` };
  const value = /^\d+(\.\d+)?$/.test(given) ? Number(given) : undefined;
  if (value === undefined) return { message: "the limit is not a number", hint: GRAMMAR };
  if (quantity === "ratio" && value > 0)
    return { message: `${label} is limited by a percentage with its sign`, hint: percentHint(value, GRAMMAR) };
  return { of: "value", amount: value };
}

/** @param begins beginning of the limit: `p99 >` */
function parseValueOfRun(metric: NamedMetric, given: string, begins: string): Parsed {
  const parsed = parseValue(metric, given);
  if (!("hint" in parsed) || metric.quantity === "ratio") return parsed;
  if (metric.quantity !== "time") return { message: "the limit is not a number", hint: `Write ${begins} 100.` };
  const example = /^\d+(\.\d+)?$/.test(given) ? `${given}ms` : "25ms";
  return { message: `${metric.label} is limited by a time, with its unit`, hint: `Write ${begins} ${example}.` };
}

/** Reads the smallest relevant difference, above 0 and up to 100 %; undefined if it is not valid. */
export function parsePrecision(given: string): number | undefined {
  const pct = parsePercent(given);
  return pct !== undefined && pct > 0 && pct <= 100 ? pct / 100 : undefined;
}

function hintFor(name: string): string {
  const others = "errorRate, timeToFirstToken.p99 and others: rampart help compare-runs.";
  return nearHint(suggestMetric(name), `Metrics are p99, mean, throughput, ${others}`);
}
