import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { listen } from "./listen.ts";

/** A small server of OpenAI's chat API in this process, which answers as the one did that the transcripts were recorded with. */

export interface OpenAiStub {
  readonly port: number;
  stop(): Promise<void>;
}

const TOKENS = ["Hello", " there", ",", " how", " are", " you", "?"];
/** Of every prompt. */
const PROMPT_TOKENS = 3;
const FIRST_TOKEN_MS = 3;
const TOKEN_GAP_MS = 3;

/** Starts it on a free port of loopback. Paths that end in `err500` and `nope` answer with an error. */
export async function startOpenAiStub(): Promise<OpenAiStub> {
  const server = createServer((request, response) => void answer(request, response));
  return {
    port: await listen(server),
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

interface Query {
  readonly model?: string;
  readonly stream?: boolean;
}

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  let text = "";
  for await (const piece of request.setEncoding("utf8")) text += String(piece);
  const { url = "" } = request;
  if (url.endsWith("err500")) return send(response, 500, '{"error":{"message":"boom","type":"server_error"}}');
  if (!url.endsWith("chat/completions")) return send(response, 404, '{"detail":"Not Found"}');
  const query = JSON.parse(text) as Query;
  if (query.stream === true) await stream(query, response);
  else {
    await sleep(FIRST_TOKEN_MS + TOKEN_GAP_MS * (TOKENS.length - 1));
    send(response, 200, formatJson(whole(query)));
  }
}

function whole({ model }: Query): object {
  const total = PROMPT_TOKENS + TOKENS.length;
  const usage = { prompt_tokens: PROMPT_TOKENS, completion_tokens: TOKENS.length, total_tokens: total };
  const message = { role: "assistant", content: TOKENS.join("") };
  const head = { id: "chatcmpl-1", object: "chat.completion", created: 1, model };
  return { ...head, choices: [{ index: 0, message, finish_reason: "stop" }], usage };
}

async function stream({ model }: Query, response: ServerResponse): Promise<void> {
  const head = { id: "chatcmpl-1", object: "chat.completion.chunk", created: 1, model };
  const write = (delta: object, finish_reason: string | null = null): void => {
    response.write(`data: ${formatJson({ ...head, choices: [{ index: 0, delta, finish_reason }] })}\n\n`);
  };
  await sleep(FIRST_TOKEN_MS);
  response.writeHead(200, { "Content-Type": "text/event-stream" });
  write({ role: "assistant", content: "" });
  for (const [index, content] of TOKENS.entries()) {
    if (index > 0) await sleep(TOKEN_GAP_MS);
    write({ content });
  }
  write({}, "stop");
  response.end("data: [DONE]\n\n");
}

function send(response: ServerResponse, status: number, body: string): void {
  response.writeHead(status, { "Content-Type": "application/json" }).end(body);
}

/** Formats JSON with a blank after each comma and colon, as Python does. */
function formatJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(formatJson).join(", ")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value) ?? "null";
  const members = Object.entries(value).map(([key, member]) => `${JSON.stringify(key)}: ${formatJson(member)}`);
  return `{${members.join(", ")}}`;
}

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
