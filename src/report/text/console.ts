import type { LevelUnitName } from "../../load/level-units.ts";
import { inferPerSec } from "../../measure/derived-values.ts";
import type { Measurement } from "../../measure/measurement.ts";
import { word } from "../../plan/messages.ts";
import type { Plan } from "../../plan/plan.ts";
import { formatCount, formatDurationNs } from "../../plan/units.ts";
import { describeLevel } from "../../registry/level-names.ts";
import { planOfPhase } from "../../registry/load-modes.ts";
import { shownUnitOf } from "../../registry/mix.ts";
import type { PhasePlace, RunWarning } from "../../result/observer.ts";
import type { RepeatedResult } from "../../result/repeated-result.ts";
import type { PreparedRun, RunResult } from "../../result/run-result.ts";
import type { ReportModel } from "../model/report-model.ts";
import { createModelReport, type Report, type TextSink } from "../report.ts";
import { formatRampartWarning, formatSlowServer } from "../warning-text.ts";
import { renderText, styleOf } from "./render-text.ts";

/** Rampart's report on a terminal: progress on standard error, the report on standard output. */

/** The report. */
export class RampartConsole implements Report {
  private readonly plan: Plan;
  private readonly sink: TextSink;
  private readonly report: Report;
  private readonly slowServers = new Set<string>();
  /** Number of the run; 1 if the plan is not repeated. */
  private run = 1;

  constructor(plan: Plan, sink: TextSink) {
    this.plan = plan;
    this.sink = sink;
    const { verbosity, showsLines } = plan.outputs;
    const render = (model: ReportModel): string =>
      renderText(model, { isVerbose: verbosity > 0, showsLines, ...styleOf(sink) });
    this.report = createModelReport(plan, sink, render, (text) => sink.out(text));
  }

  onPrepared({ warnings }: PreparedRun): void {
    if (this.run > 1) return;
    for (const warning of warnings) this.sink.err(`rampart: ${word(warning, this.sink.nameOf)}\n`);
  }

  onSlowServer(url: string): void {
    // A server may receive several queries at once.
    if (this.slowServers.has(url)) return;
    this.slowServers.add(url);
    this.showProgress(formatSlowServer(url));
  }

  onWarning(warning: RunWarning): void {
    this.report.onWarning?.(warning);
    this.sink.err(`${formatRampartWarning(warning, this.sink.nameOf)}\n`);
  }

  onLevelStart(_unit: LevelUnitName, level: number, isWarmup: boolean, phase?: PhasePlace): void {
    const plan = planOfPhase(this.plan, phase?.index);
    const name = describeLevel(plan, level);
    const place = phase === undefined ? "" : `phase ${phase.index + 1} of ${phase.count}, ${phase.label}: `;
    this.showProgress(`  ${place}${isWarmup ? "warming up at" : "measuring"} ${name} …\n`);
  }

  onWindow(trial: number, window: Measurement, latencyNs: number): void {
    const { target, outputs } = this.plan;
    if (outputs.verbosity === 0) return;
    const throughput = formatCount(inferPerSec(window, target.batchSize));
    this.showProgress(`    window ${trial}: ${throughput} ${shownUnitOf(this.plan)}, ${formatDurationNs(latencyNs)}\n`);
  }

  onEmptyWindow(trial: number): void {
    this.showProgress(`    window ${trial}: no request succeeded\n`);
  }

  onRun(run: number, atMost: number): void {
    this.run = run;
    this.showProgress(`run ${run} of ${this.plan.repeat?.until === undefined ? "" : "at most "}${atMost}\n`);
  }

  /** Shows progress, which is not part of the report. */
  private showProgress(line: string): void {
    if (this.sink.isQuiet !== true) this.sink.err(line);
  }

  async finish(result: RunResult): Promise<void> {
    // For a server that never responded, the error is sufficient.
    if (result.error?.code === "unreachable" && result.completedCount === 0) return;
    await this.report.finish(result);
  }

  async finishRuns(repeated: RepeatedResult): Promise<void> {
    await this.report.finishRuns?.(repeated);
  }
}
