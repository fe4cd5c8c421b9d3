import { defined } from "../../plan/objects.ts";
import { maskSecrets } from "../../plan/secrets.ts";
import type { GoodputPlan } from "../../plan/tokens.ts";
import { decoder } from "../../runtime/text.ts";
import type { ResponseField } from "../../service/openai/response-field.ts";
import { hasTensors, hasText, type ResponseKind } from "../../service/openai/response-kind.ts";
import { callsTools } from "../../service/openai/response-parts.ts";
import { readResponse, readTensorResponse } from "../../service/openai/response-text.ts";
import { explainCutStream } from "../../service/openai/stream-end.ts";
import { isCancelled } from "../../transport/failure.ts";
import type { PackedBytes } from "../../transport/packed-bytes.ts";
import { type AnsweredCall, type AnsweredRequest, type MeasuredSink, toMetricInput } from "./answered-request.ts";
import { detectCustomKind } from "./custom-kind.ts";
import { EndMarks } from "./end-marks.ts";
import { MeasuredQueue } from "./measured-queue.ts";
import { visitResponses } from "./packed-responses.ts";
import { Prompt, type PromptRules } from "./prompt.ts";
import type { RequestTokensLog } from "./request-tokens.ts";
import { metricsOf } from "./response-counts.ts";
import { timeResponse } from "./response-times.ts";
import { joinColumns, TokenColumns } from "./token-columns.ts";
import { joinTokens, type TokenMeasurement } from "./token-measurement.ts";
import { measureColumns, NO_TOKENS, type Span, TokenTally } from "./token-tally.ts";
import { TokenTotals } from "./token-totals.ts";

/** Number of windows that can still be merged into a level: perf_analyzer's three, and the one that is cut when a run stops. */
const KEPT_WINDOWS = 4;
/** Maximum number of responses after which the kind of a template's responses must be known. */
const MOST_UNKNOWN_KIND = 100;
/** Maximum length of an unusable response quoted in an error. */
const SHOWN_CHARACTERS = 200;

export interface MeterRules extends PromptRules {
  /** For `custom`, the first responses show whether they are vectors, rankings or text. */
  readonly kind: ResponseKind;
  /** Location of the text in responses, for the kind `custom`. */
  readonly field?: ResponseField | undefined;
  /** Whether requests ask for streams. Then a response that is not a stream has no token times. Default: false */
  readonly wantsStreams?: boolean | undefined;
  /**
   * Whether all windows count, as in GenAI-Perf, and failed requests are counted elsewhere. Default: only the last windows and
   * their failed requests count
   */
  readonly keepsAllWindows?: boolean | undefined;
  /** Whether the metrics of each request are also kept. Default: false */
  readonly keepsRows?: boolean | undefined;
  /** The limits of each goodput to count, by metric name in scenarios. Default: none */
  readonly goodputs?: readonly GoodputPlan[] | undefined;
  /** Decides whether the server marks the end of its streams; for meters that share a server. Default: separate for each meter */
  readonly endMarks?: EndMarks | undefined;
  /** Whether the rate of tokens per user omits requests whose tokens arrived together. Default: false, as in GenAI-Perf */
  readonly omitsBunchedRates?: boolean | undefined;
  /** See {@link TokensPlan}. */
  readonly omitsToolCalls?: boolean | undefined;
  /** Name of the client's tokenizer, for notes. */
  readonly tokenizer?: string | undefined;
  /** Receives single requests. */
  readonly sink?: MeasuredSink | undefined;
  /** Collects the tokens of single requests, including requests outside of windows. */
  readonly log?: RequestTokensLog | undefined;
}

/** Measures the responses of a run, window by window. */
export class TokenMeter {
  private readonly rules: MeterRules;
  private readonly prompts = new Map<number, Prompt>();
  private readonly endMarks: EndMarks;
  private readonly queue: MeasuredQueue;
  /** Undefined until a response shows the kind. */
  private kind: ResponseKind | undefined;
  private ofUnknownKind: AnsweredCall[] = [];
  private windows: MeterWindow[] = [];
  private current: MeterWindow;
  /** Measurements since each tap was last taken. */
  private readonly taps = new Map<number, MeterWindow>();
  /** Undefined until totals are read. */
  private runTotals: TokenTotals | undefined;
  private isWarmup = false;

  constructor(rules: MeterRules) {
    this.rules = rules;
    this.current = this.openWindow();
    this.endMarks = rules.endMarks ?? new EndMarks();
    this.kind = rules.kind === "custom" ? undefined : rules.kind;
    this.queue = new MeasuredQueue(rules.sink, this.endMarks);
  }

