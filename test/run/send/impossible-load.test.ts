import assert from "node:assert/strict";
import { test } from "node:test";
import { constantArrivals, intervalArrivals, poissonArrivals } from "../../../src/load/arrivals.ts";
import { LevelRun } from "../../../src/run/conduct/level.ts";
import { FakeClock } from "../../runtime/fake-clock.ts";
import { makeLevel, settleWithin } from "../conduct/make-level.ts";
import { type DriverUnderTest, type FakeClient, makeDriver, starterOf } from "./fake-client.ts";

/** Loads that a client cannot send, on a clock on which each send takes time: the event loop has its turns, and nothing grows without a limit. */

const SEND_MS = 0.05;
const ENDLESS = Number.POSITIVE_INFINITY;
const LANES = { laneCount: 4, isSync: false, keepsOrder: false, sequenceCount: 4, isSerial: false };

/** Makes each send take time, in which the event loop has no turn. */
function slowDown(client: FakeClient, clock: FakeClock): void {
  const send = client.send.bind(client);
  client.send = (...args) => {
    clock.spendMs(SEND_MS);
    send(...args);
  };
}

interface Slow extends DriverUnderTest {
  readonly clock: FakeClock;
}

function makeSlow(options: Parameters<typeof makeDriver>[0] = {}): Slow {
  const clock = new FakeClock();
  const made = makeDriver({ ...LANES, clock, ...options });
  slowDown(made.client, clock);
  return { ...made, clock };
}

/** Moves the clock on in steps, after which timers have their turn. Returns the longest time without one. */
async function longestStallMs(clock: FakeClock, untilMs: number): Promise<number> {
  let longest = 0;
  while (clock.nowMs < untilMs) {
    const before = clock.nowMs;
    await clock.advanceMs(0.5);
    longest = Math.max(longest, clock.nowMs - before);
  }
  return longest;
}

const RATES = [30_000, 200_000, 1_000_000, 1e9];

for (const perSec of RATES) {
  test(`at ${perSec} requests/s timers and signals have their turn every few milliseconds`, async () => {
    const { driver, client, clock } = makeSlow();
    await starterOf(driver).start({ kind: "scheduled", arrivals: constantArrivals(perSec) }, ENDLESS);
    // 32 requests are sent in any case, as a thread may have waited for its core.
    assert.ok((await longestStallMs(clock, 60)) <= 32 * SEND_MS + 1);
    assert.ok(client.sent.length > 500, `${client.sent.length} were sent`);
    driver.close();
  });

  test(`at ${perSec} requests/s sending ends at the limit of outstanding requests`, async () => {
    const { driver, client, clock, limits } = makeSlow({ maxOutstanding: 300 });
    await starterOf(driver).start({ kind: "scheduled", arrivals: constantArrivals(perSec) }, ENDLESS);
    await longestStallMs(clock, 60);
    assert.deepEqual([client.sent.length, client.maxActive, limits], [300, 300, [undefined]]);
    for (const slot of client.active) client.answer(slot);
    await clock.advanceMs(10);
    assert.equal(client.sent.length, 300, "responses make no room, because the load has ended");
    driver.close();
  });
}

const ARRIVALS = [
  ["constant", () => constantArrivals(1e6)],
  ["Poisson", () => poissonArrivals(1e6, 7)],
  ["repeated gaps", () => intervalArrivals([100, 2000, 0])],
] as const;
for (const [name, create] of ARRIVALS)
  test(`every request that was due was sent or is counted as not sent (${name})`, async () => {
    const { driver, client, clock } = makeSlow();
    await starterOf(driver).start({ kind: "scheduled", arrivals: create() }, ENDLESS);
    await longestStallMs(clock, 40);
    const atNs = clock.nowNs();
    const sent = client.sent.length;
    const unsent = driver.load.takeUnsent?.(atNs) ?? 0;
    let due = 0;
    for (const next = create(); next() <= atNs; ) due++;
    assert.equal(sent + unsent, due);
    assert.equal(driver.load.takeUnsent?.(atNs) ?? 0, 0, "they are skipped");
    driver.close();
  });

test("more than a million requests that were not sent are estimated", async () => {
  const { driver, clock } = makeSlow();
  await starterOf(driver).start({ kind: "scheduled", arrivals: poissonArrivals(1e9, 3) }, ENDLESS);
  await longestStallMs(clock, 30);
  const expected = 1e9 * (clock.nowMs / 1000);
  const ratio = ((driver.load.takeUnsent?.(clock.nowNs()) ?? 0) + driver.sentCount) / expected;
  assert.ok(Math.abs(ratio - 1) < 0.01, String(ratio));
  driver.close();
});

