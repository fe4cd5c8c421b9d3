import { LEVEL_UNITS, type LevelUnitName } from "../../load/level-units.ts";
import { clientLagOf, explainLag, reportedTimes } from "../../measure/client-lag.ts";
import { describeRemedy, explainInstability } from "../../measure/instability.ts";
import {
  errorRatio,
  inferPerSec,
  meanGapNs,
  responsesPerSec,
  saturationReason,
  sentPerSec,
  sequencesPerSec,
  stabilizingLatencyNs,
} from "../../measure/metrics.ts";
import { explainShortfall } from "../../measure/rate-shortfall.ts";
import { averageUs } from "../../measure/server-delta.ts";
import { formatMetric, judge } from "../../measure/verdicts.ts";
import type { WindowResult } from "../../measure/window.ts";
import type { Plan } from "../../plan/plan.ts";
import { paint } from "../../plan/terminal-text.ts";
import { formatCount, formatDurationNs } from "../../plan/units.ts";
import { describeLevel, loadModeOf } from "../../registry/load-modes.ts";
import { targetKindOf } from "../../registry/service-kinds.ts";
import { judgedLevels, measuredLevels } from "../../result/judged-levels.ts";
import type { RunWarning } from "../../result/observer.ts";
import type { LevelResult, PreparedRun, RunResult } from "../../result/run-result.ts";
import { describeDelivery } from "../load-delivery.ts";
import { describeLoadNotes, describeRepeats } from "../load-notes.ts";
import type { Report, TextSink } from "../report.ts";
import { describeResends } from "../resend-note.ts";
import { askedRate, scheduledRate } from "../scheduled-rate.ts";
import { formatRampartWarning } from "../warnings.ts";
import { formatComposing } from "./composing-table.ts";
import { CONSOLE_PERCENTILES, describeConfidence, formatMarked } from "./confidence-notes.ts";
import { formatExtracted } from "./extracted.ts";
import { describeLimitState, formatFindMax } from "./find-max.ts";
import { formatPct, formatTable, formatUs } from "./format.ts";
import { describeGpus } from "./gpus.ts";
import { formatMlperf } from "./mlperf.ts";
import { describeParameters } from "./parameters.ts";
import { formatTokens } from "./tokens.ts";

/** Rampart's own report for people: a row per level, then what stands behind the numbers. */

/** Creates the report. */
export function createRampartConsole(plan: Plan, sink: TextSink): Report {
  return new RampartConsole(plan, sink);
}

class RampartConsole implements Report {
  private readonly plan: Plan;
  private readonly sink: TextSink;
  private prepared: PreparedRun | undefined;

  constructor(plan: Plan, sink: TextSink) {
    this.plan = plan;
    this.sink = sink;
  }

  onPrepared(prepared: PreparedRun): void {
    this.prepared = prepared;
    const { target } = this.plan;
    const kind = targetKindOf(target);
    const { model } = prepared.service;
    const version = model.version === "" ? "" : ` version ${model.version}`;
    const subject = kind.subject?.(target) ?? `model ${model.name}${version} on ${kind.describe(target)}`;
    this.sink.out(`${this.plan.name}: ${subject}, ${loadModeOf(this.plan.load).describe(this.plan.load)}\n`);
    const parameters = describeParameters(this.plan);
    if (parameters !== undefined) this.sink.out(`  ${parameters}\n`);
    for (const warning of prepared.warnings) this.sink.err(`rampart: ${warning}\n`);
  }

  onWarning(warning: RunWarning): void {
    this.sink.err(`${formatRampartWarning(warning)}\n`);
  }

  onLevelStart(_unit: LevelUnitName, level: number, isWarmup: boolean): void {
    const name = describeLevel(this.plan.load, level);
    this.sink.out(isWarmup ? `  warming up at ${name} …\n` : `  measuring ${name} …\n`);
  }

