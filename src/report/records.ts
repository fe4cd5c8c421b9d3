import { LEVEL_UNITS, type LevelUnitName } from "../load/level-units.ts";
import { entryOf } from "../measure/tokens/metrics.ts";
import type { RequestTokens } from "../measure/tokens/request-tokens.ts";
import type { TokenLink } from "../measure/tokens/token-thread.ts";
import type { Plan, TargetPlan } from "../plan/plan.ts";
import { TARGET_TAG } from "../plan/split/tags.ts";
import { membersOf, tokensPlanOf } from "../registry/mix.ts";
import { targetKindOf } from "../registry/service-kinds.ts";
import type { PhasePlace, PhaseStart } from "../result/observer.ts";
import type { FailedRequest, RequestRecord } from "../result/request-record.ts";
import type { RequestContent, ResponseContent } from "../service/service.ts";
import { isCancelled } from "../transport/failure.ts";
import { createRecords, formatLine } from "./genai-perf/records-file.ts";
import { OutputFile } from "./output-file.ts";
import { measure, type RecordMetrics, tokenRecordMetrics } from "./record-metrics.ts";
import type { Report, TextSink } from "./report.ts";
import { notWritten } from "./write-report.ts";

/**
 * `--records`: one line of JSON per request, also failed ones and those of warm-ups, in the order of their ends. The names are those of
 * genai-perf mode's file of records. Lines wait for the tokens of their requests, which are measured in another thread. The file is written
 * in parts, so it can be larger than memory, and renamed into place at the end.
 */

/** Parts are small, because writing one delays requests that are due. */
const FLUSH_CHARACTERS = 64 * 1024;
const NS_PER_MS = 1e6;
/** Written lines stay in memory up to this number, because removing each on its own is slow. */
const FORGOTTEN_LINES = 4096;

/** Creates the report. @param meter writes the records itself, in genai-perf mode; there the lines have token metrics */
export function createRecordsReport(plan: Plan, sink: TextSink, path: string, meter: TokenLink | undefined): Report {
  return meter === undefined ? new Records(plan, path) : createRecords(plan, sink, path, meter);
}

/** A line that waits for its tokens, or for those of a line before it. */
interface Line {
  readonly metadata: string;
  metrics: RecordMetrics;
  readonly tags: RequestRecord["tags"];
  /** Why the request failed; absent when it succeeded. */
  readonly error?: object;
  /** Why its answer counts as failed for tokens. */
  answerError?: string;
  isComplete: boolean;
}

/** What the lines of a target's requests share. */
interface MeasuredTarget {
  readonly isStreaming: boolean;
  readonly model?: string;
}

/** The embedded target has the model of the server that it becomes. */
function toMeasured(target: TargetPlan): MeasuredTarget {
  const served = targetKindOf(target).toServer?.(target, 0) ?? target;
  return { isStreaming: target.isStreaming, ...("model" in served ? { model: served.model } : {}) };
}

class Records implements Report {
  private readonly plan: Plan;
  private readonly path: string;
  private readonly measured: MeasuredTarget;
  /** The targets of a mix by their names; empty for any other target. */
  private readonly members: ReadonlyMap<string, MeasuredTarget>;
  private file: OutputFile | undefined;
  private buffer: string[] = [];
  private bufferedCharacters = 0;
  /** Lines in the order of the ends of their requests. Those before `next` are written. */
  private readonly lines: Line[] = [];
  private next = 0;
  private readonly waiting = new Map<number, Line>();
  private run = {};
  private phase = { name: "profiling", level: {} };
  private window = {};

  constructor(plan: Plan, path: string) {
    this.plan = plan;
    this.path = path;
    this.measured = toMeasured(plan.target);
    this.members = new Map(membersOf(plan.target).map(({ name, target }) => [name, toMeasured(target)]));
  }

  onRun(run: number): void {
    this.settle();
    this.run = { run };
  }

  /** Phases change while requests end, which only `onPhase` reports in time. */
  onLevelStart(unit: LevelUnitName, level: number, isWarmup: boolean, phase?: PhasePlace): void {
    if (phase !== undefined) return;
    this.window = {};
    this.beginLevel(unit, level, isWarmup, {});
  }

  /** A request that ends after the last phase belongs to none. */
  onPhase(start: PhaseStart | undefined): void {
    this.window = {};
    if (start === undefined) this.phase = { name: "profiling", level: {} };
    else this.beginLevel(start.unit, start.level, start.isWarmup, { phase: start.label });
  }

  onWindowStart(number: number): void {
    this.window = { window: number };
  }

  onRecordsCut(): void {
    this.window = {};
  }

  private beginLevel(unit: LevelUnitName, level: number, isWarmup: boolean, place: object): void {
    const name = LEVEL_UNITS[unit].exported;
    this.phase = { name: isWarmup ? "warmup" : "profiling", level: { ...place, [name]: level } };
  }

