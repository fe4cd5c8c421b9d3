import { type Plot, pickEvenly, roundForPlot } from "../../plot.ts";
import { findSpread, readMetric } from "../../schema/read-metrics.ts";
import { type GroupRow, groupsByTag, nameInRun, type ReportView } from "../report-view.ts";
import { timeUnitFor } from "../values.ts";

/** Latency and throughput by tag, and by the targets of a mix. */

const PERCENTILES = ["p50", "p90", "p99"] as const;
/** More bars cannot be distinguished. */
const MOST_BARS = 24;

/** A row with its name: `chat`, or `chat, concurrency 4` where there are several levels. */
type TaggedGroup = Pick<GroupRow, "name" | "json">;

/** Draws two charts for each tag; nothing without tags. */
export function groupCharts(view: ReportView): { readonly tag: string; readonly charts: readonly Plot[] }[] {
  return [...groupsByTag(view)].map(([tag, rows]) => {
    const groups = rows.map(({ run, name, value, json }): TaggedGroup => {
      return { name: view.levels.length > 1 ? `${value}, ${nameInRun(run, name)}` : value, json };
    });
    return { tag, charts: [...drawLatencies(tag, groups), drawThroughput(tag, groups, view.words.unit)] };
  });
}

function drawLatencies(tag: string, groups: readonly TaggedGroup[]): Plot[] {
  const known = groups.flatMap(({ name, json: { metrics } }) => {
    const latency = findSpread(metrics, "latency");
    return latency === undefined ? [] : [{ name, latency }];
  });
  if (known.length === 0) return [];
  const shown = pickEvenly(known, MOST_BARS);
  const time = timeUnitFor(Math.max(...shown.map(({ latency }) => latency.p99 ?? 0)));
  const series = PERCENTILES.map((name) => ({
    name,
    meaning: name,
    values: shown.map(({ latency }) => roundForPlot((latency[name] ?? 0) / time.us)),
  }));
  const frame = { title: `Latency by ${tag}`, xLabel: tag, yLabel: `Latency (${time.name})`, group: "" };
  const categories = shown.map(categoryOf);
  return [{ kind: "bars", ...frame, notes: notesOf(shown, known), categories, series, isStacked: false }];
}

function drawThroughput(tag: string, groups: readonly TaggedGroup[], unit: string): Plot {
  const shown = pickEvenly(groups, MOST_BARS);
  const values = shown.map(({ json }) => roundForPlot(readMetric(json.metrics, "throughput")?.value ?? 0));
  const frame = { title: `Throughput by ${tag}`, xLabel: tag, yLabel: `Throughput (${unit})`, group: "" };
  const categories = shown.map(categoryOf);
  const series = [{ name: unit, values, meaning: "throughput" as const }];
  return { kind: "bars", ...frame, notes: notesOf(shown, groups), categories, series, isStacked: false };
}

/** Puts the level below the value, so that more names fit. */
function categoryOf({ name }: { readonly name: string }): string {
  return name.replaceAll(", ", "\n");
}

function notesOf(shown: readonly unknown[], all: readonly unknown[]): string[] {
  return shown.length < all.length ? [`${shown.length} of ${all.length} values.`] : [];
}
