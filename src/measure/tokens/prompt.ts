import { type AnswerKind, hasText } from "../../service/openai/answer-kind.ts";
import { countImages, readRequestText, readTokenLimit } from "../../service/openai/request-text.ts";
import type { TokenCounter } from "./answer-times.ts";

/** How the bodies of requests are read. */
export interface PromptRules {
  readonly countTokens?: TokenCounter | undefined;
  /** Tokens of a body that a template made, where its text cannot be told from the rest; NaN when unknown. */
  readonly countPayload?: ((payload: string) => number) | undefined;
  /** Whether requests ask for the length of their answers, and not only for less than a limit. Default false. */
  readonly isLengthAsked?: boolean | undefined;
  /** Whether anybody asks for the model that a body names. Default false. */
  readonly readsModels?: boolean | undefined;
}

/** The body of a request. Each value is read when it is first asked for, and kept. */
export class Prompt {
  /** The conversation that the request is a turn of. */
  readonly session: string | undefined;
  private body: string;
  private readonly rules: PromptRules;
  private values: { inputTokens?: number; requestedTokens?: number; imageCount?: number; model?: string | undefined } =
    {};

  /** @param body JSON; of a KServe model its tensors by name */
  constructor(body: string, rules: PromptRules, session?: string) {
    this.body = body;
    this.rules = rules;
    this.session = session;
  }

  /** Tokens of the text; NaN when they are not counted. @throws SyntaxError when the body is not JSON */
  inputTokens(kind: AnswerKind): number {
    this.values.inputTokens ??= this.countInput(kind);
    return this.values.inputTokens;
  }

  /** Tokens that the request asks for; undefined where it leaves them to the server. @throws SyntaxError when the body is not JSON */
  requestedTokens(kind: AnswerKind): number | undefined {
    if (this.rules.isLengthAsked !== true) return undefined;
    this.values.requestedTokens ??= readTokenLimit(kind, this.body);
    return this.values.requestedTokens;
  }

  /** Images that it sends, where these are what is measured; otherwise 0. */
  imageCount(kind: AnswerKind): number {
    this.values.imageCount ??= kind === "image-retrieval" ? countImages(this.body) : 0;
    return this.values.imageCount;
  }

  /** The model that it names; undefined where it names none. */
  get model(): string | undefined {
    if (!("model" in this.values)) this.values.model = readModel(this.body);
    return this.values.model;
  }

  /** Reads every value and forgets the body, which may be long. */
  settle(kind: AnswerKind): void {
    if (hasText(kind)) {
      this.inputTokens(kind);
      this.requestedTokens(kind);
    }
    this.imageCount(kind);
    if (this.rules.readsModels === true) void this.model;
    this.body = "";
  }

  private countInput(kind: AnswerKind): number {
    const { countTokens, countPayload } = this.rules;
    // Of a body that a template made only the template knows which part is the prompt.
    if (kind === "custom") return countPayload?.(this.body) ?? Number.NaN;
    return countTokens?.(readRequestText(kind, this.body)) ?? Number.NaN;
  }
}

function readModel(payload: string): string | undefined {
  try {
    const { model } = JSON.parse(payload) as { model?: unknown };
    return typeof model === "string" ? model : undefined;
  } catch {
    return undefined;
  }
}
