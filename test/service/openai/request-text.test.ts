import assert from "node:assert/strict";
import { test } from "node:test";
import {
  countImages,
  countRequestIds,
  countRequestTokens,
  readTokenLimit,
} from "../../../src/service/openai/request-text.ts";
import { detectResponseKind, type ResponseKind } from "../../../src/service/openai/response-kind.ts";
import { loadTokenizer } from "../../../src/tokenize/load-tokenizer.ts";
import { TINY } from "../../tokenize/tiny.ts";

const bodies: readonly (readonly [kind: ResponseKind, body: unknown, text: string])[] = [
  ["chat", { messages: [{ content: "a b" }, { content: "c" }, { content: null }] }, "a b c "],
  [
    "multimodal",
    { messages: [{ content: [{ type: "text", text: "a" }, { type: "image_url" }, { type: "text", text: "b" }] }] },
    "a b",
  ],
  ["completions", { prompt: ["a", "b"] }, "a b"],
  // GenAI-Perf puts a space between all letters of a prompt that is no list.
  ["completions", { prompt: "abc" }, "abc"],
  ["responses", { instructions: "x", input: "a" }, "x a"],
  ["responses", { input: [{ role: "user", content: [{ type: "input_text", text: "a" }] }] }, "a"],
  ["anthropic", { system: "x", messages: [{ content: "a" }] }, "x a"],
  ["generate", { text_input: ["a", "b"] }, "a b"],
  ["kserve", { text_input: "a" }, "a"],
  ["huggingface-generate", { inputs: "a" }, "a"],
  ["embeddings", { input: ["a", "b"] }, "a b"],
  ["rankings", { query: { text: "q" }, passages: [{ text: "a" }, { text: "b" }] }, "q a b"],
  ["rankings", { query: "q", texts: ["a"] }, "q a"],
  ["rankings", { query: "q", documents: ["a"] }, "q a"],
  ["image-retrieval", { input: [{ type: "image_url" }] }, ""],
  ["chat", {}, ""],
];

for (const [kind, body, text] of bodies) {
  test(`the text of ${JSON.stringify(body)}`, () => {
    const counted: string[] = [];
    countRequestTokens(kind, JSON.stringify(body), (each) => counted.push(each), true);
    assert.deepEqual(counted, text === "" ? [] : [text]);
  });
}

test("ids of tokens are counted without a tokenizer, in requests that have them", () => {
  assert.equal(countRequestIds("token-ids", '{"input_ids":[5,6,7],"input_lengths":3}'), 3);
  assert.equal(countRequestIds("token-ids", '{"input_ids":5}'), 1);
  assert.equal(countRequestIds("token-ids", "{}"), 0);
  assert.equal(countRequestIds("kserve", '{"input_ids":[5,6,7]}'), undefined);
});

test("images are counted", () => {
  assert.equal(countImages('{"input":[{"type":"image_url"},{"type":"text"},{"type":"image_url"}]}'), 2);
  assert.equal(countImages("{}"), 0);
});

const services: readonly (readonly [
  serviceKind: string,
  endpoint: string,
  payload: string,
  response: string,
  kind: ResponseKind | undefined,
])[] = [
  ["openai", "v1/chat/completions", "{}", "", "chat"],
  ["openai", "/my/v1/chat/completions/", "{}", "", "chat"],
  ["openai", "v1/chat/completions", '{"type":"image_url"}', "", "multimodal"],
  ["openai", "v1/chat/completions", '{"type":"input_audio"}', "", "multimodal"],
  ["openai", "v1/completions", "{}", "", "completions"],
  ["openai", "v1/responses", "{}", "", "responses"],
  ["openai", "v1/messages", "{}", "", "anthropic"],
  ["openai", "v1/embeddings", "{}", "", "embeddings"],
  ["openai", "v1/ranking", "{}", "", "rankings"],
  ["openai", "rerank", "{}", "", "rankings"],
  ["openai", "v2/rerank", "{}", "", "rankings"],
  ["openai", "v1/infer", "{}", "", "image-retrieval"],
  ["openai", "huggingface/generate", "{}", "", "huggingface-generate"],
  ["openai", "v2/models/m/generate", "{}", "", "generate"],
  ["openai", "v2/models/m/generate_stream", "{}", "", "generate"],
  ["openai", ".", "{}", '[{"generated_text":"a"}]', "huggingface-generate"],
  ["openai", "x", "{}", 'data: {"object":"chat.completion.chunk"}', "chat"],
  ["openai", "x", "{}", '{"object": "response"}', "responses"],
  ["openai", "x", "{}", '{"nothing":1}', undefined],
  ["triton", "", "{}", "", "kserve"],
  ["triton_c_api", "", "{}", "", "token-ids"],
  ["tfserving", "", "{}", "", undefined],
];

