import {
  type AnswerRules,
  type AnswerTimes,
  type TokenCounter,
  timeAnswer,
} from "../../measure/tokens/answer-times.ts";
import { type AnsweredRequest, TokenColumns } from "../../measure/tokens/token-metrics.ts";
import { messageOf, UserError } from "../../plan/problem.ts";
import { maskSecrets } from "../../plan/secrets.ts";
import { type AnswerKind, detectAnswerKind, hasText } from "../../service/openai/answer-kind.ts";
import { callsTools } from "../../service/openai/answer-parts.ts";
import { countImages, readRequestText, readTokenLimit } from "../../service/openai/request-text.ts";
import type { ResponseField } from "../../service/openai/response-field.ts";
import { type Answer, readAnswer, readTensorAnswer } from "../../service/openai/response-text.ts";
import { explainCutStream } from "../../service/openai/stream-end.ts";
import type { ExportedRequest, ProfileExport } from "../read/profile-export.ts";

/** From recorded profile exports to measured requests. */

/** Token counts that were made elsewhere, one per request of the measured experiment, in the order of files and requests. */
export interface ExportCounts {
  readonly inputTokens: ArrayLike<number>;
  readonly outputTokens: ArrayLike<number>;
  /** Default none. */
  readonly reasoningTokens?: ArrayLike<number> | undefined;
}

export interface ExportRules extends Pick<AnswerRules, "countTokens" | "countsReasoning"> {
  /** Taken in place of `countTokens`. */
  readonly counts?: ExportCounts | undefined;
  /** Whether answers were asked for as streams; an answer that is not a stream then has no token times. Default: false. */
  readonly wantsStreams?: boolean | undefined;
  /** What kind of answers they are; found out by {@link detectExportKind} without. */
  readonly kind?: AnswerKind | undefined;
  /** Where the text of answers is, for the kind `custom`. */
  readonly field?: ResponseField | undefined;
  /** Tokens of a request's input by its body, where its text cannot be told from the rest; NaN when unknown. */
  readonly countPayload?: ((payload: string) => number) | undefined;
  /** Whether requests ask for the length of their answers, and not only for less than a limit. Default false. */
  readonly isLengthAsked?: boolean | undefined;
  /** Which experiment is measured. Default the first; others are other levels of load. */
  readonly experiment?: number | undefined;
  /** Is given the times of each answer with text, which are not kept. */
  readonly onTimes?: ((times: AnswerTimes) => void) | undefined;
  /** Told of each request once it is measured, for reports of single requests. */
  readonly onMeasured?: ((request: MeasuredRequest) => void) | undefined;
}

/** One request of an export with what was measured of it. */
export interface MeasuredRequest {
  readonly request: ExportedRequest;
  /** Undefined where the answer is no text, or none. */
  readonly answered: AnsweredRequest | undefined;
  /** Why the server ended its answer, in its own word. */
  readonly finishReason?: string | undefined;
  /** What the server said went wrong, inside an answer that came. */
  readonly error?: string | undefined;
}

/** Requests repeat their inputs: this many counts are remembered. */
const REMEMBERED_TEXTS = 10_000;

/** Of an answer that can not be used. */
const SHOWN_CHARACTERS = 200;

/** The kind of an export's answers. Throws `UserError` when neither its path nor its first answer tells. */
export function detectExportKind(source: ProfileExport): AnswerKind {
  for (const request of source.requests()) {
    const response = request.responses.map(readOf).find((text) => text !== "") ?? "";
    const kind = detectAnswerKind(source.serviceKind, source.endpoint, payloadOf(request), response);
    if (kind !== undefined) return kind;
    break;
  }
  throw new UserError([
    {
      path: `${source.path}, endpoint`,
      message: "neither the path nor the first answer tells what kind of answers these are",
      value: source.endpoint === "" ? undefined : source.endpoint,
      hint: "Say which endpoint type it was.",
    },
  ]);
}

/**
 * Measures the requests of one or several exports as one run: several are joined by their times, request by request.
 *
 * @throws UserError when a file is wrong or its kind cannot be told
 */
export function measureExports(sources: readonly ProfileExport[], rules: ExportRules): TokenColumns {
  const columns = new TokenColumns();
  const countInput = rememberCounts(rules.countTokens);
  const marksEnds = lookForEndMarks(sources, rules);
  let originNs: bigint | undefined;
  let measured = 0;
  for (const source of sources) {
    const kind = rules.kind ?? detectExportKind(source);
    let index = 0;
    for (const request of source.requests()) {
      if (request.experiment !== (rules.experiment ?? 0)) continue;
      originNs ??= request.timestampNs;
      const sendNs = Number(request.timestampNs - originNs);
      const measurement = { request, index: measured++, kind, sendNs, countInput, marksEnds, rules };
      try {
        if (hasText(kind)) addText(columns, measurement);
        else addPlain(columns, measurement);
      } catch (error) {
        throw toUserError(error, `${source.path}, request ${index}`);
      }
      index++;
    }
  }
  return columns;
}

