import { LEVEL_UNITS } from "../../load/level-units.ts";
import { metricOf } from "../../measure/metrics/catalogue.ts";
import type { ServerDelta, Stage } from "../../measure/server-delta.ts";
import { TARGET_TAG } from "../../plan/groups/tags.ts";
import { defined } from "../../plan/objects.ts";
import { countOf, formatCount, formatPct, msToNs, secToNs, usToNs } from "../../plan/units.ts";
import type { ClientJson } from "../schema/level.ts";
import type { SpreadJson, TelemetryJson } from "../schema/metrics.ts";
import { findSpread, readMetric, type StatisticName } from "../schema/read-metrics.ts";
import type { LevelJson } from "../schema/report-schema.ts";
import { type CombinedRow, combinedColumns, measuredColumns } from "./level-columns.ts";
import type { ModelTable, Section } from "./report-model.ts";
import {
  type GroupRow,
  groupsByTag,
  type LevelRow,
  levelNames,
  type NamedRow,
  nameInRun,
  nameLevel,
  type ReportView,
} from "./report-view.ts";
import { type ColumnSpec, column, detail, FAILED_COLUMN, makeTable, markedIf, spreadCell } from "./tables.ts";

/** Sections of a report with a row for each level, or for a part of it. */

/** A table with more rows cannot be read at a glance. */
export const MOST_SUMMARY_ROWS = 12;

/** Builds the table of the levels. @param rows default: all */
export function levelTable(view: ReportView, rows: readonly LevelRow[] = view.levels): ModelTable {
  return makeTable("", measuredColumns<LevelRow>(view.words, levelNames(view)), rows);
}

/** Builds the table of combined runs: a row for each level, with means over runs. */
export function combinedTable(view: ReportView): ModelTable | undefined {
  const { json, plan, words } = view;
  if (!("runs" in json)) return undefined;
  type Row = CombinedRow & NamedRow;
  const rows = json.combination.levels.map(
    (combined): Row => ({
      combined,
      run: "",
      name: nameLevel(plan, combined),
      json: combined,
    }),
  );
  return {
    ...makeTable("", combinedColumns<Row>(words, levelNames(view)), rows),
    showsIntervals: true,
    isOfRuns: true,
  };
}

/** Builds a section for each tag: a row for each of its values at each level. */
export function groupSections(view: ReportView): Section[] {
  return [...groupsByTag(view)].map(([tag, rows]) => {
    const first: ColumnSpec<GroupRow>[] = [
      column("tag", tag, "text", 0, ({ value }) => value),
      ...(view.levels.length === 1 ? [] : levelNames(view)),
    ];
    const tables = [makeTable("", measuredColumns(view.words, first), rows)];
    // If there is only one value, its row equals that of the level.
    const isSplit = new Set(rows.map(({ value }) => value)).size > 1;
    const isSummary = tag === TARGET_TAG || (isSplit && rows.length <= MOST_SUMMARY_ROWS);
    return { id: `by-${tag}`, title: `By ${tag}`, isSummary, tables, charts: [] };
  });
}

/** Builds the section on the requested and the delivered load, and Little's law. */
export function loadSection(view: ReportView): Section {
  const isScheduled = view.levels.some(({ json: { load } }) => LEVEL_UNITS[load.unit].isScheduled);
  const unit = isScheduled ? "req/s" : "in flight";
  const asked = column<LevelRow>("asked", `asked, ${unit}`, "count", 3, ({ json: { load } }) => load.asked);
  const delivered = column<LevelRow>("delivered", "delivered", "mean", 1, ({ json: { load } }) =>
    load.delivered === null ? undefined : markedIf(load.isDelivered === false, "failed", load.delivered),
  );
  return detail("load", "Load", [
    makeTable<LevelRow>(
      "",
      [
        ...levelNames(view),
        { ...asked, unit },
        { ...delivered, unit },
        column("inFlight", "mean in flight", "mean", 2, ({ json: { inFlight } }) => inFlight.mean),
        column("littlesLaw", "throughput × latency", "mean", 2, ({ json: { inFlight } }) =>
          markedIf(!inFlight.littlesLaw.isKept, "failed", inFlight.littlesLaw.expectedMean),
        ),
        column("delayed", "sent late", "count", 4, ({ json: { delayed } }) => (delayed === 0 ? undefined : delayed)),
        column("sendDelay.p99", "late p99", "time", 5, ({ json: { sendDelayUs } }) =>
          spreadCell(sendDelayUs, "p99", usToNs),
        ),
        column("resent", "sent again", "count", 6, ({ json: { resent } }) => resent),
        column("cancelled", "cancelled", "count", 6, ({ json: { cancelled } }) => cancelled),
      ],
      view.levels,
    ),
  ]);
}

