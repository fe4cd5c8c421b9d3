import { parseJson } from "../../plan/objects.ts";
import { countImages, countRequestIds, countRequestTokens, readTokenLimit } from "../../service/openai/request-text.ts";
import { hasText, type ResponseKind } from "../../service/openai/response-kind.ts";
import type { TokenCounter } from "./response-times.ts";

/** Rules for reading request bodies. */
export interface PromptRules {
  readonly countTokens?: TokenCounter | undefined;
  /** Whether the messages of a request are counted as one text, as in GenAI-Perf. Default: each is counted separately */
  readonly joinsTexts?: boolean | undefined;
  /** Counts the tokens of a body made from a template, in which the prompt cannot be located; NaN if unknown. */
  readonly countPayload?: ((payload: string) => number) | undefined;
  /** Whether requests ask for an exact response length and not only a maximum. Default: false */
  readonly isLengthAsked?: boolean | undefined;
  /** Whether the model named in a body is needed. Default: false */
  readonly readsModels?: boolean | undefined;
}

/** The body of a request. Each value is read on first use and cached. */
export class Prompt {
  /** The conversation of the request. */
  readonly session: string | undefined;
  private body: string;
  private readonly rules: PromptRules;
  private values: { inputTokens?: number; requestedTokens?: number; imageCount?: number; model?: string | undefined } =
    {};

  /** @param body JSON; for a model on Triton, its tensors by name */
  constructor(body: string, rules: PromptRules, session?: string) {
    this.body = body;
    this.rules = rules;
    this.session = session;
  }

  /** Returns the tokens of the text; NaN if not counted. @throws SyntaxError when the body is not JSON */
  inputTokens(kind: ResponseKind): number {
    this.values.inputTokens ??= this.countInput(kind);
    return this.values.inputTokens;
  }

  /**
   * Returns the number of tokens that the request asks for; undefined if the server decides.
   * @throws SyntaxError when the body is not JSON
   */
  requestedTokens(kind: ResponseKind): number | undefined {
    if (this.rules.isLengthAsked !== true) return undefined;
    this.values.requestedTokens ??= readTokenLimit(kind, this.body);
    return this.values.requestedTokens;
  }

  /** Returns the number of images in the request if images are measured; otherwise 0. */
  imageCount(kind: ResponseKind): number {
    this.values.imageCount ??= kind === "image-retrieval" ? countImages(this.body) : 0;
    return this.values.imageCount;
  }

  /** The model named in the body; undefined if there is none. */
  get model(): string | undefined {
    if (!("model" in this.values)) this.values.model = readModel(this.body);
    return this.values.model;
  }

  /** Reads all values and releases the body, which may be long. */
  settle(kind: ResponseKind): void {
    if (hasText(kind)) {
      this.inputTokens(kind);
      this.requestedTokens(kind);
    }
    this.imageCount(kind);
    if (this.rules.readsModels === true) void this.model;
    this.body = "";
  }

  private countInput(kind: ResponseKind): number {
    const { countTokens, countPayload, joinsTexts } = this.rules;
    // Only the template knows which part of the body is the prompt.
    if (kind === "custom") return countPayload?.(this.body) ?? Number.NaN;
    const idCount = countRequestIds(kind, this.body);
    if (idCount !== undefined || countTokens === undefined) return idCount ?? Number.NaN;
    return countRequestTokens(kind, this.body, countTokens, joinsTexts);
  }
}

function readModel(payload: string): string | undefined {
  const { model } = (parseJson(payload) ?? {}) as { model?: unknown };
  return typeof model === "string" ? model : undefined;
}
