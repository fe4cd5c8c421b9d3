import assert from "node:assert/strict";
import { test } from "node:test";
import { prepareLoad } from "../../src/registry/load-modes.ts";
import { openSender, timestampsOf } from "../../src/run/open-sending.ts";
import { makePlan } from "../plan/make-plan.ts";
import { makeDataset, makeDriver, makeService } from "./send/fake-client.ts";

test("a sender reports what ends, what fails, and a load that is too high", async () => {
  const plan = makePlan();
  const { driver, client, feed } = makeDriver({ maxOutstanding: 4 });
  const session = {
    ...{ service: makeService(), dataset: makeDataset(1), warnings: [], shared: undefined },
    counters: async () => undefined,
  };
  const parts = { plan, observer: {}, load: prepareLoad(plan.load), session, feed, driver };
  const told: unknown[] = [];
  const sender = openSender(
    { ...parts, canceller: undefined, tokens: undefined },
    {
      records: (_, count) => told.push(["records", count]),
      extracted: () => told.push("extracted"),
      failed: ({ kind }, lane) => told.push(["failed", kind, lane]),
      limited: (wanted) => told.push(["limited", wanted]),
      broken: (error) => told.push(["broken", error]),
    },
  );
  await sender.start({ phaseIndex: 0, level: 2, draw: 0 }, { quota: 3 });
  client.answer(0);
  client.answer(1, { kind: "http", status: 500, message: "no" });
  await sender.drain("judged");
  assert.equal(await sender.prepare({ phaseIndex: 0, level: 9, draw: 0 }, "check"), false);
  assert.deepEqual(told, [
    ["failed", "http", 1],
    ["records", 2],
    ["limited", 9],
  ]);
  const { sentCount, completedCount, failedCount, outstanding } = await sender.until({ kind: "now" });
  assert.deepEqual([sentCount, completedCount, failedCount, outstanding], [3, 1, 1, 1]);
  sender.close();
});

test("a load that follows its data has the due time of each step", () => {
  const dataset = makeDataset(2);
  const [steps = []] = dataset.streams;
  const timed = { ...dataset, streams: [steps.map((step, at) => ({ ...step, timestampMs: at * 5 }))] };
  const session = { service: makeService(), dataset: timed } as unknown as Parameters<
    typeof timestampsOf
  >[0]["session"];
  assert.deepEqual(timestampsOf({ plan: makePlan(), session }), []);
  const plan = makePlan({ load: { kind: "fixed-schedule" } as never });
  assert.deepEqual(timestampsOf({ plan, session }), [0, 5]);
});
