import { inferPerSec } from "../../measure/derived-values.ts";
import type { GaugeReading } from "../../measure/gauge-readings.ts";
import type { Measurement } from "../../measure/measurement.ts";
import { GAUGE_KEYS, type Gauge } from "../../measure/metrics/server-gauges.ts";
import type { RecordColumns } from "../../measure/records.ts";
import { averageUs } from "../../measure/server-delta.ts";
import { Timeline, type TimelineColumn } from "../../measure/timeline.ts";
import type { Plan } from "../../plan/plan.ts";
import { nsToSec, nsToUs, secToNs } from "../../plan/units.ts";
import { describeLevel } from "../../registry/level-names.ts";
import type { RunObserver } from "../../result/observer.ts";
import type { RunResult } from "../../result/run-result.ts";
import { nowNs, toEpochNs } from "../../runtime/clock.ts";
import { Readings } from "../../telemetry/readings.ts";
import type { OverTimeJson } from "../schema/over-time.ts";
import { toIntervalJson } from "./level.ts";

/** Keeps data of a run over time for reports, in addition to its result. Memory is bounded. Times are nanoseconds on the clock of requests and windows. */

const MOST_WINDOWS = 2_000;
const MOST_SPANS = 500;
const KEPT_COLUMNS = { mostColumns: 240, columnNs: 20e6 };
const WANTED_COLUMNS = { most: 120, fewest: 20, perColumn: 10 };

/** A part of the run. The end is undefined while it lasts. */
interface SeenSpan extends Pick<OverTimeJson["spans"][number], "label" | "isWarmup"> {
  readonly startNs: number;
  readonly endNs: number | undefined;
}

type SeenWindow = Omit<OverTimeJson["windows"][number], "startSec" | "endSec"> & {
  readonly startNs: number;
  readonly endNs: number;
};

/** Follows one run. */
export class RunFollower {
  /** Time since the epoch of the zero of that clock, in nanoseconds. */
  readonly originEpochNs: bigint;
  private readonly delayNs: number;
  private readonly timeline: Timeline;
  private readonly windows: SeenWindow[] = [];
  private readonly spans: SeenSpan[] = [];
  private readonly batchSize: number;
  private readonly gpus = new Map<Gauge, Map<string, Readings>>();

  /** @param startNs now, on this thread's clock @param delayNs time by which the clock of requests and windows is set back */
  constructor(batchSize: number, startNs: number, delayNs = 0) {
    this.batchSize = batchSize;
    this.delayNs = delayNs;
    this.originEpochNs = toEpochNs(0, delayNs);
    this.timeline = new Timeline(startNs - delayNs, KEPT_COLUMNS);
  }

  /** The time now, on the clock of requests and windows. */
  private get nowNs(): number {
    return nowNs() - this.delayNs;
  }

  addBatch(records: RecordColumns, count: number): void {
    this.timeline.add(records, count);
  }

  /** Begins a warm-up or level, and ends the previous one. */
  beginSpan(label: string, isWarmup: boolean): void {
    this.endSpan();
    if (this.spans.length < MOST_SPANS) this.spans.push({ label, isWarmup, startNs: this.nowNs, endNs: undefined });
  }

  /** @param window of the level that ends: its events come later. Default: the span ends now */
  endSpan(window?: Measurement): void {
    const last = this.spans.at(-1);
    if (last === undefined || last.endNs !== undefined) return;
    const { startNs = last.startNs, endNs = this.nowNs } = window ?? {};
    this.spans.splice(-1, 1, { ...last, startNs: Math.min(last.startNs, startNs), endNs });
  }

