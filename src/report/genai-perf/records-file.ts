import { closeSync, openSync, readSync, rmSync } from "node:fs";
import { type TokenMetric, tokenValues } from "../../measure/tokens/token-metrics.ts";
import { messageOf, RunError } from "../../plan/problem.ts";
import { setting } from "../../plan/setting-names.ts";
import { isGivenUp } from "../../transport/failure.ts";
import { OutputFile } from "../output-file.ts";
import { type RequestOrigin, readOrigin, type StoredFailure } from "./failed-requests.ts";
import type { MeasuredRequest } from "./measure-export.ts";

/**
 * One line of JSON per request, failed ones included, in the order in which they ended. Names are AIPerf's (`profile_export.jsonl`) where it
 * has such a thing. The file appears whole at the end; it is written piece by piece, so that it may be longer than memory.
 */

/** By AIPerf's name: where the value comes from, and its unit. */
const METRICS: readonly (readonly [name: string, metric: TokenMetric, unit: string])[] = [
  ["request_latency", "requestLatencyNs", "ms"],
  ["time_to_first_token", "timeToFirstTokenNs", "ms"],
  ["time_to_second_token", "timeToSecondTokenNs", "ms"],
  ["time_to_first_output_token", "timeToFirstOutputTokenNs", "ms"],
  ["inter_token_latency", "interTokenLatencyNs", "ms"],
  ["output_token_throughput_per_user", "outputTokensPerSecPerUser", "tokens/sec/user"],
  ["input_sequence_length", "inputTokens", "tokens"],
  ["output_sequence_length", "outputTokens", "tokens"],
  ["reasoning_token_count", "reasoningTokens", "tokens"],
  ["usage_prompt_tokens", "serverInputTokens", "tokens"],
  ["usage_completion_tokens", "serverOutputTokens", "tokens"],
  ["usage_reasoning_tokens", "serverReasoningTokens", "tokens"],
];

const FLUSH_CHARACTERS = 64 * 1024;
const NS_PER_MS = 1e6;

/** What requests of the run share. */
export interface RecordsRun {
  /** When the run began, in epoch nanoseconds. */
  readonly startEpochNs: bigint;
  /** For requests that name no model. */
  readonly model: string;
  /** Where the failed requests wait: see `failedRequestsPath`. */
  readonly failuresPath: string;
}

/** Writes the file. Call `add` for each request of the export, in its order, then `finish`; or `discard`. */
export class RecordsFile {
  private readonly path: string;
  private readonly run: RecordsRun;
  private readonly failures: Generator<StoredFailure>;
  private next: StoredFailure | undefined;
  private readonly file: OutputFile;
  private buffer: string[] = [];
  private bufferedCharacters = 0;

  /** @throws RunError when the file cannot be written */
  constructor(path: string, run: RecordsRun) {
    this.path = path;
    this.run = run;
    this.failures = readFailures(run.failuresPath);
    this.next = this.takeFailure();
    this.file = this.guard(() => new OutputFile(path));
  }

  add(measured: MeasuredRequest): void {
    const { timestampNs, responseOffsetsNs } = measured.request;
    const endNs = timestampNs + BigInt(responseOffsetsNs.at(-1) ?? 0);
    while (this.next !== undefined && BigInt(this.next.endNs) < endNs) this.putFailure();
    this.put(this.formatMeasured(measured, endNs));
  }

  finish(): void {
    while (this.next !== undefined) this.putFailure();
    this.flush();
    this.guard(() => this.file.commit());
    this.removeFailures();
  }

  /** Leaves no file. */
  discard(): void {
    this.file.discard();
    this.removeFailures();
  }

  private removeFailures(): void {
    this.failures.return(undefined);
    rmSync(this.run.failuresPath, { force: true });
  }

  private formatMeasured({ request, answered, finishReason, error }: MeasuredRequest, endNs: bigint): string {
    const { timestampNs, responseOffsetsNs, inputs, sequenceId } = request;
    const [ackOffsetNs] = responseOffsetsNs;
    const metadata = this.formatMetadata({
      origin: readOrigin(inputs),
      sequenceId,
      sendNs: timestampNs,
      ackNs: ackOffsetNs === undefined ? undefined : timestampNs + BigInt(ackOffsetNs),
      endNs,
      phase: "profiling",
      isCancelled: false,
      finishReason,
    });
    const metrics =
      answered === undefined || answered.times.contentNs.length === 0
        ? plainMetrics(responseOffsetsNs)
        : answeredMetrics(answered);
    const chunks = measure("http_req_chunks_received", responseOffsetsNs.length, "count");
    const failure = error === undefined ? undefined : { type: "answer", message: error };
    return formatLine(metadata, error === undefined ? { ...metrics, ...chunks } : chunks, failure);
  }

