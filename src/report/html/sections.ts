import { LEVEL_UNITS } from "../../load/level-units.ts";
import { averageUs } from "../../measure/server-delta.ts";
import { entryOf, isTimeMetric, nameOfMetric, TOKEN_METRICS } from "../../measure/tokens/metrics.ts";
import { formatCount, formatDurationNs, msToNs } from "../../plan/units.ts";
import { formatRange, MARK } from "../rampart/confidence-notes.ts";
import { formatPct, formatUs } from "../rampart/format.ts";
import type { ServerCountersJson } from "../schema/level.ts";
import type { LevelJson } from "../schema/report-schema.ts";
import { type ShownReport, type ShownRun, seriesName } from "./shown-run.ts";
import { type Cell, formatPanel, formatTable, MARK_NOTE } from "./tables.ts";

/** The tables of the page. Every number is from the JSON report. */

type LatencyJson = NonNullable<LevelJson["latency"]>;
const PERCENTILES = ["p50", "p90", "p99", "p99.9"] as const;

/** Returns the levels of all runs, each with its name. */
function rowsOf({ runs }: ShownReport): { readonly name: string; readonly json: LevelJson; readonly run: ShownRun }[] {
  return runs.flatMap((run) => run.levels.map(({ name, json }) => ({ name: seriesName(run, name), json, run })));
}

/** Formats the results by level. */
export function formatLevels(report: ShownReport): string {
  const rows = rowsOf(report);
  if (rows.length === 0) return "";
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
  const cells = rows.map(({ name, json }): Cell[] => [
    name,
    formatCount(json.inferPerSec),
    json.latency === null ? "-" : withRange(json.latency.meanUs, json.latency.meanLowUs, json.latency.meanHighUs),
    ...PERCENTILES.map((percentile) => formatPercentile(json.latency, percentile)),
    ...(isScheduled ? [formatPercentile(json.scheduledLatency ?? null, "p99")] : []),
    ...(hasFirst ? [formatPercentile(json.firstResponse ?? null, "p99")] : []),
    json.latency === null ? "-" : formatUs(json.latency.maxUs),
    json.failed === 0 ? "0 %" : { text: formatPct(json.errorRatio), look: "bad" },
    formatCount(json.requests),
    outcomeCell(json),
  ]);
  return `${formatPanel(formatTable(header, cells))}${MARK_NOTE}`;
}

function formatPercentile(latency: LatencyJson | null, name: (typeof PERCENTILES)[number]): Cell {
  if (latency === null) return "-";
  const { us, lowUs, highUs, isReliable } = latency.percentiles[name];
  return isReliable ? withRange(us, lowUs, highUs) : `${formatUs(us)}${MARK}`;
}

function withRange(us: number, lowUs: number | null, highUs: number | null): Cell {
  const text = formatUs(us);
  return lowUs === null || highUs === null ? text : { text, small: formatRange(formatUs(lowUs), formatUs(highUs)) };
}

function outcomeCell({ outcome, limits }: LevelJson): Cell {
  if (limits !== undefined)
    return limits.state === "kept"
      ? { text: "keeps the limits", look: "good" }
      : { text: limits.state === "broken" ? "breaks a limit" : "unresolved", look: "bad" };
  if (outcome === "measured") return { text: "measured", look: "good" };
  return { text: outcome === "over-limit" ? "over the latency limit" : outcome, look: "bad" };
}

/** Formats the load asked for beside the load delivered, and Little's law. */
export function formatLoad(report: ShownReport): string {
  const rows = rowsOf(report).map(({ name, json: { load, inFlight } }): Cell[] => {
    const unit = LEVEL_UNITS[load.unit].isScheduled ? "requests/s" : "in flight";
    const { expectedMean, isKept } = inFlight.littlesLaw;
    return [
      name,
      load.asked === null ? "-" : `${formatCount(load.asked)} ${unit}`,
      load.isDelivered === false
        ? { text: `${formatCount(load.delivered)} ${unit}`, look: "bad" }
        : `${formatCount(load.delivered)} ${unit}`,
      formatCount(inFlight.mean),
      isKept ? formatCount(expectedMean) : { text: formatCount(expectedMean), look: "bad" },
    ];
  });
  const header = ["level", "load asked for", "delivered", "in flight", "throughput × average latency"];
  return rows.length === 0 ? "" : formatPanel(formatTable(header, rows));
}

/** Formats how stable each level was; empty when no level was measured in windows. */
export function formatStability(report: ShownReport): string {
  const rows = rowsOf(report).filter(({ json }) => json.trials > 1 || json.instability !== undefined);
  const cells = rows.map(({ name, json }): Cell[] => {
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
  return rows.length === 0 ? "" : formatPanel(formatTable(header, cells));
}

function formatVariation(ratio: number | null): string {
  return ratio === null ? "-" : formatPct(ratio);
}

/** Formats the server's times by level, with those of the models that it calls. Empty without statistics. */
export function formatServer(report: ShownReport): string {
  const rows = rowsOf(report).flatMap(({ name, json: { server } }) =>
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
  return rows.length === 0 ? "" : formatPanel(formatTable(header, rows));
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
export function formatTokens(report: ShownReport): string {
  const names = new Map(
    TOKEN_METRICS.map((metric) => [isTimeMetric(metric) ? `${nameOfMetric(metric)}Us` : metric, metric] as const),
  );
  const rows = rowsOf(report).flatMap(({ name, json: { tokens } }) =>
    Object.entries(tokens?.metrics ?? {}).map(([key, found], index): string[] => {
      const metric = names.get(key as never);
      const format = metric !== undefined && isTimeMetric(metric) ? formatUs : formatCount;
      const marked = (percentile: "p50" | "p90" | "p99"): string =>
        `${format(found[percentile])}${found.confidence95[percentile].isReliable ? "" : MARK}`;
      return [
        index === 0 ? name : "",
        metric === undefined ? key : entryOf(metric).label,
        format(found.mean),
        marked("p50"),
        marked("p90"),
        marked("p99"),
        format(found.max),
        formatCount(found.count),
      ];
    }),
  );
  const header = ["level", "metric", "average", "p50", "p90", "p99", "max", "requests"];
  return rows.length === 0 ? "" : formatPanel(formatTable(header, rows));
}

/** Formats failed and cancelled requests by kind, with an example of each. Empty without any. */
export function formatFailures({ runs }: ShownReport): string {
  const rows = runs.flatMap((run) =>
    run.result.failures.map(({ kind, status, count, example, isWarmup }): Cell[] => [
      run.name,
      {
        text: `${kind}${status === undefined ? "" : ` ${status}`}${isWarmup === true ? " (warm-up)" : ""}`,
        look: "bad",
      },
      formatCount(count),
      { text: example, look: "wide" },
    ]),
  );
  return rows.length === 0 ? "" : formatPanel(formatTable(["run", "kind", "requests", "for example"], rows));
}

/** Formats what measuring cost, and whether the client was the limit. */
export function formatClient(report: ShownReport): string {
  const rows = rowsOf(report).map(({ name, json: { client, sendDelay } }): Cell[] => [
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
  return rows.length === 0 ? "" : formatPanel(formatTable(header, rows));
}
