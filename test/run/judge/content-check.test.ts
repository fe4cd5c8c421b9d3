import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { ExpectedOutput } from "../../../src/inputs/batches.ts";
import { toFunctionPlan } from "../../../src/plan/functions.ts";
import type { Plan } from "../../../src/plan/plan.ts";
import { createContentCheck, type GivenResponse } from "../../../src/run/judge/content-check.ts";
import { compareOutput } from "../../../src/run/judge/response-outputs.ts";
import type { CheckResponse } from "../../../src/service/scenario-response.ts";
import type { Tensor } from "../../../src/service/tensor.ts";
import type { Failure } from "../../../src/transport/failure.ts";

const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text);

function check(fn: CheckResponse, given: Partial<GivenResponse> = {}, responses?: string): Failure | undefined {
  const plan = { measurement: responses === undefined ? {} : { tokens: { responses } } } as unknown as Plan;
  const one = createContentCheck(plan, toFunctionPlan("check", fn as () => unknown));
  return one({ parts: [bytesOf('{"ok":true}')], tensors: [], request: [], tags: {}, ...given });
}

const INT: Tensor = {
  name: "OUT",
  datatype: "INT32",
  shape: [3],
  bytes: new Uint8Array(new Int32Array([1, -2, 3]).buffer),
};
const TEXT: Tensor = { name: "TEXT", datatype: "BYTES", shape: [1], bytes: Uint8Array.of(2, 0, 0, 0, 104, 105) };
const LONG: Tensor = {
  name: "LONG",
  datatype: "INT64",
  shape: [1],
  bytes: new Uint8Array(new BigInt64Array([-5n]).buffer),
};
const HALF: Tensor = { name: "HALF", datatype: "FP16", shape: [1], bytes: Uint8Array.of(0x00, 0x3c) };

describe("a scenario's check of responses", () => {
  const verdicts: readonly { name: string; check: CheckResponse; message: string | RegExp | undefined }[] = [
    { name: "true", check: () => true, message: undefined },
    { name: "nothing", check: () => undefined, message: undefined },
    { name: "false", check: () => false, message: "the scenario's check returned false" },
    { name: "a reason", check: () => "too short", message: "too short" },
    {
      name: "a promise",
      check: (async () => true) as unknown as CheckResponse,
      message: /it must not be asynchronous$/,
    },
    {
      name: "an error",
      check: () => {
        throw new Error("no label");
      },
      message: /^the scenario's check throws: no label \(content-check\.test\.ts:\d+\)$/,
    },
  ];
  for (const { name, check: fn, message } of verdicts)
    test(`that returns ${name}`, () => {
      const failure = check(fn);
      assert.equal(failure?.kind, message === undefined ? undefined : "check");
      if (message instanceof RegExp) assert.match(failure?.message ?? "", message);
      else assert.equal(failure?.message, message);
    });

  const contents: readonly { name: string; check: CheckResponse; given: Partial<GivenResponse>; responses?: string }[] =
    [
      { name: "JSON", check: ({ json }) => (json() as { ok: boolean }).ok, given: {} },
      {
        name: "text of several parts",
        check: ({ text }) => text() === "ab",
        given: { parts: [bytesOf("a"), bytesOf("b")] },
      },
      {
        name: "tensors",
        check: ({ tensors: { OUT, TEXT: text, LONG: long } }) =>
          JSON.stringify([OUT?.shape, OUT?.values(), text?.values(), String(long?.values()[0])]) ===
          '[[3],[1,-2,3],["hi"],"-5"]',
        given: { tensors: [INT, TEXT, LONG] },
      },
      {
        name: "the text of a streamed chat",
        check: ({ content }) => content === "Hello you",
        given: {
          parts: ["Hello", " you"].map((content) =>
            bytesOf(`data: ${JSON.stringify({ choices: [{ delta: { content } }] })}\n\n`),
          ),
        },
        responses: "chat",
      },
      {
        name: "the request's body and tags",
        check: ({ request: { body, tags } }) => (body as { n: number }).n === 4 && tags["size"] === "a",
        given: { request: { bytes: bytesOf('{"n":4}') }, tags: { size: "a" } },
      },
      {
        name: "the request's tensors",
        check: ({ request: { tensors, body } }) => body === undefined && tensors["OUT"]?.values()[1] === -2,
        given: { request: [INT] },
      },
    ];
  for (const { name, check: fn, given, responses } of contents)
    test(`sees ${name}`, () => assert.equal(check(fn, given, responses), undefined));

  test("reads the values of FP16", () => {
    const values = check(({ tensors: { HALF: half } }) => half?.values().join() === "1", { tensors: [HALF] });
    assert.equal(values, undefined);
  });

  const excerpts: readonly { name: string; given: Partial<GivenResponse>; excerpt: string | RegExp }[] = [
    { name: "a body on one line", given: { parts: [bytesOf("a\n  b")] }, excerpt: "a b" },
    { name: "400 characters at most", given: { parts: [bytesOf("x".repeat(9000))] }, excerpt: /^x{400}…$/ },
    { name: "the size of bytes that are no text", given: { parts: [new Uint8Array(12)] }, excerpt: "12 bytes" },
    {
      name: "tensors",
      given: { tensors: [INT, TEXT, HALF] },
      excerpt: /^OUT INT32 \[3\]: 1, -2, 3, TEXT BYTES \[1\]: hi, HALF FP16 \[1\]: 1$/,
    },
    {
      name: "the first values of a large tensor",
      given: { tensors: [{ ...INT, shape: [100], bytes: new Uint8Array(400) }] },
      excerpt: "OUT INT32 [100]: 0, 0, 0, 0, 0, 0, 0, 0, …",
    },
  ];
  for (const { name, given, excerpt } of excerpts)
    test(`keeps ${name} of a wrong response`, () => {
      const found = check(() => false, given)?.excerpt ?? "";
      if (excerpt instanceof RegExp) assert.match(found, excerpt);
      else assert.equal(found, excerpt);
    });
});

const expected = {
  name: "OUT",
  bytes: Uint8Array.of(1, 2, 3, 4),
  items: [
    { place: "data[0]", byteCount: 2 },
    { place: "data[1]", byteCount: 2 },
  ],
} as unknown as ExpectedOutput;

test("equal bytes are right", () => {
  assert.equal(compareOutput(expected, Uint8Array.of(1, 2, 3, 4), 0), undefined);
});

test("a difference names its entry of the data, and the byte within it", () => {
  const failure = compareOutput(expected, Uint8Array.of(1, 2, 3, 9), 0);
  assert.equal(failure?.kind, "validation");
  assert.equal(failure?.message, "Output doesn't match expected output: OUT differs at byte 1 (data[1])");
});

test("an output that is missing or has another size names the entries", () => {
  for (const [actual, count] of [
    [undefined, 0],
    [Uint8Array.of(1), 1],
  ] as const)
    assert.equal(
      compareOutput(expected, actual, 0)?.message,
      `Output size doesn't match expected size: OUT has ${count} bytes, expected 4 (data[0] to data[1])`,
    );
});
