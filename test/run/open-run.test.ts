import assert from "node:assert/strict";
import { test } from "node:test";
import { RunError, UserError } from "../../src/plan/problem.ts";
import { RunSignal } from "../../src/run/interrupt.ts";
import { openRun } from "../../src/run/run-plan.ts";
import { makePlan } from "../plan/make-plan.ts";
import { withServer } from "./kserve-server.ts";

const options = { openObserver: async () => ({}) };

test("an opened run has its target and one sender, or a fleet of several", async () => {
  await withServer({}, async (server) => {
    for (const workers of [1, 2]) {
      const plan = makePlan({ target: { url: server.url }, client: { workers } });
      const open = await openRun(plan, new RunSignal(), options);
      assert.equal(open.parts.session.service.model.name, "simple");
      assert.equal(open.fleet?.count, workers === 1 ? undefined : workers);
      assert.equal(open.growth, undefined);
      await open.close();
    }
    assert.equal(server.successCount, 0, "nothing was sent");
  });
});

test("a server that is not there leaves nothing open", async () => {
  const plan = makePlan({ target: { url: "127.0.0.1:1" } });
  await assert.rejects(openRun(plan, new RunSignal(), options), RunError);
});

test("a plan is checked for conflicts unless its front door has done so", async () => {
  const plan = makePlan({ target: { url: "127.0.0.1:1" }, client: { kind: "grpc-js" } });
  const check = (): Promise<void> => Promise.resolve();
  await assert.rejects(openRun(plan, new RunSignal(), { ...options, check }), UserError);
  await assert.rejects(openRun(plan, new RunSignal(), options), RunError);
});

test("a load that cannot be divided is refused before the target is contacted", async () => {
  const plan = makePlan({ target: { url: "127.0.0.1:1" }, client: { workers: 2, isMpi: true } });
  await assert.rejects(openRun(plan, new RunSignal(), options), UserError);
});
