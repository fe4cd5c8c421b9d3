import type { AnswerKind } from "../service/openai/answer-kind.ts";
import { readRequestText } from "../service/openai/request-text.ts";
import { readAnswer } from "../service/openai/response-text.ts";
import { type TokenCounter, timeAnswer } from "./answer-times.ts";
import { type PackedAnswers, visitAnswers } from "./packed-answers.ts";
import { TokenColumns } from "./token-metrics.ts";

/** Windows that may still be merged into a level: perf_analyzer's three, and the one that is cut when a run is told to stop. */
const KEPT_WINDOWS = 4;

const decoder = new TextDecoder();

/** Measures packed answers, window by window. */
export class TokenMeter {
  private readonly kind: AnswerKind;
  private readonly countTokens: TokenCounter | undefined;
  private readonly inputTokens = new Map<number, number>();
  private windows: TokenColumns[] = [];
  private current = new TokenColumns();

  /** @param countTokens without it only the server's counts are known */
  constructor(kind: AnswerKind, countTokens: TokenCounter | undefined) {
    this.kind = kind;
    this.countTokens = countTokens;
  }

  /** Measures a package into the window under way. */
  add(packed: PackedAnswers): void {
    visitAnswers(packed, {
      onPrompt: (step, body) => {
        const text = readRequestText(this.kind, decoder.decode(body));
        this.inputTokens.set(step, this.countTokens?.(text) ?? Number.NaN);
      },
      onAnswer: (step, sendNs, readNs, bodies) => {
        const answer = readAnswer(
          this.kind,
          bodies.map((body) => decoder.decode(body)),
        );
        if (answer.error !== undefined) {
          this.current.failedCount++;
          return;
        }
        const times = timeAnswer(answer, readNs, { countTokens: this.countTokens });
        const inputTokens = this.inputTokens.get(step) ?? Number.NaN;
        this.current.add({ sendNs, times, inputTokens, usage: answer.usage });
      },
      onFailure: () => {
        this.current.failedCount++;
      },
    });
  }

  /** Forgets everything but the prompts. */
  reset(): void {
    this.windows = [];
    this.current = new TokenColumns();
  }

  /** Ends the window under way. */
  cut(): void {
    this.windows.push(this.current);
    if (this.windows.length > KEPT_WINDOWS) this.windows.shift();
    this.current = new TokenColumns();
  }

  /** The last windows as one. */
  merge(windowCount: number): TokenColumns {
    const merged = new TokenColumns();
    for (const window of this.windows.slice(-windowCount)) merged.addRows(window.rows());
    return merged;
  }
}
