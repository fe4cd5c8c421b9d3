// Runs on: bun, deno, node.
import assert from "node:assert/strict";
import { test } from "node:test";
import { Sequences } from "../../src/load/sequences.ts";
import { RecordColumns } from "../../src/measure/records.ts";
import { DEFAULT_SEQUENCES } from "../../src/plan/sequences.ts";
import { LevelMeter } from "../../src/run/count/window-counter.ts";
import { startPlan } from "../../src/run/run-plan.ts";
import { RequestFeed } from "../../src/run/send/feed.ts";
import { createRandom } from "../../src/runtime/random.ts";
import { makePlan } from "../plan/make-plan.ts";
import { FakeClock } from "../runtime/fake-clock.ts";
import { LIMIT } from "../time-limit.ts";
import { until } from "../until.ts";
import { KserveServer } from "./kserve-server.ts";
import { type FakeClient, makeDataset, makeDriver, makeService, starterOf } from "./send/fake-client.ts";
import { checkSequences, type SequenceRequest } from "./send/sequence-traffic.ts";

/** How runs end when something is amiss: nothing is left open, lost from a count, or waited for in vain. */

const ENDLESS = Number.POSITIVE_INFINITY;
const LOST = { kind: "closed", message: "gone" } as const;

/** A feed of sequences that would go on for long. */
function longSequences(): RequestFeed {
  const plan = { ...DEFAULT_SEQUENCES, length: 50, lengthVariationPct: 0 };
  const sequences = new Sequences({ plan, streamLengths: [], random: createRandom(3) });
  return new RequestFeed(makeService(), makeDataset(1), { usesIds: false, sequences });
}

function trafficOf(client: FakeClient): SequenceRequest[] {
  return client.sent.map(({ id = "" }) => {
    const [, sequence, ...marks] = id.split(" ");
    return { id: Number(sequence), isStart: marks.includes("start"), isEnd: marks.includes("end") };
  });
}

function answerAll(client: FakeClient): void {
  while (client.active.length > 0) client.answer(client.active[0] as number);
}

test("a request that is aborted as the run ends is not followed by another", LIMIT, async () => {
  const onInfer = ({ index }: { index: number }): Promise<undefined> | string =>
    index === 0 ? new Promise((resolve) => setTimeout(() => resolve(undefined), 4000)) : "no";
  await using server = await new KserveServer({ isSequence: true, onInfer }).start();
  const plan = makePlan({
    failures: { maxRatio: 0 },
    load: { kind: "concurrency", levels: { kind: "list", values: [2] }, search: "linear" },
    target: { url: server.url },
  });
  const run = startPlan(plan, { openObserver: () => Promise.resolve({}), check: () => Promise.resolve() });
  const { sentCount, completedCount, failedCount } = await run.result;
  assert.equal(sentCount, completedCount + failedCount);
});

test("a wait for the last response also ends when handling it throws", LIMIT, async () => {
  const { driver, client, errors } = makeDriver();
  await starterOf(driver).start({ kind: "closed", concurrency: 2 }, ENDLESS);
  const lowered = starterOf(driver).start({ kind: "closed", concurrency: 1 }, ENDLESS);
  await new Promise((resolve) => setImmediate(resolve));
  client.answer(1, { kind: "validation", message: "throws" });
  await lowered;
  const stopped = driver.stop();
  client.answer(0, { kind: "validation", message: "throws" });
  await stopped;
  assert.equal(errors.length, 2);
  driver.close();
});

// After a success the slot does not wait, and ends the sequence itself.
for (const [name, first] of [
  ["", undefined],
  [", and the one before too", LOST],
] as const)
  test(`a schedule ends a sequence whose last request lost its connection${name}`, LIMIT, async () => {
    const { driver, client } = makeDriver({ laneCount: 1, isSync: false, sequenceCount: 1, feed: longSequences() });
    await starterOf(driver).start({ kind: "scheduled", arrivals: () => 0 }, 2);
    await until(() => client.active.length > 0);
    client.answer(client.active[0] as number, first);
    await until(() => client.active.length > 0);
    client.answer(client.active[0] as number, LOST);
    answerAll(client);
    await driver.finished();
    const stopped = driver.stop();
    answerAll(client);
    await stopped;
    assert.equal(checkSequences(trafficOf(client)).sequenceCount, 1);
    driver.close();
  });

test("a closed loop ends a sequence that lost its connection before the level was lowered", LIMIT, async () => {
  const { driver, client } = makeDriver({ feed: longSequences() });
  await starterOf(driver).start({ kind: "closed", concurrency: 2 }, ENDLESS);
  client.answer(1);
  // The first failure after a success delays nothing.
  client.answer(1, LOST);
  client.answer(1, LOST);
  await starterOf(driver).start({ kind: "closed", concurrency: 1 }, ENDLESS);
  const stopped = driver.stop();
  answerAll(client);
  await stopped;
  assert.equal(checkSequences(trafficOf(client)).sequenceCount, 2);
  driver.close();
});

test("a change of schedules that waits for responses is dropped when the run stops", LIMIT, async () => {
  const clock = new FakeClock();
  const { driver, client } = makeDriver({ clock, laneCount: 1, isSync: false });
  await starterOf(driver).start({ kind: "scheduled", arrivals: () => 0 }, 1);
  await clock.advanceMs(1);
  const changed = starterOf(driver).start({ kind: "scheduled", arrivals: () => 0 }, ENDLESS);
  await new Promise((resolve) => setImmediate(resolve));
  const stopped = driver.stop();
  answerAll(client);
  await Promise.all([changed, stopped]);
  await clock.advanceMs(1000);
  assert.equal(client.sent.length, 1, "the next schedule began after the stop");
  driver.close();
});

test("a window with a number of requests lasts until none of them gets another response", () => {
  const meter = new LevelMeter();
  meter.begin(() => ({ add: () => {} }) as never);
  const records = new RecordColumns((columns, count) => meter.add(columns, count));
  for (const overNs of [50, 5]) {
    records.overNs[records.row] = overNs;
    records.commit();
  }
  records.drain();
  assert.equal(meter.lastEndNs, 50);
});
