import { LEVEL_UNITS } from "../../load/level-units.ts";
import { countOf, formatCount, msToNs, plural, secToNs } from "../../plan/units.ts";
import { toOneLine } from "../markup.ts";
import type { RunJson } from "../schema/report-schema.ts";
import type { ModelTable, Section } from "./report-model.ts";
import { countMeasured, ofRun, type ReportView } from "./report-view.ts";
import { type ColumnSpec, column, detail, FAILED_COLUMN, makeTable, RUN_COLUMN, summary } from "./tables.ts";
import { describeUnmeasured, formatBytes, formatThreeDigits, formatTime } from "./values.ts";

/** Sections of whole runs: phases, hosts, conversations, failures, counts. */

/** Builds the section of phases, including unmeasured ones; undefined for other loads. */
export function phaseSection({ runs }: ReportView): Section | undefined {
  type Row = NonNullable<RunJson["phases"]>[number] & { readonly run: string; readonly index: number };
  const rows = runs.flatMap(({ name, json: { phases = [] } }) =>
    phases.map((phase, index): Row => ({ ...phase, run: name, index })),
  );
  if (rows.length === 0) return undefined;
  const specs: ColumnSpec<Row>[] = [
    RUN_COLUMN,
    column("phase", "phase", "text", 0, ({ index, name, isWarmup }) => {
      const isNoted = isWarmup === true && name !== "warm-up";
      return `${index + 1} ${name}${isNoted ? " (warm-up)" : ""}`;
    }),
    column("start", "begins", "time", 2, ({ startSec }) => secToNs(startSec)),
    column("duration", "lasts", "time", 1, ({ startSec, endSec }) => secToNs(endSec - startSec)),
    column("inFlight", "in flight", "count", 4, ({ inFlightAtStart }) => inFlightAtStart),
    column("sent", "sent", "count", 2, ({ sent }) => sent),
    column("completed", "completed", "count", 1, ({ completed }) => completed),
    FAILED_COLUMN,
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
  const pairs = load.map(({ asked, delivered }) => {
    const rate = delivered === null ? "no rate" : formatThreeDigits(delivered);
    return asked === null ? rate : `${rate} of ${formatCount(asked)}`;
  });
  return `${pairs.join(", ")} ${LEVEL_UNITS[first.unit].isScheduled ? "req/s" : "in flight"}`;
}

/** Builds the section of failed and cancelled requests by kind; undefined if there are none. */
export function failureSection({ json, runs }: ReportView): Section | undefined {
  type Row = RunJson["failures"][number] & { readonly run: string };
  const rows = runs.flatMap(({ name, json: { failures } }) =>
    failures.map((failure): Row => ({ ...failure, run: name })),
  );
  if (rows.length === 0) return undefined;
  const specs: ColumnSpec<Row>[] = [
    RUN_COLUMN,
    column("kind", "failed", "text", 0, ({ kind, status, isWarmup }) => ({
      value: `${kind}${status === undefined ? "" : ` ${status}`}${isWarmup === true ? " (warm-up)" : ""}`,
      mark: "failed" as const,
    })),
    column("count", "requests", "count", 0, ({ count }) => count),
    column("example", "for example", "text", 0, ({ example }) => toOneLine(example)),
  ];
  const responses = rows.flatMap(({ responses: wrong = [] }) => wrong);
  const wrong: ColumnSpec<(typeof responses)[number]>[] = [
    column("reason", "refused by check", "text", 0, ({ reason }) => toOneLine(reason)),
    column("response", "the response", "text", 0, ({ response }) =>
      response === "" ? "(an empty response)" : toOneLine(response),
    ),
  ];
  const tables: ModelTable[] = [
    makeTable("", specs, rows),
    ...(responses.length === 0 ? [] : [makeTable("", wrong, responses)]),
  ];
  const lines = runs.flatMap(({ name, json: { requests, levels } }) => {
    // Where all failed, the verdict says it.
    const measured = levels.reduce((sum, { failed }) => sum + failed, 0);
    const outside = requests.completed === 0 ? "" : describeUnmeasured(requests.failed, measured);
    return outside === "" ? [] : [ofRun(name, `${countOf(requests.failed, "request")} failed, ${outside}`)];
  });
  // The verdict of a run in which all requests failed has the reason.
  const isSaid = tables.length === 1 && rows.length === 1 && json.verdict.reasons[0]?.code === "only-failures";
  return { ...summary("failures", "Failures"), isSummary: !isSaid, tables, lines };
}

/** More hosts are one line on the first screen. */
const MOST_HOSTS = 12;

function describeHosts(hosts: readonly { readonly sent: number; readonly failed: number }[]): string {
  const counts = hosts.map(({ sent }) => sent);
  const [fewest, most] = [Math.min(...counts), Math.max(...counts)];
  const range = fewest === most ? formatCount(most) : `${formatCount(fewest)} to ${formatCount(most)}`;
  const failing = hosts.filter(({ failed }) => failed > 0).length;
  const failures = failing === 0 ? "" : `; requests of ${formatCount(failing)} failed`;
  return `${formatCount(hosts.length)} hosts sent, ${range} ${plural(most, "request")} each${failures}`;
}

/** Builds the sections of the hosts that sent, and of their clocks; empty if this host sent. */
export function hostSections({ runs }: ReportView): Section[] {
  const rows = runs.flatMap(({ name, json: { hosts = [] } }) => hosts.map((host) => ({ ...host, run: name })));
  if (rows.length === 0) return [];
  type Row = (typeof rows)[number];
  const names: ColumnSpec<Row>[] = [RUN_COLUMN, column("host", "sent by", "text", 0, ({ name }) => name)];
  const shares: ColumnSpec<Row>[] = [
    column("workers", "workers", "count", 1, ({ workerCount }) => workerCount),
    column("sent", "sent", "count", 0, ({ sent }) => sent),
    FAILED_COLUMN,
  ];
  const clocks: ColumnSpec<Row>[] = [
    column("offset", "clock differs by", "time", 1, ({ clockOffsetMs = 0 }) => msToNs(Math.abs(clockOffsetMs))),
    column("clock", "known to", "time", 1, ({ clockErrorMs }) => msToNs(clockErrorMs)),
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

/** Builds the section of conversations; undefined if the load has none. */
export function sessionSection({ runs }: ReportView): Section | undefined {
  const lines = runs.flatMap(({ name, json: { sessions, warmup } }) => {
    if (sessions === undefined) return [];
    const { sessionCount, cutCount, unsentCount, unreadReason, isChain } = sessions;
    const [session, turn] = isChain === true ? ["chain", "call"] : ["conversation", "turn"];
    const first = unreadReason === undefined ? "" : ` (first response that could not be continued: ${unreadReason})`;
    const unsent = countOf(unsentCount, `${turn} was`, `${turn}s were`);
    const cut =
      cutCount === 0
        ? ""
        : `, ${formatCount(cutCount)} of them cut short by a ${turn} that failed: ${unsent} not sent${first}`;
    const all = warmup === undefined ? "" : ", those before the measurement included";
    return [ofRun(name, `${countOf(sessionCount, session)}${all}${cut}`)];
  });
  return lines.length === 0 ? undefined : { ...summary("sessions"), lines };
}

/** Builds the section of data received over HTTP in one run: complete responses by status, and bytes; undefined if it was not counted. */
export function receivedSection({ runs: [run, ...others] }: ReportView): Section | undefined {
  const { responses, receivedBytes } = run?.json ?? {};
  if (responses === undefined || receivedBytes === undefined || others.length > 0) return undefined;
  const statuses = Object.entries(responses).map(([status, count]) => `status ${status}: ${formatCount(count)}`);
  return { ...detail("received", "Received", []), lines: [...statuses, `received ${formatBytes(receivedBytes)}`] };
}

/** Builds the section of the counts of whole runs. */
export function totalsSection({ runs }: ReportView): Section {
  const lines = runs.map(({ name, json }) => {
    const { requests, connections, durationSec, server, servers = [] } = json;
    const sent = `sent ${countOf(requests.sent, "request")}`;
    // A target in process has no connections, and none could be opened to an absent server.
    const over = connections === 0 ? "" : ` over ${countOf(connections, "connection")}`;
    const counts = [
      `${formatCount(requests.completed)} completed`,
      `${formatCount(requests.failed)} failed`,
      ...(requests.cancelled === undefined ? [] : [`${formatCount(requests.cancelled)} cancelled`]),
      ...(requests.resent === undefined ? [] : [`${formatCount(requests.resent)} sent again`]),
    ].join(", ");
    const scopes = describeScopes(json);
    const shares = servers.map(
      (one) => `; ${one.name}: ${formatCount(one.sent)} sent, ${formatCount(one.failed)} failed`,
    );
    const counted = server === undefined ? "" : describeServerCounts(server, json);
    return ofRun(
      name,
      `${sent}${over} in ${formatTime(secToNs(durationSec))}: ${counts}${scopes}${shares.join("")}${counted}`,
    );
  });
  return { ...detail("totals", "Requests", []), lines };
}

/** Describes how many requests were measured, how many were warm-up, and how many were neither or both. Empty if all were measured. */
function describeScopes({ requests: { sent }, levels, warmup }: RunJson): string {
  const measured = countMeasured(levels);
  const rest = sent - measured - (warmup?.sent ?? 0);
  const parts = [
    ...(measured === 0 || measured === sent ? [] : [`${formatCount(measured)} measured`]),
    ...(warmup === undefined ? [] : [`${formatCount(warmup.sent)} to warm up`]),
    ...(measured === 0 || rest <= 0 ? [] : [`${formatCount(rest)} before, between or after what was measured`]),
    ...(warmup === undefined || measured === 0 || rest >= 0
      ? []
      : [`${formatCount(-rest)} both: sent to warm up, ended while it was measured`]),
  ];
  return parts.length === 0 ? "" : `; of them ${parts.join(", ")}`;
}

function describeServerCounts(
  { successCount, failCount }: NonNullable<RunJson["server"]>,
  { requests, connections }: RunJson,
): string {
  const counts = `; the server counted ${countOf(successCount, "success", "successes")} and ${countOf(failCount, "failure")}`;
  // Requests of an earlier run can be counted late, at most one for each connection.
  const hasOthers = successCount + failCount > requests.sent + connections;
  return hasOthers ? `${counts}, more than this run sent: other clients used the model during the run` : counts;
}
