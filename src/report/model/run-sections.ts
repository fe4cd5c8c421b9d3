import { LEVEL_UNITS } from "../../load/level-units.ts";
import { metricText } from "../../measure/metrics/metric-text.ts";
import { formatCount, formatPct, msToNs, secToNs } from "../../plan/units.ts";
import { describeLevel, levelTitles } from "../../registry/level-names.ts";
import { findOver, inBaseUnit, readMetric } from "../schema/read-metrics.ts";
import type { LevelJson, RunJson } from "../schema/report-schema.ts";
import type { OverRunsJson } from "../schema/runs.ts";
import { describeKnee } from "./capacity-section.ts";
import { combinedColumns } from "./level-columns.ts";
import { combinedTable, detail, levelTable } from "./level-sections.ts";
import type { Cell, ModelTable, Section } from "./report-model.ts";
import { type LevelRow, levelNames, type NamedRun, type ReportView } from "./report-view.ts";
import { answerOf, answerOverRuns } from "./search-answer.ts";
import { type ColumnSpec, column, estimateCell, makeTable, markedIf } from "./tables.ts";
import { formatBytes, formatMetricValue, formatTime, formatValue, quantityOfMetric } from "./values.ts";

/** Sections of whole runs: the response to what was asked, runs together, phases, conversations, failures, counts. */

/** Makes the first section: the result of a search with the loads that were tried, runs together, or the levels. */
export function responseSection(view: ReportView): Section {
  const { runs } = view;
  const isSearch = runs.some(({ json: { findMax } }) => findMax !== undefined);
  if (isSearch) return searchSection(view);
  const knees = runs.flatMap(({ name, json }) => {
    const line = describeKnee(view, json);
    return line === undefined ? [] : [`${name === "" ? "" : `${name}: `}${line}`];
  });
  const together = combinedTable(view);
  if (together !== undefined && together.rows.length > 0)
    return { ...summary("runs"), tables: [together], lines: [...knees, ...describeVariation(view)] };
  const lines =
    "runs" in view.json && view.levels.length > 0 ? ["no run ended as planned: there is nothing to combine"] : [];
  return {
    ...summary("levels"),
    tables: view.levels.length === 0 ? [] : [levelTable(view)],
    lines: [...lines, ...knees],
  };
}

function summary(id: string, title = ""): Section {
  return { id, title, isSummary: true, tables: [], charts: [] };
}

/** Returns sections about each of several runs; empty for a single one. */
export function byRunSections(view: ReportView): Section[] {
  if (!("runs" in view.json) || view.levels.length === 0) return [];
  return [detail("by-run", "Each run", [levelTable(view)])];
}

/** Describes the result of a search, over runs if there are several; undefined for other loads. */
function describeResponse({ plan, json, runs }: ReportView): string | undefined {
  if (!("runs" in json)) return runs[0]?.json.findMax && answerOf(plan, runs[0].json.findMax);
  return json.combination.findMax && answerOverRuns(plan, json.combination.findMax, json.runs.length);
}

function searchSection(view: ReportView): Section {
  const { runs, levels, json } = view;
  const response = describeResponse(view) ?? "";
  const tried = levels.toSorted(
    (a, b) => a.run.localeCompare(b.run, "en", { numeric: true }) || a.json.level - b.json.level,
  );
  const lines = runs.flatMap((run) => explainSearch(view, run));
  if (!("runs" in json)) {
    const tables = tried.length === 0 ? [] : [levelTable(view, tried)];
    return { ...summary("search"), lines: [response, ...lines], tables };
  }
  const { atHighest, highest } = json.combination.findMax ?? {};
  const title = levelTitles(view.plan).column;
  const load: ColumnSpec<{ readonly combined: OverRunsJson }> = column("level", `highest ${title}`, "number", 0, () =>
    highest === undefined ? undefined : estimateCell({ value: highest.mean, low: highest.low, high: highest.high }),
  );
  const rows = atHighest === undefined ? [] : [{ combined: atHighest }];
  const together = { ...makeTable("", combinedColumns(view.words, [load]), rows), showsIntervals: true };
  const each = runs.flatMap(({ name, json: { findMax } }) =>
    findMax === undefined ? [] : [`${name}: ${answerOf(view.plan, findMax)}`],
  );
  return { ...summary("search"), lines: [response, ...each], tables: rows.length === 0 ? [] : [together] };
}

