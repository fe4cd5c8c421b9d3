import assert from "node:assert/strict";
import { test } from "node:test";
import type { RecordColumns } from "../../../src/measure/records.ts";
import type { PhaseStart, RunObserver } from "../../../src/result/observer.ts";
import { JoinedRequests, type RequestBatch } from "../../../src/run/fleet/joined-requests.ts";
import { RequestReader } from "../../../src/run/fleet/packed-requests.ts";
import { makePlan } from "../../plan/make-plan.ts";

/** Those who follow a run get the requests of several senders between the events that those of one sender would come between. */

const turn = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 5));

/** Waits until at least this many events were seen, at most 10 s: a turn may be too short on a busy machine. */
async function reach(seen: readonly string[], count: number): Promise<void> {
  for (let turns = 0; turns < 2000; turns++) {
    await turn();
    if (seen.length >= count) return;
  }
}

/** A batch of requests of which nothing but their number is looked at. */
const batchOf = (count: number): RequestBatch => ({
  records: { flags: new Uint8Array(count) } as unknown as RecordColumns,
  count,
  requests: { numbers: new Float64Array(0), bytes: new Uint8Array(0), values: [] },
});

function follow() {
  const seen: string[] = [];
  const observer: RunObserver = {
    onBatch: (_, count) => seen.push(`${count}`),
    onLevelStart: (_unit, level) => seen.push(`level ${level}`),
    onPhase: (start) => seen.push(`phase ${start?.label}`),
    onLevelEnd: () => seen.push("level end"),
    onRecordsCut: () => seen.push("cut"),
    onWindowStart: (number) => seen.push(`window ${number}`),
  };
  const judge = { needsBodies: false, canWait: false, judge: () => undefined };
  const reader = new RequestReader({
    judge,
    hasResponses: false,
    finished: { count: 0 },
    current: { content: undefined },
  });
  const plan = makePlan();
  const joined = new JoinedRequests({
    plan,
    senderCount: 2,
    observer,
    reader,
    tokens: undefined,
    fail: assert.ifError,
  });
  const senders = [joined.listenerOf(0), joined.listenerOf(1)] as const;
  let asked = 0;
  joined.connect(() => asked++);
  return { seen, joined, senders, asked: () => asked };
}

const PHASE: PhaseStart = { index: 1, count: 2, label: "b", unit: "concurrency", level: 3, isWarmup: false };

test("a level begins after the requests that have ended before it and are still at their senders", async () => {
  const { seen, joined, senders, asked } = follow();
  const [one, two] = senders;
  one.add(batchOf(1));
  joined.observer.onLevelStart?.("concurrency", 7, false);
  joined.observer.onWindowStart?.(1);
  assert.equal(asked(), 1);
  two.add(batchOf(2));
  one.passed();
  one.add(batchOf(3));
  await reach(seen, 2);
  assert.deepEqual(seen, ["1", "2"]);
  two.passed();
  await turn();
  await joined.finish();
  assert.deepEqual(seen, ["1", "2", "level 7", "window 1", "3"]);
});

test("a window ends for the requests of all senders at its own place", async () => {
  const { seen, joined, senders } = follow();
  const cut = joined.begin().then(() => joined.observer.onRecordsCut?.(undefined));
  senders[1].passed();
  senders[1].add(batchOf(2));
  senders[0].add(batchOf(1));
  await reach(seen, 1);
  assert.deepEqual(seen, ["1"]);
  senders[0].passed();
  await cut;
  await joined.finish();
  assert.deepEqual(seen, ["1", "cut", "2"]);
});

test("the requests of a phase wait until it is announced, after the results of the phase before it", async () => {
  const { seen, joined, senders } = follow();
  joined.observer.onPhase?.(PHASE);
  for (const sender of senders) {
    sender.add(batchOf(1));
    sender.passed();
    sender.add(batchOf(2));
  }
  await reach(seen, 3);
  assert.deepEqual(seen, ["1", "1", "phase b"]);
  joined.observer.onRecordsCut?.(undefined);
  joined.observer.onLevelEnd?.({} as Parameters<NonNullable<RunObserver["onLevelEnd"]>>[0]);
  await turn();
  joined.observer.onLevelStart?.("concurrency", 3, false, PHASE);
  await joined.finish();
  assert.deepEqual(seen, ["1", "1", "phase b", "cut", "level end", "level 3", "2", "2"]);
});

test("at the end everything is passed on, also when a sender is gone", async () => {
  const { seen, joined, senders } = follow();
  joined.observer.onLevelStart?.("concurrency", 7, false);
  senders[0].passed();
  senders[0].add(batchOf(1));
  senders[1].lost();
  joined.observer.onPhase?.(PHASE);
  await joined.finish();
  assert.deepEqual(seen, ["level 7", "1", "phase b"]);
});
