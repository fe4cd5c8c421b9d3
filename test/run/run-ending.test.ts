import assert from "node:assert/strict";
import { test } from "node:test";
import type { PreparedRun } from "../../src/result/run-result.ts";
import { FailureLimits } from "../../src/run/judge/failure-limits.ts";
import { describeEnd, type RunEnding, serverDelta, shutDown } from "../../src/run/run-ending.ts";
import { makePlan } from "../plan/make-plan.ts";
import { makeLevel } from "./conduct/make-level.ts";
import { starterOf } from "./send/fake-client.ts";

const ENDLESS = Number.POSITIVE_INFINITY;

interface UnderTest extends RunEnding {
  start(concurrency: number): Promise<void>;
  answerNothing(): void;
}

function makeEnding(): UnderTest {
  const { driver, signal, context, server } = makeLevel({ counters: () => Promise.reject(new Error("gone")) });
  const plan = makePlan();
  return {
    observer: {},
    session: context.session,
    sender: context.sender,
    signal,
    abort: undefined,
    failureLimits: new FailureLimits(plan, signal, () => context.sender.progress()),
    prepared: { plan } as PreparedRun,
    start: (concurrency) => starterOf(driver).start({ kind: "closed", concurrency }, ENDLESS),
    answerNothing: () => {
      server.latencyMs = ENDLESS;
    },
  };
}

test("a run that was interrupted cancels requests without a response, instead of waiting for them", async () => {
  const ending = makeEnding();
  ending.answerNothing();
  await ending.start(3);
  ending.signal.interrupt();
  await shutDown(ending, true);
  const { sentCount, completedCount, failedCount, cancelledCount, isInterrupted } = await describeEnd(ending, 0);
  assert.deepEqual(
    { sentCount, completedCount, failedCount, cancelledCount, isInterrupted },
    {
      ...{ sentCount: 3, completedCount: 0, failedCount: 0, cancelledCount: 3, isInterrupted: true },
    },
  );
});

test("a run whose load never started closes at once", async () => {
  const ending = makeEnding();
  await shutDown(ending, false);
  assert.equal((await describeEnd(ending, 0)).sentCount, 0);
});

test("a server that no longer reports its counters leaves them out", async () => {
  assert.equal(await serverDelta(makeEnding(), []), undefined);
  assert.equal(await serverDelta(makeEnding(), undefined), undefined);
});