interface Measurement {
  readonly request: ExportedRequest;
  /** Of all requests that are measured. */
  readonly index: number;
  readonly kind: AnswerKind;
  readonly sendNs: number;
  readonly countInput: TokenCounter;
  /** Whether any stream of the run had its end mark. */
  readonly marksEnds: () => boolean;
  readonly rules: ExportRules;
}

function addText(columns: TokenColumns, measurement: Measurement): void {
  const { request, index, kind, sendNs, countInput, marksEnds, rules } = measurement;
  const answer = answerOf(kind, request, rules.field);
  const { finishReason, end } = answer;
  if (answer.error === undefined && end !== undefined) columns.addEnd(end);
  const isCut = answer.error === undefined && end?.isMarked === false && marksEnds();
  const error = isCut ? explainCutStream(end) : answer.error;
  if (error !== undefined) {
    columns.addFailures(1, error);
    rules.onMeasured?.({ request, answered: undefined, error });
    return;
  }
  const { counts } = rules;
  const tokens = counts && {
    output: counts.outputTokens[index] ?? Number.NaN,
    reasoning: counts.reasoningTokens?.[index] ?? 0,
  };
  const times: AnswerTimes = timeAnswer(answer, request.responseOffsetsNs, { ...rules, tokens });
  let inputTokens = counts?.inputTokens[index] ?? Number.NaN;
  if (counts === undefined && times.contentNs.length > 0) {
    const payload = payloadOf(request);
    inputTokens = kind === "custom" ? countCustom(rules, payload) : countInput(readRequestText(kind, payload));
  }
  rules.onTimes?.(times);
  const requestedTokens = rules.isLengthAsked === true ? readTokenLimit(kind, payloadOf(request)) : undefined;
  const lacksStream = rules.wantsStreams === true && !answer.isStreamed;
  const session = sessionOf(request);
  const answered = { sendNs, times, inputTokens, requestedTokens, usage: answer.usage, session, lacksStream };
  columns.add({ ...answered, callsTools: callsTools(finishReason) });
  rules.onMeasured?.({ request, answered, finishReason });
}

/** Looks only when asked, and then until the first stream with a mark: nearly always that is the first of all. */
function lookForEndMarks(sources: readonly ProfileExport[], { kind: known, field }: ExportRules): () => boolean {
  let found: boolean | undefined;
  return () => {
    found ??= sources.some((source) => {
      const kind = known ?? detectExportKind(source);
      for (const request of source.requests()) if (answerOf(kind, request, field).end?.isMarked === true) return true;
      return false;
    });
    return found;
  };
}

/** Of a body that a template made nobody else knows what of it is a prompt. */
function countCustom({ countPayload }: ExportRules, payload: string): number {
  return countPayload === undefined ? Number.NaN : countPayload(payload);
}

function addPlain(columns: TokenColumns, { request, kind, sendNs, rules }: Measurement): void {
  const latencyNs = request.responseOffsetsNs.at(-1);
  const texts = request.responses.map(readOf);
  const error = texts.map(explainPlain).find((text) => text !== undefined);
  rules.onMeasured?.({ request, answered: undefined, error });
  if (latencyNs === undefined || texts.every((text) => text === "")) columns.emptyCount++;
  else if (error !== undefined) {
    columns.addFailures(1, error);
  } else columns.addPlain(sendNs, latencyNs, kind === "image-retrieval" ? countImages(payloadOf(request)) : 0);
}

function answerOf(kind: AnswerKind, { responses }: ExportedRequest, field: ResponseField | undefined): Answer {
  return kind === "kserve" ? readTensorAnswer(responses) : readAnswer(kind, responses.map(readOf), field);
}

function readOf(response: Readonly<Record<string, unknown>>): string {
  const text = response["response"];
  return typeof text === "string" ? text : "";
}

/** The request's body; for KServe its tensors, as JSON. */
function payloadOf({ inputs }: ExportedRequest): string {
  const { payload } = inputs;
  return typeof payload === "string" ? payload : JSON.stringify(payload ?? inputs);
}

function sessionOf({ inputs }: ExportedRequest): string | undefined {
  const id = inputs["session_id"];
  return id === undefined || id === null ? undefined : String(id);
}

/** What is wrong with an answer that is no text. Vectors are long, so only its beginning is looked at. */
function explainPlain(text: string): string | undefined {
  const start = maskSecrets(text).slice(0, SHOWN_CHARACTERS).trim();
  // Such as the page of a web server that knows no such path.
  if (start !== "" && !/^[{[]/.test(start)) return `no JSON: ${start.replace(/\s+/g, " ")}`;
  return /^\{\s*"(?:error"|object"\s*:\s*"error")/.test(start) ? text : undefined;
}

function rememberCounts(countTokens: TokenCounter = () => Number.NaN): TokenCounter {
  const counts = new Map<string, number>();
  return (text) => {
    let count = counts.get(text);
    if (count === undefined) {
      count = countTokens(text);
      if (counts.size >= REMEMBERED_TEXTS) counts.clear();
      counts.set(text, count);
    }
    return count;
  };
}

function toUserError(error: unknown, path: string): unknown {
  if (!(error instanceof SyntaxError)) return error;
  return new UserError([
    {
      path,
      message: `the request's payload is not JSON: ${messageOf(error)}`,
      hint: "Give an export as it was written.",
    },
  ]);
}
