import { averageUs } from "../../measure/server-delta.ts";
import { formatCount, formatPct } from "../../plan/units.ts";
import { formatUs } from "../rampart/format.ts";
import type { LevelJson } from "../schema/report-schema.ts";
import { averageCell, type NamedLevel, percentileCell, type ResultTable, type TableCell } from "./result-table.ts";
import { extractedTable, tokenTable } from "./value-tables.ts";

/** The requests by tag, and by the targets of a mix. The values of a tag together are the level. */

type GroupJson = NonNullable<LevelJson["groups"]>[number];

/** The requests with one value of a tag at one level. */
export interface TaggedGroup {
  /** `chat`, or `chat, concurrency 4` where there are several levels. */
  readonly name: string;
  readonly json: GroupJson;
}

/** A tag with the groups of its values at all levels. */
export interface TagGroups {
  readonly tag: string;
  readonly groups: readonly TaggedGroup[];
}

/** Returns the tags of levels in their order; empty without tags. */
export function tagGroupsOf(levels: readonly NamedLevel[]): TagGroups[] {
  const tagged = levels.flatMap(({ name, json }) => (json.groups ?? []).map((group) => ({ name, json: group })));
  const tags = [...new Set(tagged.flatMap(({ json }) => Object.keys(json.tags)))];
  const hasLevels = new Set(tagged.map(({ name }) => name)).size > 1;
  return tags.map((tag) => ({
    tag,
    groups: tagged
      .filter(({ json }) => tag in json.tags)
      .map(({ name, json }) => {
        const value = json.tags[tag] ?? `(no ${tag})`;
        return { name: hasLevels ? `${value}, ${name}` : value, json };
      }),
  }));
}

/** Makes the further tables of a tag: the tokens of its values, and what they extracted. Without rows where there are none. */
export function groupValueTables({ tag, groups }: TagGroups): readonly [tokens: ResultTable, extracted: ResultTable] {
  return [
    { ...tokenTable(groups, tag), title: `Tokens by ${tag}` },
    { ...extractedTable(groups, tag), title: `Extracted values by ${tag}` },
  ];
}

/** Makes the table of a tag's values. @param unit of throughput */
export function groupTable({ tag, groups }: TagGroups, unit: string): ResultTable {
  const header = [
    tag,
    unit,
    "average",
    "p50",
    "p90",
    "p99",
    "p99 from due time",
    "server average",
    "errors",
    "requests",
  ];
  const rows = groups.map(({ name, json }): TableCell[] => [
    name,
    formatCount(json.inferPerSec),
    averageCell(json.latency),
    ...(["p50", "p90", "p99"] as const).map((percentile) => percentileCell(json.latency, percentile)),
    json.scheduledLatency === undefined ? "" : percentileCell(json.scheduledLatency, "p99"),
    json.server === undefined ? "" : formatUs(averageUs(json.server.successNs, json.server.successCount)),
    json.failed === 0 ? "0 %" : { text: formatPct(json.errorRatio), look: "bad" },
    formatCount(json.requests),
  ]);
  return { title: `By ${tag}`, header, rows };
}
