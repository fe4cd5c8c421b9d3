import { LEVEL_UNITS, type LevelUnitName } from "../load/level-units.ts";
import type { PerfAnalyzerLoad } from "../load/load-mode.ts";
import { defined } from "../plan/objects.ts";
import type { Plan } from "../plan/plan.ts";
import { messageOf, RunError } from "../plan/problem.ts";
import { loadModeOf } from "../registry/load-modes.ts";
import { targetKindOf } from "../registry/service-kinds.ts";
import { isMeasured } from "../result/judged-levels.ts";
import type { PhasePlace, PhaseStart } from "../result/observer.ts";
import type { RequestRecord } from "../result/request-record.ts";
import type { RunResult } from "../result/run-result.ts";
import type { RequestContent } from "../service/content.ts";
import { splitBytesElements } from "../service/json-tensors.ts";
import { formatJsonDouble } from "../service/lossless-json.ts";
import type { ExportedTarget } from "../service/service.ts";
import type { Tensor } from "../service/tensor.ts";
import { formatPayload, formatTensors } from "../service/tensor-json.ts";
import { cutOff } from "./output-file.ts";
import { shownLevel } from "./perf-analyzer/reported-levels.ts";
import { BodyWriter } from "./records/body-texts.ts";
import { LineFile } from "./records/line-file.ts";
import type { TextBuffer } from "./records/text-buffer.ts";
import type { Report, TextSink } from "./report.ts";

/**
 * perf_analyzer's profile export: every measured request as JSON. During the run, requests are written to a temporary file next to
 * the target, so a long run does not keep them in memory. The file is renamed into place at the end.
 */

/** Window boundaries of a load without windows: unlimited. */
const UNBOUNDED = [0n, 2n ** 64n - 1n];
const START = '{"experiments":[';

/** The report. */
export class ProfileExport implements Report {
  private readonly plan: Plan;
  private readonly sink: TextSink;
  private readonly treatment: PerfAnalyzerLoad | undefined;
  private readonly exported: ExportedTarget;
  private readonly warned = new Set<string>();
  private readonly inputTexts = new WeakMap<RequestContent, string>();
  /** Texts by output, because most models repeat their responses. */
  private readonly outputTexts = new WeakMap<RequestContent, OutputText>();
  /** The file. Requests that are not marked as kept belong to a window that has not ended. */
  private readonly file: LineFile;
  private isFirstRequest = true;
  private hasCommittedRequest = false;
  private hasWindow = false;
  private isExperimentOpen = false;
  private boundaries: bigint[] = [];
  /** The measured phase that has begun, until its first window begins. */
  private begun: PhaseStart | undefined;

  /** @param path of its file */
  constructor(plan: Plan, sink: TextSink, path: string) {
    this.plan = plan;
    this.sink = sink;
    const what = `failed to open file for outputting raw profile data: ${path}`;
    this.file = new LineFile(path, {
      toError: (error) => new RunError("output", `${what}: ${messageOf(error)}`, "Give a path that can be written."),
      toCutError: (error, count) => cutOff(path, error, "outputs.files.profileExport", count),
      end: () => this.formatEnd(),
    });
    this.treatment = loadModeOf(plan.load).perfAnalyzer;
    this.exported = targetKindOf(plan.target).exported(plan.target);
  }

  /** Phases are announced here only after their first requests: see `onPhase`. */
  onLevelStart(unit: LevelUnitName, level: number, isWarmup: boolean, phase?: PhasePlace): void {
    if (!isWarmup && phase === undefined) this.openExperiment(unit, level);
  }

  /** The last window of the phase before ends after this. */
  onPhase(start: PhaseStart | undefined): void {
    this.begun = start?.isWarmup === false ? start : undefined;
  }

  onRecord(record: RequestRecord): void {
    if (!this.isExperimentOpen) return;
    if (!this.isFirstRequest) this.file.text.append(",");
    this.isFirstRequest = false;
    this.writeRequest(record);
    this.file.endLine();
  }

  /** Requests that ended since the last window belong to no window. */
  onWindowStart(): void {
    const { begun } = this;
    this.begun = undefined;
    if (begun === undefined) this.takeBack();
    else this.openExperiment(begun.unit, begun.level);
  }

