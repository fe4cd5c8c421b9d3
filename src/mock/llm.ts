import type { ServerResponse } from "node:http";
import type { MockPlan } from "../plan/mock.ts";
import { createRandom } from "../runtime/random.ts";
import { createLatency } from "./latency.ts";
import { type Asked, countTokens, LLM_FORMATS, type LlmFormat, type Piece, readAsked } from "./llm-formats.ts";

/** The mock's language model: it answers with as many tokens as it is asked for, each at its time. */

const SEED = 2;
const TOKEN = " the";

/** What a plan without a language model serves. */
const DEFAULT_LLM: NonNullable<MockPlan["llm"]> = {
  firstToken: { kind: "constant", ms: 0 },
  tokenGapMs: 0,
  outputTokens: 16,
  tokensPerEvent: 1,
  reasoningTokens: 0,
  cutRatio: 0,
};

/** The language model of one mock. */
export class MockLlm {
  private readonly plan: NonNullable<MockPlan["llm"]>;
  private readonly errorRatio: number;
  private readonly random = createRandom(SEED);
  private readonly firstTokenMs: () => number;
  private readonly plainMs: () => number;

  constructor({ llm = DEFAULT_LLM, errorRatio, latency }: MockPlan) {
    this.plan = llm;
    this.errorRatio = errorRatio;
    this.firstTokenMs = createLatency(llm.firstToken, this.random);
    this.plainMs = createLatency(latency, this.random);
  }

  /** Whether a path is one of the model's. */
  serves(path: string): boolean {
    return Object.hasOwn(LLM_FORMATS, path);
  }

  /** Answers a request to one of its paths. Resolves when the answer is out or the client is gone. */
  async answer(path: string, body: string, response: ServerResponse): Promise<void> {
    const startMs = performance.now();
    const format = LLM_FORMATS[path] as LlmFormat;
    const asked = readAsked(body);
    if (typeof asked === "string") return sendJson(response, 400, errorBody(asked));
    if (this.draw(this.errorRatio)) return sendJson(response, 500, errorBody("planned failure"));
    if (format.kind === "plain") {
      await waitUntil(startMs + this.plainMs());
      return sendJson(response, 200, format.build(asked));
    }
    const pieces = this.pieces(asked, format.hasReasoning);
    const dueMs = startMs + this.firstTokenMs();
    if (asked.isStreaming) return this.stream(response, format.events(asked, pieces), dueMs);
    await waitUntil(dueMs + (countTokens(pieces) - 1) * this.plan.tokenGapMs);
    sendJson(response, 200, format.whole(asked, pieces));
  }

  private pieces({ maxTokens }: Asked, hasReasoning: boolean): Piece[] {
    const { outputTokens, reasoningTokens, tokensPerEvent } = this.plan;
    const total = maxTokens ?? outputTokens;
    const thought = hasReasoning ? Math.min(reasoningTokens, total) : 0;
    return [
      ...cut(thought, tokensPerEvent, 0).map((piece) => ({ ...piece, isReasoning: true })),
      ...cut(total - thought, tokensPerEvent, thought).map((piece) => ({ ...piece, isReasoning: false })),
    ];
  }

  /** Sends each event when the last of its tokens is due. */
  private async stream(
    response: ServerResponse,
    events: readonly { text: string; afterTokens: number }[],
    dueMs: number,
  ): Promise<void> {
    response.writeHead(200, { "Content-Type": "text/event-stream", "Cache-Control": "no-cache" });
    response.flushHeaders();
    const end = this.draw(this.plan.cutRatio) ? Math.ceil(events.length / 2) : events.length;
    for (const { text, afterTokens } of events.slice(0, end)) {
      await waitUntil(dueMs + Math.max(0, afterTokens - 1) * this.plan.tokenGapMs);
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

function cut(count: number, size: number, before: number): Omit<Piece, "isReasoning">[] {
  return Array.from({ length: Math.ceil(count / size) }, (_, index) => {
    const tokens = Math.min(size, count - index * size);
    return { text: TOKEN.repeat(tokens), tokens, afterTokens: before + index * size + tokens };
  });
}

async function waitUntil(dueMs: number): Promise<void> {
  // Timers count whole milliseconds and may come a little early.
  for (let restMs = dueMs - performance.now(); restMs > 0; restMs = dueMs - performance.now())
    await new Promise((resolve) => setTimeout(resolve, restMs));
}

function errorBody(message: string): object {
  return { error: { message, type: "mock_error" } };
}

function sendJson(response: ServerResponse, status: number, value: unknown): void {
  if (response.destroyed) return;
  const body = Buffer.from(JSON.stringify(value));
  response.writeHead(status, { "Content-Type": "application/json", "Content-Length": body.length });
  response.end(body);
}
