import type { LevelUnitName } from "../../load/level-units.ts";
import type { GpuReading } from "../../measure/gpu-tally.ts";
import type { Measurement } from "../../measure/measurement.ts";
import type { RecordColumns } from "../../measure/records.ts";
import type { Plan } from "../../plan/plan.ts";
import { formatCount } from "../../plan/units.ts";
import { describeLevel } from "../../registry/load-modes.ts";
import type { PhasePlace, RunWarning } from "../../result/observer.ts";
import type { RepeatedResult } from "../../result/repeated-result.ts";
import type { RunResult } from "../../result/run-result.ts";
import { nowNs, toEpochNs } from "../../runtime/clock.ts";
import { toRepeatedJson, toReportJson } from "../json/report-json.ts";
import { buildRunModel } from "../model/build-model.ts";
import { chartSource, type RunTimes } from "../model/charts/chart-source.ts";
import { withCharts } from "../model/charts/run-charts.ts";
import type { NoteOptions } from "../notes/make-notes.ts";
import { readChartLibrary } from "../plots/chart-library.ts";
import type { Report, TextSink } from "../report.ts";
import type { ReportJson } from "../schema/report-schema.ts";
import { describeWarning } from "../warnings.ts";
import { writeReport } from "../write-report.ts";
import { formatReportPage } from "./report-page.ts";
import { RunFollower } from "./run-follower.ts";

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
    const times = results.map((result, index) => this.timesOf(result, index));
    const model = withCharts(buildRunModel(plan, json), chartSource(plan, json, times));
    const library = await readChartLibrary();
    const page = formatReportPage(model, { library, footer: describeRun(json), plan: json.plan });
    writeReport(this.path, page, "outputs.files.html", false);
  }

  private timesOf(result: RunResult, index: number): RunTimes {
    const startNs = Number(result.startEpochNs - toEpochNs(0));
    const follower = this.followers[index] ?? new RunFollower(this.plan.target.batchSize, startNs);
    return follower.times(startNs, startNs + result.durationNs);
  }
}

/** Describes when and where a report was measured. */
function describeRun({ startedAt, machine }: ReportJson): string {
  const { cpu, cores, memoryBytes, os, architecture, runtime } = machine;
  const host = `${cpu}, ${cores} cores, ${formatCount(memoryBytes / 2 ** 30)} GiB, ${os} ${architecture}`;
  return `${startedAt}, ${runtime} on ${host}`;
}
