import * as v from "valibot";
import { functionSchema } from "../functions.ts";
import { type Problem, problem } from "../problem.ts";
import type { PlanOf, Schema } from "../schema.ts";

/** Labels of a request, by name: `{ length: "long" }`. Requests with the same tags are a group, and reports split every metric by group. */
export type Tags = Readonly<Record<string, string>>;

/** The tag that names the member of a mix. No other tag may have this name. */
export const TARGET_TAG = "target";

/** The name in `where(…)` that names a phase of the load. No tag may have it. */
export const PHASE_TAG = "phase";

const RESERVED: ReadonlyMap<string, string> = new Map([
  [TARGET_TAG, "names the targets of a mix"],
  [PHASE_TAG, "names the phases of a load"],
]);

/** Returns what a name in `where(…)` means that is no tag's; undefined for a tag. */
export function reservedFor(name: string): string | undefined {
  return RESERVED.get(name);
}

/** Largest number of different sets of tags in a run, because every window keeps statistics for each. */
export const MAX_GROUPS = 100;

/** Sources of request tags, in addition to the data. */
export type TagsPlan = PlanOf<typeof tagsSchema>;

/** Returns the schema of {@link TagsPlan}. */
export function tagsSchema() {
  return v.object({
    fixed: v.optional(fixedTagsSchema()),
    /** A function that returns the tags of an input. Called once per input, before the load. */
    of: v.optional(functionSchema()),
  });
}

function fixedTagsSchema(): Schema<Tags> {
  const name = v.pipe(
    v.string(),
    v.nonEmpty("must have a name"),
    v.check(
      (text) => reservedFor(text) === undefined,
      ({ input }) => `must not be "${input}", which ${reservedFor(input)}`,
    ),
  );
  return v.record(name, v.string());
}

/** Reports whether a request has all of these tags. */
export function hasTags(tags: Tags, wanted: Tags): boolean {
  return Object.entries(wanted).every(([name, value]) => tags[name] === value);
}

/** Returns the problem of an assertion on tags that no request has. @param known the tags of all requests, as far as known */
export function unknownTags(path: string, wanted: Tags, known: readonly Tags[]): Problem {
  const names = [...new Set(known.flatMap((tags) => Object.keys(tags)))];
  const valuesOf = (name: string): string => [...new Set(known.flatMap((tags) => tags[name] ?? []))].join(", ");
  const listed = names.map((name) => `${name}: ${valuesOf(name)}`).join("; ");
  const isOfMix = wanted[TARGET_TAG] === undefined || names.includes(TARGET_TAG);
  const meant = Object.entries(wanted).flatMap(([name, value]) =>
    names.includes(name) ? [] : names.filter((other) => known.some((tags) => tags[other] === value)),
  );
  const hint = !isOfMix
    ? "Only requests to the targets of a mix have a target."
    : listed === ""
      ? "Give the inputs tags."
      : `${meant[0] === undefined ? "" : `Did you mean the tag ${meant[0]}? `}The tags are ${listed}.`;
  return problem("unknown-name", path, "no request has these tags", hint, describeTags(wanted));
}

/** Describes tags: `length is long and target is a`. */
export function describeTags(tags: Tags): string {
  return Object.entries(tags)
    .map(([name, value]) => `${name} is ${value}`)
    .join(" and ");
}