for (const [serviceKind, endpoint, payload, response, kind] of services) {
  test(`${serviceKind} at "${endpoint}" with ${payload} and ${response} is ${kind}`, () => {
    assert.equal(detectResponseKind(serviceKind, endpoint, payload, response), kind);
  });
}

test("each message is counted, or all as one text with spaces between them", () => {
  const body = JSON.stringify({ messages: [{ content: "a b" }, { content: " c" }, { content: "" }, { content: "d" }] });
  const countWords = (text: string): number => text.split(" ").length;
  assert.equal(countRequestTokens("chat", body, countWords), 2 + 2 + 1);
  assert.equal(countRequestTokens("chat", body, countWords, true), "a b  c  d".split(" ").length);
});

test("each text of a batch is counted, each id is a token, and an image is no text", () => {
  const countWords = (text: string): number => text.split(" ").length;
  const count = (kind: ResponseKind, body: object): number =>
    countRequestTokens(kind, JSON.stringify(body), countWords);
  // Joined by a space, one text begins with it.
  assert.equal(count("embeddings", { input: ["a b", " c", "", "d"] }), 2 + 2 + 1);
  assert.equal(count("completions", { prompt: ["a b", " c"] }), 2 + 2);
  assert.equal(count("rankings", { query: "a b", documents: [" c", "d"] }), 2 + 2 + 1);
  assert.equal(count("nvclip", { input: ["a b", "data:image/png;base64,AA BB"] }), 2);
  assert.equal(count("embeddings", { input: [[1, 2], [3]] }), 3);
  assert.equal(count("completions", { prompt: [1, 2, 3, 4] }), 4);
});

// llama.cpp's server with this vocabulary reports these prompt_tokens of embeddings. Joined by spaces, they would be 4, 4 and 11.
for (const [input, tokens] of [
  [["hello", "world"], 6],
  [["a b", " c"], 3],
  [["hello world and", "the rest of it", "x"], 11],
] as const)
  test(`embeddings of ${JSON.stringify(input)} are ${tokens} tokens, as a server counts them`, async () => {
    const tokenizer = await loadTokenizer(TINY);
    const count = (text: string): number => tokenizer.count(text);
    assert.equal(countRequestTokens("embeddings", JSON.stringify({ input }), count), tokens);
  });

const limits: readonly (readonly [kind: ResponseKind, body: unknown, limit: number])[] = [
  ["chat", { max_tokens: 9 }, 9],
  ["chat", { max_tokens: 9, max_completion_tokens: 8 }, 8],
  ["completions", { max_tokens: 9 }, 9],
  ["chat", { max_tokens: 9, n: 2 }, 18],
  ["completions", { max_tokens: 9, n: 2, prompt: ["a", "b", "c"] }, 54],
  ["completions", { max_tokens: 9, prompt: [[1, 2], [3]] }, 18],
  ["completions", { max_tokens: 9, prompt: [1, 2] }, 9],
  ["responses", { max_output_tokens: 9 }, 9],
  ["anthropic", { max_tokens: 9 }, 9],
  ["huggingface-generate", { parameters: { max_new_tokens: 9 } }, 9],
  ["kserve", { max_tokens: [9] }, 9],
  ["kserve", { max_tokens: 9 }, 9],
  ["token-ids", { request_output_len: 9, input_lengths: 3 }, 9],
  ["kserve", { sampling_parameters: ['{"max_tokens":"9"}'] }, 9],
  ["kserve", { sampling_parameters: "{" }, Number.NaN],
  ["chat", { max_tokens: null }, Number.NaN],
  ["chat", {}, Number.NaN],
  ["chat", [], Number.NaN],
];

for (const [kind, body, limit] of limits)
  test(`the limit of ${kind} ${JSON.stringify(body)}`, () => {
    assert.equal(readTokenLimit(kind, JSON.stringify(body)), limit);
  });
