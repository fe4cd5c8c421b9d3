import { isObject, parseJson } from "../plan/objects.ts";
import { EMBEDDED_LLM } from "../service/embedded/target.ts";
import type { ResponseKind } from "../service/openai/response-kind.ts";
import type { MockTokens } from "./tokens.ts";

/** A request to the mock's language model. */
export interface ModelRequest {
  readonly model: string;
  readonly isStreaming: boolean;
  /** Whether a stream in OpenAI's format ends with a usage event. */
  readonly wantsUsage: boolean;
  readonly maxTokens: number | undefined;
  /** Number of texts to embed or passages to rank. */
  readonly items: number;
  /** Name of the tokenizer that counts tokens. */
  readonly tokenizer: string;
  /** Counts the tokens of the prompt, which only some responses need. */
  countPrompt(): number;
}

/** Tokens that are sent together. */
export interface Piece {
  readonly text: string;
  readonly tokens: number;
  /** Number of tokens of the response up to the end of this piece. */
  readonly afterTokens: number;
  readonly isReasoning: boolean;
}

/** An event of a stream, and the number of tokens to generate before sending it. */
interface TimedEvent {
  readonly text: string;
  readonly afterTokens: number;
}

/** The responses on a path: text generated token by token, or a document generated at once. */
export type LlmFormat =
  | {
      readonly kind: "text";
      /** Kind of response, which determines how requests are read. */
      readonly responses: ResponseKind;
      readonly hasReasoning: boolean;
      events(request: ModelRequest, pieces: readonly Piece[]): TimedEvent[];
      whole(request: ModelRequest, pieces: readonly Piece[]): object;
    }
  | { readonly kind: "plain"; build(request: ModelRequest): object };

/** A short arbitrary vector. */
const EMBEDDING = [0.25, -0.5, 0.125, 1, -0.75, 0.0625, 0.5, -0.25] as const;
const ID = "mock-1";

/** Formats by path. */
export const LLM_FORMATS: Readonly<Record<string, LlmFormat>> = {
  "/v1/chat/completions": {
    kind: "text",
    responses: "chat",
    hasReasoning: true,
    events: (request, pieces) =>
      openAiEvents(request, pieces, "chat.completion.chunk", chatDelta, { role: "assistant" }),
    whole: (request, pieces) => {
      const { model } = request;
      const reasoning = joined(pieces, true);
      const thought = reasoning === "" ? {} : { reasoning_content: reasoning };
      const message = { role: "assistant", content: joined(pieces, false), ...thought };
      return {
        id: ID,
        object: "chat.completion",
        model,
        choices: [{ index: 0, message, finish_reason: "stop" }],
        usage: openAiUsage(request, pieces),
      };
    },
  },
  "/v1/completions": {
    kind: "text",
    responses: "completions",
    hasReasoning: false,
    events: (request, pieces) => openAiEvents(request, pieces, "text_completion", ({ text }) => ({ text })),
    whole: (request, pieces) => ({
      id: ID,
      object: "text_completion",
      model: request.model,
      choices: [{ index: 0, text: joined(pieces, false), finish_reason: "stop" }],
      usage: openAiUsage(request, pieces),
    }),
  },
  "/v1/responses": {
    kind: "text",
    responses: "responses",
    hasReasoning: false,
    events: (request, pieces) => [
      named(
        "response.created",
        { response: { id: ID, object: "response", status: "in_progress", model: request.model } },
        0,
      ),
      ...pieces.map(({ text, afterTokens }) => named("response.output_text.delta", { delta: text }, afterTokens)),
      named("response.completed", { response: wholeResponse(request, pieces) }, countTokens(pieces)),
    ],
    whole: wholeResponse,
  },
  "/v1/messages": {
    kind: "text",
    responses: "anthropic",
    hasReasoning: false,
    events: (request, pieces) => [
      named(
        "message_start",
        { message: { id: ID, type: "message", role: "assistant", model: request.model, content: [] } },
        0,
      ),
      named("content_block_start", { index: 0, content_block: { type: "text", text: "" } }, 0),
      ...pieces.map(({ text, afterTokens }) =>
        named("content_block_delta", { index: 0, delta: { type: "text_delta", text } }, afterTokens),
      ),
      named(
        "message_delta",
        { delta: { stop_reason: "end_turn" }, usage: messageUsage(request, pieces) },
        countTokens(pieces),
      ),
      named("message_stop", {}, countTokens(pieces)),
    ],
    whole: (request, pieces) => ({
      id: ID,
      type: "message",
      role: "assistant",
      model: request.model,
      content: [{ type: "text", text: joined(pieces, false) }],
      stop_reason: "end_turn",
      usage: messageUsage(request, pieces),
    }),
  },
  "/v1/embeddings": {
    kind: "plain",
    build: ({ model, items }) => ({
      object: "list",
      model,
      data: Array.from({ length: items }, (_, index) => ({ object: "embedding", index, embedding: EMBEDDING })),
    }),
  },
  "/v1/ranking": {
    kind: "plain",
    build: ({ items }) => ({
      rankings: Array.from({ length: items }, (_, index) => ({ index, logit: -index })),
    }),
  },
};

