import assert from "node:assert/strict";
import { test } from "node:test";
import { addExplanation, appendExplanation, describeBytes, explainStatus } from "../../src/service/explain-error.ts";
import type { Failure } from "../../src/transport/failure.ts";

/** What a failure says about the body of its response. */

const FAILURE: Failure = { kind: "http", status: 400, message: "HTTP status 400" };
const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

for (const [what, body, expected] of [
  ["text", bytes("no such model"), "no such model"],
  ["nothing", bytes(""), ""],
  [
    "text in another encoding",
    Uint8Array.of(...bytes("Modell nicht verf"), 0xfc, ...bytes("gbar")),
    "Modell nicht verf\ufffdgbar",
  ],
  ["bytes that are no text", Uint8Array.of(0xff, 0xfe, 0x41), "3 bytes"],
  ["bytes with a NUL", Uint8Array.of(0x41, 0, 0x42), "3 bytes"],
] as const)
  test(`a body is described: ${what}`, () => assert.equal(describeBytes(body), expected));

test("an error status gets the response on one line, and the response itself as its response", () => {
  const explained = explainStatus(FAILURE, bytes(" no such\n  model "));
  assert.deepEqual(explained, { ...FAILURE, message: "HTTP status 400: no such model", response: "no such\n  model" });
  for (const body of [undefined, bytes(""), bytes(" \n")]) assert.equal(explainStatus(FAILURE, body), FAILURE);
  const closed: Failure = { kind: "closed", message: "the connection closed" };
  assert.equal(explainStatus(closed, bytes("no such model")), closed);
});

test("long explanations are cut, and an empty one adds nothing", () => {
  const long = "x".repeat(10_000);
  assert.equal(appendExplanation(FAILURE, long).message, `HTTP status 400: ${"x".repeat(300)}`);
  assert.equal(addExplanation(FAILURE, long, "why").response?.length, 4096);
  assert.equal(appendExplanation(FAILURE, ""), FAILURE);
  assert.equal(addExplanation(FAILURE, long, ""), FAILURE);
});
