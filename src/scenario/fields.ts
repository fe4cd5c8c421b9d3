import * as v from "valibot";
import type { ThinkTimePlan } from "../plan/load-options.ts";
import { durationHint, percentHint } from "../plan/nearest-name.ts";
import { aboveZero, atLeast, type Hint, hinted, isWhole, numberSchema, type Schema, withHint } from "../plan/schema.ts";
import { type Duration, formatCount, nsToMs, type Percent, parseDurationNs, parsePercent } from "../plan/units.ts";
import { explainExpression } from "../service/response-reader.ts";

/** Schemas of option values. They check what untyped callers pass; for typed callers they cannot fail. */

/** The message for a text that is not a duration. */
export const DURATION_RULE = 'must be a duration with its unit, such as "250 us", "25 ms", "5 s" or "2 min"';

/** Returns the schema of a duration with its unit. */
export function durationSchema(): Schema<Duration> {
  const isDuration = (input: unknown): boolean => typeof input === "string" && parseDurationNs(input) !== undefined;
  return withHint(v.custom<Duration>(isDuration, DURATION_RULE), hintOfDuration);
}

function hintOfDuration(given: unknown): string {
  return durationHint(given, "The units are us, ms, s, min and h.");
}

/** Returns the schema of a duration above 0. */
export function spanSchema(): Schema<Duration> {
  return v.pipe(
    durationSchema(),
    v.check(
      hinted((duration) => (parseDurationNs(duration) as number) > 0, 'Write a longer time, such as "1 s".'),
      "must be longer than 0",
    ),
  );
}

/** A duration: always the same, or drawn from a normal distribution. */
export type DurationSpread = Duration | { readonly mean: Duration; readonly stddev: Duration };

/** Returns the schema of a duration, or of a normal distribution of durations. */
export function spreadSchema() {
  const spread = v.union(
    [durationSchema(), strictOptions({ mean: durationSchema(), stddev: durationSchema() })],
    'must be a duration such as "3 s", or { mean, stddev }',
  );
  return withHint(spread, (given) =>
    typeof given === "object" ? 'Write { mean: "3 s", stddev: "1 s" }.' : hintOfDuration(given),
  );
}

/** Converts a valid think time to its form in a plan. */
export function toThinkPlan(thinkTime: DurationSpread): ThinkTimePlan {
  if (typeof thinkTime === "string") return { meanMs: toMs(thinkTime) };
  return { meanMs: toMs(thinkTime.mean), stddevMs: toMs(thinkTime.stddev) };
}

/** Above this, whole numbers are not exact, and are hardly intended. */
const MAX_COUNT = 1e15;

/**
 * Returns the schema of an integer.
 * @param rule message for other types. Default: it must be a number
 * @param most largest value. Default: 1e15
 * @param least smallest value. Default: 1
 */
export function countSchema(rule = "must be a number", most = MAX_COUNT, least = 1): Schema<number> {
  return v.pipe(
    numberSchema(rule),
    isWhole(),
    atLeast(least),
    v.maxValue(most, `must be ${formatCount(most)} at most`),
  );
}

/** Returns the schema of a number above 0. @param rule message for other types. Default: it must be a number */
export function positiveSchema(rule = "must be a number"): Schema<number> {
  return v.pipe(numberSchema(rule), aboveZero(), v.finite("must be finite"));
}

/** Returns the schema of a number of 0 or more. */
export function naturalSchema(): Schema<number> {
  return v.pipe(numberSchema(), atLeast(0), v.finite("must be finite"));
}

/** Returns the schema of a text that is not empty. @param hint how to correct a value that is not text. Default: no hint */
export function nameSchema(what: string, hint: Hint<unknown> = () => undefined): Schema<string> {
  return v.pipe(withHint(v.string(`must be ${what}`), hint), v.nonEmpty(`must be ${what}`), isSet());
}