  onWindow(trial: number, window: WindowResult, latencyNs: number): void {
    if (this.plan.outputs.verbosity === 0) return;
    const throughput = formatCount(inferPerSec(window, this.plan.target.batchSize));
    this.sink.out(`    window ${trial}: ${throughput} ${this.unit}, ${formatDurationNs(latencyNs)}\n`);
  }

  onEmptyWindow(trial: number): void {
    this.sink.out(`    window ${trial}: no request succeeded\n`);
  }

  finish(result: RunResult): void {
    const { out } = this.sink;
    const measured = measuredLevels(result);
    if (result.isInterrupted || result.error !== undefined) out("\nPARTIAL RESULT: the run ended early.\n");
    if (measured.length > 0) out(`\n${this.formatLevels(measured)}\n`);
    for (const level of measured) {
      out(this.formatNotes(level));
      if (level.mlperf !== undefined) out(`\n${formatMlperf(level.mlperf)}\n`);
      if (level.window.extracted !== undefined) out(`\n${formatExtracted(level.window.extracted)}\n`);
      if (level.tokens !== undefined) out(`\n${formatTokens(level.tokens, level.window, this.isStreamed)}\n`);
    }
    if (this.isRamp) {
      for (const level of measured) if (level.timeline.length > 0) out(`\n${this.formatTimeline(level)}\n`);
    }
    out(`\n${formatTotals(result)}\n`);
    const resends = describeResends(result);
    if (resends !== undefined) out(`${resends}\n`);
    if (result.sessions !== undefined) out(`${formatSessions(result.sessions)}\n`);
    const repeats = describeRepeats(result);
    if (repeats !== undefined) out(`${repeats}\n`);
    if (result.failures.length > 0) out(`\n${formatFailures(result)}\n`);
    if (result.findMax !== undefined) out(`\n${formatFindMax(this.plan, result, this.unit)}\n`);
    if (this.plan.assertions.length > 0) out(`\n${this.formatVerdicts(judgedLevels(result))}\n`);
  }

  /** The unit of throughput. */
  private get unit(): string {
    return targetKindOf(this.plan.target).throughputUnit ?? "infer/s";
  }

  private get isStreamed(): boolean {
    return this.plan.measurement.tokens?.isStreamed === true;
  }

  /** Whether the load changes within a level, so that a time line shows more than averages. */
  private get isRamp(): boolean {
    return loadModeOf(this.plan.load).ramp?.(this.plan.load) !== undefined;
  }

  private formatLevels(levels: readonly LevelResult[]): string {
    const isScheduled = levels.some(({ window }) => window.scheduledLatency !== window.latency);
    const isDecoupled = levels.some(({ window }) => window.firstResponse !== window.latency);
    const hasGaps = this.prepared?.service.hasManyResponses === true;
    const hasSequences = levels.some(({ window }) => window.sequenceCount > 0);
    const hasStatistics = targetKindOf(this.plan.target).hasNoStatistics !== true;
    const header = [
      LEVEL_UNITS[levels[0]?.unit ?? "concurrency"].column,
      ...(isScheduled ? ["req/s sent"] : []),
      this.unit,
      ...(isDecoupled ? ["responses/s", "p99 of the first", ...(hasGaps ? ["between them"] : [])] : []),
      ...(hasSequences ? ["sequences/s"] : []),
      "average",
      ...CONSOLE_PERCENTILES.map((percentile) => `p${percentile}`),
      ...(isScheduled ? ["p99 from due time"] : []),
      ...(hasStatistics ? ["server avg"] : []),
      "errors",
      "requests",
      "",
    ];
    const rows = levels.map((level) => {
      const { window } = level;
      const hasSamples = window.requestCount > 0;
      return [
        formatCount(level.level),
        ...(isScheduled ? [formatCount(sentPerSec(window))] : []),
        formatCount(inferPerSec(window, this.plan.target.batchSize)),
        ...(isDecoupled
          ? [
              formatCount(responsesPerSec(window)),
              formatMarked(window.firstResponse, 99),
              ...(hasGaps ? [formatGap(window)] : []),
            ]
          : []),
        ...(hasSequences ? [formatCount(sequencesPerSec(window))] : []),
        hasSamples ? formatDurationNs(window.latency.meanNs) : "-",
        ...CONSOLE_PERCENTILES.map((percentile) => formatMarked(window.latency, percentile)),
        ...(isScheduled ? [formatMarked(window.scheduledLatency, 99)] : []),
        ...(hasStatistics ? [formatServer(window)] : []),
        formatPct(errorRatio(window)),
        formatCount(window.requestCount),
        describeOutcome(level),
      ];
    });
    return formatTable(header, rows);
  }

