import { joinPlots, type PlotSet } from "../plots/plot.ts";
import { asSet } from "../plots/plotted-run.ts";
import { pickEvenly, roundForPlot } from "../plots/sample.ts";
import { type TaggedGroup, tagGroupsOf } from "../tables/group-tables.ts";
import { levelRows, type ShownReport, timeUnitFor } from "./shown-run.ts";

/** Latency and throughput by tag, and by the targets of a mix. */

/** The section of these charts. */
export const TAG_GROUP = "Targets and tags";
const PERCENTILES = ["p50", "p90", "p99"] as const;
/** More bars cannot be distinguished. */
const MOST_BARS = 24;

/** Returns two charts for each tag; an empty set without tags. */
export function groupPlots(report: ShownReport): PlotSet {
  return joinPlots(
    tagGroupsOf(levelRows(report)).flatMap(({ tag, groups }) => [
      drawLatencies(tag, groups),
      drawThroughput(tag, groups, report.unit),
    ]),
  );
}

function drawLatencies(tag: string, groups: readonly TaggedGroup[]): PlotSet {
  const known = groups.flatMap(({ name, json: { latency } }) => (latency === null ? [] : [{ name, latency }]));
  if (known.length === 0)
    return { plots: [], leftOut: [{ title: `Latency by ${tag}`, reason: "no request succeeded" }] };
  const shown = pickEvenly(known, MOST_BARS);
  const time = timeUnitFor(Math.max(...shown.map(({ latency }) => latency.percentiles.p99.us)));
  const series = PERCENTILES.map((name) => ({
    name,
    values: shown.map(({ latency }) => roundForPlot(latency.percentiles[name].us / time.us)),
  }));
  const frame = { title: `Latency by ${tag}`, xLabel: tag, yLabel: `Latency (${time.name})`, group: TAG_GROUP };
  const categories = shown.map(categoryOf);
  return asSet({ kind: "bars", ...frame, notes: notesOf(shown, known), categories, series, isStacked: false });
}

function drawThroughput(tag: string, groups: readonly TaggedGroup[], unit: string): PlotSet {
  const shown = pickEvenly(groups, MOST_BARS);
  const values = shown.map(({ json }) => roundForPlot(json.inferPerSec));
  const frame = { title: `Throughput by ${tag}`, xLabel: tag, yLabel: `Throughput (${unit})`, group: TAG_GROUP };
  const categories = shown.map(categoryOf);
  const series = [{ name: unit, values }];
  return asSet({ kind: "bars", ...frame, notes: notesOf(shown, groups), categories, series, isStacked: false });
}

/** Puts the level below the value, so that more names fit. */
function categoryOf({ name }: { readonly name: string }): string {
  return name.replaceAll(", ", "\n");
}

function notesOf(shown: readonly unknown[], all: readonly unknown[]): string[] {
  return shown.length < all.length ? [`${shown.length} of ${all.length} values.`] : [];
}