/** Rejects a text with a variable without a value: `Bearer ${process.env.KEY}`. */
export function isSet() {
  return v.check(
    hinted((text: string) => !/(?:^|[\s/:@=])undefined(?=$|[\s/:?])/.test(text), "Give it a value."),
    "has a variable in it that is not set",
  );
}

/** Returns the schema of a JMESPath expression. */
export function expressionSchema(): Schema<string> {
  return v.pipe(
    nameSchema("a JMESPath expression"),
    v.check(
      (text) => explainExpression(text) === undefined,
      ({ input }) => explainExpression(input) ?? "",
    ),
  );
}

/** The message for a value that is not a percentage. */
export const PERCENT_RULE = 'must be a percentage with its sign, such as "1 %"';

/** Returns the schema of a share: a percentage with its sign up to `"100 %"`, or 0. */
export function shareSchema(): Schema<Percent | 0> {
  return v.pipe(
    withHint(
      v.custom<Percent | 0>((input) => input === 0 || isPercent(input), PERCENT_RULE),
      hintOfPercent,
    ),
    v.check(
      hinted((share) => toRatio(share) <= 1, 'Write "100 %" or less.'),
      "must be 100 % or less",
    ),
  );
}

/** Returns the schema of a percentage above 0: of requests, or of a difference. */
export function percentSchema(): Schema<Percent> {
  return v.pipe(
    withHint(v.custom<Percent>(isPercent, PERCENT_RULE), hintOfPercent),
    v.check(
      hinted((percent) => toRatio(percent) > 0, 'Write a larger share, such as "1 %".'),
      "must be above 0 %",
    ),
  );
}

function hintOfPercent(given: unknown): string {
  return percentHint(given, "");
}

function isPercent(input: unknown): input is Percent {
  return typeof input === "string" && parsePercent(input) !== undefined;
}

/** Converts a valid percentage to a ratio: `"5 %"` to 0.05. */
export function toRatio(share: Percent | 0): number {
  return toPct(share) / 100;
}

/** Converts a valid percentage to a number of percent: `"5 %"` to 5. */
export function toPct(share: Percent | 0): number {
  return share === 0 ? 0 : (parsePercent(share) as number);
}

/** Converts a valid duration to milliseconds. */
export function toMs(duration: Duration): number {
  return nsToMs(parseDurationNs(duration) as number);
}

/**
 * Returns the schema of an options object that reports all unknown names, each with the known names as its `requirement`.
 * @param hint how to correct a value that is not an object. Default: from the names of the options
 */
export function strictOptions<const E extends v.ObjectEntries>(
  entries: E,
  hint?: string,
): v.StrictObjectSchema<E, undefined> {
  const schema = v.strictObject(entries);
  const names = Object.keys(entries);
  const needed = hint === undefined ? names.filter((name) => entries[name]?.type !== "optional") : { hint };
  return {
    ...schema,
    "~run": (dataset, config) => {
      // For Valibot, a list is an object with numbers as its names.
      const given = Array.isArray(dataset.value) ? { ...dataset, value: undefined } : dataset;
      const result = schema["~run"].call(schema, given, config);
      // Valibot reports only the first one.
      const startsServer = ({ type, expected, path }: v.BaseIssue<unknown>): boolean =>
        type === "strict_object" && expected === "never" && path?.length === 1;
      const [first] = result.issues ?? [];
      if (first?.type === "strict_object" && first.expected === "Object" && first.path === undefined)
        return { ...result, issues: [{ ...first, input: dataset.value, requirement: needed }] } as typeof result;
      const at = result.issues?.findIndex(startsServer) ?? -1;
      const issue = result.issues?.[at];
      const item = issue?.path?.[0];
      if (result.issues === undefined || issue === undefined || item?.type !== "object") return result;
      const { input } = item;
      const unknown = Object.keys(input).filter((key) => !names.includes(key));
      const issues = unknown.map((key) => ({
        ...issue,
        requirement: names,
        path: [{ ...item, key, value: input[key] }],
      }));
      result.issues.splice(at, 1, ...(issues as [typeof issue]));
      return result;
    },
  };
}
