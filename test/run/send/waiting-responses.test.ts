import assert from "node:assert/strict";
import { test } from "node:test";
import { Slots } from "../../../src/run/send/slots.ts";
import { WaitingResponses } from "../../../src/run/send/waiting-responses.ts";
import { systemClock } from "../../../src/runtime/clock.ts";
import { arrivalNs, forgetArrivals } from "../../../src/transport/arrival.ts";
import { Call } from "../../../src/transport/call.ts";
import { makeDriver, starterOf } from "./fake-client.ts";

const closed = (concurrency: number): { kind: "closed"; concurrency: number } => ({ kind: "closed", concurrency });
const ENDLESS = Number.POSITIVE_INFINITY;

test("a slot has its next request before its response is judged, with the data of the earlier request", async () => {
  const seen: { sent: number; endNs: number; step: number }[] = [];
  const ends: number[] = [];
  const { driver, client, flags } = makeDriver({
    judgeLater: (call, slots) => {
      seen.push({ sent: client.sent.length, endNs: call.endNs, step: slots.steps[call.slot] as number });
      return undefined;
    },
  });
  await starterOf(driver).start(closed(2), ENDLESS);
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

test("a response that is found wrong later is a failure like any other, and one that cannot be judged ends the run", async () => {
  const verdicts = [{ kind: "validation", message: "wrong" } as const, undefined];
  const { driver, client, failures, errors, flags } = makeDriver({
    judgeLater: () => {
      if (verdicts.length === 0) throw new Error("judging failed");
      return verdicts.shift();
    },
  });
  await starterOf(driver).start(closed(1), 3);
  for (let i = 0; i < 3; i++) client.answer(0);
  await driver.finished();
  driver.drain();
  assert.deepEqual([driver.ended.failedCount, driver.ended.completedCount, flags.length], [1, 1, 2]);
  assert.deepEqual([failures.length, errors.length], [1, 1]);
  driver.close();
});

const LIMITS = [
  { name: "by number", max: { responses: 256, bytes: 1e9 }, bodyBytes: 1, waiting: 256 },
  { name: "by size", max: { responses: 1000, bytes: 10_500 }, bodyBytes: 922, waiting: 10 },
  { name: "but for one, however large", max: { responses: 256, bytes: 100 }, bodyBytes: 1000, waiting: 1 },
  { name: "by far more than 256, by default", max: undefined, bodyBytes: 1, waiting: 600 },
] as const;
for (const { name, max, bodyBytes, waiting: mostWaiting } of LIMITS)
  test(`deferred responses are limited ${name}, and judged in order of arrival, each with its own body`, () => {
    const judged: number[] = [];
    const bodies: (number | undefined)[] = [];
    const judge = (call: Call): void => {
      judged.push(call.endNs);
      bodies.push(call.body?.[0]);
    };
    const waiting = new WaitingResponses(judge, { max });
    const slots = new Slots();
    slots.grow(1);
    const call = new Call(0);
    const order = Array.from({ length: 600 }, (_, i) => i);
    for (const i of order) {
      call.endNs = i;
      call.body = new Uint8Array(bodyBytes).fill(i % 251);
      waiting.add(call, slots, 0);
    }
    assert.equal(judged.length, 600 - mostWaiting);
    waiting.flush();
    assert.deepEqual(judged, order);
    assert.deepEqual(
      bodies,
      order.map((i) => i % 251),
    );
  });

test("responses wait as long as others arrive, until there are half as many as may wait", () => {
  let judgedCount = 0;
  const turns: (() => void)[] = [];
  const nextTurn = (action: () => void): (() => void) => {
    turns.push(action);
    return () => {};
  };
  const max = { responses: 8, bytes: 1e9 };
  const waiting = new WaitingResponses(() => judgedCount++, {
    max,
    clock: { ...systemClock, nowNs: () => 0, nextTurn },
  });
  const slots = new Slots();
  slots.grow(1);
  const takeTurn = (hasRead: boolean): number => {
    if (hasRead) arrivalNs(1, 0, 1);
    for (const action of turns.splice(0)) action();
    forgetArrivals();
    return judgedCount;
  };
  for (let i = 0; i < 3; i++) waiting.add(new Call(0), slots, 0);
  assert.deepEqual([takeTurn(false), takeTurn(true), takeTurn(true), takeTurn(false)], [0, 0, 0, 3]);
  for (let i = 0; i < 4; i++) waiting.add(new Call(0), slots, 0);
  assert.deepEqual([takeTurn(true), takeTurn(true)], [3, 7]);
});

test("a response that a later one decides about waits for it, a flush, or the thousandth like it", async () => {
  const judged: number[] = [];
  let judgedCount = 0;
  const waiting = new WaitingResponses((call) => {
    judged.push(call.endNs);
    judgedCount++;
  });
  let isDecided = false;
  waiting.isUndecided = ({ endNs, member }) => {
    isDecided ||= endNs === 2;
    return member === 0 && !isDecided;
  };
  const slots = new Slots();
  slots.grow(1);
  const call = new Call(0);
  const add = (endNs: number, member = 0): void => {
    addedCount++;
    waiting.add(Object.assign(call, { endNs, member }), slots, 0);
  };
  let addedCount = 0;
  /** Waits until all are judged or wait for a later one. */
  const settle = async (): Promise<void> => {
    while (judgedCount + waiting.undecidedCount < addedCount) await new Promise((resolve) => setImmediate(resolve));
  };
  add(0);
  add(1);
  add(10, 1);
  await settle();
  assert.deepEqual([judged, waiting.undecidedCount], [[10], 2], "one of another member decides nothing");
  add(2);
  await settle();
  assert.deepEqual([judged.splice(0), waiting.undecidedCount], [[10, 0, 1, 2], 0]);
  isDecided = false;
  add(3);
  await settle();
  waiting.flush();
  assert.deepEqual(judged.splice(0), [3]);
  for (let i = 0; i < 999; i++) add(4);
  await settle();
  assert.equal(judged.length, 0);
  add(5);
  add(6);
  await settle();
  assert.deepEqual([judged.length, judged.at(-1), waiting.undecidedCount], [1001, 6, 0]);
});
