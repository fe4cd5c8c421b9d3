import { hasTags, TARGET_TAG, type Tags } from "../plan/split/tags.ts";
import type { Measurement } from "./measurement.ts";
import { joinParallel } from "./merge.ts";
import type { ServerDelta } from "./server-delta.ts";
import { joinTokens, type TokenMeasurement } from "./tokens/token-measurement.ts";

/** Splits a measurement by the tags of its requests. */

/** A measurement that may have groups. */
export interface GroupedLevel {
  readonly window: Measurement;
  /** Token metrics of each group of `window`; undefined for a group whose tokens are not measured. Absent without tokens or groups. */
  readonly groupTokens?: readonly (TokenMeasurement | undefined)[] | undefined;
}

/** The requests with certain tags at one level. */
export interface TaggedPart {
  /** The tags that select it. A tag that the requests lack is undefined. */
  readonly tags: Readonly<Record<string, string | undefined>>;
  readonly window: Measurement;
  readonly tokens: TokenMeasurement | undefined;
}

/** Returns the names of all tags, that of the members of a mix first. */
export function tagNamesOf({ window }: GroupedLevel): string[] {
  return [...new Set((window.groups ?? []).flatMap(({ tags }) => Object.keys(tags)))];
}

/** Returns the requests by the values of a tag, in the order of their first appearance in the data. Together they are the level. */
export function splitByTag(level: GroupedLevel, name: string): TaggedPart[] {
  const { groups = [] } = level.window;
  const values = [...new Set(groups.map(({ tags }) => tags[name]))];
  return values.map((value) => joinGroups(level, { [name]: value }, (tags) => tags[name] === value));
}

/** Returns the requests by all of their tags; empty when there is one tag at most, which {@link splitByTag} shows. */
export function splitByAllTags(level: GroupedLevel): TaggedPart[] {
  if (tagNamesOf(level).length < 2) return [];
  const groups = level.window.groups ?? [];
  return groups.map(({ tags }) => joinGroups(level, tags, (others) => others === tags));
}

/** Returns the requests that have all of some tags; undefined when no group has them. */
export function selectTags(level: GroupedLevel, wanted: Tags): TaggedPart | undefined {
  const isAny = level.window.groups?.some(({ tags }) => hasTags(tags, wanted)) === true;
  return isAny ? joinGroups(level, wanted, (tags) => hasTags(tags, wanted)) : undefined;
}

function joinGroups(
  { window, groupTokens = [] }: GroupedLevel,
  tags: TaggedPart["tags"],
  isPart: (tags: Tags) => boolean,
): TaggedPart {
  const parts = (window.groups ?? []).flatMap((group, index) =>
    isPart(group.tags) ? [{ window: group.window, tokens: groupTokens[index] }] : [],
  );
  const { server: _, ...joined } = joinParallel(parts.map((part) => part.window));
  const server = serverOf(window, tags);
  const tokens = joinTokens(parts.flatMap((part) => part.tokens ?? []));
  return { tags, window: { ...joined, ...(server === undefined ? {} : { server }) }, tokens };
}

/** The counters of a server count all of its member's requests, so they belong to no smaller part. */
function serverOf({ memberServers }: Measurement, tags: TaggedPart["tags"]): ServerDelta | undefined {
  const name = tags[TARGET_TAG];
  return name === undefined || Object.keys(tags).length > 1 ? undefined : memberServers?.[name];
}
