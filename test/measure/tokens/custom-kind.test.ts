import assert from "node:assert/strict";
import { test } from "node:test";
import { detectCustomKind } from "../../../src/measure/tokens/custom-kind.ts";
import type { ResponseField } from "../../../src/service/openai/response-field.ts";

const field = (found: unknown): ResponseField => ({ find: () => found }) as unknown as ResponseField;

const CASES: readonly (readonly [name: string, answer: unknown, kind: string | undefined, found?: unknown])[] = [
  ["a vector", [0.1, 0.2], "embeddings"],
  ["vectors", [[0.1], [0.2]], "embeddings"],
  ["an embedding by name", { embedding: [0.1] }, "embeddings"],
  ["OpenAI's list of embeddings", { data: [{ embedding: [0.1] }] }, "embeddings"],
  ["a ranking", [{ score: 0.5 }], "rankings"],
  ["a ranking by name", { results: [{ relevance_score: 0.5 }] }, "rankings"],
  ["logits", { rankings: [{ logit: 0.5 }] }, "rankings"],
  ["text", { text: "hello" }, "custom"],
  ["an empty list", { data: [] }, "custom"],
  ["a field that holds a vector", { out: [1] }, "embeddings", [1]],
  ["a field that holds a ranking", { out: 1 }, "rankings", [{ score: 1 }]],
  ["a field that holds text", { embedding: [1] }, "custom", "text"],
  ["a field that is not there", { embedding: [1] }, undefined, null],
];
for (const [name, answer, kind, found] of CASES)
  test(`${name}: ${kind ?? "nothing shows it"}`, () => {
    assert.equal(detectCustomKind([JSON.stringify(answer)], found === undefined ? undefined : field(found)), kind);
  });

test("the end of a stream does not determine its kind", () => {
  assert.equal(detectCustomKind(["data: [DONE]\n\n"], undefined), undefined);
  assert.equal(detectCustomKind(['data: {"text":"a"}\n\n', "data: [DONE]\n\n"], undefined), "custom");
});
