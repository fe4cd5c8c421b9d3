import type { AnswerTimes } from "../../../measure/tokens/answer-times.ts";
import { type GapSummary, TokenGaps } from "../../../measure/tokens/token-gaps.ts";
import type { TokenColumns } from "../../../measure/tokens/token-metrics.ts";
import { measureExports } from "../../../report/genai-perf/measure-export.ts";
import { RecordsFile, type RecordsRun } from "../../../report/genai-perf/records-file.ts";
import { openProfileExport } from "../../../report/read/profile-export.ts";
import type { AnswerKind } from "../../../service/openai/answer-kind.ts";
import { loadTokenizer } from "../../../tokenize/load-tokenizer.ts";
import type { Tokenizer } from "../../../tokenize/tokenizer.ts";
import { isPayloadFile } from "../input-format.ts";
import type { GenaiSettings } from "../options/settings.ts";
import { type AnswerReading, readingOf } from "./answer-rules.ts";
import type { PayloadLayout } from "./payload-layout.ts";
import { type WriteTask, type WrittenInputs, writeInputs } from "./write-inputs.ts";

/** What of a profile needs a tokenizer: making its requests, and measuring its answers. */

export interface MeasureTask {
  readonly settings: GenaiSettings;
  /** The run's profile export. */
  readonly path: string;
  readonly records: AskedRecords | undefined;
}

/** Where single requests are written, and what they share; undefined where nobody wants them. */
export interface AskedRecords extends RecordsRun {
  readonly path: string;
}

/** What was measured of a run's answers. */
export interface MeasuredAnswers {
  readonly columns: TokenColumns;
  readonly kind: AnswerKind;
  readonly endpointType: AnswerReading["endpointType"];
  /** Undefined where nothing is drawn. */
  readonly gaps: GapSummary | undefined;
}

/** Does it, one thing after another. */
export interface TokenWork {
  /** Writes the requests of a run. @throws UserError, RunError as `writeInputs` */
  write(task: WriteTask): Promise<WrittenInputs>;
  /** Measures the answers of the run whose requests were written last. @throws UserError, RunError for files that cannot be written */
  measure(task: MeasureTask): Promise<MeasuredAnswers>;
  close(): Promise<void>;
}

/** Whether there is any text to count: none, or the user wants the server's counts alone, which made-up prompts do not do with. */
export function needsTokenizer({ endpoint, tokenizer }: GenaiSettings): boolean {
  return tokenizer.name !== "none" && endpoint.type !== "image_retrieval";
}

/** Whether requests ask for answers of a length, by the settings or by their file: a limit in a body is only that. */
function asksLength({ input, rampart }: GenaiSettings): boolean {
  const isAsked = input.outputTokens.mean !== null || rampart.sequenceMix !== "";
  return isAsked || isPayloadFile({ input, rampart });
}

/** Loads the settings' tokenizer; undefined where none is needed. @throws UserError, RunError as `loadTokenizer` */
export async function openTokenizer(settings: GenaiSettings): Promise<Tokenizer | undefined> {
  if (!needsTokenizer(settings)) return undefined;
  const { tokenizer, modelNames } = settings;
  const { name, revision, isTrustingRemoteCode: trustRemoteCode } = tokenizer;
  return loadTokenizer(name === "" ? (modelNames[0] ?? "") : name, { revision, trustRemoteCode });
}

/** Does the work in the caller's thread. */
export class LocalTokenWork implements TokenWork {
  private readonly tokenizer: Tokenizer | undefined;
  private countPayload: PayloadLayout["countPayload"];

  constructor(tokenizer: Tokenizer | undefined) {
    this.tokenizer = tokenizer;
  }

  async write(task: WriteTask): Promise<WrittenInputs> {
    const { countPayload, ...written } = await writeInputs(task, this.tokenizer);
    this.countPayload = countPayload;
    return written;
  }

  async measure({ settings, path, records: asked }: MeasureTask): Promise<MeasuredAnswers> {
    const { tokenizer, countPayload } = this;
    const gaps = settings.output.isPlotting ? new TokenGaps() : undefined;
    const records = asked && new RecordsFile(asked.path, asked);
    try {
      const source = openProfileExport(path);
      const { kind, field, endpointType } = readingOf(settings, source);
      const columns = measureExports([source], {
        kind,
        wantsStreams: settings.endpoint.isStreaming,
        countTokens: tokenizer && ((text) => tokenizer.count(text)),
        field,
        countPayload,
        isLengthAsked: asksLength(settings),
        onTimes: gaps && (({ contentNs }: AnswerTimes): void => gaps.add(contentNs)),
        onMeasured: records && ((request) => records.add(request)),
      });
      records?.finish();
      return { columns, kind, endpointType, gaps: gaps?.summarize() };
    } catch (error) {
      records?.discard();
      throw error;
    }
  }

  async close(): Promise<void> {}
}
