import assert from "node:assert/strict";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import type { PackedResponse, ResponseSink } from "../../../src/measure/tokens/packed-responses.ts";
import { SpareThreads, TokenLink } from "../../../src/measure/tokens/token-link.ts";
import type { ResponseRecords } from "../../../src/result/request-record.ts";
import { GroupedTokens } from "../../../src/run/groups/grouped-tokens.ts";
import { groupSteps } from "../../../src/run/groups/request-groups.ts";
import { openTokens } from "../../../src/run/judge/open-tokens.ts";
import { firstByteOf, ResponsePacker } from "../../../src/run/judge/response-packer.ts";
import { Slots } from "../../../src/run/send/slots.ts";
import { Call } from "../../../src/transport/call.ts";
import type { Failure } from "../../../src/transport/failure.ts";
import { KeptEvents } from "../../../src/transport/kept-events.ts";
import { makePlan } from "../../plan/make-plan.ts";
import { LIMIT } from "../../time-limit.ts";

const bytes = new TextEncoder().encode("question");
const feed = { contentOf: () => ({ bytes }) };
const failure: Failure = { kind: "closed", message: "cut" };

function makeCall(change: Partial<Call> = {}): Call {
  return Object.assign(new Call(0), { sendStartNs: 1000, endNs: 9000, ...change });
}

test("the prompt of a step is added once, before its responses and failures", () => {
  const added: unknown[][] = [];
  const known = new Set<number>();
  const sink = {
    knowsPrompt: (step: number) => known.has(step),
    addPrompt: (step: number) => added.push(["prompt", step, known.add(step).size]),
    addResponse: ({ index, step, server }: { index: number; step: number; server?: string }) =>
      added.push(["response", index, step, server]),
    addFailure: ({ step, failure: { server } }: { step: number; failure: Failure }) =>
      added.push(["failure", step, server]),
  } as unknown as ResponseSink;
  const packer = new ResponsePacker(sink, feed, ["a", "b"]);
  const slots = new Slots();
  slots.steps[0] = 7;
  packer.addResponse(3, makeCall({ server: 1 }), slots, { offsetsNs: [], outputs: [], hasEmptyEnd: false });
  packer.addFailure(makeCall(), slots, failure);
  assert.deepEqual(added, [
    ["prompt", 7, 1],
    ["response", 3, 7, "b"],
    ["failure", 7, "a"],
  ]);
});

test("the events of a stream are packed where they are, without a copy of each", () => {
  const packed: string[] = [];
  const sink = {
    knowsPrompt: () => true,
    addResponse: ({ lengths, parts }: PackedResponse) =>
      packed.push(`${lengths.join("+")} bytes: ${Buffer.concat([...parts]).toString()}`),
  } as unknown as ResponseSink;
  const events = new KeptEvents();
  for (const text of ["one", "three"]) events.add(0, Buffer.from(text), 0, text.length);
  const responses: ResponseRecords = {
    offsetsNs: [1, 2],
    get outputs(): never {
      throw new Error("copied");
    },
    hasEmptyEnd: false,
    events,
  };
  const slots = new Slots();
  slots.grow(1);
  new ResponsePacker(sink, feed, undefined).addResponse(0, makeCall(), slots, responses);
  assert.deepEqual(packed, ["3+5 bytes: onethree"]);
});

test("a response carries how long its request waited since it was due", () => {
  const waits: unknown[] = [];
  const sink = {
    knowsPrompt: () => true,
    addResponse: ({ sendNs, waitNs }: { sendNs: number; waitNs: number }) => waits.push([sendNs, waitNs]),
  } as unknown as ResponseSink;
  const packer = new ResponsePacker(sink, feed, undefined);
  const slots = new Slots();
  slots.grow(1);
  packer.addResponse(0, makeCall(), slots, { offsetsNs: [], outputs: [], hasEmptyEnd: false });
  slots.intendedNs[0] = 900.4;
  packer.addResponse(1, makeCall({ sendStartNs: 1000.6 }), slots, { offsetsNs: [], outputs: [], hasEmptyEnd: false });
  assert.deepEqual(waits, [
    [1000, 0],
    [1001, 101],
  ]);
});

test("a failed request has a first byte when one arrived before its end, or when it is an HTTP error", () => {
  assert.equal(firstByteOf(makeCall({ firstByteNs: 5000 }), failure), 5000);
  assert.equal(firstByteOf(makeCall({ firstByteNs: 9000 }), failure), undefined);
  assert.equal(firstByteOf(makeCall({ firstByteNs: 9000 }), { kind: "http", message: "503" }), 9000);
  assert.equal(firstByteOf(makeCall({ firstByteNs: 0 }), { kind: "http", message: "503" }), undefined);
});

const planWith = (tokenizer: string) =>
  makePlan({ measurement: { tokens: { responses: "chat", isStreamed: true, tokenizer, revision: "main" } } });

test("one target has one link, and groups have a link for each target with tokens", LIMIT, async () => {
  const alone = await openTokens([planWith("none")], new SpareThreads());
  assert.ok((await alone.measure(undefined)) instanceof TokenLink);
  await alone.close();
  const several = await openTokens([planWith("none"), makePlan()], new SpareThreads());
  const groups = groupSteps([{ member: 1, tags: { target: "b" } }], 1);
  const tokens = await several.measure(groups);
  assert.ok(tokens instanceof GroupedTokens);
  assert.equal(tokens.responses.knowsPrompt(0), true, "nothing is packed for a target without tokens");
  await several.close();
});

test("when a tokenizer cannot be loaded, the other threads are ended", LIMIT, async () => {
  const absent = fileURLToPath(new URL("./absent", import.meta.url));
  await assert.rejects(openTokens([planWith("none"), planWith(absent)], new SpareThreads()), /absent/);
});