  private putFailure(): void {
    const failure = this.next as StoredFailure;
    this.next = this.takeFailure();
    const { kind, message, status } = failure;
    const metadata = this.formatMetadata({
      origin: failure.origin,
      sequenceId: failure.sequenceId,
      sendNs: BigInt(failure.sendNs),
      ackNs: failure.firstByteNs === undefined ? undefined : BigInt(failure.firstByteNs),
      endNs: BigInt(failure.endNs),
      phase: failure.isWarmup ? "warmup" : "profiling",
      isCancelled: kind === "aborted" || isGivenUp({ kind }),
    });
    const chunks =
      failure.responseCount === 0 ? {} : measure("http_req_chunks_received", failure.responseCount, "count");
    this.put(formatLine(metadata, chunks, { ...(status === undefined ? {} : { code: status }), type: kind, message }));
  }

  /** Time stamps have 19 digits, of which a number would keep 16: they are put together as text. */
  private formatMetadata(of: {
    readonly origin: RequestOrigin;
    readonly sequenceId: number | undefined;
    readonly sendNs: bigint;
    readonly ackNs: bigint | undefined;
    readonly endNs: bigint;
    readonly phase: "warmup" | "profiling";
    readonly isCancelled: boolean;
    readonly finishReason?: string | undefined;
  }): string {
    const { origin, sequenceId = 0 } = of;
    const conversation = origin.session ?? (sequenceId === 0 ? undefined : String(sequenceId));
    const names = {
      model: origin.model ?? this.run.model,
      ...(conversation === undefined ? {} : { conversation_id: conversation }),
      request_start_time: new Date(Number(of.sendNs / 1_000_000n)).toISOString(),
    };
    const rest = {
      benchmark_phase: of.phase,
      was_cancelled: of.isCancelled,
      ...(of.finishReason === undefined ? {} : { finish_reason: of.finishReason }),
    };
    const times = [
      `"request_start_ns":${of.sendNs}`,
      // All times are of one monotonic clock: this one says so without the wall clock's offset.
      `"request_start_offset_ns":${of.sendNs - this.run.startEpochNs}`,
      ...(of.ackNs === undefined ? [] : [`"request_ack_ns":${of.ackNs}`]),
      `"request_end_ns":${of.endNs}`,
    ];
    return `${JSON.stringify(names).slice(0, -1)},${times.join(",")},${JSON.stringify(rest).slice(1)}`;
  }

  private takeFailure(): StoredFailure | undefined {
    const { value, done } = this.guard(() => this.failures.next());
    return done === true ? undefined : value;
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
      const hint = `Give another path with ${setting("outputs.recordsFile")}.`;
      throw new RunError("output", `${this.path} cannot be written: ${messageOf(error)}`, hint);
    }
  }
}

type Metrics = Readonly<Record<string, { readonly value: number | readonly number[]; readonly unit: string }>>;

function measure(name: string, value: number | readonly number[], unit: string): Metrics {
  return { [name]: { value, unit } };
}

/** Of an answer without text. */
function plainMetrics(responseOffsetsNs: readonly number[]): Metrics {
  const latencyNs = responseOffsetsNs.at(-1);
  return latencyNs === undefined ? {} : measure("request_latency", latencyNs / NS_PER_MS, "ms");
}

function answeredMetrics(answered: NonNullable<MeasuredRequest["answered"]>): Metrics {
  const values = tokenValues(answered);
  const metrics: Record<string, Metrics[string]> = {};
  for (const [name, metric, unit] of METRICS) {
    const value = values[metric];
    if (value === undefined || Number.isNaN(value) || (metric === "reasoningTokens" && value === 0)) continue;
    metrics[name] = { value: metric.endsWith("Ns") ? value / NS_PER_MS : value, unit };
  }
  const { contentNs } = answered.times;
  if (contentNs.length > 1) {
    const gaps = contentNs.slice(1).map((timeNs, i) => (timeNs - (contentNs[i] as number)) / NS_PER_MS);
    metrics["inter_chunk_latency"] = { value: gaps, unit: "ms" };
  }
  return metrics;
}

function formatLine(metadata: string, metrics: Metrics, error: object | undefined): string {
  const failure = error === undefined ? "" : `,"error":${JSON.stringify(error)}`;
  return `{"metadata":${metadata},"metrics":${JSON.stringify(metrics)}${failure}}\n`;
}

const READ_BYTES = 64 * 1024;

/** Line by line, so that any number of them needs little memory. */
function* readFailures(path: string): Generator<StoredFailure> {
  const fd = openSync(path, "r");
  try {
    const bytes = new Uint8Array(READ_BYTES);
    const decoder = new TextDecoder();
    let rest = "";
    for (let count = readSync(fd, bytes); count > 0; count = readSync(fd, bytes)) {
      const lines = (rest + decoder.decode(bytes.subarray(0, count), { stream: true })).split("\n");
      rest = lines.pop() ?? "";
      for (const line of lines) yield JSON.parse(line) as StoredFailure;
    }
  } finally {
    closeSync(fd);
  }
}