test("a rate that the client can send loses nothing, and keeps its due times", async () => {
  const { driver, client, clock } = makeSlow({ maxOutstanding: 50 });
  await starterOf(driver).start({ kind: "scheduled", arrivals: constantArrivals(5000) }, ENDLESS);
  for (let step = 0; step < 400; step++) {
    await clock.advanceMs(0.5);
    for (const slot of client.active) client.answer(slot);
  }
  const dueCount = Math.floor(clock.nowMs * 5);
  assert.equal(client.sent.length + (driver.load.takeUnsent?.(clock.nowNs()) ?? 0), dueCount);
  assert.ok(dueCount - client.sent.length <= 1);
  driver.close();
});

test("a level ends at its time although the schedule is behind, and sends nothing more", async () => {
  const made = makeLevel({ mode: { kind: "duration", durationMs: 100 } });
  const { clock, client, driver } = made;
  driver.setLanes(LANES);
  slowDown(client, clock);
  made.server.latencyMs = 1;
  const run = new LevelRun({ ...made.context, isScheduled: true, unit: "request-rate" }, 1e6);
  const startMs = clock.nowMs;
  await starterOf(driver).start({ kind: "scheduled", arrivals: constantArrivals(1e6) }, ENDLESS);
  await run.begin(undefined);
  const result = await settleWithin(clock, 1000, run.measure());
  const sent = client.sent.length;
  assert.ok(clock.nowMs - startMs < 130, `it took ${clock.nowMs - startMs} ms`);
  assert.ok(sent > 1000 && sent < 3000, `${sent} were sent`);
  const due = sent + (result.unsentCount ?? 0);
  assert.ok(Math.abs(due - 100_000) < 3000, `${due} were due`);
  await clock.advanceMs(50);
  assert.equal(client.sent.length, sent);
  driver.close();
});

test("the first requests of many leave in slices", async () => {
  const { driver, client, clock } = makeSlow({ laneCount: 2 ** 30, isSync: true });
  const started = starterOf(driver).start({ kind: "closed", concurrency: 2000 }, ENDLESS);
  assert.ok((await longestStallMs(clock, 150)) <= 32 * SEND_MS + 1);
  await started;
  assert.equal(client.active.length, 2000);
  driver.close();
});

test("a load above the limit is not begun, and a ramp ends when it gets there", async () => {
  const { driver, client, clock, limits } = makeSlow({ laneCount: 2 ** 30, isSync: true, maxOutstanding: 40 });
  assert.equal(starterOf(driver).admits({ kind: "closed", concurrency: 40 }), true);
  assert.equal(starterOf(driver).admits({ kind: "closed", concurrency: 41 }), false);
  assert.equal(starterOf(driver).admits({ kind: "groups", size: 1e9 }), false);
  assert.deepEqual(limits.splice(0), [41, 1e9]);
  const concurrencyAt = (elapsedNs: number): number => Math.floor(elapsedNs / 1e4);
  await starterOf(driver).start({ kind: "ramp", maxConcurrency: 1e9, concurrencyAt }, ENDLESS);
  await longestStallMs(clock, 100);
  assert.deepEqual([client.maxActive, limits], [40, [undefined]]);
  driver.close();
});

const DRAINS = [
  ["10 s after the end of its load", 0, 10_000],
  ["after twice the longest latency, where that is more", 20_000, 40_000],
] as const;
for (const [name, latencyMs, limitMs] of DRAINS)
  test(`what has no response is cancelled ${name}`, async () => {
    const clock = new FakeClock();
    const { driver, client, failures } = makeDriver({ ...LANES, clock, endsDrain: true });
    await starterOf(driver).start({ kind: "scheduled", arrivals: constantArrivals(100) }, 3);
    await clock.advanceMs(40);
    const answered = client.active[0] as number;
    await clock.advanceMs(latencyMs);
    client.answer(answered);
    let isOver = false;
    const stopped = driver.stop().then(() => {
      isOver = true;
    });
    await clock.advanceMs(limitMs - 50);
    assert.equal(isOver, false);
    // The latency has some milliseconds more.
    await clock.advanceMs(200);
    await stopped;
    assert.deepEqual(
      failures.map(({ failure }) => failure.kind),
      ["unfinished", "unfinished"],
    );
    driver.close();
  });