const UNDECIDED = "could not be decided within the longest time of a point";

/** Explains the response: what the limits measured there, why the next load is not the response, and what is open. */
function explainSearch({ plan, words }: ReportView, { json: { findMax, levels, error } }: NamedRun): string[] {
  if (findMax === undefined) return [];
  const { highest, next, isResolved } = findMax;
  const lines: string[] = [];
  const explain = (level: LevelJson | undefined, isWanted: (state: string) => boolean): string => {
    const { reason = "", verdicts = [] } = level?.limits ?? {};
    const values = verdicts.flatMap(({ state, measured }, index) => {
      const { metric, limit } = plan.limits?.[index] ?? {};
      if (!isWanted(state) || measured === undefined || metric === undefined) return [];
      const { value } = inBaseUnit(measured);
      return [`${metricText(metric)} ${formatMetricValue(metric, value, words.unit, limit)}`];
    });
    return [reason, ...values].filter((text) => text !== "").join(", ");
  };
  const found = levels.find(({ level }) => level === highest);
  if (found !== undefined)
    lines.push(
      `  ${formatValue(readMetric(found.metrics, "throughput")?.value ?? 0, "rate")} ${words.unit}, ${explain(found, () => true)}`,
    );
  const isBetween = (level: number): boolean => level > (highest ?? 0) && level < (next ?? Number.POSITIVE_INFINITY);
  const open = levels.filter(({ level, limits }) => limits?.state === "unresolved" && isBetween(level));
  const breaks = `breaks ${plan.limits?.length === 1 ? "the limit" : "a limit"}`;
  for (const [level, word] of [
    [open.length === 1 ? open[0] : undefined, UNDECIDED],
    [levels.find(({ level }) => level === next), breaks],
  ] as const) {
    if (level === undefined) continue;
    const why = explain(level, (state) => state !== "kept");
    lines.push(`${describeLevel(plan, level.level)} ${word}${why === "" ? "" : `: ${why}`}`);
  }
  if (open.length > 1) {
    const loads = open.map(({ level }) => level);
    const [lowest, top] = [Math.min(...loads), Math.max(...loads)];
    lines.push(`${open.length} loads from ${describeLevel(plan, lowest)} to ${describeLevel(plan, top)} ${UNDECIDED}`);
  }
  if (highest !== null && next === null && isResolved)
    lines.push("it is the upper end of the search: raise its range (over) to look for a higher one");
  if (!isResolved) {
    const doubt = highest === null ? "the lowest load may keep the limits" : "the highest load may be higher";
    const cause = error?.code === "host-limit" ? error.message : "measure each point longer (atMost)";
    lines.push(`unresolved: ${doubt}; ${cause}`);
  }
  return lines;
}

/** Makes the section of the points of a search with what each limit measured there; undefined for other loads. */
export function pointsSection(view: ReportView): Section | undefined {
  const points = view.levels.filter(({ json: { limits } }) => limits !== undefined);
  if (points.length === 0) return undefined;
  const limits = (view.plan.limits ?? []).map(({ metric }, index) =>
    column<LevelRow>(`limit.${index}`, metricText(metric), quantityOfMetric(metric), index + 1, ({ json }) =>
      limitCell(json, index),
    ),
  );
  const specs: ColumnSpec<LevelRow>[] = [
    ...levelNames(view),
    ...limits,
    column("state", "", "text", 0, ({ json }) => json.limits?.state),
    column("requests", "requests", "count", 9, ({ json }) => json.requests),
    column("why", "why", "text", 0, ({ json }) => json.limits?.reason),
  ];
  const rows = points.toSorted((a, b) => a.json.level - b.json.level);
  return detail("points", "Points of the search", [{ ...makeTable("", specs, rows), showsIntervals: true }]);
}

