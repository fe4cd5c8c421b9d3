import { averageUs } from "../../measure/server-delta.ts";
import type { Plan } from "../../plan/plan.ts";
import { formatCount, formatDurationNs, formatPct, msToNs } from "../../plan/units.ts";
import type { LevelResult, RunResult } from "../../result/run-result.ts";
import { type ChartRun, type ChartSource, levelRows, type NamedLevel } from "../model/charts/chart-source.ts";
import { answerOverRuns, formatFindMax } from "../rampart/find-max.ts";
import { formatUs } from "../rampart/format.ts";
import type { ServerCountersJson } from "../schema/level.ts";
import type { LevelJson } from "../schema/report-schema.ts";
import { LIMIT_STATES, mlperfTables, searchTable, sessionTable, wrongAnswerTable } from "../tables/answer-tables.ts";
import { groupTable, groupValueTables, tagGroupsOf } from "../tables/group-tables.ts";
import { loadTable } from "../tables/load-table.ts";
import { averageCell, percentileCell, type ResultTable, type TableCell, withRange } from "../tables/result-table.ts";
import { combinationTable } from "../tables/runs-table.ts";
import { extractedTable, tokenTable } from "../tables/value-tables.ts";

/** The tables of the page. Every number is from the JSON report. */

/** A run with its results. */
export interface ShownReport extends ChartSource {
  readonly plan: Plan;
  readonly runs: readonly (ChartRun & {
    readonly result: RunResult;
    readonly shown: readonly (NamedLevel & { readonly result: LevelResult })[];
  })[];
}

const PERCENTILES = ["p50", "p90", "p99", "p99.9"] as const;

/** Formats the results by level. */
export function formatLevels(report: ShownReport): ResultTable {
  const rows = levelRows(report);
  const isScheduled = rows.some(({ json }) => json.scheduledLatency !== undefined);
  const hasFirst = rows.some(({ json }) => json.firstResponse !== undefined);
  const header = [
    "level",
    report.unit,
    "average",
    ...PERCENTILES,
    ...(isScheduled ? ["p99 from due time"] : []),
    ...(hasFirst ? ["p99 of the first response"] : []),
    "max",
    "errors",
    "requests",
    "outcome",
  ];
  const cells = rows.map(({ name, json }): TableCell[] => [
    name,
    withRange(formatCount(json.inferPerSec), json.inferPerSecLow, json.inferPerSecHigh, formatCount),
    averageCell(json.latency),
    ...PERCENTILES.map((percentile) => percentileCell(json.latency, percentile)),
    ...(isScheduled ? [percentileCell(json.scheduledLatency ?? null, "p99")] : []),
    ...(hasFirst ? [percentileCell(json.firstResponse ?? null, "p99")] : []),
    json.latency === null ? "-" : formatUs(json.latency.maxUs),
    json.failed === 0 ? "0 %" : { text: formatPct(json.errorRatio), look: "bad" },
    formatCount(json.requests),
    outcomeCell(json),
  ]);
  return { title: "", header, rows: cells };
}

function outcomeCell({ outcome, limits }: LevelJson): TableCell {
  if (limits !== undefined) return LIMIT_STATES[limits.state];
  if (outcome === "measured") return { text: "measured", look: "good" };
  return { text: outcome === "over-limit" ? "over the latency limit" : outcome, look: "bad" };
}

/** Formats the load asked for beside the load delivered, and Little's law. */
export function formatLoad(report: ShownReport): ResultTable {
  return { ...loadTable(levelRows(report)), title: "" };
}

/** Formats how stable each level was; empty when no level was measured in windows. */
export function formatStability(report: ShownReport): ResultTable {
  const rows = levelRows(report).filter(({ json }) => json.trials > 1 || json.instability !== undefined);
  const cells = rows.map(({ name, json }): TableCell[] => {
    const { instability } = json;
    const isStable = instability === undefined && json.outcome !== "partial";
    return [
      name,
      formatCount(json.trials),
      isStable ? { text: "stable", look: "good" } : { text: "not stable", look: "bad" },
      instability === undefined ? "" : formatVariation(instability.throughputRatio),
      instability === undefined ? "" : formatVariation(instability.latencyRatio),
      instability === undefined ? "" : formatPct(instability.toleranceRatio),
    ];
  });
  const header = ["level", "windows", "", "throughput varied by", "latency varied by", "allowed"];
  return { title: "", header, rows: cells };
}

function formatVariation(ratio: number | null): string {
  return ratio === null ? "-" : formatPct(ratio);
}

/** Formats the server's times by level, with those of the models that it calls. Empty without statistics. */
export function formatServer(report: ShownReport): ResultTable {
  const rows = levelRows(report).flatMap(({ name, json: { server } }) =>
    server === undefined ? [] : serverRows(name, server, 0),
  );
  const header = [
    "level",
    "model",
    "requests",
    "server average",
    "queue",
    "compute input",
    "infer",
    "output",
    "cache hits",
    "cache misses",
  ];
  return { title: "", header, rows };
}

