import { maskSecrets } from "../../plan/secrets.ts";
import { type AnswerKind, hasTensors, hasText } from "../../service/openai/answer-kind.ts";
import { callsTools } from "../../service/openai/answer-parts.ts";
import type { ResponseField } from "../../service/openai/response-field.ts";
import { readAnswer, readTensorAnswer } from "../../service/openai/response-text.ts";
import { explainCutStream } from "../../service/openai/stream-end.ts";
import { isCancelled } from "../../transport/failure.ts";
import { type AnswerRules, timeAnswer } from "./answer-times.ts";
import { detectCustomKind } from "./custom-kind.ts";
import { EndMarks } from "./end-marks.ts";
import { MeasuredQueue } from "./measured-queue.ts";
import type { AnsweredCall, MeasuredSink } from "./measured-request.ts";
import { type PackedAnswers, visitAnswers } from "./packed-answers.ts";
import { Prompt, type PromptRules } from "./prompt.ts";
import type { RequestTokensLog } from "./request-tokens.ts";
import { type AnsweredRequest, TokenColumns } from "./token-columns.ts";

/** Windows that can still be merged into a level: perf_analyzer's three, and the one that is cut when a run stops. */
const KEPT_WINDOWS = 4;
/** Maximum number of answers to wait for one that shows the kind of a template's answers. */
const MOST_UNKNOWN_KIND = 100;
/** Maximum length of an unusable answer in an error. */
const SHOWN_CHARACTERS = 200;

const decoder = new TextDecoder();

/** How answers are measured. */
export interface MeterRules extends PromptRules, Pick<AnswerRules, "countsReasoning"> {
  /** For `custom`, the first answers show whether they are vectors, rankings or text. */
  readonly kind: AnswerKind;
  /** Location of the text in answers, for the kind `custom`. */
  readonly field?: ResponseField | undefined;
  /** Whether requests ask for streams. An answer that is not a stream then has no token times. Default: false. */
  readonly wantsStreams?: boolean | undefined;
  /**
   * Whether all windows count, as in GenAI-Perf, and failed requests are counted elsewhere. Default: only the last windows and their failed
   * requests count.
   */
  readonly keepsAllWindows?: boolean | undefined;
  /** What is known of the ends of the server's streams, for meters that share a server. Default: the meter's own. */
  readonly endMarks?: EndMarks | undefined;
  /** Whether the rate of tokens per user leaves out requests whose tokens arrived together. Default: false, as in GenAI-Perf. */
  readonly omitsBunchedRates?: boolean | undefined;
  /** Name of the client's tokenizer, for notes. */
  readonly tokenizer?: string | undefined;
  /** Receives single requests. */
  readonly sink?: MeasuredSink | undefined;
  /** Collects the tokens of single requests, also of those outside of windows. */
  readonly log?: RequestTokensLog | undefined;
}

/** Measures the answers of a run, window by window. */
export class TokenMeter {
  private readonly rules: MeterRules;
  private readonly prompts = new Map<number, Prompt>();
  private readonly endMarks: EndMarks;
  private readonly queue: MeasuredQueue;
  /** Undefined until an answer shows it. */
  private kind: AnswerKind | undefined;
  private ofUnknownKind: AnsweredCall[] = [];
  private windows: MeterWindow[] = [];
  private current = openWindow();
  /** What was measured since each tap was taken last. */
  private readonly taps = new Map<number, MeterWindow>();
  private isWarmup = false;

  constructor(rules: MeterRules) {
    this.rules = rules;
    this.endMarks = rules.endMarks ?? new EndMarks();
    this.kind = rules.kind === "custom" ? undefined : rules.kind;
    this.queue = new MeasuredQueue(rules.sink, this.endMarks);
  }

  /** Adds a package to the current window. */
  addPacked(packed: PackedAnswers): void {
    visitAnswers(packed, {
      onPrompt: (step, body, session) => {
        const prompt = new Prompt(decoder.decode(body), this.rules, session);
        prompt.settle(this.kind ?? this.rules.kind);
        this.prompts.set(step, prompt);
      },
      onAnswer: ({ step, bodies, ...call }) => {
        const prompt = this.prompts.get(step);
        if (prompt === undefined) throw new Error(`the prompt of step ${step} is missing`);
        this.add({ ...call, prompt, responses: bodies.map((body) => decoder.decode(body)) });
      },
      onFailure: (failure) => {
        if (this.rules.keepsAllWindows !== true && !isCancelled(failure.failure))
          this.record(({ columns }) => columns.addFailures(1));
        this.queue.addFailure({ ...failure, prompt: this.prompts.get(failure.step), isWarmup: this.isWarmup });
      },
    });
  }

