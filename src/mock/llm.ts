import type { ServerResponse } from "node:http";
import { DEFAULT_MOCK, type MockPlan } from "../plan/mock.ts";
import { msToNs } from "../plan/units.ts";
import { nowNs } from "../runtime/clock.ts";
import { createRandom, seedOfNumber } from "../runtime/random.ts";
import { EMBEDDED_LLM } from "../service/embedded/target.ts";
import { createLatency } from "./latency.ts";
import {
  countTokens,
  LLM_FORMATS,
  type LlmFormat,
  type ModelRequest,
  type Piece,
  parseModelRequest,
} from "./llm-formats.ts";
import { sendJson } from "./services/service.ts";
import { type MockTokens, WORDS } from "./tokens.ts";
import { waitUntil } from "./wait.ts";

const SEED = 2;

/** The mock's language model. It sends the requested number of tokens, each at its planned time. */
export class MockLlm {
  private readonly plan: NonNullable<MockPlan["llm"]>;
  private readonly tokens: MockTokens;
  private readonly errorRatio: number;
  private readonly random: () => number;
  private readonly firstTokenMs: () => number;
  private readonly plainMs: () => number;

  constructor({ llm = DEFAULT_MOCK.llm, errorRatio, latency, seed = 0 }: MockPlan, tokens: MockTokens) {
    this.tokens = tokens;
    this.random = createRandom(seedOfNumber(SEED, "draw", seed));
    this.plan = llm;
    this.errorRatio = errorRatio;
    this.firstTokenMs = createLatency(llm.firstToken, this.random);
    this.plainMs = createLatency(latency, this.random);
  }

  /** The model's entry in lists of models: `root` is the name of its tokenizer, if it has one. */
  get listed(): object {
    const { name } = this.tokens;
    return { id: EMBEDDED_LLM, object: "model", owned_by: "rampart", ...(name === WORDS ? {} : { root: name }) };
  }

  serves(path: string): boolean {
    return Object.hasOwn(LLM_FORMATS, path);
  }

  /** Answers a request. Resolves when the response has been sent or the client has disconnected. */
  async answer(path: string, body: string, response: ServerResponse): Promise<void> {
    const startNs = nowNs();
    const format = LLM_FORMATS[path] as LlmFormat;
    const request = parseModelRequest(format, body, this.tokens);
    if (typeof request === "string") return sendJson(response, 400, errorBody(request));
    if (this.draw(this.errorRatio)) return sendJson(response, 500, errorBody("planned failure"));
    if (format.kind === "plain") {
      await waitUntil(startNs + msToNs(this.plainMs()));
      return sendJson(response, 200, format.build(request));
    }
    const pieces = this.pieces(request, format.hasReasoning);
    const dueNs = startNs + msToNs(this.firstTokenMs());
    if (request.isStreaming) return this.stream(response, format.events(request, pieces), dueNs);
    await waitUntil(dueNs + msToNs((countTokens(pieces) - 1) * this.plan.tokenGapMs));
    sendJson(response, 200, format.whole(request, pieces));
  }

  private pieces({ maxTokens }: ModelRequest, hasReasoning: boolean): Piece[] {
    const { osl, reasoningTokens, tokensPerEvent } = this.plan;
    const total = maxTokens ?? osl;
    const thought = hasReasoning ? Math.min(reasoningTokens, total) : 0;
    return [
      ...this.cut(thought, tokensPerEvent, 0, true),
      ...this.cut(total - thought, tokensPerEvent, thought, false),
    ];
  }

  private cut(count: number, size: number, before: number, isReasoning: boolean): Piece[] {
    return Array.from({ length: Math.ceil(count / size) }, (_, index) => {
      const tokens = Math.min(size, count - index * size);
      const text = this.tokens.write(tokens, index === 0);
      return { text, tokens, afterTokens: before + index * size + tokens, isReasoning };
    });
  }

  /** Sends each event at the time of its last token. */
  private async stream(
    response: ServerResponse,
    events: readonly { text: string; afterTokens: number }[],
    dueNs: number,
  ): Promise<void> {
    response.writeHead(200, { "Content-Type": "text/event-stream", "Cache-Control": "no-cache" });
    response.flushHeaders();
    const end = this.draw(this.plan.cutRatio) ? Math.ceil(events.length / 2) : events.length;
    for (const { text, afterTokens } of events.slice(0, end)) {
      await waitUntil(dueNs + msToNs(Math.max(0, afterTokens - 1) * this.plan.tokenGapMs));
      if (response.destroyed) return;
      response.write(text);
    }
    if (end < events.length) response.destroy();
    else response.end();
  }

  private draw(ratio: number): boolean {
    return ratio > 0 && this.random() < ratio;
  }
}

function errorBody(message: string): object {
  return { error: { message, type: "mock_error" } };
}
