import { type Plot, pickEvenly } from "../../plot.ts";
import { readMetric } from "../../schema/read-metrics.ts";
import { type GroupRow, groupsByTag, nameInRun, type ReportView } from "../report-view.ts";
import { timeUnitOf } from "../values.ts";
import { barsOf } from "./load-charts.ts";

/** Latency and throughput by tag, and by the targets of a mix. */

const PERCENTILES = ["p50", "p90", "p99"] as const;
/** Maximum number of bars that can be distinguished. */
const MOST_BARS = 24;

/** A row with its name: `chat`, or `chat, concurrency 4` if there are several levels. */
type TaggedGroup = Pick<GroupRow, "name" | "json">;

/** Draws two charts for each tag; empty without tags. */
export function groupCharts(view: ReportView): { readonly tag: string; readonly charts: readonly Plot[] }[] {
  return [...groupsByTag(view)].map(([tag, rows]) => {
    const groups = rows.map(({ run, name, value, json }): TaggedGroup => {
      return { name: view.levels.length > 1 ? `${value}, ${nameInRun(run, name)}` : value, json };
    });
    return { tag, charts: [...drawLatencies(tag, groups), drawThroughput(tag, groups, view.words.unit)] };
  });
}

function drawLatencies(tag: string, groups: readonly TaggedGroup[]): Plot[] {
  const read = ({ json: { metrics } }: TaggedGroup, percentile: (typeof PERCENTILES)[number]) =>
    readMetric(metrics, "latency", percentile);
  const known = groups.filter((group) => read(group, "p50") !== undefined);
  if (known.length === 0) return [];
  const shown = pickEvenly(known, MOST_BARS);
  const time = timeUnitOf([Math.max(...shown.map((group) => read(group, "p99")?.value ?? 0))]);
  const series = PERCENTILES.map((name) => {
    const found = shown.map((group) => read(group, name));
    return { name, meaning: name, ...barsOf(found, time.ns) };
  });
  const frame = { title: `Latency by ${tag}`, xLabel: tag, yLabel: `Latency (${time.name})`, group: "" };
  const categories = shown.map(categoryOf);
  return [{ kind: "bars", ...frame, notes: notesOf(shown, known), categories, series, isStacked: false }];
}

function drawThroughput(tag: string, groups: readonly TaggedGroup[], unit: string): Plot {
  const shown = pickEvenly(groups, MOST_BARS);
  const found = shown.map(({ json }) => readMetric(json.metrics, "throughput"));
  const frame = { title: `Throughput by ${tag}`, xLabel: tag, yLabel: `Throughput (${unit})`, group: "" };
  const categories = shown.map(categoryOf);
  const series = [{ name: unit, ...barsOf(found, 1), meaning: "throughput" as const }];
  return { kind: "bars", ...frame, notes: notesOf(shown, groups), categories, series, isStacked: false };
}

/** Puts the level below the value, so that more names fit. */
function categoryOf({ name }: { readonly name: string }): string {
  return name.replaceAll(", ", "\n");
}

function notesOf(shown: readonly unknown[], all: readonly unknown[]): string[] {
  return shown.length < all.length ? [`${shown.length} of ${all.length} values.`] : [];
}