  /** Adds an answer to the current window. @throws SyntaxError when the request's body is not JSON */
  add(call: AnsweredCall): void {
    if (this.kind === undefined) {
      const kind = detectCustomKind(textsOf(call), this.rules.field);
      if (kind === undefined && this.ofUnknownKind.length < MOST_UNKNOWN_KIND) {
        this.ofUnknownKind.push(call);
        return;
      }
      this.settleKind(kind ?? "custom");
    }
    this.measure(call, this.kind ?? "custom");
  }

  /** Starts a warm-up: the following requests belong to no measurement. */
  warmUp(): void {
    this.isWarmup = true;
  }

  /** Starts a level: forgets everything but the prompts. */
  reset(): void {
    this.isWarmup = false;
    this.windows = [];
    this.current = openWindow();
    this.ofUnknownKind = [];
    this.queue.open();
  }

  /** Ends the current window. */
  cut(): void {
    if (this.ofUnknownKind.length > 0) this.settleKind("custom");
    const last = this.windows[0];
    if (this.rules.keepsAllWindows === true && last !== undefined) appendWindow(last, this.current);
    else this.windows.push(this.current);
    if (this.windows.length > KEPT_WINDOWS) this.windows.shift();
    this.current = openWindow();
    this.queue.hold();
  }

  /** Starts another window after the last cut. */
  resume(): void {
    this.queue.release();
  }

  /** Ends the level and returns the last windows, or all of them, as one. */
  merge(windowCount: number): TokenColumns {
    const merged = new TokenColumns();
    for (const window of this.windows.slice(-windowCount)) this.addWindow(merged, window);
    merged.answerKind = this.kind;
    if (this.rules.omitsBunchedRates === true) merged.forgetFewRates();
    this.queue.close();
    return merged;
  }

  /**
   * Returns what was measured since the last call for the same tap, warm-ups included; nothing at the first call, which opens the tap.
   * @param tap any number; taps are independent of each other and of windows
   */
  takeRecent(tap: number): TokenColumns {
    const taken = new TokenColumns();
    this.addWindow(taken, this.taps.get(tap) ?? openWindow());
    taken.answerKind = this.kind;
    if (this.rules.omitsBunchedRates === true) taken.forgetFewRates();
    this.taps.set(tap, openWindow());
    return taken;
  }

  /** Adds a window. Streams without an end mark count as failures if the server marks the ends of its streams. */
  private addWindow(to: TokenColumns, { columns, unmarked }: MeterWindow): void {
    const isCut = this.endMarks.state === "marked";
    to.addRows(columns.rows(isCut ? unmarked.rows : []));
    to.nameTokenizers({ client: this.rules.tokenizer });
    if (!isCut) return;
    to.emptyCount -= unmarked.emptyCount;
    to.addFailures(unmarked.rows.length + unmarked.emptyCount, unmarked.example);
  }

  /** Passes on all measured requests that still waited for a decision. */
  finish(): void {
    this.queue.finish();
  }

  private settleKind(kind: AnswerKind): void {
    this.kind = kind;
    for (const call of this.ofUnknownKind.splice(0)) this.measure(call, kind);
  }

  private measure(call: AnsweredCall, kind: AnswerKind): void {
    if (hasText(kind)) this.addText(call, kind);
    else this.addPlain(call, kind);
  }

  /** Adds to the current window and to each tap. */
  private record(add: (window: MeterWindow) => void): void {
    add(this.current);
    for (const window of this.taps.values()) add(window);
  }

