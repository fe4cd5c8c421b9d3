import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { Sequences } from "../../../src/load/sequences.ts";
import { RECORD_SEQUENCE_END } from "../../../src/measure/records.ts";
import { DEFAULT_SEQUENCES } from "../../../src/plan/sequences.ts";
import { RequestFeed } from "../../../src/run/send/feed.ts";
import { createRandom } from "../../../src/runtime/random.ts";
import {
  type DriverUnderTest,
  makeDataset,
  makeDriver,
  makeService,
  type SentRequest,
  starterOf,
} from "./fake-client.ts";
import { checkSequences, type SequenceRequest } from "./sequence-traffic.ts";

/** Sequences as the driver sends them, whatever the load and in whatever order responses come. */

const ENDLESS = Number.POSITIVE_INFINITY;

function readStamp({ id = "" }: SentRequest): SequenceRequest {
  const [, sequence, ...marks] = id.split(" ");
  return { id: Number(sequence), isStart: marks.includes("start"), isEnd: marks.includes("end") };
}

function traffic({ client }: DriverUnderTest): SequenceRequest[] {
  return client.sent.map(readStamp);
}

function makeFeed(plan: Partial<typeof DEFAULT_SEQUENCES>, usesIds: boolean, countsCut?: boolean): RequestFeed {
  const sequences = new Sequences({
    plan: { ...DEFAULT_SEQUENCES, ...plan },
    streamLengths: [],
    random: createRandom(3),
  });
  return new RequestFeed(makeService(), makeDataset(1), { usesIds, sequences, countsCut });
}

const LENGTHS = fc.record({
  length: fc.integer({ min: 1, max: 6 }),
  lengthVariationPct: fc.constantFrom(0, 20, 100),
  startId: fc.constantFrom(1, 500),
  idCount: fc.constantFrom(null, 8, 9, 1000),
});
const PICKS = fc.array(fc.nat(), { minLength: 1, maxLength: 120 });

/** Ids of requests under way. */
function activeIds({ client }: DriverUnderTest): number[] {
  const last = new Map<number, SentRequest>();
  for (const sent of client.sent) last.set(sent.slot, sent);
  return client.active.map((slot) => readStamp(last.get(slot) as SentRequest).id);
}

/** Answers everything, new requests too, until nothing is outstanding. */
function answerAll({ client }: DriverUnderTest): void {
  while (client.active.length > 0) client.answer(client.active[0] as number);
}

test("closed loops: each slot's sequences are complete, one after the other, also when the level changes", async () => {
  await fc.assert(
    fc.asyncProperty(
      LENGTHS,
      fc.array(fc.tuple(fc.integer({ min: 1, max: 8 }), PICKS), { minLength: 1, maxLength: 3 }),
      fc.option(fc.integer({ min: 8, max: 60 })),
      async (plan, levels, quota) => {
        const under = makeDriver({ isSync: true, feed: makeFeed(plan, false) });
        const { driver, client } = under;
        for (const [concurrency, picks] of levels) {
          const started = starterOf(driver).start({ kind: "closed", concurrency }, quota ?? ENDLESS);
          await new Promise((resolve) => setImmediate(resolve));
          for (const pick of picks) {
            const { active } = client;
            if (active.length === 0) break;
            const slot = active[pick % active.length] as number;
            client.answer(slot, pick % 7 === 0 ? { kind: "model", message: "no" } : undefined);
            const ids = activeIds(under);
            assert.equal(new Set(ids).size, ids.length, "a sequence has two requests under way");
          }
          while (driver.outstanding > concurrency) client.answer(Math.max(...client.active));
          await started;
          if (quota !== null) {
            answerAll(under);
            await driver.finished();
            break;
          }
        }
        const stopped = driver.stop();
        answerAll(under);
        await stopped;
        const { lengths } = checkSequences(traffic(under));
        assert.ok(Math.max(...lengths) <= plan.length * (1 + plan.lengthVariationPct / 100));
        driver.close();
        assert.deepEqual(under.errors, []);
      },
    ),
    { numRuns: 60 },
  );
});

