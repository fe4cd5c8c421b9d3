import assert from "node:assert/strict";
import { test } from "node:test";
import { createPayloadCodec } from "../../../src/service/openai/codec.ts";
import { hideSecrets, secretsOf } from "../../../src/service/openai/secrets.ts";

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

test("keys are those of the headers that carry one, and of the environment", () => {
  process.env["RAMPART_TEST_KEY"] = "from-env";
  try {
    const headers = [
      ["Authorization", "Bearer sk-123456"],
      ["X-API-Key", "abcdef"],
      ["api-key", "x"],
      ["X-Team", "search"],
    ] as const;
    assert.deepEqual(secretsOf({ headers, apiKeyEnv: "RAMPART_TEST_KEY" }), ["sk-123456", "abcdef", "from-env"]);
  } finally {
    delete process.env["RAMPART_TEST_KEY"];
  }
});

test("a server that says the key again does not have it printed", () => {
  const codec = hideSecrets(createPayloadCodec("v1/chat/completions", true), ["sk-123456"]);
  const failure = { kind: "http", status: 401, message: "HTTP status 401" } as const;
  const explained = codec.explain(failure, bytes('{"error":{"message":"no such key: sk-123456 (sk-123456)"}}'));
  assert.equal(explained.message, "HTTP status 401: no such key: *** (***)");
  assert.doesNotMatch(JSON.stringify(explained), /sk-1/);
  const event = bytes('data: {"error":{"message":"key sk-123456 is over its limit"}}\n\n');
  const told = codec.explain({ kind: "unreadable", message: "the server sent an error" }, event);
  assert.equal(told.message, "the server sent an error: key *** is over its limit");
});
