import { fileURLToPath } from "node:url";
import { HTTP_FAILURES, type HttpAnswer, type HttpService, httpServers } from "../../conformance/http-service.ts";
import type { ConformanceRow } from "../../conformance/row.ts";
import { makeOpenAiTarget } from "../../plan/make-plan.ts";

/** APIs of language models: whole answers, and each form of events. */

interface Api {
  readonly name: string;
  /** Path, without a leading slash. */
  readonly endpoint: string;
  readonly answer: HttpAnswer;
}

const NO_SEQUENCES = "the API has sessions of prompts, and no sequences with marks";
const WORDS = ["the", " answer"];

function json(value: object): HttpAnswer {
  return { body: JSON.stringify(value) };
}

/** @param end the text of the last event; default: none */
function events(values: readonly object[], end = ""): HttpAnswer {
  return {
    type: "text/event-stream",
    body: values.map((value) => `data: ${JSON.stringify(value)}\n\n`).join("") + end,
  };
}

const APIS: readonly Api[] = [
  {
    name: "openai, whole",
    endpoint: "v1/chat/completions",
    answer: json({
      object: "chat.completion",
      choices: [{ index: 0, message: { role: "assistant", content: "the answer" }, finish_reason: "stop" }],
    }),
  },
  {
    name: "openai, streamed",
    endpoint: "v1/chat/completions",
    answer: events(
      WORDS.map((content) => ({ choices: [{ index: 0, delta: { content } }] })),
      "data: [DONE]\n\n",
    ),
  },
  {
    name: "openai responses, streamed",
    endpoint: "v1/responses",
    answer: events([
      ...WORDS.map((delta) => ({ type: "response.output_text.delta", delta })),
      { type: "response.completed", response: { object: "response", status: "completed", output: [] } },
    ]),
  },
  {
    name: "anthropic messages, streamed",
    endpoint: "v1/messages",
    answer: events([
      { type: "message_start", message: { type: "message", role: "assistant", content: [] } },
      ...WORDS.map((text) => ({ type: "content_block_delta", index: 0, delta: { type: "text_delta", text } })),
      { type: "message_delta", delta: { stop_reason: "end_turn" } },
      { type: "message_stop" },
    ]),
  },
  {
    name: "openai embeddings",
    endpoint: "v1/embeddings",
    answer: json({ object: "list", data: [{ object: "embedding", index: 0, embedding: [0.25, -0.5] }] }),
  },
];

function serviceOf({ endpoint, answer }: Api): HttpService {
  return {
    isLoad: ({ path }) => path === `/${endpoint}`,
    answer: ({ path }) => (path === `/${endpoint}` ? answer : { status: 404, body: "{}" }),
    error: () => ({ status: 500, body: JSON.stringify({ error: { message: "made to fail", type: "server_error" } }) }),
  };
}

export const rows: readonly ConformanceRow[] = APIS.map((api) => ({
  name: api.name,
  wire: "http",
  start: httpServers(serviceOf(api)),
  target: ({ url, moreUrls, tls }) => {
    const more = moreUrls.length === 0 ? {} : { moreUrls: [...moreUrls] };
    return makeOpenAiTarget(url, { endpoint: api.endpoint, isStreaming: api.answer.type !== undefined, tls, ...more });
  },
  inputs: { kind: "payloads", file: fileURLToPath(new URL("../../run/payloads.fixture.json", import.meta.url)) },
  failures: HTTP_FAILURES,
  cannot: { sequences: NO_SEQUENCES },
}));
