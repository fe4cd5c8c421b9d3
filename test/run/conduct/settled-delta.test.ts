import assert from "node:assert/strict";
import { test } from "node:test";
import { awaitDelta } from "../../../src/run/conduct/settled-delta.ts";
import type { ServerCounters } from "../../../src/service/server-counters.ts";
import { makeDelta } from "../../measure/make-window.ts";
import { FakeClock } from "../../runtime/fake-clock.ts";
import { makeService } from "../send/fake-client.ts";
import { settleWithin } from "./make-level.ts";

const service = makeService();
const countersOf = (count: number): ServerCounters[] => [makeDelta(count, { name: service.model.name, version: "1" })];

/** Waits for 10 successes more than 5. @param countAt the server's count at a time, in milliseconds */
async function waitFor(countAt: (ms: number) => number | undefined) {
  const clock = new FakeClock();
  let askedCount = 0;
  const counters = (): Promise<ServerCounters[] | undefined> => {
    askedCount++;
    const count = countAt(clock.nowMs);
    return Promise.resolve(count === undefined ? undefined : countersOf(count));
  };
  const session = {
    service,
    counters,
    warnings: [],
    shared: undefined,
    dataset: { streams: [], isFromJson: false, warnings: [] },
  };
  const settled = await settleWithin(clock, 2000, awaitDelta(session, countersOf(5), 10, clock));
  return { settled, askedCount, tookMs: clock.nowMs };
}

test("counters that account for all requests are not waited for", async () => {
  const { settled, askedCount } = await waitFor(() => 15);
  assert.deepEqual([settled?.delta?.successCount, askedCount], [10, 1]);
  assert.deepEqual(settled?.after, countersOf(15));
});

test("counters that lag are asked again every 20 ms", async () => {
  const { settled, askedCount } = await waitFor((ms) => (ms < 90 ? 7 : 15));
  assert.deepEqual([settled?.delta?.successCount, askedCount], [10, 6]);
});

test("counters that do not catch up are used as they are after half a second", async () => {
  const { settled, tookMs } = await waitFor(() => 7);
  assert.equal(settled?.delta?.successCount, 2);
  assert.ok(tookMs >= 500 && tookMs <= 540, `${tookMs}`);
});

test("counters that do not change give no delta, and a server without counters is not waited for", async () => {
  assert.deepEqual((await waitFor(() => 5)).settled, { delta: undefined, after: countersOf(5) });
  const { settled, askedCount } = await waitFor(() => undefined);
  assert.deepEqual([settled, askedCount], [undefined, 1]);
});
