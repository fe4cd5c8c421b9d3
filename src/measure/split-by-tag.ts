import { hasTags, TARGET_TAG, type Tags } from "../plan/groups/tags.ts";
import { defined } from "../plan/objects.ts";
import type { Measurement } from "./measurement.ts";
import { joinParallel } from "./merge.ts";
import type { ServerDelta } from "./server-delta.ts";

/** Splits a measurement by the tags of its requests. */

/** The requests of a measurement with certain tags. */
export interface TaggedPart {
  /** The tags that select the part. A tag that the requests lack is undefined. */
  readonly tags: Readonly<Record<string, string | undefined>>;
  readonly window: Measurement;
}

/** Returns the names of all tags, beginning with the tag for members of a mix. */
export function tagNamesOf({ groups = [] }: Measurement): string[] {
  return [...new Set(groups.flatMap(({ tags }) => Object.keys(tags)))];
}

/**
 * Returns the requests for each value of a tag, in the order of their first appearance in the data. Together they are the whole
 * measurement.
 */
export function splitByTag(whole: Measurement, name: string): TaggedPart[] {
  const values = [...new Set((whole.groups ?? []).map(({ tags }) => tags[name]))];
  return values.map((value) => joinGroups(whole, { [name]: value }, (tags) => tags[name] === value));
}

/** Returns the requests for each combination of tags; empty if there is at most one tag, which {@link splitByTag} shows. */
export function splitByAllTags(whole: Measurement): TaggedPart[] {
  if (tagNamesOf(whole).length < 2) return [];
  return (whole.groups ?? []).map(({ tags }) => joinGroups(whole, tags, (others) => others === tags));
}

/** Returns the requests that have all of the given tags; undefined if no group has them. */
export function selectTags(whole: Measurement, wanted: Tags): TaggedPart | undefined {
  const isAny = whole.groups?.some(({ tags }) => hasTags(tags, wanted)) === true;
  return isAny ? joinGroups(whole, wanted, (tags) => hasTags(tags, wanted)) : undefined;
}

/** Joins groups into a part. Its gaps are those of all requests. */
function joinGroups(whole: Measurement, tags: TaggedPart["tags"], isPart: (tags: Tags) => boolean): TaggedPart {
  const parts = (whole.groups ?? []).filter((group) => isPart(group.tags)).map(({ window }) => window);
  const { server: _, ...joined } = joinParallel(parts);
  const { gaps } = whole;
  const server = serverOf(whole, tags);
  return {
    tags,
    window: { ...joined, ...defined({ gaps, server }) },
  };
}

/** Returns the counters of a member's server. They include all requests of the member, so a smaller part has none. */
function serverOf({ memberServers }: Measurement, tags: TaggedPart["tags"]): ServerDelta | undefined {
  const name = tags[TARGET_TAG];
  return name === undefined || Object.keys(tags).length > 1 ? undefined : memberServers?.[name];
}
