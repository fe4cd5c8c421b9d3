import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import {
  type PackedFailure,
  partsOf,
  ResponsePacker,
  visitResponses,
} from "../../../src/measure/tokens/packed-responses.ts";
import type { PackedBytes } from "../../../src/transport/packed-bytes.ts";

const encoder = new TextEncoder();
const text = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);

test("packed responses come out as they went in", () => {
  const packages: PackedBytes[] = [];
  const packer = new ResponsePacker((packed) => packages.push(packed));
  const failure: PackedFailure = {
    step: 4,
    sequenceId: 9,
    sendNs: 6e6,
    firstByteNs: Number.NaN,
    endNs: 7e6,
    responseCount: 2,
    failure: { kind: "http", message: "é", status: 503 },
  };
  packer.addPrompt(3, encoder.encode("prompt"));
  packer.addPrompt(4, encoder.encode("turn"), "séance");
  const bodies = ["a", "", "ccc"].map((body) => encoder.encode(body));
  packer.addResponse({
    step: 3,
    sequenceId: 1,
    sendNs: 5e6,
    waitNs: 7,
    offsetsNs: [10e6, 11e6, 12e6],
    ...partsOf(bodies),
  });
  packer.addFailure(failure);
  packer.addResponse({ step: 7, sequenceId: 0, sendNs: 9e6, offsetsNs: [], ...partsOf([]) });
  assert.deepEqual([packer.knowsPrompt(3), packer.knowsPrompt(7), packages.length], [true, false, 0]);
  packer.flush();
  packer.flush();
  assert.equal(packages.length, 1);
  const seen: unknown[] = [];
  visitResponses(packages[0] as PackedBytes, {
    onPrompt: (step, body, session) => seen.push(["prompt", step, text(body), session]),
    onResponse: ({ step, sequenceId, sendNs, waitNs, offsetsNs, texts }) =>
      seen.push([step, sequenceId, sendNs, waitNs, Array.from(offsetsNs), texts]),
    onFailure: (seenFailure) => seen.push(seenFailure),
  });
  assert.deepEqual(seen, [
    ["prompt", 3, "prompt", undefined],
    ["prompt", 4, "turn", "séance"],
    [3, 1, 5e6, 7, [10e6, 11e6, 12e6], ["a", "", "ccc"]],
    failure,
    [7, 0, 9e6, 0, [], []],
  ]);
  packer.forgetPrompts();
  assert.equal(packer.knowsPrompt(3), false);
});

test("packages leave when they are full, and nothing is lost", () => {
  let packages = 0;
  let responses = 0;
  let bytes = 0;
  const packer = new ResponsePacker((packed) => {
    packages++;
    visitResponses(packed, {
      onPrompt: () => {},
      onResponse: ({ texts }) => {
        responses++;
        bytes += texts.reduce((sum, read) => sum + read.length, 0);
      },
      onFailure: () => {},
    });
  });
  const big = new Uint8Array(100_000).fill(65);
  for (let index = 0; index < 10; index++)
    packer.addResponse({ step: 0, sequenceId: 0, sendNs: 0, offsetsNs: [1], ...partsOf([big]) });
  packer.flush();
  assert.ok(packages >= 3, `${packages} packages`);
  assert.deepEqual([responses, bytes], [10, 1_000_000]);
});

test("each body is decoded by itself, whatever bytes are next to it", () => {
  const piece = fc.oneof(
    fc.string({ unit: "grapheme-ascii" }).map((part) => encoder.encode(part)),
    fc.string({ unit: "grapheme" }).map((part) => encoder.encode(part)),
    fc.uint8Array({ maxLength: 4 }),
    fc.constantFrom([0xef, 0xbb, 0xbf, 0x61], [0xc3], [0xa9], [0xff, 0xfe]).map((bytes) => Uint8Array.from(bytes)),
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 6 }), (bodies) => {
      const seen: (readonly string[])[] = [];
      const packer = new ResponsePacker((packed) =>
        visitResponses(packed, {
          onPrompt: () => {},
          onResponse: ({ texts }) => seen.push(texts),
          onFailure: () => {},
        }),
      );
      const response = { step: 0, sequenceId: 0, sendNs: 0, offsetsNs: bodies.map((_, read) => read) };
      packer.addResponse({ ...response, ...partsOf(bodies) });
      packer.addResponse({ ...response, ...partsOf(bodies) });
      packer.flush();
      assert.deepEqual(seen, [bodies.map(text), bodies.map(text)]);
    }),
  );
});
