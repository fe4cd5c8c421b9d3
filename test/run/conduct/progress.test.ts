import assert from "node:assert/strict";
import { test } from "node:test";
import { progressOf } from "../../../src/run/conduct/progress.ts";
import { makeDriver } from "../send/fake-client.ts";

test("progress follows the driver", async () => {
  const { driver, client, flags } = makeDriver();
  const progress = progressOf(driver);
  await driver.start({ kind: "closed", concurrency: 3 }, 5);
  client.answer(0);
  client.answer(1, { kind: "http", message: "no" });
  client.answer(2, { kind: "cancelled", message: "too slow" });
  for (const slot of client.active) Object.assign(client.calls[slot] as object, { messageCount: slot + 1 });
  const { sentCount, completedCount, failedCount, cancelledCount, outstanding, openResponses } = progress;
  assert.deepEqual([sentCount, completedCount, failedCount, cancelledCount, outstanding], [5, 1, 1, 1, 2]);
  assert.equal(openResponses, 3);
  progress.drainRecords();
  assert.equal(flags.length, 3);
  driver.close();
});