function limitCell({ limits }: LevelJson, index: number): Cell | undefined {
  const { measured, state } = limits?.verdicts[index] ?? {};
  if (measured === undefined) return undefined;
  const { value, low, high } = inBaseUnit(measured);
  const cell = low === high ? { value } : estimateCell({ value, low, high });
  return state === "kept" ? cell : { ...cell, mark: "failed" };
}

/** Above this, a single run says too little. */
const MUCH_BETWEEN = 2;

/** Describes how much runs differ, compared with what each run says of itself; and the precision that was asked for. */
function describeVariation({ plan, json }: ReportView): string[] {
  if (!("runs" in json)) return [];
  const { combination, repeat, runs } = json;
  const ratios = combination.levels.flatMap(({ metrics }) =>
    (["average", "p50", "p90", "p99"] as const).flatMap(
      (statistic) => findOver(metrics, "latency", statistic)?.betweenToWithinRatio ?? [],
    ),
  );
  const much = ratios.some((ratio) => ratio > MUCH_BETWEEN)
    ? ["runs differ by more than one run can show: trust the runs together, not a single one"]
    : [];
  const until = plan.repeat?.until;
  if (until === undefined || repeat.until === undefined) return much;
  const reached = repeat.until.reachedRatio;
  const found = typeof reached === "number" ? `within ${formatPct(reached)}` : "not known";
  const text = `${metricText(until.metric)} is ${found} of its mean after ${runs.length} runs; ${formatPct(until.ratio)} was asked for`;
  return [...much, text];
}

/** Makes the section of phases, also of those that are not measured; undefined for other loads. */
export function phaseSection({ runs }: ReportView): Section | undefined {
  type Row = NonNullable<RunJson["phases"]>[number] & { readonly run: string; readonly index: number };
  const rows = runs.flatMap(({ name, json: { phases = [] } }) =>
    phases.map((phase, index): Row => ({ ...phase, run: name, index })),
  );
  if (rows.length === 0) return undefined;
  const specs: ColumnSpec<Row>[] = [
    column("run", "run", "text", 0, ({ run }) => run),
    column(
      "phase",
      "phase",
      "text",
      0,
      ({ index, name, isWarmup }) =>
        `${index + 1} ${isWarmup === true && name !== "warm-up" ? `${name} (warm-up)` : name}`,
    ),
    column("start", "begins", "time", 2, ({ startSec }) => secToNs(startSec)),
    column("duration", "lasts", "time", 1, ({ startSec, endSec }) => secToNs(endSec - startSec)),
    column("inFlight", "in flight", "count", 4, ({ inFlightAtStart }) => inFlightAtStart),
    column("sent", "sent", "count", 2, ({ sent }) => sent),
    column("completed", "completed", "count", 1, ({ completed }) => completed),
    column("failed", "failed", "count", 0, ({ failed }) => markedIf(failed > 0, "failed", failed)),
    column("cancelled", "cancelled", "count", 3, ({ cancelled }) => (cancelled === 0 ? undefined : cancelled)),
    column("load", "load", "text", 5, ({ load, isWarmup }) =>
      isWarmup === true ? "not measured" : describeLoads(load),
    ),
  ];
  const late = runs.reduce((sum, { json: { afterPhases } }) => {
    const { completed = 0, failed = 0, cancelled = 0 } = afterPhases ?? {};
    return sum + completed + failed + cancelled;
  }, 0);
  const lines = late === 0 ? [] : [`${formatCount(late)} of the requests ended after the last phase`];
  return { ...detail("phases", "Phases", [makeTable("", specs, rows)]), lines };
}