  onRecord(record: RequestRecord): void {
    const { index, sendEpochNs, sequenceId, inputs, responses, server, extracted, tags, hasTokens } = record;
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
      tags,
      more: { ...(extracted === undefined ? {} : { extracted }) },
    });
    const metrics = {
      ...measure("request_latency", last / NS_PER_MS, "ms"),
      ...(this.targetOf(tags).isStreaming ? measure("time_to_first_response", first / NS_PER_MS, "ms") : {}),
      ...(gaps.length === 0 ? {} : measure("inter_chunk_latency", gaps, "ms")),
      ...measure("http_req_chunks_received", offsets.length, "count"),
      ...measure("request_content_size", requestBytes(inputs), "bytes"),
      ...measure(
        "response_content_size",
        responses.reduce((sum, { outputs }) => sum + responseBytes(outputs), 0),
        "bytes",
      ),
    };
    const line: Line = { metadata, metrics, tags, isComplete: hasTokens !== true };
    if (hasTokens === true) this.waiting.set(index, line);
    this.lines.push(line);
    this.putComplete();
  }

  onTokens({ index, metrics, contentNs, error }: RequestTokens): void {
    const line = this.waiting.get(index);
    if (line === undefined) return;
    this.waiting.delete(index);
    const isStreamed = tokensPlanOf(this.plan, line.tags)?.isStreamed === true;
    const own = tokenRecordMetrics(
      (metric) =>
        metric === "requestLatencyNs" || (entryOf(metric).isStreamed === true && !isStreamed)
          ? Number.NaN
          : (metrics.get(metric) ?? Number.NaN),
      contentNs,
      true,
    );
    line.metrics = { ...line.metrics, ...own };
    if (error !== undefined) line.answerError = error;
    line.isComplete = true;
    this.putComplete();
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
      tags,
      more: {},
    });
    const metrics = {
      ...(responseCount === 0 ? {} : measure("http_req_chunks_received", responseCount, "count")),
      ...measure("request_content_size", requestBytes(inputs), "bytes"),
    };
    const error = { ...(status === undefined ? {} : { code: status }), type: kind, message };
    this.lines.push({ metadata, metrics, tags, error, isComplete: true });
    this.putComplete();
  }

  finish(): void {
    this.settle();
    this.flush();
    this.guard((file) => file.commit());
  }

  finishRuns(): void {
    this.finish();
  }

  discard(): void {
    this.file?.discard();
  }

  /** Returns the target that a request was sent to. */
  private targetOf(tags: RequestRecord["tags"]): MeasuredTarget {
    return this.members.get(tags?.[TARGET_TAG] ?? "") ?? this.measured;
  }

  /** Time stamps have 19 digits, of which a number keeps 16, so they are formatted as text. */
  private formatMetadata(of: {
    readonly sendEpochNs: bigint;
    readonly ackEpochNs: bigint | undefined;
    readonly endEpochNs: bigint;
    readonly sequenceId: number;
    readonly server: string | undefined;
    readonly wasCancelled: boolean;
    readonly tags: RequestRecord["tags"];
    readonly more: object;
  }): string {
    const { model } = this.targetOf(of.tags);
    const names = {
      ...(model === undefined ? {} : { model }),
      ...(of.sequenceId === 0 ? {} : { conversation_id: String(of.sequenceId) }),
      ...(of.server === undefined ? {} : { server: of.server }),
      request_start_time: new Date(Number(of.sendEpochNs / 1_000_000n)).toISOString(),
    };
    const rest = {
      benchmark_phase: this.phase.name,
      ...this.run,
      ...this.phase.level,
      ...this.window,
      was_cancelled: of.wasCancelled,
      ...of.more,
      ...(of.tags === undefined ? {} : { tags: of.tags }),
    };
    const times = [
      `"request_start_ns":${of.sendEpochNs}`,
      ...(of.ackEpochNs === undefined ? [] : [`"request_ack_ns":${of.ackEpochNs}`]),
      `"request_end_ns":${of.endEpochNs}`,
    ];
    return `${JSON.stringify(names).slice(0, -1)},${times.join(",")},${JSON.stringify(rest).slice(1)}`;
  }

  /** Writes the lines up to the first one that waits. */
  private putComplete(): void {
    for (let line = this.lines[this.next]; line?.isComplete === true; line = this.lines[++this.next]) {
      const { metadata, metrics, error, answerError } = line;
      const answer = answerError === undefined ? "" : `,"answer_error":${JSON.stringify(answerError)}`;
      this.put(formatLine(answer === "" ? metadata : `${metadata.slice(0, -1)}${answer}}`, metrics, error));
    }
    if (this.next < FORGOTTEN_LINES && this.next < this.lines.length) return;
    this.lines.splice(0, this.next);
    this.next = 0;
  }

  /** Writes the lines whose tokens were never measured, because the run ended early. */
  private settle(): void {
    for (const line of this.lines.slice(this.next)) line.isComplete = true;
    this.waiting.clear();
    this.putComplete();
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
