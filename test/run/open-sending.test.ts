import assert from "node:assert/strict";
import { test } from "node:test";
import type { Plan } from "../../src/plan/plan.ts";
import { RunError } from "../../src/plan/problem.ts";
import { prepareLoad } from "../../src/registry/load-modes.ts";
import { RunSignal } from "../../src/run/interrupt.ts";
import { measuresTokens, openSending } from "../../src/run/open-sending.ts";
import { makePlan } from "../plan/make-plan.ts";
import { KserveServer } from "./kserve-server.ts";

const optionsOf = (plan: Plan) => ({
  ...{ observer: {}, load: prepareLoad(plan.load), signal: new RunSignal(), maxOutstanding: 10 },
});

test("an open target can be queried and sent to, until it is closed", async () => {
  await using server = await new KserveServer({}).start();
  const plan = makePlan({ target: { url: server.url } });
  const sending = await openSending(plan, optionsOf(plan));
  assert.equal(sending.served, plan);
  assert.equal(sending.tokens, undefined);
  const nothing = (): void => {};
  const listener = { records: nothing, extracted: nothing, failed: nothing, limited: nothing, broken: nothing };
  const sender = sending.createSender(listener, {});
  await sender.start({ phaseIndex: 0, level: 2, draw: 0 }, { quota: 5 });
  await sender.until({ kind: "finished" });
  assert.equal((await sender.until({ kind: "now" })).completedCount, 5);
  assert.equal(server.successCount, 5);
  await sending.close();
  await sending.close();
});

test("one of several senders has its share of the lanes", async () => {
  await using server = await new KserveServer({}).start();
  const plan = makePlan({ target: { url: server.url }, client: { callMode: "async", maxLanes: 7 } });
  for (const [count, laneCount] of [
    [1, 7],
    [2, 4],
    [3, 3],
  ] as const) {
    const sending = await openSending(plan, { ...optionsOf(plan), senders: { index: 0, count } });
    assert.equal(sending.laneCount, laneCount);
    await sending.close();
  }
});

test("a server that is not there leaves nothing open", async () => {
  const plan = makePlan({ target: { url: "127.0.0.1:1" } });
  await assert.rejects(openSending(plan, optionsOf(plan)), (error) => error instanceof RunError);
});

test("tokens are measured when a plan asks for them", () => {
  assert.equal(measuresTokens(makePlan()), false);
});
