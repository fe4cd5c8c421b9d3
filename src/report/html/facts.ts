import { formatCount, formatDurationNs } from "../../plan/units.ts";
import { escapeHtml } from "../plots/page.ts";
import { formatUs } from "../rampart/format.ts";
import type { LevelJson } from "../schema/report-schema.ts";
import { type ShownReport, seriesName } from "./shown-run.ts";

/** The key numbers at the top of the page. */

interface Fact {
  readonly label: string;
  readonly value: string;
}

/** Formats the key numbers of a report. */
export function formatFacts(report: ShownReport): string {
  const items = factsOf(report).map(
    ({ label, value }) => `<div><dt>${escapeHtml(label)}</dt><dd>${escapeHtml(value)}</dd></div>`,
  );
  return `<dl>${items.join("")}</dl>`;
}

/** Returns the key numbers: those of the level with the highest throughput, and the counts of all requests. */
export function factsOf({ runs, unit }: ShownReport): Fact[] {
  const levels = runs.flatMap((run) => run.levels.map(({ name, json }) => ({ name: seriesName(run, name), json })));
  const best = levels.reduce<(typeof levels)[number] | undefined>(
    (found, one) => (found === undefined || one.json.inferPerSec > found.json.inferPerSec ? one : found),
    undefined,
  );
  const sum = (pick: (result: (typeof runs)[number]["result"]) => number): number =>
    runs.reduce((all, { result }) => all + pick(result), 0);
  const failed = sum(({ failedCount }) => failedCount);
  const where = levels.length > 1 && best !== undefined ? `, ${best.name}` : "";
  return [
    ...(best === undefined ? [] : levelFacts(best.json, unit, where)),
    { label: "Requests sent", value: formatCount(sum(({ sentCount }) => sentCount)) },
    { label: "Requests failed", value: formatCount(failed) },
    { label: "Duration", value: formatDurationNs(sum(({ durationNs }) => durationNs)) },
  ];
}

function levelFacts({ latency, inferPerSec, tokens }: LevelJson, unit: string, where: string): Fact[] {
  const first = tokens?.metrics["timeToFirstTokenUs"];
  const rate = tokens?.outputTokensPerSec;
  return [
    { label: `Highest throughput${where}`, value: `${formatCount(inferPerSec)} ${unit}` },
    ...(latency === null
      ? []
      : [
          { label: `p50 latency${where}`, value: formatUs(latency.percentiles.p50.us) },
          { label: `p99 latency${where}`, value: formatUs(latency.percentiles.p99.us) },
        ]),
    ...(first === undefined ? [] : [{ label: `p99 time to first token${where}`, value: formatUs(first.p99) }]),
    ...(rate === undefined ? [] : [{ label: `Output tokens/s${where}`, value: formatCount(rate) }]),
  ];
}
