import { LEVEL_UNITS, type LevelUnitName } from "../../load/level-units.ts";
import { clientLagOf, explainLag, reportedTimes } from "../../measure/client-lag.ts";
import { clientLimitText, saturationReason } from "../../measure/client-limit.ts";
import { inferPerSec, responsesPerSec, sequencesPerSec, stabilizingLatencyNs } from "../../measure/derived-values.ts";
import type { GaugeReadings } from "../../measure/gauge-readings.ts";
import { windowSettingOf } from "../../measure/instability.ts";
import type { Measurement } from "../../measure/measurement.ts";
import { flattenComposing, type ServerDelta } from "../../measure/server-delta.ts";
import { deviationOf, percentileUs } from "../../measure/sketch.ts";
import { type Text, word } from "../../plan/messages.ts";
import type { Plan } from "../../plan/plan.ts";
import { nsToSec, plural } from "../../plan/units.ts";
import { loadModeOf } from "../../registry/load-modes.ts";
import { targetKindOf } from "../../registry/service-kinds.ts";
import type { RunWarning, TraceEvent } from "../../result/observer.ts";
import type { LevelResult, PreparedRun, RunResult } from "../../result/run-result.ts";
import { isCancelled } from "../../transport/failure.ts";
import { describeCutSessions, describeResends } from "../notes/load-notes.ts";
import type { Report, TextSink } from "../report.ts";
import { formatPerfAnalyzerWarning, formatSlowServer } from "../warning-text.ts";
import { formatGpuSection } from "./gpu-section.ts";
import { firstResponseNote, loadNotes, responsesNote, scheduleNotes, silentNote, unstableNotes } from "./notes.ts";
import { formatStreamNumber, toWholeUs } from "./number-format.ts";
import { NO_VALID_REQUESTS, reportedLevels, reportedPercentiles } from "./reported-levels.ts";
import { formatServerSection } from "./server-section.ts";
import { formatSettings } from "./settings-section.ts";

/** perf_analyzer's text, line by line, which scripts read. Rampart's lines go to stderr and begin with `rampart: `. */

const DELAYED_PCT_THRESHOLD = 1;
const OVERHEAD_PCT_THRESHOLD = 50;

/** The report. */
export class PerfAnalyzerConsole implements Report {
  /** Absent where no trace is wanted: with it the load cannot be divided among threads. */
  readonly onTrace?: (event: TraceEvent) => void;
  private readonly plan: Plan;
  private readonly sink: TextSink;
  private prepared: PreparedRun | undefined;
  private hasSaidSlow = false;
  private hasSaidWhyNoMetrics = false;

  constructor(plan: Plan, sink: TextSink) {
    this.plan = plan;
    this.sink = sink;
    if (plan.outputs.verbosity >= 2) this.onTrace = (event) => this.writeTrace(event);
  }

  private writeTrace(event: TraceEvent): void {
    const isGrpc = this.plan.target.protocol === "grpc";
    if (event.kind === "connect") this.sink.out(`Creating new channel with url:${event.url}\n`);
    else if (event.kind === "reply") this.sink.out(`${event.text}\n`);
    else if (event.kind === "request") this.sink.out(`inference request: ${event.text}\n`);
    else if (event.kind === "response")
      this.sink.out(isGrpc ? `${event.text}\n` : `inference response: ${event.text}\n`);
    else this.sink.err(`${event.direction} ${event.head}`);
  }

  onSlowServer(url: string): void {
    if (!this.hasSaidSlow) this.sink.err(formatSlowServer(url));
    this.hasSaidSlow = true;
  }

  onWarning(warning: RunWarning): void {
    if (warning.kind === "metrics-unreachable") this.hasSaidWhyNoMetrics = true;
    this.sink.err(`${formatPerfAnalyzerWarning(warning, this.sink.nameOf)}\n`);
  }