  /** Adds a package to the current window. */
  addPacked(packed: PackedBytes): void {
    visitResponses(packed, {
      onPrompt: (step, body, session) => {
        const prompt = new Prompt(decoder.decode(body), this.rules, session);
        prompt.settle(this.kind ?? this.rules.kind);
        this.prompts.set(step, prompt);
      },
      onResponse: ({ step, texts, ...call }) => {
        const prompt = this.prompts.get(step);
        if (prompt === undefined) throw new Error(`the prompt of step ${step} is missing`);
        this.add({ ...call, prompt, responses: texts });
      },
      onFailure: (failure) => {
        const { cutMark: mark } = failure.failure;
        if (mark !== undefined) this.record(({ responses }) => responses.addEnd({ isMarked: false, mark }));
        if (this.rules.keepsAllWindows !== true && !isCancelled(failure.failure))
          this.record(({ responses }) => responses.addFailures(1));
        this.queue.addFailure({ ...failure, prompt: this.prompts.get(failure.step), isWarmup: this.isWarmup });
      },
    });
  }

  /** Adds a response to the current window. @throws SyntaxError when the request's body is not JSON */
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

  /** Starts a level: drops everything except the prompts. */
  reset(): void {
    this.isWarmup = false;
    this.windows = [];
    this.current = this.openWindow();
    this.ofUnknownKind = [];
    this.queue.open();
  }

  /** Ends the current window. @param span time of the window. Default: the time of its responses */
  cut(span: Partial<Span> = {}): void {
    if (this.ofUnknownKind.length > 0) this.settleKind("custom");
    this.windows.push({ ...this.current, span });
    if (this.rules.keepsAllWindows !== true && this.windows.length > KEPT_WINDOWS) this.windows.shift();
    this.current = this.openWindow();
    this.queue.hold();
  }

  /** Starts another window after the last cut. */
  resume(): void {
    this.queue.release();
  }

  /** Ends the level and returns the last windows, or all of them, as one. */
  merge(windowCount: number): MeteredTokens {
    const windows = this.rules.keepsAllWindows === true ? this.windows : this.windows.slice(-windowCount);
    this.queue.close();
    return this.measured(windows);
  }

  /**
   * Returns the measurements since the last call for the same tap, including warm-ups; nothing at the first call, which opens
   * the tap.
   * @param tap any number; taps are independent of each other and of windows
   */
  takeRecent(tap: number): MeteredTokens {
    const taken = this.taps.get(tap);
    this.taps.set(tap, this.openWindow());
    return this.measured(taken === undefined ? [] : [taken]);
  }

  /** Returns totals of the run's text responses since the first call, including warm-ups. Independent of windows and levels. */
  totals(): TokenTotals {
    this.runTotals ??= new TokenTotals();
    return this.runTotals;
  }

  private openWindow(): MeterWindow {
    const { keepsRows, goodputs } = this.rules;
    const responses = keepsRows === true ? new TokenColumns() : new TokenTally(goodputs);
    responses.nameTokenizers({ client: this.rules.tokenizer });
    return { responses, undecided: [], span: {} };
  }

  /** Returns windows as one. Nothing may be added to them afterwards. Streams that are undecided by then count as complete. */
  private measured(windows: readonly MeterWindow[]): MeteredTokens {
    const columns: TokenColumns[] = [];
    const parts = windows.flatMap((window) => {
      this.settle(window);
      const open = this.openWindow().responses;
      for (const { answered } of window.undecided) open.add(answered);
      return [window.responses, open].map((responses) => {
        responses.responseKind = this.kind;
        if (responses instanceof TokenTally) return responses.cut(window.span);
        if (responses !== open || window.undecided.length > 0) columns.push(responses);
        return measureColumns(responses, this.rules.goodputs, window.span);
      });
    });
    const rows = joinColumns(columns);
    rows.responseKind = this.kind;
    const tokens = joinTokens(parts) ?? {
      ...NO_TOKENS,
      ...defined({ responseKind: this.kind }),
    };
    return this.rules.keepsRows === true ? { tokens, tokenRows: rows } : { tokens };
  }

  /**
   * Adds the streams without an end mark once it is known whether the server marks the end of its streams: if it does, they
   * have failed.
   */
  private settle({ responses, undecided }: MeterWindow): void {
    const { state } = this.endMarks;
    if (undecided.length === 0 || state === "unknown") return;
    for (const { answered, cutError } of undecided.splice(0))
      if (state === "marked" && cutError !== undefined) responses.addFailures(1, cutError);
      else responses.add(answered);
  }

  /** Passes on all measured requests that still waited for a decision. */
  finish(): void {
    this.queue.finish();
  }

  private settleKind(kind: ResponseKind): void {
    this.kind = kind;
    for (const call of this.ofUnknownKind.splice(0)) this.measure(call, kind);
  }

