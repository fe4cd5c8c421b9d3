import assert from "node:assert/strict";
import { describe, test } from "node:test";
import {
  type CompletionGap,
  CompletionGaps,
  findGaps,
  type IdleTimes,
  joinIdleTimes,
} from "../../src/measure/completion-gaps.ts";
import { RECORD_CANCELLED, RecordColumns } from "../../src/measure/records.ts";
import { EMPTY_SKETCH } from "../../src/measure/sketch.ts";
import { createRandom, type Random } from "../../src/runtime/random.ts";
import { fill, type Row } from "./make-records.ts";
import { sketchWithoutTimes } from "./make-window.ts";

const MS = 1e6;
const SEC = 1e9;

/** When nothing is answered. */
interface Stall {
  readonly fromNs: number;
  readonly forNs: number;
}

/** Returns when a request ends that takes `latencyNs`, at a server that stands still for a time. */
function endOf(sentNs: number, latencyNs: number, { fromNs, forNs }: Stall): number {
  if (sentNs >= fromNs && sentNs < fromNs + forNs) return fromNs + forNs + latencyNs;
  const endNs = sentNs + latencyNs;
  return sentNs < fromNs && endNs > fromNs ? endNs + forNs : endNs;
}

type Latency = (random: Random, atNs: number) => number;
type Load = (random: Random, latency: Latency, forNs: number, stall: Stall) => Row[];

/** A closed loop whose lanes start one after the other over `rampNs`. */
function lanes(count: number, rampNs = 0): Load {
  return (random, latency, forNs, stall) => {
    const rows: Row[] = [];
    for (let lane = 0; lane < count; lane++) {
      for (let at = (rampNs * lane) / count; at < forNs; ) {
        const endNs = endOf(at, latency(random, at), stall);
        rows.push({ sendStartNs: at, endNs });
        at = endNs;
      }
    }
    return rows;
  };
}

/** Requests at the times of `next`, however many are in flight. */
function open(next: (random: Random, atNs: number) => number): Load {
  return (random, latency, forNs, stall) => {
    const rows: Row[] = [];
    for (let at = next(random, 0); at < forNs; at += next(random, at))
      rows.push({ sendStartNs: at, endNs: endOf(at, latency(random, at), stall) });
    return rows;
  };
}

const exponential = (meanNs: number) => (random: Random) => -Math.log(1 - random()) * meanNs;
const constant = (ns: number) => () => ns;
const lognormal = (medianNs: number, sigma: number) => (random: Random) =>
  medianNs * Math.exp(sigma * Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random()));

function idleTimesOf(rows: readonly Row[], endNs: number): IdleTimes {
  const gaps = new CompletionGaps(0);
  const records = new RecordColumns((columns, count) => gaps.add(columns, count));
  const ordered = rows.toSorted((a, b) => a.endNs - b.endNs);
  for (const row of ordered.filter((one) => one.endNs <= endNs)) fill(records, row);
  records.drain();
  const openNs = ordered.filter((one) => one.endNs > endNs).map(({ sendStartNs }) => sendStartNs);
  return gaps.until(endNs, openNs);
}

/** Returns the gaps of a load that several senders have sent together, each every n-th request of it. */
function gapsOf(rows: readonly Row[], endNs: number, senderCount = 1): CompletionGap[] {
  const parts = Array.from({ length: senderCount }, (_, sender) =>
    rows.filter((_, index) => index % senderCount === sender),
  );
  const ended = rows.filter((one) => one.endNs <= endNs && one.flags === undefined);
  const latency = sketchWithoutTimes(ended.map((row) => row.endNs - row.sendStartNs));
  return findGaps(joinIdleTimes(parts.map((part) => idleTimesOf(part, endNs))), latency);
}

const LOADS: readonly (readonly [name: string, load: Load, latency: Latency])[] = [
  ["a fast closed loop", lanes(4), exponential(1 * MS)],
  ["one lane with a heavy tail", lanes(1), lognormal(2 * MS, 1)],
  ["one lane with a rare long response", lanes(1), (random) => (random() < 0.002 ? 2 * SEC : MS)],
  ["one slow lane", lanes(1), exponential(100 * MS)],
  ["many lanes in step", lanes(64), constant(50 * MS)],
  ["a language model", lanes(8), lognormal(300 * MS, 0.5)],
  ["a ramp of lanes", lanes(32, 20 * SEC), constant(400 * MS)],
  ["a Poisson rate", open(exponential(5 * MS)), exponential(2 * MS)],
  ["a low Poisson rate", open(exponential(700 * MS)), exponential(5 * MS)],
  ["a constant rate with a latency far above its distance", open(constant(10 * MS)), constant(2 * SEC)],
  ["a rate that rises from 1 to 200", open((_, at) => SEC / (1 + (at * 10) / SEC)), exponential(4 * MS)],
  ["bursts with pauses", open((_, at) => (Math.floor(at / MS) % 3000 < 200 ? 5 * MS : 2800 * MS)), exponential(4 * MS)],
  [
    "a pause before long responses",
    open((_, at) => (at > 9 * SEC && at < 9.1 * SEC ? 5 * SEC : 20 * MS)),
    constant(SEC),
  ],
];
const SENDERS = [1, 2, 8];
const NONE: Stall = { fromNs: Number.POSITIVE_INFINITY, forNs: 0 };

