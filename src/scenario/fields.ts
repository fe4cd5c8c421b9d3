import * as v from "valibot";
import type { Schema } from "../plan/schema.ts";
import { type Duration, parseDurationNs } from "../plan/units.ts";

/** Schemas of the values that scenario options are made of. They check what untyped callers give; typed ones cannot go wrong here. */

/** A duration with its unit. */
export function durationSchema(): Schema<Duration> {
  return v.custom<Duration>(
    (input) => typeof input === "string" && parseDurationNs(input) !== undefined,
    'must be a duration with its unit, such as "250 us", "25 ms", "5 s" or "2 min"',
  );
}

/** A duration that takes time. */
export function spanSchema(): Schema<Duration> {
  return v.pipe(
    durationSchema(),
    v.check((duration) => (parseDurationNs(duration) as number) > 0, "must be longer than 0"),
  );
}

/** A whole number of 1 or more. */
export function countSchema(): Schema<number> {
  return v.pipe(v.number("must be a number"), v.integer("must be a whole number"), v.minValue(1, "must be 1 or more"));
}

/** A number above 0. */
export function positiveSchema(): Schema<number> {
  return v.pipe(v.number("must be a number"), v.gtValue(0, "must be above 0"), v.finite("must be finite"));
}

/** Text that is not empty. */
export function nameSchema(what: string): Schema<string> {
  return v.pipe(v.string(`must be ${what}`), v.nonEmpty(`must be ${what}`));
}

/** Milliseconds of a duration that was checked. */
export function toMs(duration: Duration): number {
  return (parseDurationNs(duration) as number) / 1e6;
}

/** An object of options whose unknown names are all reported, each with the names that there are as `requirement`. */
export function strictOptions<const E extends v.ObjectEntries>(entries: E): v.StrictObjectSchema<E, undefined> {
  const schema = v.strictObject(entries);
  const names = Object.keys(entries);
  return {
    ...schema,
    "~run": (dataset, config) => {
      const result = schema["~run"].call(schema, dataset, config);
      // Valibot reports the first one only.
      const isOwn = ({ type, expected, path }: v.BaseIssue<unknown>): boolean =>
        type === "strict_object" && expected === "never" && path?.length === 1;
      const at = result.issues?.findIndex(isOwn) ?? -1;
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
      result.issues.splice(at, 1, ...(issues as unknown as [typeof issue]));
      return result;
    },
  };
}
