import { LEVEL_UNITS, type LevelUnitName } from "../../load/level-units.ts";
import { entryOf } from "../../measure/tokens/metrics.ts";
import type { RequestTokens } from "../../measure/tokens/request-tokens.ts";
import type { TokenLink } from "../../measure/tokens/token-link.ts";
import { TARGET_TAG } from "../../plan/groups/tags.ts";
import { defined, fieldOf } from "../../plan/objects.ts";
import type { Plan, TargetPlan } from "../../plan/plan.ts";
import { nsToMs } from "../../plan/units.ts";
import { membersOf, tokensPlanOf } from "../../registry/mix.ts";
import { targetKindOf } from "../../registry/service-kinds.ts";
import type { PhasePlace, PhaseStart } from "../../result/observer.ts";
import type { FailedRequest, RequestRecord } from "../../result/request-record.ts";
import type { RequestContent, ResponseContent } from "../../service/content.ts";
import type { Report, TextSink } from "../report.ts";
import { type LineFile, openLines } from "./line-file.ts";
import {
  failureOf,
  formatLine,
  formatMetadata,
  measure,
  type RecordMetadata,
  tokenRecordMetrics,
  wasCancelled,
} from "./record-line.ts";
import { type Line, WaitingLines } from "./waiting-lines.ts";

/**
 * `--records`: one line of JSON per request, including failed ones and warm-ups, in order of end. The names are those of genai-perf
 * mode's file of records. Lines wait for the tokens of their requests, which are measured in another thread.
 */

/** Creates the report. @param meter writes the records itself in genai-perf mode, whose lines have token metrics */
export function createRecordsReport(plan: Plan, _sink: TextSink, path: string, meter: TokenLink | undefined): Report {
  if (meter === undefined) return new Records(plan, path);
  return { finish: () => meter.finish(), discard: () => meter.discard() };
}

/** Data shared by the lines of a target's requests. */
interface MeasuredTarget {
  readonly isStreaming: boolean;
  readonly model?: string;
}

/** The embedded target has the model of the server that it becomes. */
function toMeasured(target: TargetPlan): MeasuredTarget {
  const served = targetKindOf(target).toServer?.(target, 0) ?? target;
  return { isStreaming: target.isStreaming, ...defined({ model: fieldOf(served, "model") }) };
}

class Records implements Report {
  private readonly plan: Plan;
  private readonly measured: MeasuredTarget;
  /** The targets of a mix by name; empty for any other target. */
  private readonly members: ReadonlyMap<string, MeasuredTarget>;
  private readonly file: LineFile;
  private readonly lines = new WaitingLines({
    addTokens: (line, tokens) => this.addTokens(line, tokens),
    write: (line) => this.write(line),
  });
  private run = {};
  private phase = { name: "profiling", level: {} };
  private window = {};

  constructor(plan: Plan, path: string) {
    this.plan = plan;
    this.file = openLines(path);
    this.measured = toMeasured(plan.target);
    this.members = new Map(membersOf(plan.target).map(({ name, target }) => [name, toMeasured(target)]));
  }

  onRun(run: number): void {
    this.lines.settle();
    this.run = { run };
  }

  /** Phases change while requests end, and only `onPhase` reports that in time. */
  onLevelStart(unit: LevelUnitName, level: number, isWarmup: boolean, phase?: PhasePlace): void {
    if (phase !== undefined) return;
    this.window = {};
    this.beginLevel(unit, level, isWarmup, {});
  }

