import type { FailedAnswer, MeasuredRequest } from "../../measure/tokens/measured-request.ts";
import { entryOf } from "../../measure/tokens/metrics.ts";
import type { Prompt } from "../../measure/tokens/prompt.ts";
import { type AnsweredRequest, toMetricInput } from "../../measure/tokens/token-columns.ts";
import type { MeteredRun, RequestFile, TokenLink } from "../../measure/tokens/token-thread.ts";
import type { Plan } from "../../plan/plan.ts";
import { isCancelled } from "../../transport/failure.ts";
import { OutputFile } from "../output-file.ts";
import { measure, type RecordMetrics, tokenRecordMetrics } from "../record-metrics.ts";
import type { Report, TextSink } from "../report.ts";
import { notWritten } from "../write-report.ts";

/**
 * One line of JSON per request, including failed ones, in the order of their ends. Names are AIPerf's (`profile_export.jsonl`) where it has
 * the same value. The file is written in parts, so it can be larger than memory, and renamed into place at the end.
 */

const FLUSH_CHARACTERS = 64 * 1024;
const NS_PER_MS = 1e6;

/** Creates the report. @param meter writes the requests while it measures them, in its own thread */
export function createRecords(_plan: Plan, _sink: TextSink, _path: string, meter: TokenLink | undefined): Report {
  return { finish: () => meter?.finish(), discard: () => meter?.discard() };
}

/** What all requests of the run share. */
export type RecordsRun = Pick<MeteredRun, "originEpochNs" | "startEpochNs" | "model">;

/** Writes the file, request by request. All methods throw RunError when the file cannot be written. */
export class RecordsFile implements RequestFile {
  private readonly path: string;
  private readonly run: RecordsRun;
  private readonly file: OutputFile;
  private buffer: string[] = [];
  private bufferedCharacters = 0;

  constructor(path: string, run: RecordsRun) {
    this.path = path;
    this.run = run;
    this.file = this.guard(() => new OutputFile(path));
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
    const failure = error === undefined ? undefined : { type: "answer", message: error };
    this.put(formatLine(metadata, error === undefined ? { ...metrics, ...chunks } : chunks, failure));
  }

  onFailure({ failure, prompt, sequenceId, sendNs, firstByteNs, endNs, responseCount, isWarmup }: FailedAnswer): void {
    const { kind, message, status, server } = failure;
    const metadata = this.formatMetadata({
      prompt,
      sequenceId,
      server,
      sendNs,
      ackNs: firstByteNs,
      endNs,
      phase: isWarmup ? "warmup" : "profiling",
      isCancelled: kind === "aborted" || isCancelled({ kind }),
    });
    const chunks = responseCount === 0 ? {} : measure("http_req_chunks_received", responseCount, "count");
    this.put(formatLine(metadata, chunks, { ...(status === undefined ? {} : { code: status }), type: kind, message }));
  }

  finish(): void {
    this.flush();
    this.guard(() => this.file.commit());
  }

  discard(): void {
    this.file.discard();
  }

  /** Time stamps have 19 digits, of which a number keeps 16, so they are formatted as text. @param of times are monotonic */
  private formatMetadata(of: {
    readonly prompt: Prompt | undefined;
    readonly sequenceId: number;
    readonly server: string | undefined;
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
    const conversation = of.prompt?.session ?? (of.sequenceId === 0 ? undefined : String(of.sequenceId));
    const names = {
      model: of.prompt?.model ?? model,
      ...(conversation === undefined ? {} : { conversation_id: conversation }),
      ...(of.server === undefined ? {} : { server: of.server }),
      request_start_time: new Date(Number(sendEpochNs / 1_000_000n)).toISOString(),
    };
    const rest = {
      benchmark_phase: of.phase,
      was_cancelled: of.isCancelled,
      ...(of.finishReason === undefined ? {} : { finish_reason: of.finishReason }),
    };
    const times = [
      `"request_start_ns":${sendEpochNs}`,
      // All times use one monotonic clock. This difference is independent of the wall clock's offset.
      `"request_start_offset_ns":${sendEpochNs - startEpochNs}`,
      ...(Number.isNaN(of.ackNs) ? [] : [`"request_ack_ns":${toEpochNs(of.ackNs)}`]),
      `"request_end_ns":${toEpochNs(of.endNs)}`,
    ];
    return `${JSON.stringify(names).slice(0, -1)},${times.join(",")},${JSON.stringify(rest).slice(1)}`;
  }

  private put(line: string): void {
    this.buffer.push(line);
    this.bufferedCharacters += line.length;
    if (this.bufferedCharacters >= FLUSH_CHARACTERS) this.flush();
  }

  private flush(): void {
    const text = this.buffer.join("");
    this.buffer = [];
    this.bufferedCharacters = 0;
    this.guard(() => this.file.write(text));
  }

  private guard<T>(action: () => T): T {
    try {
      return action();
    } catch (error) {
      throw notWritten(this.path, error, "outputs.files.records");
    }
  }
}

/** Metrics of an answer without text. */
function plainMetrics(offsetsNs: ArrayLike<number>): RecordMetrics {
  const latencyNs = offsetsNs[offsetsNs.length - 1];
  return latencyNs === undefined ? {} : measure("request_latency", latencyNs / NS_PER_MS, "ms");
}

function answeredMetrics(answered: AnsweredRequest): RecordMetrics {
  const input = toMetricInput(answered);
  return tokenRecordMetrics((metric) => entryOf(metric).value(input), answered.times.contentNs, false);
}

/** Formats the line of a request. @param metadata as JSON @param error absent for a successful request */
export function formatLine(metadata: string, metrics: RecordMetrics, error: object | undefined): string {
  const failure = error === undefined ? "" : `,"error":${JSON.stringify(error)}`;
  return `{"metadata":${metadata},"metrics":${JSON.stringify(metrics)}${failure}}\n`;
}
