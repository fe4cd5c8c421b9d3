import assert from "node:assert/strict";
import { test } from "node:test";
import type { Drive } from "../../../src/load/drive.ts";
import { makeDriver, scheduled, starterOf } from "./fake-client.ts";

const ENDLESS = Number.POSITIVE_INFINITY;

const DRIVES: readonly { readonly drive: () => Drive; readonly firstSent: number }[] = [
  { drive: () => ({ kind: "closed", concurrency: 3 }), firstSent: 3 },
  { drive: () => ({ kind: "ramp", maxConcurrency: 4, concurrencyAt: () => 2 }), firstSent: 2 },
  { drive: () => ({ kind: "periodic", start: 2, end: 4, step: 1, periodResponses: 2 }), firstSent: 2 },
  { drive: () => ({ kind: "groups", size: 5 }), firstSent: 5 },
  { drive: () => scheduled(0), firstSent: 1 },
];

for (const { drive, firstSent } of DRIVES)
  test(`a drive starts by its entry: ${drive().kind}`, async () => {
    const { driver, client } = makeDriver({ laneCount: 8 });
    await starterOf(driver).start(drive(), ENDLESS);
    while (client.sent.length < firstSent) await new Promise((resolve) => setImmediate(resolve));
    assert.equal(client.sent.length, firstSent);
    driver.close();
  });

test("a schedule that a stop overtakes does not begin", async () => {
  const { driver, client } = makeDriver({ laneCount: 8 });
  const { load } = driver;
  const started = starterOf(driver).start(scheduled(0), ENDLESS);
  await driver.stop();
  await started;
  assert.deepEqual([client.sent.length, driver.load === load], [0, true]);
  driver.close();
});
