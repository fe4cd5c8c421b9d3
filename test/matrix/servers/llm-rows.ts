import type { MatrixRow } from "../row.ts";

/** The APIs of language models, with a request each that fixes the number of tokens. */

const TOKENS = 4;
const MESSAGES = [{ role: "user", content: "How are you?" }];
const APIS = [
  ["chat completions", "v1/chat/completions", { messages: MESSAGES, max_tokens: TOKENS }],
  ["completions", "v1/completions", { prompt: "How are you?", max_tokens: TOKENS }],
  ["OpenAI responses", "v1/responses", { input: "How are you?", max_output_tokens: TOKENS }],
  ["Anthropic messages", "v1/messages", { messages: MESSAGES, max_tokens: TOKENS }],
] as const;

/** Returns the rows of a server with all of these APIs, whole and streamed. @param count reads the requests of one API */
export function llmRows(url: string, model: string, count: (endpoint: string) => Promise<number>): MatrixRow[] {
  return APIS.flatMap(([name, endpoint, body]) => {
    const flags = ["--service-kind", "openai", "-m", model, "-u", url, "--endpoint", endpoint, "--async"];
    return [false, true].map((isStreaming) => ({
      protocol: `${name}, ${isStreaming ? "streamed" : "whole"}`,
      flags: isStreaming ? [...flags, "--streaming"] : flags,
      payload: { model, ...body, stream: isStreaming },
      count: () => count(endpoint),
    }));
  });
}

/** Returns the row of embeddings. */
export function embeddingsRow(url: string, model: string): Omit<MatrixRow, "count"> {
  return {
    protocol: "embeddings",
    flags: ["--service-kind", "openai", "-m", model, "-u", url, "--endpoint", "v1/embeddings", "--async"],
    payload: { model, input: "How are you?" },
  };
}