test("schedules: the requested number of sequences, all complete, with one request in flight unless a stream keeps their order", async () => {
  await fc.assert(
    fc.asyncProperty(
      LENGTHS,
      fc.record({
        sequenceCount: fc.integer({ min: 1, max: 8 }),
        laneCount: fc.integer({ min: 1, max: 4 }),
        isSync: fc.boolean(),
        keepsOrder: fc.boolean(),
        isSerial: fc.boolean(),
      }),
      PICKS,
      fc.integer({ min: 1, max: 40 }),
      fc.option(fc.integer({ min: 1, max: 6 })),
      async (plan, lanes, picks, count, most) => {
        const laneCount = Math.min(lanes.laneCount, lanes.sequenceCount);
        const under = makeDriver({ ...lanes, laneCount, feed: makeFeed(plan, false) });
        const { driver, client } = under;
        const limit = most === null ? {} : { maxOutstanding: most };
        const drive = { kind: "scheduled", arrivals: () => 0, ...limit } as const;
        const finished = starterOf(driver)
          .start(drive, count)
          .then(() => driver.finished());
        const keepsOneEach = lanes.isSync || lanes.isSerial || !lanes.keepsOrder;
        for (const pick of picks) {
          await new Promise((resolve) => setImmediate(resolve));
          const { active } = client;
          if (active.length === 0) continue;
          // The ends of sequences that are left open at last are no part of the schedule.
          if (most !== null && driver.quota > 0) assert.ok(active.length <= most);
          if (keepsOneEach) {
            const ids = activeIds(under);
            assert.equal(new Set(ids).size, ids.length, "a sequence has two requests under way");
          }
          // On a stream the server answers a sequence's requests in their order; the order between sequences is free.
          client.answer(active[lanes.keepsOrder ? 0 : pick % active.length] as number);
        }
        let isOver = false;
        void finished.then(() => {
          isOver = true;
        });
        while (!isOver) {
          answerAll(under);
          await new Promise((resolve) => setImmediate(resolve));
        }
        const { maxOpen } = checkSequences(traffic(under));
        assert.ok(maxOpen <= lanes.sequenceCount);
        assert.ok(driver.sentCount >= count && driver.sentCount <= count + lanes.sequenceCount);
        driver.close();
        assert.deepEqual(under.errors, []);
      },
    ),
    { numRuns: 120 },
  );
});

test("a schedule that is stopped ends its sequences once their responses are there", async () => {
  const under = makeDriver({
    laneCount: 2,
    isSync: false,
    sequenceCount: 2,
    feed: makeFeed({ length: 50 }, false),
  });
  const { driver, client } = under;
  await starterOf(driver).start({ kind: "scheduled", arrivals: () => 0 }, ENDLESS);
  while (client.active.length < 2) await new Promise((resolve) => setImmediate(resolve));
  const stopped = driver.stop();
  assert.deepEqual(
    traffic(under).map(({ isEnd }) => isEnd),
    [false, false],
  );
  client.answer(client.active[0] as number);
  answerAll(under);
  await stopped;
  assert.equal(checkSequences(traffic(under)).sequenceCount, 2);
  driver.close();
});

for (const countsCut of [false, true])
  test(`a request that ends its sequence is recorded as one${countsCut ? ", also early" : ", unless it ends it early"}`, async () => {
    const under = makeDriver({ feed: makeFeed({ length: 3, lengthVariationPct: 0 }, false, countsCut) });
    const start = starterOf(under.driver);
    const recorded = async (requests: number): Promise<readonly number[]> => {
      await start.start({ kind: "closed", concurrency: 1 }, requests);
      answerAll(under);
      await under.driver.finished();
      under.driver.drain();
      return under.flags.splice(0);
    };
    // The fourth request opens a sequence, which one more ends: its second of three.
    assert.deepEqual(await recorded(4), [0, 0, RECORD_SEQUENCE_END, 0, countsCut ? RECORD_SEQUENCE_END : 0]);
    // The second request is followed by the last one of its sequence.
    assert.deepEqual(await recorded(2), [0, 0, RECORD_SEQUENCE_END]);
    under.driver.close();
  });

test("a stamp has the id first and then the sequence, and a stamp of another length has its own encoding", () => {
  const feed = makeFeed({ length: 1, lengthVariationPct: 0, startId: 9 }, true);
  const first = feed.next(0, 0);
  assert.equal(new TextDecoder().decode(feed.stamp), "0 9 start end");
  assert.deepEqual([feed.sequenceId, feed.isSequenceEnd], [9, true]);
  const second = feed.next(0, 0);
  assert.equal(new TextDecoder().decode(feed.stamp), "1 10 start end");
  assert.notEqual(first, second);
  assert.equal(feed.next(0, 0), second);
});
