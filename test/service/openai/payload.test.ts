import assert from "node:assert/strict";
import { test } from "node:test";
import { createPayload, type PayloadFormat, type PayloadSettings } from "../../../src/service/openai/payload.ts";
import type { PromptEntry } from "../../../src/service/openai/prompt-entry.ts";

const entry: PromptEntry = { texts: ["a prompt"], maxTokens: 10 };
const image = "data:image/png;base64,AAAA";
const rich: PromptEntry = {
  ...entry,
  system: "be brief",
  images: [image],
  audio: [{ format: "wav", base64: "BBBB" }],
};

function bodyText(
  of: PromptEntry,
  settings: Partial<PayloadSettings> & { format: PayloadFormat },
  position = 0,
): string {
  const defaults = {
    models: ["tiny"],
    modelSelection: "round_robin",
    seed: 1,
    isStreaming: false,
    hasExactOutput: false,
    extra: {},
  } as const;
  return JSON.stringify(createPayload(of, position, { ...defaults, ...settings }).body);
}

const plain: [PayloadFormat, PromptEntry, string][] = [
  ["chat", entry, '{"model":"tiny","messages":[{"role":"user","content":"a prompt"}],"stream":true,"max_tokens":10}'],
  ["chat", { texts: ["a"] }, '{"model":"tiny","messages":[{"role":"user","content":"a"}],"stream":true}'],
  [
    "chat",
    rich,
    '{"model":"tiny","messages":[{"role":"system","content":"be brief"},{"role":"user","content":"a prompt"}],"stream":true,"max_tokens":10}',
  ],
  [
    "multimodal",
    { ...rich, system: "be brief" },
    `{"model":"tiny","messages":[{"role":"system","content":"be brief"},{"role":"user","content":[{"type":"text","text":"a prompt"},{"type":"image_url","image_url":{"url":"${image}"}},{"type":"input_audio","input_audio":{"data":"BBBB","format":"wav"}}]}],"stream":true,"max_tokens":10}`,
  ],
  ["completions", entry, '{"model":"tiny","prompt":["a prompt"],"stream":true,"max_tokens":10}'],
  [
    "responses",
    entry,
    '{"input":[{"role":"user","content":"a prompt","type":"message"}],"model":"tiny","stream":true,"max_output_tokens":10}',
  ],
  [
    "responses",
    { texts: ["a"], images: [image] },
    `{"input":[{"role":"user","content":[{"type":"input_text","text":"a"},{"type":"input_image","image_url":"${image}"}],"type":"message"}],"model":"tiny","stream":true}`,
  ],
  [
    "messages",
    entry,
    '{"model":"tiny","messages":[{"role":"user","content":"a prompt"}],"max_tokens":10,"stream":true}',
  ],
  [
    "messages",
    { texts: ["a"], system: "s", images: [image, "http://host/x.png"] },
    '{"model":"tiny","messages":[{"role":"user","content":[{"type":"image","source":{"type":"base64","media_type":"image/png","data":"AAAA"}},{"type":"image","source":{"type":"url","url":"http://host/x.png"}},{"type":"text","text":"a"}]}],"system":"s","max_tokens":1024,"stream":true}',
  ],
  ["embeddings", { texts: ["a", "b"] }, '{"model":"tiny","input":["a","b"]}'],
  ["nvclip", { texts: ["a"], images: [image] }, `{"model":"tiny","input":["a","${image}"]}`],
  ["image_retrieval", { texts: [], images: [image] }, `{"input":[{"type":"image_url","url":"${image}"}]}`],
  [
    "rankings",
    { texts: ["q"], passages: ["x", "y"] },
    '{"query":{"text":"q"},"passages":[{"text":"x"},{"text":"y"}],"model":"tiny"}',
  ],
  ["cohere_rankings", { texts: ["q"], passages: ["x"] }, '{"model":"tiny","query":"q","documents":["x"]}'],
  ["tei_rankings", { texts: ["q"], passages: ["x"] }, '{"query":"q","texts":["x"]}'],
  ["generate", entry, '{"text_input":["a prompt"],"stream":true,"max_tokens":10}'],
  [
    "huggingface_generate",
    entry,
    '{"model":"tiny","inputs":"a prompt","parameters":{"max_new_tokens":10},"stream":true}',
  ],
  [
    "huggingface_generate",
    { texts: ["a"], images: [image] },
    `{"model":"tiny","inputs":"![](${image}) a","stream":true}`,
  ],
  [
    "tensorrtllm",
    entry,
    '{"model":"tiny","text_input":["a prompt"],"max_tokens":[10],"exclude_input_in_output":[true],"stream":[true]}',
  ],
  [
    "tensorrtllm",
    { texts: ["a"] },
    '{"model":"tiny","text_input":["a"],"max_tokens":[256],"exclude_input_in_output":[true],"stream":[true]}',
  ],
  [
    "vllm",
    entry,
    '{"model":"tiny","text_input":["a prompt"],"exclude_input_in_output":[true],"stream":[true],"sampling_parameters":["{\\"max_tokens\\":\\"10\\"}"]}',
  ],
];