  addWindow(index: number, window: Measurement, latencyNs: number): void {
    if (this.windows.length >= MOST_WINDOWS) return;
    const { startNs, endNs, server } = window;
    this.windows.push({
      index,
      startNs,
      endNs,
      throughputPerSec: inferPerSec(window, this.batchSize),
      latencyUs: nsToUs(latencyNs),
      ...(server === undefined
        ? {}
        : {
            server: {
              queueUs: averageUs(server.queueNs, server.queueCount),
              computeUs: averageUs(
                server.computeInputNs + server.computeInferNs + server.computeOutputNs,
                server.computeInferCount,
              ),
            },
          }),
    });
  }

  addReading(reading: GaugeReading): void {
    for (const metric of GAUGE_KEYS)
      for (const [uuid, value] of reading[metric] ?? []) this.readingsOf(metric, uuid).add(nsToSec(this.nowNs), value);
  }

  /** Returns the recorded data, in seconds since the run began. @param startNs start of the run @param endNs its end */
  toJson(startNs: number, endNs: number): OverTimeJson {
    const secondsOf = (atNs: number): number => Math.max(0, nsToSec(atNs - startNs));
    return {
      timeline: this.columns(startNs).map((column) => ({
        ...toIntervalJson(column),
        latencyBuckets: column.latency.toString(),
      })),
      windows: this.windows.map(({ startNs: fromNs, endNs: toNs, ...window }) => ({
        ...window,
        startSec: secondsOf(fromNs),
        endSec: secondsOf(toNs),
      })),
      spans: this.spans.map(({ label, isWarmup, startNs: fromNs, endNs: toNs }) => ({
        label: isWarmup ? "warm-up" : label,
        isWarmup,
        startSec: secondsOf(fromNs),
        endSec: secondsOf(toNs ?? endNs),
      })),
      gpus: [...this.gpus].flatMap(([metric, byUuid]) =>
        [...byUuid].map(([uuid, readings]) => {
          const { timesSec, values } = readings.view();
          return {
            uuid,
            atSec: Array.from(timesSec, (sec) => secondsOf(secToNs(sec))),
            [metric]: Array.from(values),
          };
        }),
      ),
    };
  }

  private columns(startNs: number): TimelineColumn[] {
    const { lastEndNs } = this.timeline;
    return lastEndNs > startNs ? this.timeline.columns(lastEndNs, startNs, WANTED_COLUMNS) : [];
  }

  private readingsOf(metric: Gauge, uuid: string): Readings {
    const byUuid = this.gpus.get(metric) ?? new Map<string, Readings>();
    this.gpus.set(metric, byUuid);
    const readings = byUuid.get(uuid) ?? new Readings();
    byUuid.set(uuid, readings);
    return readings;
  }
}

/** Follows the runs of a plan over time. */
export interface FollowedRuns {
  readonly observer: RunObserver;
  /** Returns the recorded data of runs that have ended. @param results all runs, in order */
  toJson(results: readonly RunResult[]): OverTimeJson[];
}

/** Begins to follow. */
export function followRuns(plan: Plan): FollowedRuns {
  const { batchSize } = plan.target;
  const followers: RunFollower[] = [];
  const last = (): RunFollower | undefined => followers.at(-1);
  return {
    observer: {
      // A run begins.
      onProgress: ({ delayNs }) => {
        followers.push(new RunFollower(batchSize, nowNs(), delayNs));
      },
      onBatch: (records, count) => last()?.addBatch(records, count),
      onMetrics: (reading) => last()?.addReading(reading),
      onLevelStart: (_unit, level, isWarmup, phase) =>
        last()?.beginSpan(phase?.label ?? describeLevel(plan, level), isWarmup),
      onWindow: (index, window, latencyNs) => last()?.addWindow(index, window, latencyNs),
      onLevelEnd: ({ window }) => last()?.endSpan(window),
    },
    toJson: (results) =>
      results.map(({ startEpochNs, durationNs }, index) => {
        const follower = followers[index] ?? new RunFollower(batchSize, nowNs());
        const startNs = Number(startEpochNs - follower.originEpochNs);
        return follower.toJson(startNs, startNs + durationNs);
      }),
  };
}
