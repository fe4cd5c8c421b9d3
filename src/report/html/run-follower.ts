import { GPU_METRICS, type GpuMetric, type GpuReading } from "../../measure/gpu-tally.ts";
import type { Measurement } from "../../measure/measurement.ts";
import { inferPerSec } from "../../measure/metrics.ts";
import type { RecordColumns } from "../../measure/records.ts";
import { averageUs } from "../../measure/server-delta.ts";
import { nsToSec } from "../../plan/units.ts";
import { Readings, type ReadingsView } from "../../telemetry/readings.ts";
import { RunTrace } from "./run-trace.ts";

/** Keeps what a page shows of a run beyond its result. Memory is bounded. Times are monotonic nanoseconds. */

const MOST_WINDOWS = 2_000;
const MOST_SPANS = 500;

/** A measuring window. */
export interface SeenWindow {
  readonly level: string;
  /** From 1, in its level. */
  readonly trial: number;
  readonly startNs: number;
  readonly endNs: number;
  readonly inferPerSec: number;
  /** The latency that stability is based on. */
  readonly latencyNs: number;
  /** Means in the server in microseconds; absent without its statistics. */
  readonly server?: { readonly queueUs: number; readonly computeUs: number };
}

/** A part of the run: a warm-up or a level. */
export interface SeenSpan {
  readonly label: string;
  readonly isWarmup: boolean;
  readonly startNs: number;
  /** Undefined while it lasts. */
  readonly endNs: number | undefined;
}

/** Follows one run. */
export class RunFollower {
  readonly trace: RunTrace;
  readonly windows: SeenWindow[] = [];
  readonly spans: SeenSpan[] = [];
  private readonly batchSize: number;
  private readonly gpus = new Map<GpuMetric, Map<string, Readings>>();

  /** @param startNs now */
  constructor(batchSize: number, startNs: number) {
    this.batchSize = batchSize;
    this.trace = new RunTrace(startNs);
  }

  addBatch(records: RecordColumns, count: number): void {
    this.trace.add(records, count);
  }

  /** A warm-up or level begins, and the one before it ends. */
  beginSpan(label: string, isWarmup: boolean, atNs: number): void {
    this.endSpan(atNs);
    if (this.spans.length < MOST_SPANS) this.spans.push({ label, isWarmup, startNs: atNs, endNs: undefined });
  }

  endSpan(atNs: number): void {
    const last = this.spans.at(-1);
    if (last !== undefined && last.endNs === undefined) this.spans[this.spans.length - 1] = { ...last, endNs: atNs };
  }

  addWindow(trial: number, window: Measurement, latencyNs: number): void {
    if (this.windows.length >= MOST_WINDOWS) return;
    const { startNs, endNs, server } = window;
    this.windows.push({
      level: this.spans.at(-1)?.label ?? "",
      trial,
      startNs,
      endNs,
      inferPerSec: inferPerSec(window, this.batchSize),
      latencyNs,
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

  addReading(reading: GpuReading, atNs: number): void {
    for (const metric of GPU_METRICS)
      for (const [uuid, value] of reading[metric] ?? []) this.readingsOf(metric, uuid).add(nsToSec(atNs), value);
  }

  /** Returns a metric over time by GPU, with monotonic seconds. */
  gpuReadings(metric: GpuMetric): [uuid: string, readings: ReadingsView][] {
    return [...(this.gpus.get(metric) ?? [])].map(([uuid, readings]) => [uuid, readings.view()]);
  }

  private readingsOf(metric: GpuMetric, uuid: string): Readings {
    const byUuid = this.gpus.get(metric) ?? new Map<string, Readings>();
    this.gpus.set(metric, byUuid);
    const readings = byUuid.get(uuid) ?? new Readings();
    byUuid.set(uuid, readings);
    return readings;
  }
}
