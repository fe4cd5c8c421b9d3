import type { LevelUnitName } from "../../load/level-units.ts";
import type { GpuReading } from "../../measure/gpu-tally.ts";
import type { Measurement } from "../../measure/measurement.ts";
import type { RecordColumns } from "../../measure/records.ts";
import type { Plan } from "../../plan/plan.ts";
import { describeLevel } from "../../registry/load-modes.ts";
import { throughputUnitOf } from "../../registry/service-kinds.ts";
import { measuredLevels } from "../../result/judged-levels.ts";
import type { PhasePlace, RunWarning } from "../../result/observer.ts";
import type { RepeatedResult } from "../../result/repeated-result.ts";
import type { RunResult } from "../../result/run-result.ts";
import { nowNs, toEpochNs } from "../../runtime/clock.ts";
import { toRepeatedJson, toReportJson } from "../json/report-json.ts";
import type { NoteOptions } from "../notes/make-notes.ts";
import { readChartLibrary } from "../plots/chart-library.ts";
import type { Report, TextSink } from "../report.ts";
import { type LevelJson, type ReportJson, type RunJson, runsOf } from "../schema/report-schema.ts";
import { nameOfLevel, summarizeRuns } from "../summary.ts";
import { describeWarning } from "../warnings.ts";
import { writeReport } from "../write-report.ts";
import { formatReportPage } from "./report-page.ts";
import { RunFollower } from "./run-follower.ts";
import type { ShownReport, ShownRun } from "./shown-run.ts";

/** `--report`: the run as a page for people. */

/** Creates the report. @param path of its file */
export function createHtmlReport(plan: Plan, sink: TextSink, path: string): Report {
  return new HtmlReport(plan, sink, path);
}

class HtmlReport implements Report {
  private readonly plan: Plan;
  private readonly sink: TextSink;
  private readonly path: string;
  private readonly followers: RunFollower[] = [];
  private readonly warnings: string[] = [];

  constructor(plan: Plan, sink: TextSink, path: string) {
    this.plan = plan;
    this.sink = sink;
    this.path = path;
  }

  /** A run begins. */
  onProgress(): void {
    this.followers.push(new RunFollower(this.plan.target.batchSize, nowNs()));
  }

  onBatch(records: RecordColumns, count: number): void {
    this.follower?.addBatch(records, count);
  }

  onWarning(warning: RunWarning): void {
    this.warnings.push(describeWarning(warning));
  }

  onMetrics(reading: GpuReading): void {
    this.follower?.addReading(reading, nowNs());
  }

  onLevelStart(_unit: LevelUnitName, level: number, isWarmup: boolean, phase?: PhasePlace): void {
    const label = phase?.label ?? describeLevel(this.plan.load, level);
    this.follower?.beginSpan(label, isWarmup, nowNs());
  }

  onWindow(trial: number, window: Measurement, latencyNs: number): void {
    this.follower?.addWindow(trial, window, latencyNs);
  }

  onLevelEnd(): void {
    this.follower?.endSpan(nowNs());
  }

  async finish(result: RunResult): Promise<void> {
    await this.write([result], toReportJson(this.plan, result, this.options));
  }

  async finishRuns(repeated: RepeatedResult): Promise<void> {
    await this.write(repeated.runs, toRepeatedJson(this.plan, repeated, this.options));
  }

  private get options(): NoteOptions {
    return { warned: this.warnings, word: this.sink.word };
  }

  private get follower(): RunFollower | undefined {
    return this.followers.at(-1);
  }

  private async write(results: readonly RunResult[], json: ReportJson): Promise<void> {
    const { plan } = this;
    const runs = runsOf(json);
    const report: ShownReport = {
      plan,
      json,
      runs: results.map((result, index) =>
        this.showRun(result, runs[index] as RunJson, results.length === 1 ? "" : `run ${index + 1}`, index),
      ),
      unit: throughputUnitOf(plan.target),
    };
    const summary = summarizeRuns(plan, json);
    const page = formatReportPage(report, summary, await readChartLibrary());
    writeReport(this.path, page, "outputs.files.html", false);
  }

  private showRun(result: RunResult, json: RunJson, name: string, index: number): ShownRun {
    const startNs = Number(result.startEpochNs - toEpochNs(0));
    return {
      name,
      result,
      levels: measuredLevels(result).map((level, at) => ({
        name: nameOfLevel(this.plan, level),
        json: json.levels[at] as LevelJson,
        result: level,
      })),
      follower: this.followers[index] ?? new RunFollower(this.plan.target.batchSize, startNs),
      startNs,
    };
  }
}
