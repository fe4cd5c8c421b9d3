import { fileURLToPath } from "node:url";
import { makeOpenAiTarget } from "../../plan/make-plan.ts";
import { HTTP_FAILURES, type HttpService, httpServers } from "../http-service.ts";
import type { ConformanceRow } from "../row.ts";

/** OpenAI's chat completions, whole and as events. */

const WHOLE = JSON.stringify({
  object: "chat.completion",
  choices: [{ index: 0, message: { role: "assistant", content: "the answer" }, finish_reason: "stop" }],
});
const EVENTS = ["the", " answer"]
  .map((content) => `data: ${JSON.stringify({ choices: [{ index: 0, delta: { content } }] })}\n\n`)
  .concat("data: [DONE]\n\n")
  .join("");
const NO_SEQUENCES = "the API has sessions of prompts, and no sequences with marks";

const service = (isStreaming: boolean): HttpService => ({
  isLoad: ({ path }) => path === "/v1/chat/completions",
  answer: ({ path }) => {
    if (path !== "/v1/chat/completions") return { status: 404, body: "{}" };
    return isStreaming ? { type: "text/event-stream", body: EVENTS } : { body: WHOLE };
  },
  error: () => ({ status: 500, body: JSON.stringify({ error: { message: "made to fail", type: "server_error" } }) }),
});

const row = (isStreaming: boolean): ConformanceRow => ({
  name: isStreaming ? "openai, streamed" : "openai, whole",
  wire: "http",
  start: httpServers(service(isStreaming)),
  target: ({ url, moreUrls, tls }) =>
    makeOpenAiTarget(url, { isStreaming, tls, ...(moreUrls.length === 0 ? {} : { moreUrls: [...moreUrls] }) }),
  inputs: { kind: "payloads", file: fileURLToPath(new URL("../../run/payloads.fixture.json", import.meta.url)) },
  failures: HTTP_FAILURES,
  cannot: { sequences: NO_SEQUENCES },
});

export const rows: readonly ConformanceRow[] = [row(false), row(true)];
