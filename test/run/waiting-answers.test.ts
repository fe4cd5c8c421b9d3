import assert from "node:assert/strict";
import { test } from "node:test";
import { Slots } from "../../src/run/slots.ts";
import { WaitingAnswers } from "../../src/run/waiting-answers.ts";
import { Call } from "../../src/transport/client.ts";
import { makeDriver } from "./fake-client.ts";

const closed = (concurrency: number): { kind: "closed"; concurrency: number } => ({ kind: "closed", concurrency });
const ENDLESS = Number.POSITIVE_INFINITY;

test("a slot has its next request before its answer is looked into, which happens with what was known of the former one", async () => {
  const seen: { sent: number; endNs: number; step: number }[] = [];
  const ends: number[] = [];
  const { driver, client, flags } = makeDriver({
    judgeLater: (call, slots) => {
      seen.push({ sent: client.sent.length, endNs: call.endNs, step: slots.steps[call.slot] as number });
      return undefined;
    },
  });
  await driver.start(closed(2), ENDLESS);
  for (const slot of [0, 1, 0]) {
    client.answer(slot);
    ends.push(client.calls[slot]?.endNs as number);
  }
  assert.deepEqual([seen.length, client.sent.length, driver.ended.completedCount], [0, 5, 0]);
  while (seen.length < 3) await new Promise((resolve) => setImmediate(resolve));
  assert.deepEqual(
    seen.map(({ sent }) => sent),
    [5, 5, 5],
  );
  assert.deepEqual(
    seen.map(({ endNs }) => endNs),
    ends,
  );
  assert.equal(driver.ended.completedCount, 3);
  client.answer(1);
  driver.drain();
  assert.deepEqual([driver.ended.completedCount, flags.length], [4, 4]);
  driver.close();
});

test("an answer that is found wrong later is a failure like any other, and one that cannot be judged ends the run", async () => {
  const verdicts = [{ kind: "validation", message: "wrong" } as const, undefined];
  const { driver, client, failures, errors, flags } = makeDriver({
    judgeLater: () => {
      if (verdicts.length === 0) throw new Error("judging failed");
      return verdicts.shift();
    },
  });
  await driver.start(closed(1), 3);
  for (let i = 0; i < 3; i++) client.answer(0);
  await driver.finished();
  driver.drain();
  assert.deepEqual([driver.ended.failedCount, driver.ended.completedCount, flags.length], [1, 1, 2]);
  assert.deepEqual([failures.length, errors.length], [1, 1]);
  driver.close();
});

test("no more than 256 answers wait, in the order in which they came, each with its own bodies", () => {
  const judged: number[] = [];
  const bodies: (number | undefined)[] = [];
  const waiting = new WaitingAnswers((call) => {
    judged.push(call.endNs);
    bodies.push(call.body?.[0]);
  });
  const slots = new Slots();
  slots.grow(1);
  const call = new Call(0);
  for (let i = 0; i < 600; i++) {
    call.endNs = i;
    call.body = new Uint8Array([i % 251]);
    waiting.add(call, slots, 0);
  }
  assert.equal(judged.length, 600 - 256);
  waiting.flush();
  assert.deepEqual(
    judged,
    Array.from({ length: 600 }, (_, i) => i),
  );
  assert.deepEqual(
    bodies,
    Array.from({ length: 600 }, (_, i) => i % 251),
  );
});

test("no more than 16 MiB of answers wait, however few they are", () => {
  let judged = 0;
  const waiting = new WaitingAnswers(() => judged++);
  const slots = new Slots();
  const answer = (body: Uint8Array | undefined, ...events: number[]): void => {
    const call = new Call(0);
    call.body = body;
    call.responses = events.map((bytes) => ({ readNs: 0, body: new Uint8Array(bytes), isEmpty: false }));
    waiting.add(call, slots, 0);
  };
  answer(new Uint8Array(9e6));
  answer(undefined, 3e6, 3e6);
  assert.equal(judged, 0);
  answer(new Uint8Array(9e6));
  assert.equal(judged, 1, "the first one made room");
  answer(new Uint8Array(30e6));
  assert.equal(judged, 3, "one that is longer by itself waits alone");
  answer(undefined);
  assert.equal(judged, 4);
  waiting.flush();
  assert.equal(judged, 5);
});
