import assert from "node:assert/strict";
import { test } from "node:test";
import { RecordColumns } from "../../../src/measure/records.ts";
import type { AssertionPlan } from "../../../src/plan/assertions.ts";
import { EarlyAbort } from "../../../src/run/conduct/early-abort.ts";
import { RunSignal } from "../../../src/run/interrupt.ts";
import { createRandom, type Random } from "../../../src/runtime/random.ts";
import { fill } from "../../measure/make-records.ts";
import { makePlan } from "../../plan/make-plan.ts";
import { FakeClock } from "../../runtime/fake-clock.ts";
import { makeService } from "../send/fake-client.ts";

/** A run is not ended by chance, however often its limit is judged, and is ended when the limit breaks. */

const MS = 1e6;
const MEAN_NS = 10 * MS;
const TICKS_PER_SEC = 5;
const PER_TICK = 20;
const OF_P90 = -Math.log(0.1);
const p90 = (limit: number): AssertionPlan => ({
  metric: { key: "latency", statistic: 90 },
  ...{ comparison: "below", limit, abortAfterMs: 2000 },
});

/** Runs for a time with exponential latencies. @returns the second in which the run ended early; undefined when it did not */
async function run(
  assertion: AssertionPlan,
  seconds: number,
  latencyNs: (second: number) => number,
): Promise<number | undefined> {
  const clock = new FakeClock();
  const sender = {
    drain: async () => ({ lastEndNs: 0, lastSendNs: 0, collected: 0 }),
    takeTokens: async () => undefined,
  };
  const signal = new RunSignal();
  const abort = new EarlyAbort({
    ...{ plan: makePlan({ assertions: [assertion] }), session: { service: makeService() }, sender, clock, signal },
    hasTokens: false,
    fail: (error) => assert.fail(String(error)),
  });
  abort.resume(false);
  const records = new RecordColumns((columns, count) => abort.add(columns, count));
  for (let tick = 0; tick < seconds * TICKS_PER_SEC; tick++) {
    const second = tick / TICKS_PER_SEC;
    for (let request = 0; request < PER_TICK; request++) {
      const endNs = clock.nowNs() + (request * 1000 * MS) / (TICKS_PER_SEC * PER_TICK);
      fill(records, { sendStartNs: endNs - latencyNs(second), endNs });
    }
    records.drain();
    await clock.advanceMs(1000 / TICKS_PER_SEC);
    if (signal.isStopped) return second;
  }
  abort.pause();
  return undefined;
}

const exponential = (random: Random, meanNs = MEAN_NS): number => -meanNs * Math.log(1 - random());

test("a limit at the true value ends at most 5 of 100 runs, although it is judged 150 times in each", async () => {
  const random = createRandom(31);
  let ended = 0;
  const runs = 20;
  for (let at = 0; at < runs; at++)
    if ((await run(p90(MEAN_NS * OF_P90), 30, () => exponential(random))) !== undefined) ended++;
  assert.ok(ended / runs <= 0.05, `${ended} of ${runs}`);
});

test("a limit that breaks ends the run soon, also when latency grows all the time", async () => {
  const random = createRandom(37);
  const limit = p90(2 * MEAN_NS * OF_P90);
  const slower = await run(limit, 60, (second) => exponential(random, (second < 30 ? 1 : 5) * MEAN_NS));
  assert.ok(slower !== undefined && slower >= 30 && slower < 34, String(slower));
  const growing = await run(limit, 60, (second) => exponential(random) + Math.max(0, second - 30) * 50 * MS);
  assert.ok(growing !== undefined && growing >= 30 && growing < 34, String(growing));
  const mean: AssertionPlan = { ...limit, metric: { key: "latency", statistic: "mean" }, limit: 2 * MEAN_NS };
  const averageGrowing = await run(mean, 60, (second) => exponential(random) + Math.max(0, second - 30) * 50 * MS);
  assert.ok(averageGrowing !== undefined && averageGrowing >= 30 && averageGrowing < 40, String(averageGrowing));
});
