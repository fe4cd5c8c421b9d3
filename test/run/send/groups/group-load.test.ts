import assert from "node:assert/strict";
import { test } from "node:test";
import { type DriverUnderTest, makeDriver, starterOf } from "../fake-client.ts";

async function start(quota = Number.POSITIVE_INFINITY): Promise<DriverUnderTest> {
  const made = makeDriver();
  await starterOf(made.driver).start({ kind: "groups", size: 3 }, quota);
  return made;
}

test("a group is sent at once, and the next one when all of its requests have ended", async () => {
  const { client, driver } = await start();
  assert.deepEqual(client.active, [0, 1, 2]);
  client.answer(1);
  client.answer(0);
  assert.equal(client.sent.length, 3);
  client.answer(2);
  assert.deepEqual([client.sent.length, client.active], [6, [0, 1, 2]]);
  assert.equal(driver.activeLanes, 3);
  driver.close();
});

test("a failed request ends like any other", async () => {
  const { client, driver } = await start();
  client.answer(0, { kind: "model", message: "no" });
  client.answer(1);
  client.answer(2);
  assert.equal(client.sent.length, 6);
  driver.close();
});

test("the last group is what is left of the number of requests", async () => {
  const { client, driver } = await start(4);
  for (const slot of [0, 1, 2]) client.answer(slot);
  assert.deepEqual(client.active, [0]);
  client.answer(0);
  await driver.finished();
  assert.equal(driver.ended.completedCount, 4);
  driver.close();
});

test("a stopped load sends no further group", async () => {
  const { client, driver } = await start();
  const stopped = driver.stop();
  for (const slot of [0, 1, 2]) client.answer(slot);
  await stopped;
  assert.deepEqual([client.sent.length, driver.activeLanes], [3, 0]);
});