/** Parses a request. Returns an error message if it is not valid. */
export function parseModelRequest(format: LlmFormat, body: string, tokens: MockTokens): ModelRequest | string {
  const request = parseJson(body);
  if (request === undefined) return "the request is not JSON";
  if (!isObject(request)) return "the request is not a JSON object";
  const limit = request["max_completion_tokens"] ?? request["max_tokens"] ?? request["max_output_tokens"];
  if (limit !== undefined && !(Number.isInteger(limit) && (limit as number) > 0))
    return "the limit of tokens must be a whole number of 1 or more";
  const options = request["stream_options"] as { include_usage?: unknown } | undefined;
  const items = request["input"] ?? request["passages"];
  return {
    model: typeof request["model"] === "string" ? request["model"] : EMBEDDED_LLM,
    isStreaming: request["stream"] === true,
    wantsUsage: options?.include_usage === true,
    maxTokens: limit as number | undefined,
    items: Array.isArray(items) ? items.length : 1,
    tokenizer: tokens.name,
    countPrompt: () => (format.kind === "text" ? tokens.countPrompt(format.responses, body) : 0),
  };
}

function chatDelta({ text, isReasoning }: Piece): object {
  return { delta: isReasoning ? { reasoning_content: text } : { content: text } };
}

function openAiEvents(
  request: ModelRequest,
  pieces: readonly Piece[],
  object: string,
  toChoice: (piece: Piece) => object,
  role?: object,
): TimedEvent[] {
  const { model, wantsUsage } = request;
  const event = (choices: object[], afterTokens: number, rest: object = {}): TimedEvent => ({
    text: `data: ${JSON.stringify({ id: ID, object, model, choices, ...rest })}\n\n`,
    afterTokens,
  });
  const choice = (content: object, reason: string | null): object => ({ index: 0, ...content, finish_reason: reason });
  const end = countTokens(pieces);
  return [
    ...(role === undefined ? [] : [event([choice({ delta: { ...role, content: "" } }, null)], 0)]),
    ...pieces.map((piece) => event([choice(toChoice(piece), null)], piece.afterTokens)),
    event([choice(role === undefined ? { text: "" } : { delta: {} }, "stop")], end),
    ...(wantsUsage ? [event([], end, { usage: openAiUsage(request, pieces) })] : []),
    { text: "data: [DONE]\n\n", afterTokens: end },
  ];
}

function named(type: string, data: object, afterTokens: number): TimedEvent {
  return { text: `event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`, afterTokens };
}

function wholeResponse(request: ModelRequest, pieces: readonly Piece[]): object {
  const usage = messageUsage(request, pieces);
  return {
    id: ID,
    object: "response",
    status: "completed",
    model: request.model,
    output: [{ type: "message", role: "assistant", content: [{ type: "output_text", text: joined(pieces, false) }] }],
    usage: { ...usage, total_tokens: usage.input_tokens + usage.output_tokens },
  };
}

/** Returns usage with the keys of Anthropic's API and of OpenAI's responses. */
function messageUsage(
  request: ModelRequest,
  pieces: readonly Piece[],
): { input_tokens: number; output_tokens: number; tokenizer: string } {
  return { input_tokens: request.countPrompt(), output_tokens: countTokens(pieces), tokenizer: request.tokenizer };
}

function openAiUsage(request: ModelRequest, pieces: readonly Piece[]): object {
  const [prompt, completion] = [request.countPrompt(), countTokens(pieces)];
  const reasoning = pieces.reduce((sum, { isReasoning, tokens }) => sum + (isReasoning ? tokens : 0), 0);
  return {
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: prompt + completion,
    tokenizer: request.tokenizer,
    ...(reasoning === 0 ? {} : { completion_tokens_details: { reasoning_tokens: reasoning } }),
  };
}

/** Returns the number of tokens of a response. */
export function countTokens(pieces: readonly Piece[]): number {
  return pieces.at(-1)?.afterTokens ?? 0;
}

function joined(pieces: readonly Piece[], isReasoning: boolean): string {
  return pieces.map((piece) => (piece.isReasoning === isReasoning ? piece.text : "")).join("");
}
