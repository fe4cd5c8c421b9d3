import { LEVEL_UNITS, type LevelUnitName } from "../../load/level-units.ts";
import type { Measurement } from "../../measure/measurement.ts";
import { inferPerSec } from "../../measure/metrics.ts";
import type { Plan } from "../../plan/plan.ts";
import { formatCount, formatDurationNs } from "../../plan/units.ts";
import { describeLevel, levelUnitOf, loadModeOf, planOfPhase } from "../../registry/load-modes.ts";
import { tokensPlanOf } from "../../registry/mix.ts";
import { isDrawn } from "../../registry/plan-of-run.ts";
import { targetKindOf, throughputUnitOf } from "../../registry/service-kinds.ts";
import { judgedLevels, measuredLevels } from "../../result/judged-levels.ts";
import type { PhasePlace, RunWarning } from "../../result/observer.ts";
import { completeRuns, type RepeatedResult } from "../../result/repeated-result.ts";
import type { LevelResult, PreparedRun, RunResult } from "../../result/run-result.ts";
import { type HighestOverRuns, highestOverRuns, type LevelOverRuns, levelsOverRuns } from "../json/over-runs.ts";
import { describeLevelNotes } from "../level-notes.ts";
import { describeDelivery, describeUndelivered } from "../load-delivery.ts";
import { describeRepeats } from "../load-notes.ts";
import type { Report, TextSink } from "../report.ts";
import { warnOfResends } from "../resend-note.ts";
import { judgeAssertions, judgeChecks, judgeRepeated } from "../run-verdicts.ts";
import { nameOfLevel } from "../summary.ts";
import { formatRampartWarning } from "../warnings.ts";
import { formatComposing } from "./composing-table.ts";
import { describeConfidence } from "./confidence-notes.ts";
import { formatExtracted } from "./extracted.ts";
import { answerOverRuns, describeAnswer, formatFindMax } from "./find-max.ts";
import { describeGpus } from "./gpus.ts";
import { formatGroups } from "./groups.ts";
import { describeClient, describeOutcome } from "./level-cells.ts";
import { formatLevels, formatTimeline } from "./levels-table.ts";
import { formatMlperf } from "./mlperf.ts";
import { describeParameters } from "./parameters.ts";
import { formatPhases, formatRunTimeline } from "./phases.ts";
import {
  describePrecision,
  describeRunsVerdict,
  describeSeeds,
  describeVariation,
  formatRunsTable,
} from "./runs-table.ts";
import { formatTokens } from "./tokens.ts";
import { formatFailures, formatSessions, formatTotals } from "./totals.ts";
import { formatVerdicts, type VerdictStyle } from "./verdicts-table.ts";

/** Rampart's own report for people: a row per level, then what stands behind the numbers. */

/** Creates the report. */
export function createRampartConsole(plan: Plan, sink: TextSink): Report {
  return new RampartConsole(plan, sink);
}

class RampartConsole implements Report {
  private readonly plan: Plan;
  private readonly sink: TextSink;
  private prepared: PreparedRun | undefined;
  /** Number of the run; 1 when the plan is not repeated. */
  private run = 1;

  constructor(plan: Plan, sink: TextSink) {
    this.plan = plan;
    this.sink = sink;
  }