  /** A request that ends after the last phase belongs to no phase. */
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
    const { index, sendEpochNs, inputs, latencyNs, responses, server, tags, hasTokens } = record;
    const { offsetsNs, hasEmptyEnd } = responses;
    const offsets = hasEmptyEnd ? offsetsNs.slice(0, -1) : offsetsNs;
    const [first] = offsets;
    const gaps = offsets.slice(1).map((offset, i) => nsToMs(offset - (offsets[i] ?? 0)));
    const endEpochNs = sendEpochNs + BigInt(Math.round(latencyNs));
    const ackEpochNs = first === undefined ? endEpochNs : sendEpochNs + BigInt(first);
    const metadata = this.formatMetadata(record, { ackEpochNs, endEpochNs, server, isCancelled: false });
    const metrics = {
      ...measure("request_latency", nsToMs(latencyNs), "ms"),
      ...(first !== undefined && this.targetOf(tags).isStreaming
        ? measure("time_to_first_response", nsToMs(first), "ms")
        : {}),
      ...(gaps.length === 0 ? {} : measure("inter_chunk_latency", gaps, "ms")),
      ...measure("http_req_chunks_received", offsetsNs.length, "count"),
      ...measure("request_content_size", requestBytes(inputs), "bytes"),
      ...measure(
        "response_content_size",
        (responses.events?.lengths ?? responses.outputs.map(responseBytes)).reduce((sum, bytes) => sum + bytes, 0),
        "bytes",
      ),
    };
    this.lines.add({ metadata, metrics, tags, ...(hasTokens === true ? { index } : {}) });
  }

  onTokens(tokens: RequestTokens): void {
    this.lines.addTokens(tokens);
  }

  private addTokens(line: Line, { metrics, contentNs, error }: RequestTokens): void {
    const isStreamed = tokensPlanOf(this.plan, line.tags)?.isStreamed === true;
    const tokenMetrics = tokenRecordMetrics(
      (metric) =>
        entryOf(metric).sameAs !== undefined || (entryOf(metric).isStreamed === true && !isStreamed)
          ? Number.NaN
          : (metrics.get(metric) ?? Number.NaN),
      contentNs,
      true,
    );
    line.metrics = { ...line.metrics, ...tokenMetrics };
    if (error !== undefined) line.responseError = error;
  }

  onFailed(request: FailedRequest): void {
    const { firstByteEpochNs: ackEpochNs, endEpochNs, inputs, responseCount, failure, tags } = request;
    const { server } = failure;
    const isCancelled = wasCancelled(failure);
    const metadata = this.formatMetadata(request, { ackEpochNs, endEpochNs, server, isCancelled });
    const metrics = {
      ...(responseCount === 0 ? {} : measure("http_req_chunks_received", responseCount, "count")),
      ...measure("request_content_size", requestBytes(inputs), "bytes"),
    };
    this.lines.add({ metadata, metrics, tags, error: failureOf(failure) });
  }

  finish(): void {
    this.lines.settle();
    this.file.commit();
  }

  finishRuns(): void {
    this.finish();
  }

  discard(): void {
    this.file.discard();
  }

  private targetOf(tags: RequestRecord["tags"]): MeasuredTarget {
    return this.members.get(tags?.[TARGET_TAG] ?? "") ?? this.measured;
  }

  private formatMetadata(
    {
      sendEpochNs,
      sequenceId,
      tags,
      isResent,
      extracted,
    }: Omit<RequestRecord, "index" | "inputs" | "latencyNs" | "responses">,
    {
      isCancelled,
      ...ends
    }: Pick<RecordMetadata, "ackEpochNs" | "endEpochNs" | "server"> & { readonly isCancelled: boolean },
  ): string {
    const { name, level } = this.phase;
    const conversation = sequenceId === 0 ? undefined : String(sequenceId);
    const place = { benchmark_phase: name, ...this.run, ...level, ...this.window };
    const rest = { ...place, was_cancelled: isCancelled, was_resent: isResent, extracted, tags };
    return formatMetadata({ model: this.targetOf(tags).model, conversation, sendEpochNs, ...ends, rest });
  }

  private write({ metadata, metrics, error, responseError }: Line): void {
    const response = responseError === undefined ? "" : `,"response_error":${JSON.stringify(responseError)}`;
    this.file.put(formatLine(response === "" ? metadata : `${metadata.slice(0, -1)}${response}}`, metrics, error));
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
