import { LEVEL_UNITS, type LevelUnitName } from "../load/level-units.ts";
import type { TokenLink } from "../measure/tokens/token-thread.ts";
import type { Plan } from "../plan/plan.ts";
import type { PhasePlace } from "../result/observer.ts";
import type { FailedRequest, RequestRecord } from "../result/request-record.ts";
import type { RequestContent, ResponseContent } from "../service/service.ts";
import { isCancelled } from "../transport/failure.ts";
import { createRecords, formatLine, measure } from "./genai-perf/records-file.ts";
import { OutputFile } from "./output-file.ts";
import type { Report, TextSink } from "./report.ts";
import { notWritten } from "./write-report.ts";

/**
 * `--records`: one line of JSON per request, also failed ones and those of warm-ups, in the order of their ends. The names are those of
 * genai-perf mode's file of records. The file is written in parts, so it can be larger than memory, and renamed into place at the end.
 */

/** Parts are small, because writing one delays requests that are due. */
const FLUSH_CHARACTERS = 64 * 1024;
const NS_PER_MS = 1e6;

/** Creates the report. @param meter writes the records itself, in genai-perf mode; there the lines have token metrics */
export function createRecordsReport(plan: Plan, sink: TextSink, path: string, meter: TokenLink | undefined): Report {
  return meter === undefined ? new Records(plan, path) : createRecords(plan, sink, path, meter);
}

class Records implements Report {
  private readonly path: string;
  private readonly model: string | undefined;
  private readonly isStreaming: boolean;
  private file: OutputFile | undefined;
  private buffer: string[] = [];
  private bufferedCharacters = 0;
  private run = {};
  private phase = { name: "profiling", level: {} };

  constructor({ target }: Plan, path: string) {
    this.path = path;
    this.model = "model" in target ? target.model : undefined;
    this.isStreaming = target.isStreaming;
  }

  onRun(run: number): void {
    this.run = { run };
  }

  onLevelStart(unit: LevelUnitName, level: number, isWarmup: boolean, phase?: PhasePlace): void {
    const name = LEVEL_UNITS[unit].exported;
    const place = phase === undefined ? {} : { phase: phase.label };
    this.phase = { name: isWarmup ? "warmup" : "profiling", level: { ...place, [name]: level } };
  }

  onRecord({ sendEpochNs, sequenceId, inputs, responses, server, extracted, tags }: RequestRecord): void {
    const offsets = responses.map(({ offsetNs }) => offsetNs);
    const first = offsets[0] ?? 0;
    const last = offsets.at(-1) ?? 0;
    const gaps = offsets.slice(1).map((offset, i) => (offset - (offsets[i] ?? 0)) / NS_PER_MS);
    const metadata = this.formatMetadata({
      sendEpochNs,
      ackEpochNs: sendEpochNs + BigInt(first),
      endEpochNs: sendEpochNs + BigInt(last),
      sequenceId,
      server,
      wasCancelled: false,
      more: { ...(extracted === undefined ? {} : { extracted }), ...(tags === undefined ? {} : { tags }) },
    });
    const metrics = {
      ...measure("request_latency", last / NS_PER_MS, "ms"),
      ...(this.isStreaming ? measure("time_to_first_response", first / NS_PER_MS, "ms") : {}),
      ...(gaps.length === 0 ? {} : measure("inter_chunk_latency", gaps, "ms")),
      ...measure("http_req_chunks_received", offsets.length, "count"),
      ...measure("request_content_size", requestBytes(inputs), "bytes"),
      ...measure(
        "response_content_size",
        responses.reduce((sum, { outputs }) => sum + responseBytes(outputs), 0),
        "bytes",
      ),
    };
    this.put(formatLine(metadata, metrics, undefined));
  }

  onFailed({
    sendEpochNs,
    firstByteEpochNs,
    endEpochNs,
    sequenceId,
    inputs,
    responseCount,
    failure,
    tags,
  }: FailedRequest): void {
    const { kind, message, status, server } = failure;
    const metadata = this.formatMetadata({
      sendEpochNs,
      ackEpochNs: firstByteEpochNs,
      endEpochNs,
      sequenceId,
      server,
      wasCancelled: kind === "aborted" || isCancelled({ kind }),
      more: tags === undefined ? {} : { tags },
    });
    const metrics = {
      ...(responseCount === 0 ? {} : measure("http_req_chunks_received", responseCount, "count")),
      ...measure("request_content_size", requestBytes(inputs), "bytes"),
    };
    this.put(formatLine(metadata, metrics, { ...(status === undefined ? {} : { code: status }), type: kind, message }));
  }

  finish(): void {
    this.flush();
    this.guard((file) => file.commit());
  }

  finishRuns(): void {
    this.finish();
  }

  discard(): void {
    this.file?.discard();
  }

  /** Time stamps have 19 digits, of which a number keeps 16, so they are formatted as text. */
  private formatMetadata(of: {
    readonly sendEpochNs: bigint;
    readonly ackEpochNs: bigint | undefined;
    readonly endEpochNs: bigint;
    readonly sequenceId: number;
    readonly server: string | undefined;
    readonly wasCancelled: boolean;
    readonly more: object;
  }): string {
    const names = {
      ...(this.model === undefined ? {} : { model: this.model }),
      ...(of.sequenceId === 0 ? {} : { conversation_id: String(of.sequenceId) }),
      ...(of.server === undefined ? {} : { server: of.server }),
      request_start_time: new Date(Number(of.sendEpochNs / 1_000_000n)).toISOString(),
    };
    const rest = {
      benchmark_phase: this.phase.name,
      ...this.run,
      ...this.phase.level,
      was_cancelled: of.wasCancelled,
      ...of.more,
    };
    const times = [
      `"request_start_ns":${of.sendEpochNs}`,
      ...(of.ackEpochNs === undefined ? [] : [`"request_ack_ns":${of.ackEpochNs}`]),
      `"request_end_ns":${of.endEpochNs}`,
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
    this.guard((file) => file.write(text));
  }

  /** Opens the file at the first line. */
  private guard(action: (file: OutputFile) => void): void {
    try {
      this.file ??= new OutputFile(this.path);
      action(this.file);
    } catch (error) {
      throw notWritten(this.path, error, "outputs.files.records");
    }
  }
}

function requestBytes(content: RequestContent): number {
  const parts = "bytes" in content ? (content.messages ?? [content.bytes]) : content.map(({ bytes }) => bytes);
  return parts.reduce((sum, { length }) => sum + length, 0);
}

function responseBytes(content: ResponseContent): number {
  if (content instanceof Uint8Array) return content.length;
  return [...content.values()].reduce((sum, { bytes }) => sum + bytes.length, 0);
}