test("each endpoint's body has its keys in the original's order", () => {
  for (const [format, of, expected] of plain) {
    assert.equal(bodyText(of, { format, isStreaming: true }), expected, format);
  }
  assert.equal(bodyText({ texts: ["a"] }, { format: "completions" }), '{"model":"tiny","prompt":["a"]}');
});

test("streams of chats and completions can be asked for the server's counts, and nothing else is changed by that", () => {
  for (const [format, of, expected] of plain) {
    const isCounted = ["chat", "multimodal", "completions"].includes(format);
    const counted = expected.replace('"stream":true', '"stream":true,"stream_options":{"include_usage":true}');
    assert.equal(bodyText(of, { format, isStreaming: true, asksUsage: true }), isCounted ? counted : expected, format);
    assert.doesNotMatch(bodyText(of, { format, asksUsage: true }), /stream/, format);
  }
  const own = { stream_options: { include_usage: false } };
  const body = JSON.parse(bodyText(entry, { format: "chat", isStreaming: true, asksUsage: true, extra: own }));
  assert.deepEqual(body.stream_options, { include_usage: false });
});

test("Triton's backends can be asked for an exact output length", () => {
  assert.match(bodyText(entry, { format: "tensorrtllm", hasExactOutput: true }), /"min_length":\[10\]}$/);
  const vllm = bodyText(entry, { format: "vllm", hasExactOutput: true });
  assert.match(vllm, /\["\{\\"max_tokens\\":\\"10\\",\\"min_tokens\\":\\"10\\"\}"\]/);
});

const extra = { temperature: 0.7, max_tokens: 99, nested: { a: 1 }, nothing: null };

test("extra inputs come last, or replace a value in place; an entry's own come after them", () => {
  assert.equal(
    bodyText({ ...entry, extra: { temperature: 1, priority: 3 } }, { format: "completions", extra }),
    '{"model":"tiny","prompt":["a prompt"],"max_tokens":99,"temperature":1,"nested":{"a":1},"nothing":null,"priority":3}',
  );
  assert.match(
    bodyText({ texts: ["a"] }, { format: "vllm", extra: { top_k: 5 } }),
    /"exclude_input_in_output":\[true\],"top_k":\[5\]}$/,
  );
  assert.match(
    bodyText(entry, { format: "huggingface_generate", extra: { max_new_tokens: 3, x: 1 } }),
    /"parameters":\{"max_new_tokens":3\},"x":1}$/,
  );
});

test("rankings:tei asks for the other kind of rankings and is not sent", () => {
  const of = { texts: ["q"], passages: ["x"] };
  assert.equal(
    bodyText(of, { format: "rankings", extra: { rankings: "tei", truncate: true } }),
    '{"query":"q","texts":["x"],"truncate":true}',
  );
});

test("several models take turns, or are drawn by the seed; an entry's own goes first", () => {
  const modelsOf = (settings: Partial<PayloadSettings>, count = 6): string[] =>
    Array.from({ length: count }, (_, position) => {
      const text = bodyText(entry, { format: "chat", models: ["a", "b", "c"], ...settings }, position);
      return (JSON.parse(text) as { model: string }).model;
    });
  assert.deepEqual(modelsOf({}), ["a", "b", "c", "a", "b", "c"]);
  const drawn = modelsOf({ modelSelection: "random", seed: 42 }, 300);
  assert.deepEqual(drawn, modelsOf({ modelSelection: "random", seed: 42 }, 300));
  for (const model of ["a", "b", "c"]) {
    const share = drawn.filter((other) => other === model).length;
    assert.ok(share > 70 && share < 130, `${model}: ${share} of 300`);
  }
  assert.match(bodyText({ ...entry, model: "own" }, { format: "chat" }), /^\{"model":"own"/);
});
