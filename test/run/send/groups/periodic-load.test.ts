import assert from "node:assert/strict";
import { test } from "node:test";
import { RunError } from "../../../../src/plan/problem.ts";
import type { Call } from "../../../../src/transport/call.ts";
import { type DriverUnderTest, makeDriver, starterOf } from "../fake-client.ts";

const drive = { kind: "periodic", start: 2, end: 7, step: 3, periodResponses: 4 } as const;

/** Ends the slot's request after this many responses. */
function answerAfter({ client }: DriverUnderTest, slot: number, responses: number): void {
  (client.calls[slot] as Call).messageCount = responses;
  client.answer(slot);
}

async function start(): Promise<DriverUnderTest> {
  const made = makeDriver({ isSync: false });
  await starterOf(made.driver).start(drive, Number.POSITIVE_INFINITY);
  return made;
}

test("the next group is sent when every request of the one before has had its responses", async () => {
  const made = await start();
  const { driver, client, errors } = made;
  assert.deepEqual(client.active, [0, 1]);
  answerAfter(made, 0, 4);
  assert.equal(client.sent.length, 2);
  answerAfter(made, 1, 9);
  assert.deepEqual(client.active, [2, 3, 4]);
  for (const slot of [2, 3, 4]) answerAfter(made, slot, 4);
  assert.deepEqual(client.active, [5, 6], "the last group is what is left");
  assert.equal(driver.activeLanes, 7);
  for (const slot of [5, 6]) answerAfter(made, slot, 4);
  assert.deepEqual([client.sent.length, driver.ended.completedCount, errors.length], [7, 7, 0]);
  driver.close();
});

test("a failed request does not delay its group", async () => {
  const made = await start();
  made.client.answer(0, { kind: "model", message: "no" });
  answerAfter(made, 1, 4);
  assert.deepEqual(made.client.active, [2, 3, 4]);
  made.driver.close();
});

test("a request that ends before its period is over is an error", async () => {
  const made = await start();
  answerAfter(made, 0, 3);
  const [error] = made.errors;
  assert.ok(error instanceof RunError);
  assert.match(error.message, /^Request received final response before request period was reached/);
  made.driver.close();
});

test("a stopped load sends no further group", async () => {
  const made = await start();
  const stopped = made.driver.stop();
  for (const slot of [0, 1]) answerAfter(made, slot, 4);
  await stopped;
  assert.deepEqual([made.client.sent.length, made.driver.activeLanes], [2, 0]);
});