  private addText(call: AnsweredCall, kind: AnswerKind): void {
    const { prompt, sequenceId, server, sendNs, offsetsNs, tokens } = call;
    const answer = hasTensors(kind)
      ? readTensorAnswer(kind, recordsOf(call))
      : readAnswer(kind, textsOf(call), this.rules.field);
    const { end, finishReason } = answer;
    const request = { prompt, sequenceId, server, sendNs, offsetsNs, finishReason };
    if (answer.error === undefined && end !== undefined) this.record(({ columns }) => columns.addEnd(end));
    if (answer.error === undefined && this.endMarks.note(end)) {
      this.queue.decide();
      this.rules.log?.decide(this.endMarks.state === "marked");
    }
    const cutError = end?.isMarked === false ? explainCutStream(end) : undefined;
    const error = answer.error ?? (this.endMarks.state === "marked" ? cutError : undefined);
    if (error !== undefined) {
      this.record(({ columns }) => columns.addFailures(1, error));
      this.queue.add({ ...request, answered: undefined, error }, undefined);
      this.rules.log?.add(call.index ?? 0, undefined, error);
      return;
    }
    const times = timeAnswer(answer, offsetsNs, { ...this.rules, tokens });
    const hasContent = times.contentNs.length > 0;
    const answered: AnsweredRequest = {
      sendNs,
      waitNs: call.waitNs,
      times,
      inputTokens: tokens?.input ?? (hasContent ? prompt.inputTokens(kind) : Number.NaN),
      requestedTokens: prompt.requestedTokens(kind),
      usage: answer.usage,
      session: prompt.session,
      lacksStream: this.rules.wantsStreams === true && !answer.isStreamed,
      callsTools: callsTools(finishReason),
      omitsBunchedRate: this.rules.omitsBunchedRates,
    };
    const isUndecided = cutError !== undefined && this.endMarks.state === "unknown";
    this.record(({ columns, unmarked }) => {
      if (isUndecided) {
        unmarked.example ??= cutError;
        if (hasContent) unmarked.rows.push(columns.count);
        else unmarked.emptyCount++;
      }
      columns.add(answered);
    });
    this.queue.add({ ...request, answered }, isUndecided ? cutError : undefined);
    this.rules.log?.add(call.index ?? 0, answered, undefined, isUndecided ? cutError : undefined);
  }

  private addPlain(call: AnsweredCall, kind: AnswerKind): void {
    const { prompt, sequenceId, server, sendNs, offsetsNs } = call;
    const latencyNs = offsetsNs[offsetsNs.length - 1];
    // Any message of a gRPC call is an answer, also an empty one: the status of the call has already shown whether it failed.
    const texts = kind === "grpc" ? undefined : textsOf(call);
    const error = texts?.map(explainPlain).find((text) => text !== undefined);
    const imageCount = prompt.imageCount(kind);
    this.record(({ columns }) => {
      if (latencyNs === undefined || texts?.every((text) => text === "") === true) columns.emptyCount++;
      else if (error !== undefined) columns.addFailures(1, error);
      else columns.addPlain(sendNs, latencyNs, imageCount);
    });
    this.queue.add({ prompt, sequenceId, server, sendNs, offsetsNs, answered: undefined, error }, undefined);
    this.rules.log?.add(call.index ?? 0, undefined, error);
  }
}

function textsOf({ responses }: AnsweredCall): string[] {
  return responses.map((response) => (typeof response === "string" ? response : JSON.stringify(response)));
}

function recordsOf({ responses }: AnsweredCall): Readonly<Record<string, unknown>>[] {
  return responses.map((response) =>
    typeof response === "string" ? (JSON.parse(response) as Record<string, unknown>) : response,
  );
}

/** Returns the error in an answer that is not text. Checks only its beginning, because vectors are long. */
function explainPlain(text: string): string | undefined {
  const start = maskSecrets(text).slice(0, SHOWN_CHARACTERS).trim();
  // For example the error page of a web server that does not know the path.
  if (start !== "" && !/^[{[]/.test(start)) return `no JSON: ${start.replace(/\s+/g, " ")}`;
  return /^\{\s*"(?:error"|object"\s*:\s*"error")/.test(start) ? text : undefined;
}

/** Requests of one window. Streams without an end mark become failures only when another stream has one. */
interface MeterWindow {
  readonly columns: TokenColumns;
  /** Rows of `columns`, and answers without content, from streams that ended before this was known. */
  readonly unmarked: { readonly rows: number[]; emptyCount: number; example: string | undefined };
}

function openWindow(): MeterWindow {
  return { columns: new TokenColumns(), unmarked: { rows: [], emptyCount: 0, example: undefined } };
}

function appendWindow(to: MeterWindow, { columns, unmarked }: MeterWindow): void {
  const firstRow = to.columns.count;
  to.columns.addRows(columns.rows());
  to.unmarked.rows.push(...unmarked.rows.map((row) => firstRow + row));
  to.unmarked.emptyCount += unmarked.emptyCount;
  to.unmarked.example ??= unmarked.example;
}