  onPrepared(prepared: PreparedRun): void {
    this.prepared = prepared;
    if (this.run > 1) return;
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

  onLevelStart(_unit: LevelUnitName, level: number, isWarmup: boolean, phase?: PhasePlace): void {
    const plan = planOfPhase(this.plan, phase?.index);
    const name = describeLevel(plan.load, level);
    const place = phase === undefined ? "" : `phase ${phase.index + 1} of ${phase.count}, ${phase.label}: `;
    this.showProgress(`  ${place}${isWarmup ? "warming up at" : "measuring"} ${name} …\n`);
  }

  onWindow(trial: number, window: Measurement, latencyNs: number): void {
    if (this.plan.outputs.verbosity === 0) return;
    const throughput = formatCount(inferPerSec(window, this.plan.target.batchSize));
    this.showProgress(`    window ${trial}: ${throughput} ${this.unit}, ${formatDurationNs(latencyNs)}\n`);
  }

  onEmptyWindow(trial: number): void {
    this.showProgress(`    window ${trial}: no request succeeded\n`);
  }

  onRun(run: number, atMost: number): void {
    this.run = run;
    this.showProgress(`run ${run} of ${this.plan.repeat?.until === undefined ? "" : "at most "}${atMost}\n`);
  }

  /** Shows how the run goes, which is no part of the report. */
  private showProgress(line: string): void {
    if (this.sink.isQuiet !== true) this.sink.err(line);
  }

  finish(result: RunResult): void {
    this.printRun(result);
    const style = { ...this.style, checks: judgeChecks(this.plan, [result]) };
    const text = formatVerdicts(this.plan, judgeAssertions(this.plan, result), judgedLevels(result), style);
    if (text !== undefined) this.sink.out(`\n${text}\n`);
  }

  finishRuns(repeated: RepeatedResult): void {
    const { out } = this.sink;
    const { plan } = this;
    const { runs } = repeated;
    for (const [index, run] of runs.entries()) {
      if (plan.outputs.verbosity === 0) out(this.formatRunNotes(index + 1, run));
      else {
        out(`\nrun ${index + 1}\n`);
        this.printRun(run);
      }
    }
    const levels = levelsOverRuns(repeated);
    const found = highestOverRuns(repeated);
    if (completeRuns(repeated).length === 0) out("\nno run ended as planned: there is nothing to combine\n");
    else if (found !== undefined) this.printHighest(repeated, found);
    else for (const level of levels) this.printLevelOverRuns(level);
    if (isDrawn(plan)) out(`\n${describeSeeds(plan, repeated)}\n`);
    const precision = describePrecision(plan, repeated);
    if (precision !== undefined) out(`\n${precision}\n`);
    const verdicts = judgeRepeated(plan, repeated);
    const details = verdicts.map((verdict, index) => describeRunsVerdict(plan, index, verdict, this.unit));
    const style = { ...this.style, details, checks: judgeChecks(plan, runs) };
    const text = formatVerdicts(plan, verdicts, levels, style);
    if (text !== undefined) out(`\n${text}\n`);
  }

  private printLevelOverRuns(level: LevelOverRuns): void {
    const { plan } = this;
    const { out } = this.sink;
    out(`\n${describeLevel(plan.load, level.level, level.phase?.index)}\n`);
    const outcomeOf = (result: LevelResult | undefined): string =>
      result === undefined ? "" : describeOutcome(result);
    out(`${formatRunsTable(plan, level, this.unit, outcomeOf)}\n`);
    for (const note of describeVariation(level)) out(`  ${note}\n`);
  }

  /** Prints the highest load of each run of a search, and what was measured at it. */
  private printHighest(repeated: RepeatedResult, found: HighestOverRuns): void {
    const { plan } = this;
    const { out } = this.sink;
    const title = LEVEL_UNITS[levelUnitOf(plan.load)].column;
    const outcomeOf = (_: unknown, run: number): string => describeAnswer(plan, repeated.runs[run] as RunResult);
    out("\nthe highest load of each run\n");
    out(`${formatRunsTable(plan, found, this.unit, outcomeOf, { title, over: found.highest })}\n`);
    for (const note of describeVariation(found)) out(`  ${note}\n`);
    out(`\n${answerOverRuns(plan, repeated)}\n`);
  }

  /** Formats the counts, failures and warnings of one of several runs. */
  private formatRunNotes(number: number, run: RunResult): string {
    const end = run.error !== undefined || run.isInterrupted ? "PARTIAL RESULT: the run ended early. " : "";
    const warnings = measuredLevels(run).flatMap((level) => {
      const undelivered = describeUndelivered(this.plan, level);
      const texts = [...(undelivered === undefined ? [] : [undelivered]), ...this.warningsOf(level)];
      return texts.map((text) => `  ${nameOfLevel(this.plan, level)}: ${text}\n`);
    });
    const failures = run.failures.length === 0 ? "" : `${formatFailures(run)}\n`;
    const answer = run.findMax === undefined ? "" : `${formatFindMax(this.plan, run, this.unit)}\n`;
    return `\nrun ${number}: ${end}${formatTotals(run)}\n${warnings.join("")}${failures}${answer}`;
  }

  private printRun(result: RunResult): void {
    const { plan } = this;
    const { out } = this.sink;
    const measured = measuredLevels(result);
    // An error before anything was measured is not part of a result.
    const isPartial = result.isInterrupted || (result.error !== undefined && result.sentCount > 0);
    if (isPartial) out("\nPARTIAL RESULT: the run ended early.\n");
    if (measured.length > 0)
      out(`\n${formatLevels(plan, measured, this.unit, this.prepared?.service.hasManyResponses === true)}\n`);
    for (const level of measured) {
      out(this.formatNotes(level));
      if (level.mlperf !== undefined) out(`\n${formatMlperf(level.mlperf)}\n`);
      if (level.window.extracted !== undefined) out(`\n${formatExtracted(level.window.extracted)}\n`);
      if (level.tokens !== undefined) out(`\n${formatTokens(level.tokens, level.window, this.isStreamed)}\n`);
    }
    if (measured.some(({ window }) => window.groups !== undefined)) out(formatGroups(this.plan, measured, this.unit));
    const { phased } = result;
    if (phased !== undefined) {
      out(`\n${formatPhases(this.plan, phased, measured)}\n`);
      out(`\n${formatRunTimeline(phased, this.plan.target.batchSize, this.unit)}\n`);
    } else if (isRamp(this.plan)) {
      for (const level of measured)
        if (level.timeline.length > 0) out(`\n${formatTimeline(level, plan.target.batchSize, this.unit)}\n`);
    }
    out(`\n${formatTotals(result)}\n`);
    const resends = warnOfResends(result);
    if (resends !== undefined) out(`${resends}\n`);
    if (result.sessions !== undefined) out(`${formatSessions(result.sessions)}\n`);
    const repeats = describeRepeats(result);
    if (repeats !== undefined) out(`${repeats}\n`);
    if (result.failures.length > 0) out(`\n${formatFailures(result)}\n`);
    if (result.findMax !== undefined) out(`\n${formatFindMax(this.plan, result, this.unit)}\n`);
  }

  /** The unit of throughput. */
  private get unit(): string {
    return throughputUnitOf(this.plan.target);
  }

  private get style(): VerdictStyle {
    return { unit: this.unit, hasColor: this.sink.hasColor };
  }

  private get isStreamed(): boolean {
    return tokensPlanOf(this.plan)?.isStreamed === true;
  }

  /** Formats warnings about a row. */
  private formatNotes(result: LevelResult): string {
    const plan = planOfPhase(this.plan, result.phase?.index);
    const { window, level } = result;
    const notes = [
      ...describeConfidence(window, this.plan.target.batchSize, this.unit),
      describeDelivery(plan, result),
      ...this.warningsOf(result),
    ];
    notes.push(describeClient(window, isRamp(plan)));
    if (window.gpu !== undefined) notes.push(...describeGpus(window.gpu));
    const server = window.server === undefined ? "" : formatComposing(window.server);
    const lines = [...notes, ...(server === "" ? [] : server.split("\n"))];
    return `\n${describeLevel(this.plan.load, level, result.phase?.index)}\n${lines.map((line) => (line === "" ? "\n" : `  ${line}\n`)).join("")}`;
  }

  /** Returns what a reader must know before trusting a row, as lines; mostly empty. */
  private warningsOf(result: LevelResult): string[] {
    return describeLevelNotes(this.plan, this.prepared, result).flat();
  }
}

/** Whether the load changes within a level, so that a time line shows more than averages. */
function isRamp({ load }: Plan): boolean {
  return loadModeOf(load).ramp?.(load) !== undefined;
}