  onPrepared(prepared: PreparedRun): void {
    this.prepared = prepared;
    for (const warning of prepared.warnings) this.note(warning);
    const { startedLine } = targetKindOf(this.plan.target);
    if (startedLine !== undefined) this.sink.out(`${startedLine}\n`);
    const { dataset } = prepared;
    if (dataset.isFromJson) {
      // perf_analyzer counts the file's entries; only Rampart treats conversations as streams.
      const isOfSessions = loadModeOf(this.plan.load).dataOrder === "in-sessions";
      const streams = isOfSessions ? [dataset.streams.flat()] : dataset.streams;
      const steps = streams.length === 1 ? ` with ${(streams[0] ?? []).length} step/steps` : "";
      this.sink.out(` Successfully read data for ${streams.length} stream/streams${steps}.\n`);
    }
    this.sink.out(formatSettings(prepared));
  }

  /** Announces a level, and its warm-up too unless it follows a schedule, like perf_analyzer. */
  onLevelStart(unit: LevelUnitName, level: number, isWarmup: boolean): void {
    if (loadModeOf(this.plan.load).perfAnalyzer?.isUnannounced === true || this.isSilent) return;
    const { announce, isScheduled } = LEVEL_UNITS[unit];
    if (!(isWarmup && isScheduled)) this.sink.out(`${announce(formatStreamNumber(level))}\n`);
  }

  onWindow(trial: number, window: Measurement, latencyNs: number): void {
    if (this.plan.outputs.verbosity === 0 || this.isSilent) return;
    const { percentile } = this.plan.measurement;
    const throughput = formatStreamNumber(inferPerSec(window, this.plan.target.batchSize));
    const latency =
      percentile === null
        ? `Avg latency: ${toWholeUs(latencyNs)} usec (std ${deviationUs(window)} usec). `
        : `p${percentile} latency: ${toWholeUs(latencyNs)} usec`;
    this.sink.out(`  Pass [${trial}] throughput: ${throughput} infer/sec. ${latency}\n`);
  }

  onAllStable(): void {
    if (this.plan.outputs.verbosity > 0) this.sink.out("All models on all MPI ranks are stable\n");
  }

  onEmptyWindow(trial: number): void {
    if (this.plan.outputs.verbosity > 0) this.sink.out(`  Pass [${trial}] cb::Error: ${NO_VALID_REQUESTS}\n`);
  }

  onLevelEnd(result: LevelResult): void {
    const { latencyLimitMs } = this.plan.measurement;
    if (this.isSilent) {
      const lag = lagOf(result.window);
      if (result.window.requestCount > 0) {
        this.note(silentNote(result, this.plan));
        for (const line of loadNotes(result, this.plan, lag !== undefined)) this.note(line);
      }
      if (lag !== undefined) this.note(`${lag}.`);
      return;
    }
    if (result.isLatencyUnstable)
      this.sink.err("Warning: Request latency is not stabilizing. Please try lowering the request rate.\n");
    if (result.outcome === "over-limit")
      this.sink.err(`Measured latency went over the set limit of ${latencyLimitMs} msec. \n`);
    else if (result.outcome === "unstable") {
      this.sink.err(`${this.explainUnstable(result)}\n`);
      const lines = result.window.requestCount > 0 ? loadNotes(result, this.plan, false) : [];
      for (const line of [...unstableNotes(result, this.plan), ...lines]) this.note(line);
    } else if (result.window.requestCount === 0) return;
    else if (result.outcome === "measured") this.printLevel(result);
    else {
      const seconds = nsToSec(result.window.durationNs).toFixed(1);
      this.sink.out(`  [PARTIAL] The run ended early: ${seconds} s measured, not a stable result\n`);
      this.printLevel(result);
    }
  }

