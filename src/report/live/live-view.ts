import { LEVEL_UNITS, type LevelUnitName } from "../../load/level-units.ts";
import { RecentDurations } from "../../measure/recent-durations.ts";
import { RECORD_FAILED, type RecordColumns } from "../../measure/records.ts";
import type { Plan } from "../../plan/plan.ts";
import type { PhasePlace, RunProgress } from "../../result/observer.ts";
import type { PreparedRun } from "../../result/run-result.ts";
import { nowNs } from "../../runtime/clock.ts";
import { HealthMonitor } from "../../telemetry/health-monitor.ts";
import type { Report, TextSink } from "../report.ts";
import { formatLiveLine, formatLiveLines, type LiveState } from "./live-text.ts";

/**
 * Shows the state of a run on stderr: on a terminal, a few lines that are redrawn; elsewhere, one line at intervals. A timer reads the
 * state. Of single requests it only counts the latencies, after some have been recorded.
 */

const FRAME_MS = 250;
const LINE_MS = 5000;
const SECOND_NS = 1e9;
/** Rates cover the last seconds of the current level. */
const RATE_SEC = 5;

/** A live view, and the sink that all other text must use meanwhile, so that it does not mix with the view's lines. */
export interface LiveView extends Report {
  readonly sink: TextSink;
  /** Draws the current state. The timer calls it. */
  draw(): void;
}

/** Creates the view, which starts with the run. @param clockNs the clock; default: the run's clock */
export function createLiveView(plan: Plan, sink: TextSink, clockNs: () => number = nowNs): LiveView {
  return new Live(plan, sink, clockNs);
}

interface Mark {
  readonly atNs: number;
  readonly endedCount: number;
  readonly chunkCount: number;
}

class Live implements LiveView {
  readonly sink: TextSink;
  private readonly target: TextSink;
  private readonly clockNs: () => number;
  private readonly isStreaming: boolean;
  private readonly health = new HealthMonitor();
  private readonly latencies = new RecentDurations();
  private readonly firstChunks = new RecentDurations();
  private progress: RunProgress | undefined;
  private requestCount: number | undefined;
  private what = "";
  private startNs = 0;
  private rotatedNs = 0;
  private endedChunks = 0;
  private marks: Mark[] = [];
  private timer: ReturnType<typeof setInterval> | undefined;
  /** Lines currently on the terminal. */
  private drawnLines = 0;

  constructor(plan: Plan, sink: TextSink, clockNs: () => number) {
    this.target = sink;
    this.clockNs = clockNs;
    this.isStreaming = plan.target.isStreaming;
    const guard =
      (write: (text: string) => void) =>
      (text: string): void => {
        this.clear();
        write(text);
      };
    this.sink = {
      out: guard((text) => sink.out(text)),
      err: guard((text) => sink.err(text)),
      ...(sink.word === undefined ? {} : { word: sink.word }),
      errColumns: sink.errColumns,
    };
  }

  onProgress(progress: RunProgress): void {
    this.progress = progress;
    this.startNs = this.clockNs();
    this.rotatedNs = this.startNs;
    this.marks = [{ atNs: this.startNs, endedCount: 0, chunkCount: 0 }];
    this.health.start();
    this.timer = setInterval(() => this.draw(), this.target.errColumns === undefined ? LINE_MS : FRAME_MS);
    this.timer.unref?.();
  }

  onPrepared({ requestCount, plan: { measurement } }: PreparedRun): void {
    const { warmupRequests, warmupMs = 0 } = measurement;
    // The number of requests in a timed warm-up is unknown.
    this.requestCount = requestCount === undefined || warmupMs > 0 ? undefined : requestCount + warmupRequests;
  }

  onLevelStart(unit: LevelUnitName, level: number, isWarmup: boolean, phase?: PhasePlace): void {
    const place = phase === undefined ? "" : `phase ${phase.index + 1}/${phase.count} ${phase.label}, `;
    this.what = `${place}${isWarmup ? "warm-up, " : ""}${LEVEL_UNITS[unit].name} ${level}`;
    this.forgetRates();
  }

  /** Drops the previous level from rates and latencies. */
  private forgetRates(): void {
    const { progress } = this;
    if (progress === undefined) return;
    progress.drainRecords();
    this.latencies.clear();
    this.firstChunks.clear();
    this.rotatedNs = this.clockNs();
    this.marks = [this.markAt(progress, this.rotatedNs)];
  }

