import * as v from "valibot";
import type { GivenTags, TaggedInput, TagInput } from "../inputs/tagged-input.ts";
import { type PlannedFunction, toFunctionPlan } from "../plan/functions.ts";
import { reservedFor, type Tags, type TagsPlan } from "../plan/groups/tags.ts";
import { filledSchema, recordSchema, type Schema } from "../plan/schema.ts";

/**
 * The tags of a scenario, of any type. {@link CheckedTags} checks whether the values can be tags, so that the compiler's message is
 * short.
 */
export type AnyTags = Readonly<Record<string, unknown>>;

/** Tags of a scenario, with their type. @template I the parameter of their function, which {@link CheckedTags} checks */
export type TagsOf<G extends AnyTags, I = TaggedInput> = G | ((input: I) => G);

/**
 * The required type of a scenario's tags: if a value cannot be a tag, or their function takes another input, the compiler's message says
 * what is allowed.
 */
export type CheckedTags<G, I = TaggedInput> = TaggedInput extends I
  ? string extends keyof G
    ? unknown
    : G extends GivenTags
      ? unknown
      : { readonly tags: "must have values that are text, numbers, true or false" }
  : { readonly tags: "must be a function of the input, whose type is TaggedInput" };

/** Tags of a scenario or of a member of a mix: the same for all requests, or returned by a function of the input. */
export type TagOptions = GivenTags | TagInput;

/**
 * A tag as text, so that the compiler's message shows the difference in one line: `"length=long"`, or `"target: chat"` for a member
 * of a mix.
 */
type TagText<K, V> = V extends GivenTags[string]
  ? K extends "target"
    ? `target: ${V}`
    : K extends string
      ? `${K}=${V}`
      : never
  : never;

/** The tags that an assertion names. Values that are known only when the scenario runs are checked then. */
export type NamedTags<X extends GivenTags> = {
  [K in keyof X]: string extends X[K] ? never : number extends X[K] ? never : TagText<K, X[K]>;
}[keyof X];

/**
 * The tags that an assertion may name: those in the field `tags` of the scenario, and a phase of the load. Without that field, any tags,
 * because entries of the inputs may have them.
 */
export type WhereOf<G extends AnyTags> = string extends keyof G
  ? `${string}=${string}`
  : { [K in keyof G]: TagText<K, G[K]> }[keyof G] | `phase=${string}`;

/** Returns the schema of tags in a scenario. */
export function givenTagsSchema(): Schema<GivenTags> {
  const value = v.union(
    [v.string(), v.pipe(v.number(), v.finite()), v.boolean()],
    "must be text, a number, true or false",
  );
  return recordSchema(filledSchema("must have a name"), value, "must be values by the tag's name");
}

/** Returns the schema of {@link TagOptions}. */
export function tagOptionsSchema(): Schema<TagOptions> {
  const fixed = v.pipe(
    givenTagsSchema(),
    v.rawCheck(({ dataset, addIssue }) => {
      const name = dataset.typed ? Object.keys(dataset.value).find((one) => reservedFor(one) !== undefined) : undefined;
      if (name !== undefined) addIssue({ message: `must have no "${name}", which ${reservedFor(name)}` });
    }),
  );
  const fn = v.custom<TagInput>((input) => typeof input === "function");
  return v.lazy((input) => (typeof input === "function" ? fn : fixed));
}

/** Converts tags to their form in a plan. @param place the setting that contains them: `tags` */
export function toTagsPlan(tags: TagOptions, place: string): TagsPlan {
  return typeof tags === "function" ? { of: toFunctionPlan(place, tags as PlannedFunction) } : { fixed: toTexts(tags) };
}

/** Converts values to texts. */
export function toTexts(tags: GivenTags): Tags {
  return Object.fromEntries(Object.entries(tags).map(([name, value]) => [name, String(value)]));
}
