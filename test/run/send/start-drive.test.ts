import assert from "node:assert/strict";
import { test } from "node:test";
import type { Drive } from "../../../src/load/drive.ts";
import { type DriveHost, startDrive } from "../../../src/run/send/start-drive.ts";
import { makeDriver, scheduled } from "./fake-client.ts";

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
    await driver.start(drive(), ENDLESS);
    while (client.sent.length < firstSent) await new Promise((resolve) => setImmediate(resolve));
    assert.equal(client.sent.length, firstSent);
    driver.close();
  });

test("a start that another one overtakes does nothing", async () => {
  for (const kind of ["periodic", "scheduled"] as const) {
    const { driver, client } = makeDriver();
    const drives: Record<typeof kind, Drive> = {
      periodic: { kind: "periodic", start: 2, end: 4, step: 1, periodResponses: 2 },
      scheduled: scheduled(0),
    };
    const { load } = driver;
    await startDrive(driver satisfies DriveHost, drives[kind], { isCurrent: () => false });
    assert.deepEqual([client.sent.length, driver.load === load], [0, true], kind);
    driver.close();
  }
});