/** Builds the section on the evidence for each level: the number of requests, and their effective number. */
export function evidenceSection(view: ReportView): Section {
  const lines = view.levels.flatMap(({ run, name, json: { metrics, trials, instability } }) => {
    const latency = findSpread(metrics, "latency");
    if (latency === undefined) return [];
    const windows = trials > 1 ? `, ${trials} windows` : "";
    const moved =
      instability === undefined
        ? ""
        : `; not stable within ${formatPct(instability.withinRatio)}: throughput varied by ${formatPct(instability.throughputRatio ?? 0)}, latency by ${formatPct(instability.latencyRatio ?? 0)}`;
    return [`${nameInRun(run, name)}: ${describeEvidence(latency)}${windows}${moved}`];
  });
  return { ...detail("evidence", "Evidence", []), lines };
}

function describeEvidence({ count, confidence95 }: SpreadJson): string {
  const requests = countOf(count, "request");
  const worth = Math.round(confidence95?.mean.effectiveCount ?? 1);
  return worth >= count
    ? `${requests}, all independent`
    : `${requests}, as informative as ${countOf(worth, "independent one")}`;
}

interface ClientRow extends LevelRow {
  readonly client: ClientJson;
}

/** Builds the section on the cost of measuring, and on the client's lag. */
export function clientSection(view: ReportView): Section | undefined {
  const rows = view.levels.flatMap((row): ClientRow[] => {
    const { client } = row.json;
    return client === undefined ? [] : [{ ...row, client }];
  });
  if (rows.length === 0) return undefined;
  const time = (key: string, title: string, dropOrder: number, pick: (client: ClientJson) => number | null) =>
    column<ClientRow>(key, title, "time", dropOrder, ({ client }) => pick(client));
  return detail("client", "Client", [
    makeTable<ClientRow>(
      "",
      [
        ...levelNames(view),
        column("cpu", "CPU of a core", "ratio", 1, ({ client }) => client.cpuRatio),
        column("coreWait", "waited for it", "ratio", 3, ({ client }) => client.coreWaitRatio),
        time("loopLag.mean", "loop late", 5, ({ loopLagMeanMs }) => msToNs(loopLagMeanMs)),
        time("loopLag.p99", "late p99", 2, ({ loopLagP99Ms }) => (loopLagP99Ms === null ? null : msToNs(loopLagP99Ms))),
        time("loopLag.max", "late max", 2, ({ loopLagMaxMs }) => msToNs(loopLagMaxMs)),
        time("send.mean", "write", 6, ({ sendMeanUs }) => usToNs(sendMeanUs)),
        column("overhead", "overhead", "ratio", 4, ({ client }) => client.overheadRatio),
      ],
      rows,
    ),
  ]);
}

interface ServerRow extends NamedRow {
  readonly model: string;
  readonly server: ServerDelta;
}

/** Builds the section of the times that the server reports, including those of the models that it calls; undefined without statistics. */
export function serverSection(view: ReportView): Section | undefined {
  const rows = view.levels.flatMap((row) => (row.json.server === undefined ? [] : serverRows(row, row.json.server, 0)));
  if (rows.length === 0) return undefined;
  const time = (key: string, title: string, dropOrder: number, stage: Stage) =>
    column<ServerRow>(`${key}.mean`, title, "time", dropOrder, ({ server }) => {
      const count = server[`${stage}Count`];
      return count === 0 ? undefined : server[`${stage}Ns`] / count;
    });
  const cached = ({ cacheHitCount, cacheMissCount }: ServerDelta): boolean => cacheHitCount + cacheMissCount > 0;
  const specs: ColumnSpec<ServerRow>[] = [
    ...levelNames(view),
    column("model", "model", "text", 0, ({ model }) => model),
    column("successes", "successes", "count", 2, ({ server }) => server.successCount),
    time("serverLatency", "mean", 1, "success"),
    time("serverQueue", "queue", 1, "queue"),
    time("serverComputeInput", "input", 3, "computeInput"),
    time("serverComputeInfer", "infer", 1, "computeInfer"),
    time("serverComputeOutput", "output", 3, "computeOutput"),
    column("cacheHits", "hits", "count", 1, ({ server }) => (cached(server) ? server.cacheHitCount : undefined)),
    column("cacheMisses", "misses", "count", 1, ({ server }) => (cached(server) ? server.cacheMissCount : undefined)),
  ];
  return detail("server", "Server", [makeTable("", specs, rows)]);
}