  private markAt(progress: RunProgress, atNs: number): Mark {
    const { completedCount, failedCount, cancelledCount, openResponses } = progress;
    return {
      atNs,
      endedCount: completedCount + failedCount + cancelledCount,
      chunkCount: this.endedChunks + openResponses,
    };
  }

  onBatch(records: RecordColumns, count: number): void {
    for (let row = 0; row < count; row++) {
      if (((records.flags[row] as number) & RECORD_FAILED) !== 0) continue;
      const startNs = records.sendStartNs[row] as number;
      this.latencies.add((records.endNs[row] as number) - startNs);
      if (!this.isStreaming) continue;
      this.firstChunks.add((records.firstByteNs[row] as number) - startNs);
      this.endedChunks += records.responseCount[row] as number;
    }
  }

  draw(): void {
    const { progress } = this;
    if (progress === undefined) return;
    progress.drainRecords();
    const state = this.read(progress);
    const { errColumns } = this.target;
    if (errColumns === undefined) {
      this.target.err(`${formatLiveLine(state)}\n`);
      return;
    }
    // Write once, so that no partial frame is visible.
    const lines = formatLiveLines(state).map((line) => `${line.slice(0, errColumns - 1)}\u001b[K\n`);
    this.move(`${this.toTop()}${lines.join("").slice(0, -1)}\r`);
    this.drawnLines = lines.length;
  }

  finish(): void {
    clearInterval(this.timer);
    this.health.stop();
    this.clear();
  }

  /** Clears the terminal because the run is ending, also if a second Ctrl-C exits at once. */
  readonly onInterrupt = (): void => this.finish();
  readonly discard = this.onInterrupt;

  /** Removes its lines from the terminal. */
  private clear(): void {
    if (this.drawnLines === 0) return;
    // Clear to the end of the screen.
    this.move(`${this.toTop()}\u001b[J`);
    this.drawnLines = 0;
  }

  private move(text: string): void {
    const { target } = this;
    if (target.draw === undefined) target.err(text);
    else target.draw(text);
  }

  /** Moves from the last drawn line to the first. */
  private toTop(): string {
    return this.drawnLines > 1 ? `\r\u001b[${this.drawnLines - 1}A` : "\r";
  }

  private read(progress: RunProgress): LiveState {
    const atNs = this.clockNs();
    const { sentCount, completedCount, failedCount, cancelledCount, outstanding } = progress;
    const mark = this.markAt(progress, atNs);
    const before = this.pushMark(mark);
    const seconds = (atNs - before.atNs) / SECOND_NS;
    const perSec = (later: number, earlier: number): number =>
      seconds > 0 ? Math.max(0, later - earlier) / seconds : 0;
    const health = this.health.take();
    const state: LiveState = {
      what: this.what,
      elapsedSec: (atNs - this.startNs) / SECOND_NS,
      sentCount,
      completedCount,
      failedCount,
      cancelledCount,
      outstanding,
      requestCount: this.requestCount,
      requestsPerSec: perSec(mark.endedCount, before.endedCount),
      chunksPerSec: this.isStreaming ? perSec(mark.chunkCount, before.chunkCount) : undefined,
      latencyNs: this.latencies.quantilesNs([0.5, 0.99]),
      firstChunkNs: this.isStreaming ? this.firstChunks.quantilesNs([0.5, 0.99]) : undefined,
      cpuRatio: health.cpuRatio,
      loopLagMaxNs: health.loopLagMaxNs,
    };
    this.rotate(atNs);
    return state;
  }

  /** Returns the mark from which rates are computed. */
  private pushMark(mark: Mark): Mark {
    const { marks } = this;
    marks.push(mark);
    while (marks.length > 2 && mark.atNs - (marks[1] as Mark).atNs >= RATE_SEC * SECOND_NS) marks.shift();
    return marks[0] as Mark;
  }

  /** Forgets past seconds one by one. If lines are further apart, each covers its own interval. */
  private rotate(atNs: number): void {
    for (; atNs - this.rotatedNs >= SECOND_NS; this.rotatedNs += SECOND_NS) {
      this.latencies.rotate();
      this.firstChunks.rotate();
    }
  }
}