  finish(result: RunResult): void {
    const resends = describeResends(result);
    if (resends !== undefined) this.note(`${resends}.`);
    const cut = describeCutSessions(result.sessions);
    if (cut !== undefined) this.note(`${cut}.`);
    this.noteFailures(result);
    const levels = reportedLevels(result);
    if (levels.length === 0 || this.isSilent) return;
    const { percentile } = this.plan.measurement;
    const heading = percentile === null ? "Average" : `p${percentile}`;
    this.sink.out(`Inferences/Second vs. Client ${heading} Batch Latency\n`);
    for (const { unit, level, window, outcome } of levels) {
      const throughput = formatStreamNumber(inferPerSec(window, this.plan.target.batchSize));
      const latency = toWholeUs(stabilizingLatencyNs(window, percentile));
      const mark = outcome === "partial" ? " (partial)" : "";
      this.sink.out(
        `${LEVEL_UNITS[unit].title}: ${formatStreamNumber(level)}, throughput: ${throughput} infer/sec, latency ${latency} usec${mark}\n`,
      );
    }
  }

  /** perf_analyzer prints nothing for periodic concurrency and sessions; their results are in the profile export. */
  private get isSilent(): boolean {
    return loadModeOf(this.plan.load).perfAnalyzer?.isExportOnly === true;
  }

  private explainUnstable(result: LevelResult): string {
    const { mode } = this.plan.measurement;
    if (LEVEL_UNITS[result.unit].isScheduled) return "Failed to obtain stable measurement.";
    const { trials, level } = result;
    return word({ say: "unstable", trials, level, at: windowSettingOf(mode) }, this.sink.nameOf);
  }

  private note(line: Text): void {
    this.sink.err(`rampart: ${word(line, this.sink.nameOf)}\n`);
  }

  /** Gives an example of each kind of failure that did not end the run: the error of a run that ended for it has one. */
  private noteFailures({ error, completedCount, failures }: RunResult): void {
    if (error !== undefined || completedCount === 0) return;
    for (const failure of failures)
      if (!isCancelled(failure))
        this.note(`${failure.count} ${plural(failure.count, "request")} failed in the whole run: ${failure.example}`);
  }

  private printLevel(result: LevelResult): void {
    const { window } = result;
    this.sink.out("  Client: \n");
    this.printClient(result);
    if (window.server !== undefined) {
      this.sink.out(`  Server: \n${formatServerSection(window.server, this.prepared?.service ?? {})}`);
      this.warnUncalled(window.server);
    } else if (result.hasServerCounters) {
      this.note("the server's statistics did not grow, or were reset, so no server times are shown.");
    }
    if (window.gauges !== undefined) this.printGpus(window.gauges);
    if (window.overheadPct > OVERHEAD_PCT_THRESHOLD) {
      this.sink.out(
        "[WARNING] Perf Analyzer is not able to keep up with the desired load. The results may not be accurate.\n",
      );
    }
    this.noteLoad(result);
  }

  /** Reports why the load differs from the requested one: each cause once, by its most precise sentence. */
  private noteLoad(result: LevelResult): void {
    const { window } = result;
    const lag = lagOf(window);
    const late = this.prepared === undefined ? [] : scheduleNotes(result, this.prepared, lag !== undefined);
    const reason = saturationReason(window);
    const isSlow = window.overheadPct > OVERHEAD_PCT_THRESHOLD;
    const isExplained = late.length > 0 || lag !== undefined || reason !== undefined || isSlow;
    for (const line of [...late, ...loadNotes(result, this.plan, isExplained)]) this.note(line);
    if (lag !== undefined) this.note(`${lag}.`);
    else if (reason !== undefined && late.length === 0) this.note(`${clientLimitText(reason)}.`);
  }

  private printGpus(gpu: GaugeReadings): void {
    this.sink.out(`  Server Prometheus Metrics: \n${formatGpuSection(gpu)}`);
    if (gpu.count === 0 && !this.hasSaidWhyNoMetrics)
      this.note("no metrics were read within the measured windows, so none are shown.");
  }

  private warnUncalled(server: ServerDelta): void {
    // A response from the cache of the measured model calls no other model.
    if (this.prepared?.service.isOwnResponseCacheEnabled === true) return;
    for (const { name, successCount } of flattenComposing(server))
      if (successCount === 0 && server.successCount > 0)
        this.sink.err(`rampart: composing model '${name}' answered no request: does '${server.name}' call it?\n`);
  }