function describeLoads(load: NonNullable<RunJson["phases"]>[number]["load"]): string {
  const [first] = load;
  if (first === undefined) return "";
  const pairs = load.map(({ asked, delivered }) =>
    asked === null ? formatCount(delivered) : `${formatCount(delivered)} of ${formatCount(asked)}`,
  );
  return `${pairs.join(", ")} ${LEVEL_UNITS[first.unit].isScheduled ? "req/s" : "in flight"}`;
}

/** Makes the section of failed and cancelled requests by kind; undefined without any. */
export function failureSection({ runs }: ReportView): Section | undefined {
  type Row = RunJson["failures"][number] & { readonly run: string };
  const rows = runs.flatMap(({ name, json: { failures } }) =>
    failures.map((failure): Row => ({ ...failure, run: name })),
  );
  if (rows.length === 0) return undefined;
  const specs: ColumnSpec<Row>[] = [
    column("run", "run", "text", 0, ({ run }) => run),
    column("kind", "failed", "text", 0, ({ kind, status, isWarmup }) => ({
      value: `${kind}${status === undefined ? "" : ` ${status}`}${isWarmup === true ? " (warm-up)" : ""}`,
      mark: "failed" as const,
    })),
    column("count", "requests", "count", 0, ({ count }) => count),
    column("example", "for example", "text", 0, ({ example }) => oneLine(example)),
  ];
  const responses = rows.flatMap(({ responses: wrong = [] }) => wrong);
  const wrong: ColumnSpec<(typeof responses)[number]>[] = [
    column("reason", "refused by check", "text", 0, ({ reason }) => oneLine(reason)),
    column("response", "the response", "text", 0, ({ response }) =>
      response === "" ? "(an empty response)" : oneLine(response),
    ),
  ];
  const tables: ModelTable[] = [
    makeTable("", specs, rows),
    ...(responses.length === 0 ? [] : [makeTable("", wrong, responses)]),
  ];
  return { ...summary("failures", "Failures"), tables };
}

/** More hosts are one line on the first screen. */
const MOST_HOSTS = 12;

function describeHosts(hosts: readonly { readonly sent: number; readonly failed: number }[]): string {
  const counts = hosts.map(({ sent }) => sent);
  const [fewest, most] = [Math.min(...counts), Math.max(...counts)];
  const range = fewest === most ? formatCount(most) : `${formatCount(fewest)} to ${formatCount(most)}`;
  const failing = hosts.filter(({ failed }) => failed > 0).length;
  const failures = failing === 0 ? "" : `; requests of ${formatCount(failing)} failed`;
  return `${formatCount(hosts.length)} hosts sent, ${range} requests each${failures}`;
}

/** Makes the sections of the hosts that sent, and of their clocks; none where this host sent. */
export function hostSections({ runs }: ReportView): Section[] {
  const rows = runs.flatMap(({ name, json: { hosts = [] } }) => hosts.map((host) => ({ ...host, run: name })));
  if (rows.length === 0) return [];
  type Row = (typeof rows)[number];
  const names: ColumnSpec<Row>[] = [
    column("run", "run", "text", 0, ({ run }) => run),
    column("host", "sent by", "text", 0, ({ name }) => name),
  ];
  const shares: ColumnSpec<Row>[] = [
    column("workers", "workers", "count", 1, ({ workerCount }) => workerCount),
    column("sent", "requests", "count", 0, ({ sent }) => sent),
    column("failed", "failed", "count", 0, ({ failed }) => markedIf(failed > 0, "failed", failed)),
  ];
  const clocks: ColumnSpec<Row>[] = [
    column("clock", "clock known to", "time", 1, ({ clockErrorMs }) => msToNs(clockErrorMs)),
    column("drift", "moved by", "time", 1, ({ clockDriftMs }) => msToNs(Math.abs(clockDriftMs))),
    column("late", "latest message", "time", 1, ({ lateMs }) => msToNs(lateMs)),
  ];
  const table = makeTable("", [...names, ...shares], rows);
  const isShort = rows.length <= MOST_HOSTS;
  return [
    isShort ? { ...summary("hosts"), tables: [table] } : { ...summary("hosts"), lines: [describeHosts(rows)] },
    ...(isShort ? [] : [detail("each-host", "What each host sent", [table])]),
    detail("clocks", "Clocks of the hosts", [makeTable("", [...names, ...clocks], rows)]),
  ];
}