  /** Formats warnings about a row. */
  private formatNotes(result: LevelResult): string {
    const { window, level, instability, unit } = result;
    const notes = describeConfidence(window);
    if (instability !== undefined) {
      const { moved, cause, remedy } = explainInstability(instability, window, askedRate(this.plan, level), this.unit);
      notes.push(`not stable: ${moved}`, `${cause}. ${describeRemedy(remedy, this.plan.measurement.mode)}`);
    }
    if (result.repeats !== undefined) notes.push(this.formatRepeats(result.repeats));
    if (result.isLatencyUnstable)
      notes.push("only throughput is stable, which is enough for asynchronous requests; latency is not");
    if (LEVEL_UNITS[unit].isScheduled) notes.push(...this.formatShortfall(window, level));
    notes.push(describeDelivery(this.plan, result), ...describeLoadNotes(this.plan, result));
    const reason = saturationReason(window);
    if (reason !== undefined) notes.push(`the client may have been the limit, not the server: ${reason}`);
    const lag = explainLag(clientLagOf(window), reportedTimes(window, result.tokens, this.isStreamed));
    if (lag !== undefined) notes.push(lag);
    notes.push(describeClient(window, this.isRamp));
    if (window.gpu !== undefined) notes.push(...describeGpus(window.gpu));
    const server = window.server === undefined ? "" : formatComposing(window.server);
    const lines = [...notes, ...(server === "" ? [] : server.split("\n"))];
    return `\n${describeLevel(this.plan.load, level)}\n${lines.map((line) => (line === "" ? "\n" : `  ${line}\n`)).join("")}`;
  }

  /** Formats the results of a level's other measurements, by the latency that is compared with the limit. */
  private formatRepeats(repeats: readonly LevelResult[]): string {
    const others = repeats.map((repeat) => {
      const latencyNs = stabilizingLatencyNs(repeat.window, this.plan.measurement.percentile);
      const outcome = repeat.outcome === "measured" ? "" : ` (${describeOutcome(repeat)})`;
      return `${repeat.window.requestCount === 0 ? "nothing" : formatDurationNs(latencyNs)}${outcome}`;
    });
    return `measured ${repeats.length + 1} times, as a latency limit ends the run here; the others: ${others.join(", ")}`;
  }

  private formatShortfall(window: WindowResult, level: number): string[] {
    if (this.prepared === undefined) return [];
    const shortfall = explainShortfall(window, scheduledRate(this.prepared, level));
    return shortfall === undefined ? [] : [`${shortfall.achieved}: look at "from due time"`, shortfall.cause];
  }

  private formatTimeline({ timeline }: LevelResult): string {
    const rows = timeline.map((bucket) => {
      const seconds = (bucket.endNs - bucket.startNs) / 1e9;
      const hasSamples = bucket.requestCount > 0;
      return [
        `${(bucket.startNs / 1e9).toFixed(1)} s`,
        formatCount(bucket.meanOutstanding),
        formatCount((bucket.requestCount * this.plan.target.batchSize) / seconds),
        hasSamples ? formatDurationNs(bucket.latency.meanNs) : "-",
        hasSamples ? formatUs(bucket.latency.percentileUs(99)) : "-",
        formatCount(bucket.failedCount),
      ];
    });
    return formatTable(["time", "outstanding", this.unit, "average", "p99", "errors"], rows);
  }