describe("what the load, chance or the latency explains is not a gap", () => {
  for (const [name, load, latency] of LOADS) {
    test(name, () => {
      for (let seed = 1; seed <= 10; seed++) {
        const rows = load(createRandom(seed), latency, 20 * SEC, NONE);
        for (const senders of SENDERS)
          assert.deepEqual(gapsOf(rows, 20 * SEC, senders), [], `${senders}, seed ${seed}`);
      }
    });
  }
});

describe("a time in which a server stalls is found, with its times", () => {
  for (const [name, load, latency] of LOADS.slice(0, 11)) {
    if (name === "a low Poisson rate" || name.includes("rare long")) continue;
    test(name, () => {
      const stall = { fromNs: 12 * SEC, forNs: 4 * SEC };
      for (let seed = 1; seed <= 10; seed++) {
        const rows = load(createRandom(seed), latency, 30 * SEC, stall);
        for (const senders of SENDERS) {
          const found = gapsOf(rows, 30 * SEC, senders);
          assert.equal(found.length, 1, `${senders}, seed ${seed}: ${JSON.stringify(found)}`);
          const [{ startNs, endNs, typicalNs }] = found as [CompletionGap];
          // It begins with the last response before, and ends with the first one after.
          assert.ok(startNs <= 12 * SEC + 50 * MS && startNs > 11.5 * SEC, `${startNs}`);
          assert.ok(endNs >= 16 * SEC && endNs < 17 * SEC, `${endNs}`);
          assert.ok(typicalNs < 0.4 * SEC, `${typicalNs}`);
        }
      }
    });
  }

  test("also where each sender alone has too few requests to know what is usual", () => {
    const stall = { fromNs: 8 * SEC, forNs: 2 * SEC };
    const ofUsers = Array.from({ length: 8 }, (_, user) => {
      return lanes(1)(createRandom(user), (random) => (300 + 200 * random()) * MS, 20 * SEC, stall);
    });
    const rows = ofUsers.flat();
    // Requests of the users in turn, so that each sender gets those of its users.
    const inTurn = Array.from({ length: 100 }, (_, at) => ofUsers.map((of) => of[at])).flat();
    const [whole, ...others] = gapsOf(rows, 20 * SEC);
    assert.deepEqual(others, []);
    for (const senders of [2, 4, 8]) {
      const idle = Array.from({ length: senders }, (_, sender) =>
        idleTimesOf(
          inTurn.filter((row, at): row is Row => row !== undefined && at % senders === sender),
          20 * SEC,
        ),
      );
      const latency = sketchWithoutTimes(rows.map((row) => row.endNs - row.sendStartNs));
      const found = findGaps(joinIdleTimes(idle), latency).map(({ startNs, endNs }) => [startNs, endNs]);
      assert.deepEqual(found, [[whole?.startNs, whole?.endNs]], `${senders}`);
    }
  });

  test("also when it lasts to the end, and when there are several", () => {
    const load = lanes(4);
    const toEnd = load(createRandom(1), exponential(MS), 10 * SEC, { fromNs: 8 * SEC, forNs: 10 * SEC });
    const [last, ...others] = gapsOf(toEnd, 10 * SEC);
    assert.deepEqual([last?.endNs, others], [10 * SEC, []]);
    assert.ok((last?.startNs ?? 0) > 7.9 * SEC);
    const first = load(createRandom(2), exponential(MS), 10 * SEC, { fromNs: 4 * SEC, forNs: SEC });
    const second = load(createRandom(3), exponential(MS), 10 * SEC, { fromNs: 4 * SEC, forNs: 0.8 * SEC });
    const later = second.map(({ sendStartNs, endNs }) => ({
      sendStartNs: sendStartNs + 10 * SEC,
      endNs: endNs + 10 * SEC,
    }));
    const seconds = gapsOf([...first, ...later], 20 * SEC).map(({ startNs }) => Math.round(startNs / SEC));
    assert.deepEqual(seconds, [4, 14]);
  });

  for (const [name, stallsSec, totalSec] of [
    ["a shorter one does not hide a longer one", [2.6, 6], 20],
    ["several together may take more time than the rest", [1.6, 2], 6],
    ["nor do more of them hide the longest", [1, 3, 1.5, 8], 30],
  ] as const)
    test(name, () => {
      const rows: Row[] = [];
      const partSec = (totalSec - stallsSec.reduce((sum, sec) => sum + sec, 0)) / stallsSec.length;
      let fromNs = 0;
      stallsSec.forEach((sec, index) => {
        const stall = { fromNs: (partSec / 2) * SEC, forNs: sec * SEC };
        const part = lanes(4)(createRandom(index), exponential(5 * MS), (partSec + sec) * SEC - 50 * MS, stall);
        for (const { sendStartNs, endNs } of part)
          rows.push({ sendStartNs: sendStartNs + fromNs, endNs: endNs + fromNs });
        fromNs += (partSec + sec) * SEC;
      });
      const found = gapsOf(rows, totalSec * SEC).map(({ startNs, endNs }) => (endNs - startNs) / SEC);
      assert.equal(found.length, stallsSec.length, String(found));
      const isRight = found.every((sec, index) => Math.abs(sec - (stallsSec[index] as number)) < 0.1);
      assert.ok(isRight, String(found));
    });

  test("the first response after it may be to a request that was sent in it", () => {
    const before = lanes(2)(createRandom(4), constant(MS), 2 * SEC, NONE);
    const after = lanes(2)(createRandom(5), constant(MS), SEC, NONE).map(({ sendStartNs, endNs }) => {
      return { sendStartNs: sendStartNs + 5 * SEC, endNs: endNs + 5 * SEC };
    });
    const waiting = { sendStartNs: 2 * SEC, endNs: 5 * SEC + 100 };
    const late = { sendStartNs: 4.9 * SEC, endNs: 5 * SEC };
    const [gap] = gapsOf([...before, late, waiting, ...after], 6 * SEC);
    assert.deepEqual([gap?.startNs, gap?.endNs], [2 * SEC, 5 * SEC]);
  });
});

