import assert from "node:assert/strict";
import { test } from "node:test";
import { CONNECTIONS_PER_SEC, openAtPace } from "../../src/transport/open-at-pace.ts";
import { FakeClock } from "../runtime/fake-clock.ts";

/** The pace of opening connections, on a simulated clock. */

interface Opened {
  /** When each connection was begun, ms. */
  readonly begunMs: number[];
  close(): void;
  readonly done: Promise<void>;
}

/** @param takesMs time until the connection of this number is open; Infinity: never */
function openMany(clock: FakeClock, count: number, takesMs: (index: number) => number, perSec?: number): Opened {
  const begunMs: number[] = [];
  let isClosed = false;
  const items = Array.from({ length: count }, (_, index) => index);
  const open = (index: number): Promise<void> => {
    begunMs.push(clock.nowMs);
    const { promise, resolve } = Promise.withResolvers<void>();
    const ms = takesMs(index);
    if (Number.isFinite(ms)) clock.after(ms, resolve);
    return promise;
  };
  const done = openAtPace(items, { open, isClosed: () => isClosed, perSec, clock });
  return {
    begunMs,
    done,
    close: () => {
      isClosed = true;
    },
  };
}

/** Goes on in steps of a millisecond. */
async function pass(clock: FakeClock, ms: number): Promise<void> {
  for (let step = 0; step < ms; step++) await clock.advanceMs(1);
}

test("a few connections are opened at once", async () => {
  const clock = new FakeClock();
  const { begunMs, done } = openMany(clock, 64, () => 1);
  assert.equal(begunMs.length, 64);
  await pass(clock, 2);
  await done;
});

test("thousands are opened at the pace, and no more than a burst after a pause of the event loop", async () => {
  const clock = new FakeClock();
  const { begunMs } = openMany(clock, 3000, () => 1);
  await pass(clock, 200);
  const due = 64 + (200 * CONNECTIONS_PER_SEC) / 1000;
  assert.ok(Math.abs(begunMs.length - due) <= 10, `${begunMs.length} of ${due}`);
  const before = begunMs.length;
  clock.spendMs(500);
  await pass(clock, 1);
  assert.ok(begunMs.length - before <= 64 + 5, `${begunMs.length - before} after the pause`);
});

test("each of several threads has its part of the pace", async () => {
  const clock = new FakeClock();
  const { begunMs } = openMany(clock, 3000, () => 1, CONNECTIONS_PER_SEC / 5);
  await pass(clock, 200);
  assert.ok(Math.abs(begunMs.length - (64 + 200)) <= 5, String(begunMs.length));
});

test("a server that does not answer gets few connections at once, but more with time", async () => {
  const clock = new FakeClock();
  const { begunMs } = openMany(clock, 3000, () => Number.POSITIVE_INFINITY);
  await pass(clock, 900);
  assert.equal(begunMs.length, 128);
  await pass(clock, 1000);
  assert.equal(begunMs.length, 256);
});

test("lost handshakes halve the pace, once for all that were lost together", async () => {
  const clock = new FakeClock();
  const { begunMs } = openMany(clock, 20_000, (index) => (index < 20 ? 1000 : 1));
  await pass(clock, 1100);
  const before = begunMs.length;
  await pass(clock, 200);
  const perSec = (begunMs.length - before) * 5;
  assert.ok(Math.abs(perSec - CONNECTIONS_PER_SEC / 2) < 100, `${perSec} per second`);
});

test("a pause of the event loop is no lost handshake", async () => {
  const clock = new FakeClock();
  const { begunMs } = openMany(clock, 20_000, () => 5);
  await pass(clock, 50);
  clock.spendMs(1500);
  await pass(clock, 50);
  const before = begunMs.length;
  await pass(clock, 200);
  const perSec = (begunMs.length - before) * 5;
  assert.ok(Math.abs(perSec - CONNECTIONS_PER_SEC) < 200, `${perSec} per second`);
});

test("nothing is opened once the client is closed", async () => {
  const clock = new FakeClock();
  const { begunMs, done, close } = openMany(clock, 3000, () => 1);
  await pass(clock, 10);
  close();
  const before = begunMs.length;
  await pass(clock, 10);
  await done;
  assert.equal(begunMs.length, before);
});
