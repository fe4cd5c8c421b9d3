import type { Votes } from "../../../load/search.ts";
import type { StatisticName } from "../../../measure/numpy-statistics.ts";
import { type BrokenLimits, formatPoint, type SearchSummary } from "../../../result/sweep.ts";
import { formatStatistic } from "../console.ts";
import { formatRichTable } from "../rich-table.ts";
import { findPareto, type SweepPoint } from "./sweep.ts";

/** Table of a sweep's points for the console. */

const COLUMNS: readonly (readonly [header: string, metric: string, statistic: StatisticName, isStreaming: boolean])[] =
  [
    ["requests/s", "request_throughput", "avg", false],
    ["tokens/s", "output_token_throughput", "avg", false],
    ["TTFT p99 (ms)", "time_to_first_token", "p99", true],
    ["ITL p99 (ms)", "inter_token_latency", "p99", true],
    ["latency p99 (ms)", "request_latency", "p99", false],
  ];

/** Formats the points in order of measurement. @param broken undefined without a search */
export function formatSweepTable(points: readonly SweepPoint[], broken: BrokenLimits | undefined): string {
  const names = points[0]?.parameters.map(([name]) => name) ?? [];
  const isStreaming = points.some(({ result }) => result.isStreaming);
  const columns = COLUMNS.filter(
    ([, metric, , needsStream]) =>
      (isStreaming || !needsStream) && points.some(({ result }) => result.statistics.has(metric)),
  );
  const places = findPareto(points);
  const rows = points.map(({ name, parameters, result, repeat }, index) => [
    ...parameters.map(([, value]) => String(value)),
    ...columns.map(([, metric, statistic]) => formatStatistic(result.statistics, metric, statistic)),
    places[index]?.isOptimal === true ? "yes" : "no",
    ...(broken === undefined ? [] : [formatLimits(broken.get(name) ?? [], repeat)]),
  ]);
  const header = [...names, ...columns.map(([title]) => title), "Pareto", ...(broken === undefined ? [] : ["limits"])];
  return formatRichTable("Rampart | Sweep", header, rows);
}

function formatLimits(broken: readonly string[], repeat: number | undefined): string {
  return `${broken.length === 0 ? "kept" : "broken"}${repeat === undefined ? "" : ", repeated"}`;
}

/** Formats the result of a search as a line. @param limits in words */
export function formatAnswer(
  { parameter, fixed, highest, lowestBroken, isClientLimited, highestVotes, lowestBrokenVotes }: SearchSummary,
  limits: readonly string[],
): string {
  const what = `${parameter}${fixed.length === 0 ? "" : ` with ${formatPoint(fixed)}`}`;
  const doubt = isClientLimited ? ", where the client may have been the limit and not the server" : "";
  const broken = lowestBrokenVotes === null ? [] : [formatVotes(lowestBrokenVotes.broken, lowestBrokenVotes)];
  if (highest === null)
    return `No tested ${what} keeps ${limits.join(" and ")}: the lowest, ${lowestBroken}, does not${doubt}, in ${broken.join("")}.\n`;
  const end = lowestBroken === null ? "the end of the sweep" : `${lowestBroken} does not${doubt}`;
  const kept = highestVotes === null ? [] : [formatVotes(highestVotes.kept, highestVotes)];
  return `Highest ${what} that keeps ${limits.join(" and ")}: ${highest} (${end}), in ${[...kept, ...broken].join(" and ")}.\n`;
}

/** Formats the number of measurements of a load that agree with the result. */
function formatVotes(agreeing: number, { kept, broken }: Votes): string {
  return `${agreeing} of ${kept + broken} measurements`;
}