  private formatVerdicts(levels: readonly LevelResult[]): string {
    const rows = this.plan.assertions.map((assertion) => {
      const verdict = judge(assertion, levels, this.plan.target.batchSize, this.unit);
      const measured =
        verdict.measured === undefined
          ? "nothing measured"
          : formatMetric(assertion.metric, verdict.measured, this.unit);
      const where =
        levels.length > 1 && verdict.level !== undefined ? ` at ${describeLevel(this.plan.load, verdict.level)}` : "";
      const reason = verdict.reason === undefined ? "" : `: ${verdict.reason}`;
      return [verdict.isMet ? "pass" : "FAIL", verdict.text, `${measured}${where}${reason}`];
    });
    const table = formatTable(["", "assertion", "measured"], rows);
    if (this.sink.hasColor !== true) return table;
    return table.replaceAll(/^(pass|FAIL)(?= )/gm, (word) => paint(word, word === "pass" ? "green" : "red"));
  }
}

function formatServer({ server }: WindowResult): string {
  return server === undefined ? "-" : formatUs(averageUs(server.successNs, server.successCount));
}

/** @param isRamp lanes that do not send yet are not overhead, and look the same as lanes that lost time */
function describeClient({ health, overheadPct }: WindowResult, isRamp: boolean): string {
  const overhead = isRamp ? "" : `, overhead ${overheadPct.toFixed(2)} %`;
  return `client: ${formatPct(health.cpuRatio)} of a core, event loop at most ${formatDurationNs(health.loopLagMaxNs)} late${overhead}`;
}

function describeOutcome({ outcome, limits }: LevelResult): string {
  if (limits !== undefined) return describeLimitState(limits);
  if (outcome === "unstable") return "UNSTABLE";
  if (outcome === "partial") return "PARTIAL";
  return outcome === "over-limit" ? "over the latency limit" : "";
}

function formatGap(window: WindowResult): string {
  const gapNs = meanGapNs(window);
  return gapNs === undefined ? "-" : formatDurationNs(gapNs);
}

function formatTotals(result: RunResult): string {
  const cancelled = result.cancelledCount === 0 ? "" : `, ${formatCount(result.cancelledCount)} cancelled`;
  const server =
    result.server === undefined
      ? ""
      : `; the server counted ${formatCount(result.server.successCount)} successes and ${formatCount(result.server.failCount)} failures`;
  const { sentCount, connectionCount } = result;
  const requests = `${formatCount(sentCount)} ${sentCount === 1 ? "request" : "requests"}`;
  const connections = `${connectionCount} ${connectionCount === 1 ? "connection" : "connections"}`;
  return `sent ${requests} over ${connections} in ${formatDurationNs(result.durationNs)}: ${formatCount(result.completedCount)} completed, ${formatCount(result.failedCount)} failed${cancelled}${server}`;
}

function formatSessions({
  sessionCount,
  cutCount,
  unsentCount,
  unreadReason,
}: NonNullable<RunResult["sessions"]>): string {
  const unread = unreadReason === undefined ? "" : ` (first answer that could not be continued: ${unreadReason})`;
  const cut = `, ${formatCount(cutCount)} of them cut short by a turn that failed: ${formatCount(unsentCount)} turns were not sent${unread}`;
  return `${formatCount(sessionCount)} conversations${cutCount === 0 ? "" : cut}`;
}

function formatFailures(result: RunResult): string {
  const rows = result.failures.map(({ kind, status, count, example, isWarmup }) => [
    `${kind}${status === undefined ? "" : ` ${status}`}${isWarmup === true ? " (warm-up)" : ""}`,
    formatCount(count),
    example,
  ]);
  const title = result.cancelledCount === 0 ? "failed requests" : "failed or cancelled";
  return formatTable([title, "count", "for example"], rows);
}