test("too few responses show no gap, cancelled requests end none, and failed ones that are recorded late do", () => {
  const few = Array.from({ length: 10 }, (_, index) => ({ sendStartNs: index * MS, endNs: (index + 1) * MS }));
  assert.deepEqual(gapsOf([...few, { sendStartNs: 10 * MS, endNs: 5 * SEC }], 6 * SEC), []);
  const many = Array.from({ length: 100 }, (_, index) => ({ sendStartNs: index * MS, endNs: (index + 1) * MS }));
  const cancelled = { sendStartNs: 100 * MS, endNs: 2 * SEC, flags: RECORD_CANCELLED };
  const rows = [...many, cancelled, { sendStartNs: 100 * MS, endNs: 4 * SEC }];
  assert.deepEqual(
    gapsOf(rows, 4 * SEC).map(({ startNs }) => startNs),
    [100 * MS],
  );
  const gaps = new CompletionGaps(0);
  const records = new RecordColumns((columns, count) => gaps.add(columns, count));
  const failed = { sendStartNs: 100 * MS, endNs: 3 * SEC };
  for (const row of [...many, { sendStartNs: 100 * MS, endNs: 4 * SEC }, failed]) fill(records, row);
  records.drain();
  assert.deepEqual(
    findGaps(gaps.until(4 * SEC, []), EMPTY_SKETCH).map(({ startNs, endNs }) => [startNs, endNs]),
    [[100 * MS, 3 * SEC]],
  );
});

test("memory is bounded, and the longest gaps are kept", () => {
  const gaps = new CompletionGaps(0);
  const records = new RecordColumns((columns, count) => gaps.add(columns, count));
  let at = 0;
  const step = (ns: number): void => {
    fill(records, { sendStartNs: at, endNs: at + ns });
    at += ns;
  };
  for (let round = 0; round < 2000; round++) {
    for (let index = 0; index < 200; index++) step(MS);
    step(round === 700 ? 9 * SEC : 0.6 * SEC);
  }
  records.drain();
  const found = findGaps(gaps.until(at, []), EMPTY_SKETCH);
  assert.ok(found.length <= 257, `${found.length}`);
  assert.equal(Math.max(...found.map(({ startNs, endNs }) => endNs - startNs)), 9 * SEC);
});

test("any number of requests may be in flight", () => {
  const gaps = new CompletionGaps(0);
  const records = new RecordColumns((columns, count) => gaps.add(columns, count));
  for (let at = 0; at < 100; at++) fill(records, { sendStartNs: at * MS, endNs: (at + 1) * MS });
  records.drain();
  const openNs = Array.from({ length: 500_000 }, (_, at) => 100 * MS + at);
  const [gap] = findGaps(gaps.until(4 * SEC, openNs), EMPTY_SKETCH);
  assert.deepEqual([gap?.startNs, gap?.endNs], [100 * MS, 4 * SEC]);
});
