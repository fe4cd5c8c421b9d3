import assert from "node:assert/strict";
import { test } from "node:test";
import type { LevelResult, PreparedRun } from "../../src/result/run-result.ts";
import { FailurePolicy } from "../../src/run/judge/failure-policy.ts";
import { composeResult, type RunEnding, serverDelta, shutDown } from "../../src/run/run-ending.ts";
import { makePlan } from "../plan/make-plan.ts";
import { makeLevel } from "./conduct/make-level.ts";
import { starterOf } from "./send/fake-client.ts";

const ENDLESS = Number.POSITIVE_INFINITY;

interface UnderTest extends RunEnding {
  start(concurrency: number): Promise<void>;
  answerNothing(): void;
}

function makeEnding(search: RunEnding["search"]["search"] = "linear"): UnderTest {
  const { driver, signal, context, server } = makeLevel({ counters: () => Promise.reject(new Error("gone")) });
  const plan = makePlan();
  return {
    observer: {},
    session: context.session,
    sender: context.sender,
    signal,
    abort: undefined,
    policy: new FailurePolicy(plan, signal, () => context.sender.progress()),
    search: { unit: "concurrency", levels: { kind: "range", start: 1, end: 8, step: 1 }, search },
    prepared: { plan } as PreparedRun,
    start: (concurrency) => starterOf(driver).start({ kind: "closed", concurrency }, ENDLESS),
    answerNothing: () => {
      server.latencyMs = ENDLESS;
    },
  };
}

const PARTS = {
  levels: [],
  phased: undefined,
  warmup: { sentCount: 0, failedCount: 0 },
  totals: { connectionCount: 0, resendCount: 0, received: undefined, servers: undefined },
  server: undefined,
  startNs: 0,
};

const levelOf = (level: number, state: "kept" | "broken"): LevelResult =>
  ({ level, limits: { state, verdicts: [] } }) as unknown as LevelResult;

test("a run that was interrupted cancels requests without a response, instead of waiting for them", async () => {
  const ending = makeEnding();
  ending.answerNothing();
  await ending.start(3);
  ending.signal.interrupt();
  await shutDown(ending, true);
  const { sentCount, completedCount, failedCount, cancelledCount, isInterrupted } = await composeResult(ending, PARTS);
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
  assert.equal((await composeResult(ending, PARTS)).sentCount, 0);
});

test("a server that no longer reports its counters leaves them out", async () => {
  assert.equal(await serverDelta(makeEnding(), []), undefined);
  assert.equal(await serverDelta(makeEnding(), undefined), undefined);
});

test("the levels of a search are in ascending order, with the response of the search", async () => {
  const levels = [levelOf(1, "kept"), levelOf(8, "broken"), levelOf(4, "kept")];
  const found = await composeResult(makeEnding("highest"), { ...PARTS, levels });
  assert.deepEqual(
    found.levels.map(({ level }) => level),
    [1, 4, 8],
  );
  assert.deepEqual(found.findMax, { highest: 4, next: 8, isResolved: true });
  const swept = await composeResult(makeEnding(), { ...PARTS, levels });
  assert.deepEqual([swept.levels, swept.findMax], [levels, undefined]);
});

test("warm-up requests are only there when there were some", async () => {
  const ending = makeEnding();
  assert.equal("warmup" in (await composeResult(ending, PARTS)), false);
  const warmup = { sentCount: 5, failedCount: 1 };
  assert.deepEqual((await composeResult(ending, { ...PARTS, warmup })).warmup, warmup);
});