  private measure(call: AnsweredCall, kind: ResponseKind): void {
    if (hasText(kind)) this.addText(call, kind);
    else this.addPlain(call, kind);
  }

  private record(add: (window: MeterWindow) => void): void {
    for (const window of [this.current, ...this.taps.values()]) {
      this.settle(window);
      add(window);
    }
  }

  private addText(call: AnsweredCall, kind: ResponseKind): void {
    const { prompt, sequenceId, server, sendNs, offsetsNs } = call;
    const response = hasTensors(kind)
      ? readTensorResponse(kind, recordsOf(call))
      : readResponse(kind, textsOf(call), this.rules.field);
    const { end, finishReason } = response;
    const request = { prompt, sequenceId, server, sendNs, offsetsNs, finishReason };
    if (response.error === undefined && end !== undefined) this.record(({ responses }) => responses.addEnd(end));
    if (response.error === undefined && this.endMarks.note(end)) {
      this.queue.decide();
      this.rules.log?.decide(this.endMarks.state === "marked");
    }
    const cutError = end?.isMarked === false ? explainCutStream(end) : undefined;
    const error = response.error ?? (this.endMarks.state === "marked" ? cutError : undefined);
    if (error !== undefined) {
      this.record(({ responses }) => responses.addFailures(1, error));
      this.queue.add({ ...request, answered: undefined, error }, undefined);
      this.rules.log?.add(call.index ?? 0, undefined, error);
      return;
    }
    const times = timeResponse(response, offsetsNs, this.rules);
    const hasContent = times.contentNs.length > 0;
    const answered: AnsweredRequest = {
      sendNs,
      waitNs: call.waitNs,
      times,
      wholeNs: offsetsNs[offsetsNs.length - 1],
      inputTokens: hasContent ? prompt.inputTokens(kind) : Number.NaN,
      requestedTokens: prompt.requestedTokens(kind),
      usage: response.usage,
      session: prompt.session,
      lacksStream: this.rules.wantsStreams === true && !response.isStreamed,
      callsTools: (response.toolCalls === undefined || this.rules.omitsToolCalls === true) && callsTools(finishReason),
      omitsBunchedRate: this.rules.omitsBunchedRates,
    };
    const values = hasContent ? metricsOf(toMetricInput(answered)) : undefined;
    if (values !== undefined) this.runTotals?.add(values);
    const isUndecided = cutError !== undefined && this.endMarks.state === "unknown";
    this.record(({ responses, undecided }) => {
      // Rows keep their order.
      const waits = isUndecided || (responses instanceof TokenColumns && undecided.length > 0);
      if (waits) undecided.push({ answered, cutError: isUndecided ? cutError : undefined });
      else responses.add(answered, values);
    });
    this.queue.add({ ...request, answered }, isUndecided ? cutError : undefined);
    this.rules.log?.add(call.index ?? 0, answered, undefined, isUndecided ? cutError : undefined);
  }

  private addPlain(call: AnsweredCall, kind: ResponseKind): void {
    const { prompt, sequenceId, server, sendNs, offsetsNs } = call;
    const latencyNs = offsetsNs[offsetsNs.length - 1];
    // Each message of a gRPC call is a response, even an empty one: the status of the call has already shown whether it failed.
    const texts = kind === "grpc" ? undefined : textsOf(call);
    const error = texts?.map(explainPlain).find((text) => text !== undefined);
    const imageCount = prompt.imageCount(kind);
    this.record(({ responses }) => {
      if (latencyNs === undefined || texts?.every((text) => text === "") === true) responses.emptyCount++;
      else if (error !== undefined) responses.addFailures(1, error);
      else responses.addPlain(sendNs, latencyNs, imageCount);
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

/** Returns the error in a response that is not text. Checks only the beginning, because vectors are long. */
function explainPlain(text: string): string | undefined {
  const start = maskSecrets(text).slice(0, SHOWN_CHARACTERS).trim();
  // For example the error page of a web server that does not serve the path.
  if (start !== "" && !/^[{[]/.test(start)) return `no JSON: ${start.replace(/\s+/g, " ")}`;
  return /^\{\s*"(?:error"|object"\s*:\s*"error")/.test(start) ? text : undefined;
}

export interface MeteredTokens {
  readonly tokens: TokenMeasurement;
  /** The metrics of each request, if they are kept. */
  readonly tokenRows?: TokenColumns;
}

interface MeterWindow {
  readonly responses: TokenColumns | TokenTally;
  /**
   * Streams without an end mark, each with the error for a stream that was cut off, while it is unknown whether the server
   * marks the end of its streams. With columns, also all later responses.
   */
  readonly undecided: { readonly answered: AnsweredRequest; readonly cutError: string | undefined }[];
  readonly span: Partial<Span>;
}