function oneLine(text: string): string {
  return text.trim().replace(/\s+/g, " ");
}

/** Makes the section of conversations; undefined when the load has none. */
export function sessionSection({ runs }: ReportView): Section | undefined {
  const lines = runs.flatMap(({ name, json: { sessions } }) => {
    if (sessions === undefined) return [];
    const { sessionCount, cutCount, unsentCount, unreadReason } = sessions;
    const first = unreadReason === undefined ? "" : ` (first response that could not be continued: ${unreadReason})`;
    const cut =
      cutCount === 0
        ? ""
        : `, ${formatCount(cutCount)} of them cut short by a turn that failed: ${formatCount(unsentCount)} turns were not sent${first}`;
    return [`${name === "" ? "" : `${name}: `}${formatCount(sessionCount)} conversations${cut}`];
  });
  return lines.length === 0 ? undefined : { ...summary("sessions"), lines };
}

/** Makes the section of what came over HTTP in one run: complete responses by status, and bytes; undefined where it was not counted. */
export function receivedSection({ runs: [run, ...others] }: ReportView): Section | undefined {
  const { responses, receivedBytes } = run?.json ?? {};
  if (responses === undefined || receivedBytes === undefined || others.length > 0) return undefined;
  const statuses = Object.entries(responses).map(([status, count]) => `status ${status}: ${formatCount(count)}`);
  return { ...detail("received", "Received", []), lines: [...statuses, `received ${formatBytes(receivedBytes)}`] };
}

/** Makes the section of the counts of whole runs. */
export function totalsSection({ runs }: ReportView): Section {
  const lines = runs.map(({ name, json }) => {
    const { requests, connections, durationSec, server, servers = [], warmup } = json;
    const sent = `sent ${formatCount(requests.sent)} ${requests.sent === 1 ? "request" : "requests"}`;
    // A target in process has none, and none was opened to one that is not there.
    const over = connections === 0 ? "" : ` over ${connections} ${connections === 1 ? "connection" : "connections"}`;
    const counts = [
      `${formatCount(requests.completed)} completed`,
      `${formatCount(requests.failed)} failed`,
      ...(requests.cancelled === undefined ? [] : [`${formatCount(requests.cancelled)} cancelled`]),
      ...(requests.resent === undefined ? [] : [`${formatCount(requests.resent)} sent again`]),
      ...(warmup === undefined ? [] : [`${formatCount(warmup.sent)} of them to warm up`]),
    ].join(", ");
    const shares = servers.map(
      (one) => `; ${one.name}: ${formatCount(one.sent)} sent, ${formatCount(one.failed)} failed`,
    );
    return `${name === "" ? "" : `${name}: `}${sent}${over} in ${formatTime(secToNs(durationSec))}: ${counts}${shares.join("")}${server === undefined ? "" : describeServerCounts(server, json)}`;
  });
  return { ...detail("totals", "Requests", []), lines };
}

function describeServerCounts(
  { successCount, failCount }: NonNullable<RunJson["server"]>,
  { requests, connections }: RunJson,
): string {
  const counts = `; the server counted ${formatCount(successCount)} successes and ${formatCount(failCount)} failures`;
  // Requests of an earlier run can be counted late, at most one for each connection.
  const hasOthers = successCount + failCount > requests.sent + connections;
  return hasOthers ? `${counts}, more than this run sent: other clients used the model during the run` : counts;
}
