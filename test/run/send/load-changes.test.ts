import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Drive } from "../../../src/load/drive.ts";
import { FakeClock } from "../../runtime/fake-clock.ts";
import { type DriverUnderTest, makeDriver, scheduled, starterOf } from "./fake-client.ts";

/** From one load to another while requests are in flight: none is waited for, and none is lost. */

const ENDLESS = Number.POSITIVE_INFINITY;
const closed = (concurrency: number): Drive => ({ kind: "closed", concurrency });
const ramp: Drive = { kind: "ramp", maxConcurrency: 3, concurrencyAt: () => 3 };
/** One request each millisecond. */
const everyMs = (): Drive => scheduled(...Array.from({ length: 100 }, (_, index) => index));
const limited = (): Drive => ({ ...everyMs(), maxOutstanding: 3 }) as Drive;

function makeAsync(): DriverUnderTest & { readonly clock: FakeClock } {
  const clock = new FakeClock();
  return { ...makeDriver({ clock, laneCount: 4, isSync: false }), clock };
}

async function change({ driver }: DriverUnderTest, drive: Drive, quota = ENDLESS): Promise<void> {
  (await starterOf(driver).prepareChange(drive))(quota);
}

const DRIVES: Readonly<Record<string, () => Drive>> = {
  closed: () => closed(5),
  "a lower one": () => closed(1),
  ramp: () => ramp,
  schedule: everyMs,
  "schedule with a limit": limited,
};

describe("a change of load", () => {
  for (const [from, first] of Object.entries(DRIVES)) {
    for (const [to, second] of Object.entries(DRIVES)) {
      test(`${from} → ${to}: requests in flight continue, and end once`, async () => {
        const made = makeAsync();
        const { driver, client, clock, flags } = made;
        await change(made, first());
        await clock.advanceMs(3);
        const before = client.active;
        assert.ok(before.length > 0);
        await change(made, second());
        for (const slot of before) assert.ok(client.active.includes(slot), `slot ${slot} was given up`);
        // Requests of the load before end in any order, and their slots are used again.
        for (const slot of before.toReversed()) client.answer(slot);
        await clock.advanceMs(5);
        assert.ok(driver.outstanding > 0);
        const stopped = driver.stop();
        while (client.active.length > 0) client.answer(client.active[0] as number);
        await stopped;
        driver.drain();
        assert.equal(driver.outstanding, 0);
        assert.deepEqual([driver.ended.completedCount, flags.length], [driver.sentCount, driver.sentCount]);
        assert.equal(client.sent.length, driver.sentCount);
        driver.close();
      });
    }
  }

  test("a closed loop counts the requests of the load before as its own", async () => {
    const made = makeAsync();
    const { client, clock } = made;
    await change(made, everyMs());
    await clock.advanceMs(7);
    const before = client.active.length;
    await change(made, closed(2));
    assert.ok(before >= 7);
    while (client.active.length > 2) client.answer(client.active.at(-1) as number);
    const sent = client.sent.length;
    client.answer(client.active[0] as number);
    assert.deepEqual([client.active.length, client.sent.length], [2, sent + 1]);
  });

  test("a schedule begins at the change, and takes no slot that is busy", async () => {
    const made = makeAsync();
    const { client, clock } = made;
    await change(made, closed(6));
    await clock.advanceMs(50);
    await change(made, everyMs());
    await clock.advanceMs(10);
    const later = client.sent.slice(6);
    assert.ok(later.length >= 3);
    assert.equal(Math.floor((later[0]?.atNs ?? 0) / 1e6), 50);
    assert.deepEqual(
      later.filter(({ slot }) => slot < 6),
      [],
    );
    assert.equal(client.active.length, 6 + later.length);
  });

  test("has its own quota, whose last request is known when it is sent", async () => {
    const made = makeAsync();
    const { driver, client } = made;
    await change(made, closed(2), 3);
    let isAllSent = false;
    driver.onAllSent = () => {
      isAllSent = true;
    };
    assert.equal(isAllSent, false);
    client.answer(0);
    assert.deepEqual([isAllSent, client.sent.length], [true, 3]);
    await change(made, closed(1), 1);
    client.answer(1);
    client.answer(0);
    assert.equal(client.sent.length, 4);
  });

  test("waits for synchronous lanes, which a schedule uses one by one", async () => {
    const made = makeDriver({ laneCount: 2, isSync: true });
    await change(made, closed(2));
    const preparing = starterOf(made.driver).prepareChange(scheduled(0));
    await new Promise((resolve) => setImmediate(resolve));
    assert.deepEqual(made.client.active, [0, 1]);
    for (const slot of [0, 1]) made.client.answer(slot);
    await preparing;
    assert.deepEqual([made.client.active, made.client.sent.length], [[], 2]);
  });
});
