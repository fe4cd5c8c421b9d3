import type { AnswerKind } from "../../service/openai/answer-kind.ts";
import { callsTools } from "../../service/openai/answer-parts.ts";
import { readRequestText, readTokenLimit } from "../../service/openai/request-text.ts";
import { readAnswer } from "../../service/openai/response-text.ts";
import { explainCutStream } from "../../service/openai/stream-end.ts";
import { type TokenCounter, timeAnswer } from "./answer-times.ts";
import { type PackedAnswers, visitAnswers } from "./packed-answers.ts";
import { TokenColumns } from "./token-metrics.ts";

/** Windows that may still be merged into a level: perf_analyzer's three, and the one that is cut when a run is told to stop. */
const KEPT_WINDOWS = 4;

const decoder = new TextDecoder();

/** What the requests of a run ask of their answers. */
export interface AskedOfAnswers {
  /** That they are streamed. Default: false. */
  readonly wantsStreams?: boolean;
  /** A number of tokens. Default: false. */
  readonly isLengthAsked?: boolean;
}

/** Measures packed answers, window by window. */
export class TokenMeter {
  private readonly kind: AnswerKind;
  private readonly countTokens: TokenCounter | undefined;
  private readonly wantsStreams: boolean;
  private readonly isLengthAsked: boolean;
  private readonly inputTokens = new Map<number, number>();
  private readonly requestedTokens = new Map<number, number>();
  private windows: MeterWindow[] = [];
  private current = openWindow();
  /** Whether the server is known to mark the end of its streams. */
  private marksEnds = false;

  /**
   * @param countTokens without it only the server's counts are known
   * @param asked an answer that is no stream where one was asked for has no times of tokens
   */
  constructor(
    kind: AnswerKind,
    countTokens: TokenCounter | undefined,
    { wantsStreams = false, isLengthAsked = false }: AskedOfAnswers = {},
  ) {
    this.wantsStreams = wantsStreams;
    this.kind = kind;
    this.isLengthAsked = isLengthAsked;
    this.countTokens = countTokens;
  }

  /** Measures a package into the window under way. */
  add(packed: PackedAnswers): void {
    visitAnswers(packed, {
      onPrompt: (step, body) => {
        const json = decoder.decode(body);
        const text = readRequestText(this.kind, json);
        if (this.isLengthAsked) this.requestedTokens.set(step, readTokenLimit(this.kind, json));
        this.inputTokens.set(step, this.countTokens?.(text) ?? Number.NaN);
      },
      onAnswer: (step, sendNs, readNs, bodies) => {
        const answer = readAnswer(
          this.kind,
          bodies.map((body) => decoder.decode(body)),
        );
        const { columns, unmarked } = this.current;
        const { error, end } = answer;
        if (error !== undefined) {
          columns.addFailures(1, error);
          return;
        }
        if (end !== undefined) columns.addEnd(end);
        this.marksEnds ||= end?.isMarked === true;
        const times = timeAnswer(answer, readNs, { countTokens: this.countTokens });
        const inputTokens = this.inputTokens.get(step) ?? Number.NaN;
        const isUnmarked = end?.isMarked === false;
        if (isUnmarked) unmarked.example ??= explainCutStream(end);
        const isUnstreamed = this.wantsStreams && !answer.isStreamed;
        (isUnmarked ? unmarked.columns : columns).add({
          sendNs,
          times,
          inputTokens,
          requestedTokens: this.requestedTokens.get(step),
          usage: answer.usage,
          lacksStream: isUnstreamed,
          callsTools: callsTools(answer.finishReason),
        });
      },
      onFailure: () => {
        this.current.columns.addFailures(1);
      },
    });
  }

  /** Forgets everything but the prompts. */
  reset(): void {
    this.windows = [];
    this.current = openWindow();
  }

  /** Ends the window under way. */
  cut(): void {
    this.windows.push(this.current);
    if (this.windows.length > KEPT_WINDOWS) this.windows.shift();
    this.current = openWindow();
  }

  /** The last windows as one. */
  merge(windowCount: number): TokenColumns {
    const merged = new TokenColumns();
    for (const { columns, unmarked } of this.windows.slice(-windowCount)) {
      merged.addRows(columns.rows());
      const { count, emptyCount } = unmarked.columns;
      if (this.marksEnds) merged.addFailures(count + emptyCount, unmarked.example);
      else merged.addRows(unmarked.columns.rows());
    }
    return merged;
  }
}

/** One window's requests. Whether streams without an end mark failed shows only once another one has it. */
interface MeterWindow {
  readonly columns: TokenColumns;
  readonly unmarked: { readonly columns: TokenColumns; example: string | undefined };
}

function openWindow(): MeterWindow {
  return { columns: new TokenColumns(), unmarked: { columns: new TokenColumns(), example: undefined } };
}