  onRecordsCut(bounds: { readonly startEpochNs: bigint; readonly endEpochNs: bigint } | undefined): void {
    if (bounds === undefined) {
      this.takeBack();
      return;
    }
    this.file.keep();
    this.hasWindow = true;
    this.hasCommittedRequest = !this.isFirstRequest;
    // Several senders end a window one after another, so the next one may begin slightly before its end.
    if ((this.boundaries.at(-1) ?? -1n) < bounds.startEpochNs) this.boundaries.push(bounds.startEpochNs);
    this.boundaries.push(bounds.endEpochNs);
  }

  finish(result: RunResult): void {
    if (this.isWorthless(result)) {
      this.discard();
      return;
    }
    this.takeBack();
    this.file.putFrame(this.isExperimentOpen ? this.formatEnd() : `${START}${this.formatEnd()}`);
    this.file.commit();
  }

  /**
   * Reports whether no file should remain: for a failed run, like in perf_analyzer, because a file would block the next attempt. All
   * other front doors keep it.
   */
  private isWorthless(result: RunResult): boolean {
    const { error, levels } = result;
    const { style } = this.plan.outputs;
    // GenAI-Perf's other files are not written either.
    if (style === "genai-perf" && !isMeasured(result)) return true;
    if (style !== "perf_analyzer") return error !== undefined && !this.hasWindow;
    return error !== undefined || (levels.length > 0 && levels.every(({ outcome }) => outcome === "unstable"));
  }

  discard(): void {
    this.file.discard();
  }

  private openExperiment(unit: LevelUnitName, value: number): void {
    this.takeBack();
    const before = this.isExperimentOpen ? `${this.formatExperimentEnd()},` : START;
    this.file.putFrame(`${before}{"experiment":${this.formatExperiment(unit, value)},"requests":[`);
    this.isExperimentOpen = true;
    this.isFirstRequest = true;
    this.hasCommittedRequest = false;
    this.boundaries = [];
    this.file.keep();
  }

  private formatExperimentEnd(): string {
    const boundaries = this.treatment?.isExportOnly === true ? UNBOUNDED : this.boundaries;
    return `],"window_boundaries":[${boundaries.join(",")}]}`;
  }

  /** Returns the text that completes the file. */
  private formatEnd(): string {
    const { serviceKind, endpoint } = this.exported;
    const experiment = this.isExperimentOpen ? this.formatExperimentEnd() : "";
    return `${experiment}],"version":"0.0.0","service_kind":"${serviceKind}","endpoint":${JSON.stringify(endpoint)}}`;
  }

  /** Loads without a level get perf_analyzer's value, because GenAI-Perf expects one. */
  private formatExperiment(unit: LevelUnitName, level: number): string {
    const { unit: shown, value } = this.treatment?.exported ?? { unit, value: shownLevel(this.plan, level) };
    const { exported: mode, isWhole } = LEVEL_UNITS[shown];
    return `{"mode":"${mode}","value":${isWhole ? value : formatJsonDouble(value)}}`;
  }

  private writeRequest(record: RequestRecord): void {
    const { text } = this.file;
    const { sendEpochNs, sequenceId, server, extracted, tags } = record;
    text.append(`{"timestamp":${sendEpochNs},`);
    if (sequenceId !== 0) text.append(`"sequence_id":${sequenceId},`);
    text.append('"request_inputs":');
    text.append(this.inputsOf(record));
    text.append(',"response_timestamps":[');
    writeTimes(text, record);
    text.append('],"response_outputs":[');
    this.writeResponses(record);
    text.append("]");
    for (const [name, value] of Object.entries(defined({ server, extracted, tags })))
      text.append(`,"${name}":${JSON.stringify(value)}`);
    text.append("}");
  }

  private inputsOf(record: RequestRecord): string {
    let text = this.exported.requestInputs ?? this.inputTexts.get(record.inputs);
    if (text === undefined) {
      text = "bytes" in record.inputs ? formatPayload(record.inputs) : this.formatTensors(record.inputs, true);
      this.inputTexts.set(record.inputs, text);
    }
    return text;
  }

  private writeResponses({ inputs, responses }: RequestRecord): void {
    const { text } = this.file;
    const { responseOutputs } = this.exported;
    const bodies = new BodyWriter(text, this.plan.outputs.style === "genai-perf" ? addEmptyChoice : undefined);
    if (responseOutputs === undefined && responses.events !== undefined)
      responses.events.visit((bytes, start, end) => bodies.write(bytes, start, end));
    else
      for (const [i, content] of responses.outputs.entries()) {
        if (responseOutputs === undefined && content instanceof Uint8Array) bodies.write(content, 0, content.length);
        else {
          if (i > 0) text.append(",");
          text.append(responseOutputs ?? this.formatOutputs(inputs, content as ReadonlyMap<string, Tensor>));
        }
      }
    bodies.end();
  }