  private printClient({ window, unit }: LevelResult): void {
    const { percentile } = this.plan.measurement;
    const { out } = this.sink;
    const { isSequence = false, isDecoupled = false, hasManyResponses = false } = this.prepared?.service ?? {};
    out(`    Request count: ${window.requestCount}\n`);
    if (isSequence)
      out(`    Sequence count: ${window.sequenceCount} (${formatStreamNumber(sequencesPerSec(window))} seq/sec)\n`);
    if (window.failedCount > 0)
      this.note(
        `${window.failedCount} ${plural(window.failedCount, "request")} failed in the measured windows and ${plural(window.failedCount, "is", "are")} not counted above.`,
      );
    const delayedPct = (100 * window.delayedCount) / window.requestCount;
    if (LEVEL_UNITS[unit].isScheduled && delayedPct > DELAYED_PCT_THRESHOLD) {
      out(`    Avg send request rate: ${(window.sentCount / nsToSec(window.durationNs)).toFixed(2)} infer/sec\n`);
      out(
        `    [WARNING] Perf Analyzer was not able to keep up with the desired request rate. ${delayedPct.toFixed(2)}% of the requests were delayed. \n`,
      );
    }
    out(`    Throughput: ${formatStreamNumber(inferPerSec(window, this.plan.target.batchSize))} infer/sec\n`);
    if (isDecoupled) out(`    Response Throughput: ${formatStreamNumber(responsesPerSec(window))} infer/sec\n`);
    if (this.plan.outputs.verbosity > 0) out(`    Avg client overhead: ${window.overheadPct.toFixed(2)}%\n`);
    if (percentile === null) {
      out(`    Avg latency: ${toWholeUs(window.latency.mean)} usec (standard deviation ${deviationUs(window)} usec)\n`);
      if (window.latency.count === 1) {
        this.sink.err(
          "WARNING: Pass contained only one request, so its sample latency standard deviation is not defined; 0 is printed.\n",
        );
      }
    }
    for (const shown of reportedPercentiles(percentile))
      out(`    p${shown} latency: ${percentileUs(window.latency, shown)} usec\n`);
    const isBare = isDecoupled || targetKindOf(this.plan.target).isInProcess === true;
    out(`    ${isBare ? "" : this.formatLibraryTime(window)}\n`);
    if (isDecoupled) this.note(firstResponseNote(window, percentile));
    else if (hasManyResponses && window.responseCount !== window.requestCount)
      this.note(`${responsesNote(window)}; ${firstResponseNote(window, percentile)}`);
  }

  private formatLibraryTime(window: Measurement): string {
    const total = toWholeUs(window.latency.mean);
    const send = toWholeUs(window.sendMeanNs);
    const receive = toWholeUs(window.receiveMeanNs);
    const wait = Math.max(0, total - send - receive);
    const isVerbose = this.plan.outputs.verbosity > 0;
    if (this.plan.target.protocol === "grpc") {
      return isVerbose
        ? `Avg gRPC time: ${total} usec (marshal ${send} usec + response wait ${wait} usec + unmarshal ${receive} usec)`
        : `Avg gRPC time: ${total} usec ((un)marshal request/response ${send + receive} usec + response wait ${wait} usec)`;
    }
    return isVerbose
      ? `Avg HTTP time: ${total} usec (send ${send} usec + response wait ${wait} usec + receive ${receive} usec)`
      : `Avg HTTP time: ${total} usec (send/recv ${send + receive} usec + response wait ${wait} usec)`;
  }
}

function deviationUs(window: Measurement): number {
  return toWholeUs(deviationOf(window.latency) ?? 0);
}

/** Describes the effect of the client's lag on the times of a window; undefined if it does not matter. */
function lagOf(window: Measurement): string | undefined {
  return explainLag(clientLagOf(window), reportedTimes(window));
}