function serverRows(row: LevelRow, server: ServerDelta, depth: number): ServerRow[] {
  const version = server.version === "" ? "" : ` v${server.version}`;
  const first = { ...row, server, model: `${"· ".repeat(depth)}${server.name}${version}` };
  return [first, ...server.composing.flatMap((called) => serverRows(row, called, depth + 1))];
}

interface GpuRow extends NamedRow {
  readonly gpu: TelemetryJson["gpus"][number];
}

/** Builds the section of the server's GPUs; undefined if no metrics were read. */
export function gpuSection(view: ReportView): Section | undefined {
  const read = view.levels.filter(({ json: { telemetry } }) => telemetry !== undefined);
  if (read.length === 0) return undefined;
  const rows = read.flatMap((row) => (row.json.telemetry?.gpus ?? []).map((gpu): GpuRow => ({ ...row, gpu })));
  const metric = (key: string, title: string, dropOrder: number, statistic?: StatisticName) => {
    const { quantity, unit } = metricOf({ key });
    const name = statistic === undefined ? key : `${key}.${statistic}`;
    const pick = ({ gpu }: GpuRow) => readMetric(gpu.metrics, key, statistic)?.value;
    return defined({ ...column(name, title, quantity === "ratio" ? quantity : "mean", dropOrder, pick), unit });
  };
  const limit = column<GpuRow>("gpuPowerLimit", "W limit", "mean", 4, ({ gpu }) => gpu.gpuPowerLimitWatts);
  const total = column<GpuRow>("gpuMemoryTotal", "MB total", "mean", 4, ({ gpu: { gpuMemoryTotalBytes: bytes } }) =>
    bytes === undefined ? undefined : bytes / BYTES_PER_MB,
  );
  const specs: ColumnSpec<GpuRow>[] = [
    ...levelNames(view),
    column("gpu", "GPU", "text", 0, ({ gpu }) => gpu.uuid),
    metric("gpuUtilization", "busy", 1, "mean"),
    metric("gpuPower", "W", 2, "mean"),
    { ...limit, unit: "W" },
    metric("gpuEnergy", "J", 3),
    metric("gpuMemoryUsed", "MB used", 2, "max"),
    { ...total, unit: "MB" },
  ];
  const readings = read
    .map(({ name, json: { telemetry } }) => `${name}: ${formatCount(telemetry?.readings ?? 0)}`)
    .join(", ");
  const isRead = read.some(({ json: { telemetry } }) => (telemetry?.readings ?? 0) > 0);
  const lines = [
    `readings of the server's metrics: ${readings}`,
    ...(isRead && rows.length === 0 ? ["they name no GPU"] : []),
  ];
  return { ...detail("gpu", "GPU", [makeTable("", specs, rows)]), lines };
}

const BYTES_PER_MB = 1e6;

/** Builds the section with the timeline of each level; undefined without a timeline. */
export function timelineSection(view: ReportView): Section | undefined {
  const { plan, words, levels, runs } = view;
  const specs: ColumnSpec<TimelineRow>[] = [
    column("start", "time", "time", 0, ({ startSec }) => secToNs(startSec)),
    column("inFlight", "in flight", "mean", 2, ({ inFlightMean }) => inFlightMean),
    column(
      "throughput",
      words.unit,
      "rate",
      1,
      ({ completed, startSec, endSec }) => (completed * plan.target.batchSize) / (endSec - startSec),
    ),
    column("latency.mean", "mean", "time", 3, ({ latencyMeanUs: us, completed }) =>
      us === null || completed === 0 ? null : usToNs(us),
    ),
    column("latency.p99", "p99", "time", 1, ({ latencyP99Us: us }) => (us === null ? null : usToNs(us))),
    FAILED_COLUMN,
  ];
  const whole = runs.flatMap(({ name, json: { timeline = [] } }) =>
    timeline.length === 0 ? [] : [makeTable(name, specs, timeline)],
  );
  const each = levels.flatMap(({ run, name, json: { timeline } }) =>
    timeline.length < 2 ? [] : [makeTable(nameInRun(run, name), specs, timeline)],
  );
  const tables = whole.length > 0 ? whole : each;
  return tables.length === 0 ? undefined : detail("timeline", "Time line", tables);
}

type TimelineRow = LevelJson["timeline"][number];
