import {
  type AnsweredRequest,
  type FailedResponse,
  type MeasuredRequest,
  toMetricInput,
} from "../../measure/tokens/answered-request.ts";
import { entryOf } from "../../measure/tokens/metrics.ts";
import type { Prompt } from "../../measure/tokens/prompt.ts";
import type { MeteredRun, RequestFile } from "../../measure/tokens/token-thread.ts";
import { nsToMs } from "../../plan/units.ts";
import { type LineFile, openLines } from "./line-file.ts";
import {
  failureOf,
  formatLine,
  formatMetadata,
  measure,
  type RecordMetrics,
  tokenRecordMetrics,
  wasCancelled,
} from "./record-line.ts";

/** One line of JSON per request, including failed ones, in order of end. */

/** Data shared by all requests of the run. */
type RecordsRun = Pick<MeteredRun, "originEpochNs" | "startEpochNs" | "model">;

/** Writes the file, request by request. All methods throw RunError when the file cannot be written. */
export class RecordsFile implements RequestFile {
  private readonly run: RecordsRun;
  private readonly file: LineFile;

  constructor(path: string, run: RecordsRun) {
    this.run = run;
    this.file = openLines(path);
    this.file.open();
  }

  onMeasured({ prompt, sequenceId, server, sendNs, offsetsNs, answered, finishReason, error }: MeasuredRequest): void {
    const { length } = offsetsNs;
    const metadata = this.formatMetadata({
      prompt,
      sequenceId,
      server,
      sendNs,
      ackNs: sendNs + (offsetsNs[0] ?? Number.NaN),
      endNs: sendNs + (offsetsNs[length - 1] ?? 0),
      phase: "profiling",
      isCancelled: false,
      finishReason,
    });
    const metrics =
      answered === undefined || answered.times.contentNs.length === 0
        ? plainMetrics(offsetsNs)
        : answeredMetrics(answered);
    const chunks = measure("http_req_chunks_received", length, "count");
    const failure = error === undefined ? undefined : { type: "response", message: error };
    this.file.put(formatLine(metadata, error === undefined ? { ...metrics, ...chunks } : chunks, failure));
  }

  onFailure({
    failure,
    prompt,
    sequenceId,
    sendNs,
    firstByteNs,
    endNs,
    responseCount,
    isWarmup,
  }: FailedResponse): void {
    const metadata = this.formatMetadata({
      prompt,
      sequenceId,
      server: failure.server,
      sendNs,
      ackNs: firstByteNs,
      endNs,
      phase: isWarmup ? "warmup" : "profiling",
      isCancelled: wasCancelled(failure),
    });
    const chunks = responseCount === 0 ? {} : measure("http_req_chunks_received", responseCount, "count");
    this.file.put(formatLine(metadata, chunks, failureOf(failure)));
  }

  finish(): void {
    this.file.commit();
  }

  discard(): void {
    this.file.discard();
  }

  private formatMetadata(of: {
    readonly prompt: Prompt | undefined;
    readonly sequenceId: number;
    readonly server: string | undefined;
    /** Times are monotonic nanoseconds. */
    readonly sendNs: number;
    /** NaN without a first byte. */
    readonly ackNs: number;
    readonly endNs: number;
    readonly phase: "warmup" | "profiling";
    readonly isCancelled: boolean;
    readonly finishReason?: string | undefined;
  }): string {
    const { originEpochNs, startEpochNs, model } = this.run;
    const toEpochNs = (timeNs: number): bigint => originEpochNs + BigInt(timeNs);
    const sendEpochNs = toEpochNs(of.sendNs);
    return formatMetadata({
      model: of.prompt?.model ?? model,
      conversation: of.prompt?.session ?? (of.sequenceId === 0 ? undefined : String(of.sequenceId)),
      server: of.server,
      sendEpochNs,
      // All times use one monotonic clock. This difference is independent of the wall clock's offset.
      sendOffsetNs: sendEpochNs - startEpochNs,
      ackEpochNs: Number.isNaN(of.ackNs) ? undefined : toEpochNs(of.ackNs),
      endEpochNs: toEpochNs(of.endNs),
      rest: {
        benchmark_phase: of.phase,
        was_cancelled: of.isCancelled,
        finish_reason: of.finishReason,
      },
    });
  }
}

/** Returns the metrics of a response without text. */
function plainMetrics(offsetsNs: ArrayLike<number>): RecordMetrics {
  const latencyNs = offsetsNs[offsetsNs.length - 1];
  return latencyNs === undefined ? {} : measure("request_latency", nsToMs(latencyNs), "ms");
}

function answeredMetrics(answered: AnsweredRequest): RecordMetrics {
  const input = toMetricInput(answered);
  return tokenRecordMetrics((metric) => entryOf(metric).value(input), answered.times.contentNs, false);
}
