import type { Plan } from "../../plan/plan.ts";
import { formatCount, formatDurationNs } from "../../plan/units.ts";
import { describeLevel } from "../../registry/load-modes.ts";
import { escapeHtml } from "../plots/page.ts";
import { formatUs } from "../rampart/format.ts";
import type { LevelJson, ReportJson } from "../schema/report-schema.ts";
import type { CombinedLevelJson } from "../tables/runs-table.ts";
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

/**
 * Returns the key numbers: those of the level with the highest throughput, or of the highest one that a search found, over runs if there are
 * several, and the counts of all requests.
 */
export function factsOf({ plan, json: report, runs, unit }: ShownReport): Fact[] {
  const levels = runs.flatMap((run) =>
    run.levels.map(({ name, json }) => ({
      name: seriesName(run, name),
      json,
      isAnswer: run.result.findMax !== undefined && json.level === run.result.findMax.highest,
    })),
  );
  const answer = levels.find(({ isAnswer }) => isAnswer);
  const best = levels.reduce<(typeof levels)[number] | undefined>(
    (found, one) => (found === undefined || one.json.inferPerSec > found.json.inferPerSec ? one : found),
    undefined,
  );
  const shown = answer ?? best;
  const sum = (pick: (result: (typeof runs)[number]["result"]) => number): number =>
    runs.reduce((all, { result }) => all + pick(result), 0);
  const failed = sum(({ failedCount }) => failedCount);
  const resent = sum(({ resendCount }) => resendCount);
  const where = levels.length > 1 && shown !== undefined ? `, ${shown.name}` : "";
  const throughput = answer === undefined ? "Highest throughput" : "Throughput";
  const found = "runs" in report ? report.combination.findMax : undefined;
  const means = "runs" in report && answer === undefined ? meanFacts(plan, report.combination.levels, unit) : [];
  const ofLevel = shown === undefined ? [] : levelFacts(shown.json, unit, throughput, where);
  return [
    ...(found === undefined ? (means.length > 0 ? means : ofLevel) : searchFacts(found, unit)),
    { label: "Requests sent", value: formatCount(sum(({ sentCount }) => sentCount)) },
    { label: "Requests failed", value: formatCount(failed) },
    ...(resent === 0 ? [] : [{ label: "Requests sent again", value: formatCount(resent) }]),
    { label: "Duration", value: formatDurationNs(sum(({ durationNs }) => durationNs)) },
  ];
}

/** Returns the means over runs at the level whose throughput is the highest; empty without a complete run. A single run may be the lucky one. */
function meanFacts(plan: Plan, levels: readonly CombinedLevelJson[], unit: string): Fact[] {
  const [best] = levels.toSorted((a, b) => (b.inferPerSec?.mean ?? 0) - (a.inferPerSec?.mean ?? 0));
  if (best?.inferPerSec === undefined) return [];
  const { level, phase, runs, inferPerSec, latencyUs, tokens } = best;
  const where = levels.length > 1 ? `, ${describeLevel(plan.load, level, phase?.index)}` : "";
  const mean = `, mean of ${runs} ${runs === 1 ? "run" : "runs"}${where}`;
  const fact = (label: string, over: typeof inferPerSec | undefined, format: (value: number) => string): Fact[] =>
    over === undefined ? [] : [{ label: `${label}${mean}`, value: format(over.mean) }];
  return [
    ...fact("Highest throughput", inferPerSec, (value) => `${formatCount(value)} ${unit}`),
    ...fact("p50 latency", latencyUs.p50, formatUs),
    ...fact("p99 latency", latencyUs.p99, formatUs),
    ...fact("p99 time to first token", tokens?.metrics["timeToFirstTokenUs"]?.p99, formatUs),
    ...fact("Output tokens/s", tokens?.outputTokensPerSec, formatCount),
  ];
}

type FoundJson = NonNullable<Extract<ReportJson, { runs: unknown }>["combination"]["findMax"]>;

/** Returns the means over the runs of a search whose answer is certain. */
function searchFacts({ highest, atHighest }: FoundJson, unit: string): Fact[] {
  if (highest === undefined || atHighest === undefined) return [];
  const { inferPerSec, latencyUs } = atHighest;
  const fact = (label: string, over: typeof inferPerSec, format: (value: number) => string): Fact[] =>
    over === undefined ? [] : [{ label, value: format(over.mean) }];
  return [
    ...fact(`Highest load, mean of ${highest.count} ${highest.count === 1 ? "run" : "runs"}`, highest, formatCount),
    ...fact("Throughput there", inferPerSec, (value) => `${formatCount(value)} ${unit}`),
    ...fact("p50 latency there", latencyUs.p50, formatUs),
    ...fact("p99 latency there", latencyUs.p99, formatUs),
  ];
}

function levelFacts(
  { latency, inferPerSec, tokens }: LevelJson,
  unit: string,
  throughput: string,
  where: string,
): Fact[] {
  const first = tokens?.metrics["timeToFirstTokenUs"];
  const rate = tokens?.outputTokensPerSec;
  return [
    { label: `${throughput}${where}`, value: `${formatCount(inferPerSec)} ${unit}` },
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