  private formatOutputs(inputs: RequestContent, content: ReadonlyMap<string, Tensor>): string {
    const outputs = [...content.values()];
    const known = this.outputTexts.get(inputs);
    if (known !== undefined && areEqual(known.tensors, outputs)) return known.text;
    const text = this.formatTensors(outputs, false);
    // Copies the bytes, because the next response reuses their memory.
    const tensors = outputs.map((tensor) => ({ ...tensor, bytes: tensor.bytes.slice() }));
    this.outputTexts.set(inputs, { tensors, text });
    return text;
  }

  /** Like perf_analyzer, writes only the first item of a batch's inputs, and all of its outputs. */
  private formatTensors(tensors: readonly Tensor[], isInput: boolean): string {
    const { batchSize } = this.plan.target;
    const written =
      isInput && batchSize > 1
        ? tensors.map((tensor) =>
            tensor.shape[0] === batchSize ? { ...tensor, bytes: firstItem(tensor, batchSize) } : tensor,
          )
        : tensors;
    return formatTensors(written, (datatype) => this.warnOnce(datatype));
  }

  private warnOnce(datatype: string): void {
    if (this.warned.has(datatype)) return;
    this.warned.add(datatype);
    this.sink.err(`WARNING: unsupported data type: '${datatype}'\n`);
  }

  /** Drops requests outside of windows. */
  private takeBack(): void {
    if (this.file.takeBack()) this.isFirstRequest = !this.hasCommittedRequest;
  }
}

/** Number of lower digits of a time: together with an offset they are an exact number. */
const LOW_DIGITS = 9;
const LOW_RANGE = 10 ** LOW_DIGITS;

/**
 * Writes the times of responses, in nanoseconds since the epoch. They exceed the precision of a number, and a BigInt costs more
 * than two numbers.
 */
function writeTimes(text: TextBuffer, { sendEpochNs, responses: { offsetsNs } }: RequestRecord): void {
  const sendHigh = Number(sendEpochNs / BigInt(LOW_RANGE));
  const sendLow = Number(sendEpochNs % BigInt(LOW_RANGE));
  let writtenHigh = -1;
  let start = "";
  for (let i = 0; i < offsetsNs.length; i++) {
    const sum = sendLow + (offsetsNs[i] as number);
    const high = sendHigh + Math.floor(sum / LOW_RANGE);
    if (high !== writtenHigh) start = `,${high === 0 ? "" : high}`;
    writtenHigh = high;
    text.append(i === 0 ? start.slice(1) : start);
    if (high === 0) text.append(String(sum));
    else text.appendDigits(sum % LOW_RANGE, LOW_DIGITS);
  }
}

/** An event with the server's token counts has no choices. */
const NO_CHOICES = /^(data:.*"choices"\s*:\s*\[)\s*\]/gm;
/** Only few events contain it, and searching for it takes a tenth of the time. */
const EMPTY_LIST = /\[\s*\]/;
/** Choice of a chat and of a completion. */
const EMPTY_CHOICE = '{"index":0,"delta":{"content":""},"text":""}';

/** Adds an empty choice to events without choices, because GenAI-Perf's parser of exports reads the first choice of every event. */
function addEmptyChoice(text: string): string {
  return EMPTY_LIST.test(text) ? text.replace(NO_CHOICES, `$1${EMPTY_CHOICE}]`) : text;
}

type OutputText = { readonly tensors: readonly Tensor[]; readonly text: string };

/** Reports whether two responses have the same text: names, datatypes and bytes. */
function areEqual(a: readonly Tensor[], b: readonly Tensor[]): boolean {
  return (
    a.length === b.length &&
    a.every((tensor, i) => {
      const other = b[i] as Tensor;
      return (
        tensor.name === other.name &&
        tensor.datatype === other.datatype &&
        Buffer.compare(tensor.bytes, other.bytes) === 0
      );
    })
  );
}

function firstItem(tensor: Tensor, batchSize: number): Uint8Array {
  if (tensor.datatype !== "BYTES") return tensor.bytes.subarray(0, tensor.bytes.length / batchSize);
  const elements = splitBytesElements(tensor.bytes) ?? [];
  const size = elements.slice(0, elements.length / batchSize).reduce((sum, element) => sum + 4 + element.length, 0);
  return tensor.bytes.subarray(0, size);
}