function serverRows(level: string, server: ServerCountersJson, depth: number): string[][] {
  const version = server.version === "" ? "" : ` v${server.version}`;
  const time = (ns: number, count: number): string => (count === 0 ? "-" : formatUs(averageUs(ns, count)));
  const isCached = server.cacheHitCount + server.cacheMissCount > 0;
  const row = [
    depth === 0 ? level : "",
    `${"· ".repeat(depth)}${server.name}${version}`,
    formatCount(server.successCount),
    time(server.successNs, server.successCount),
    time(server.queueNs, server.queueCount),
    time(server.computeInputNs, server.computeInputCount),
    time(server.computeInferNs, server.computeInferCount),
    time(server.computeOutputNs, server.computeOutputCount),
    isCached ? formatCount(server.cacheHitCount) : "",
    isCached ? formatCount(server.cacheMissCount) : "",
  ];
  return [row, ...server.composing.flatMap((called) => serverRows(level, called, depth + 1))];
}

/** Formats the token metrics by level; empty when none are measured. */
export function formatTokens(report: ShownReport): readonly ResultTable[] {
  return [{ ...tokenTable(levelRows(report)), title: "" }];
}

/** Formats the values that the target extracts from answers; empty without any. */
export function formatExtracted(report: ShownReport): readonly ResultTable[] {
  return [{ ...extractedTable(levelRows(report)), title: "" }];
}

/** Formats the requests by tag; empty without tags. */
export function formatGroups(report: ShownReport): readonly ResultTable[] {
  return tagGroupsOf(levelRows(report)).flatMap((tag) => [groupTable(tag, report.unit), ...groupValueTables(tag)]);
}

/** Formats the result of each MLPerf scenario; empty for other loads. */
export function formatMlperf(report: ShownReport): readonly ResultTable[] {
  return mlperfTables(report.runs.flatMap(({ shown }) => shown));
}

/** Describes the answer of a search for the highest load; nothing for other loads. */
export function searchLines({ plan, runs, unit }: ShownReport): string[] {
  const results = runs.map(({ result }) => result);
  const overall = runs.length > 1 ? (answerOverRuns(plan, { runs: results }) ?? []) : [];
  const answers = results.flatMap((result) =>
    result.findMax === undefined ? [] : formatFindMax(plan, result, unit).split("\n"),
  );
  return [overall, answers].flat();
}

/** Makes the table of the points of a search. */
export function formatSearch(report: ShownReport): ResultTable {
  return searchTable(report.plan, levelRows(report), report.unit);
}

/** Formats the means over repeated runs; empty for a single run. */
export function formatCombination({ plan, json, unit }: ShownReport): readonly ResultTable[] {
  const table = combinationTable(plan, json, unit);
  return table === undefined ? [] : [{ ...table, title: "" }];
}

/** Formats the counts of conversations; empty when the load has none. */
export function formatSessions({ runs }: ShownReport): ResultTable {
  return { ...sessionTable(runs), title: "" };
}

/** Formats failed and cancelled requests by kind, with an example of each. Empty without any. */
export function formatFailures({ runs }: ShownReport): readonly ResultTable[] {
  const rows = runs.flatMap((run) =>
    run.result.failures.map(({ kind, status, count, example, isWarmup }): TableCell[] => [
      run.name,
      {
        text: `${kind}${status === undefined ? "" : ` ${status}`}${isWarmup === true ? " (warm-up)" : ""}`,
        look: "bad",
      },
      formatCount(count),
      { text: example, look: "wide" },
    ]),
  );
  return [{ title: "", header: ["run", "kind", "requests", "for example"], rows }, wrongAnswerTable(runs)];
}

/** Formats what measuring cost, and whether the client was the limit. */
export function formatClient(report: ShownReport): ResultTable {
  const rows = levelRows(report).map(({ name, json: { client, sendDelay } }): TableCell[] => [
    name,
    formatPct(client.cpuRatio),
    client.coreWaitRatio === null ? "" : formatPct(client.coreWaitRatio),
    formatDurationNs(msToNs(client.loopLagMeanMs)),
    client.loopLagP99Ms === null ? "-" : formatDurationNs(msToNs(client.loopLagP99Ms)),
    formatDurationNs(msToNs(client.loopLagMaxMs)),
    formatUs(client.sendMeanUs),
    formatUs(client.receiveMeanUs),
    sendDelay === undefined || sendDelay === null ? "" : formatUs(sendDelay.percentiles.p99.us),
    `${client.overheadPct.toFixed(2)} %`,
    client.saturation === null ? { text: "no", look: "good" } : { text: client.saturation, look: "bad" },
  ]);
  const header = [
    "level",
    "CPU, of a core",
    "waited for a core",
    "event loop late, average",
    "p99",
    "max",
    "writing a request",
    "reading a response",
    "sent late, p99",
    "overhead",
    "was it the limit?",
  ];
  return { title: "", header, rows };
}
