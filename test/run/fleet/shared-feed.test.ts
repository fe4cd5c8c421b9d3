import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { Sequences } from "../../../src/load/sequences.ts";
import { countOf, numberOf, type Share } from "../../../src/load/share.ts";
import { sum } from "../../../src/plan/units.ts";
import { MixedFeed } from "../../../src/run/mix/mixed-feed.ts";
import { Canceller } from "../../../src/run/send/canceller.ts";
import { type Feed, RequestFeed } from "../../../src/run/send/feed.ts";
import { systemClock } from "../../../src/runtime/clock.ts";
import { createRandom } from "../../../src/runtime/random.ts";
import { Call } from "../../../src/transport/call.ts";
import { ServerTurns } from "../../../src/transport/fan-out-client.ts";
import { sharesOf } from "../../load/shares-of.ts";
import { makeDataset, makeService } from "../send/fake-client.ts";
import { makeSessionFeed } from "../send/make-sessions.ts";

/** What the requests of several senders contain together is what those of one contain. */

const WHOLE: Share = { index: 0, count: 1 };
const SENDERS = [1, 2, 3, 4, 5, 6, 7];
const senders = fc.integer({ min: 1, max: 7 });
const sorted = (values: readonly string[]): string[] => [...values].sort();

/** Returns the step and the id of each of a feed's requests, over lanes that take turns. */
function drawn(feed: Feed, laneCount: number, turnCount: number): string[] {
  const all: string[] = [];
  for (let turn = 0; turn < turnCount; turn++)
    for (let lane = 0; lane < laneCount; lane++) {
      feed.next(lane, lane);
      all.push(`${feed.step} ${feed.stamp === undefined ? "" : new TextDecoder().decode(feed.stamp)}`);
    }
  return all;
}

for (const isInOrder of [false, true])
  test(`lanes ${isInOrder ? "that share the data" : "with data of their own"}: the same steps and ids`, () => {
    const concurrency = fc.integer({ min: 1, max: 20 });
    fc.assert(
      fc.property(senders, concurrency, fc.integer({ min: 1, max: 9 }), (count, lanes, stepCount) => {
        const make = (share: Share): RequestFeed =>
          new RequestFeed(makeService(), makeDataset(stepCount), { usesIds: true, isInOrder, senders: share });
        const alone = make(WHOLE);
        alone.setActiveLanes(lanes);
        const owners = Math.min(count, lanes);
        const parts = sharesOf(owners).map((share) => {
          const feed = make(share);
          feed.ownPart(share, lanes);
          feed.setActiveLanes(countOf(lanes, share));
          return drawn(feed, countOf(lanes, share), 5);
        });
        assert.deepEqual(sorted(parts.flat()).length, lanes * 5);
        // Where lanes share the data, the ids are those of the lanes, and the steps those of the order.
        const strip = (all: readonly string[]): string[] =>
          isInOrder ? all.map((one) => one.split(" ")[0] ?? "") : [...all];
        if (!isInOrder || lanes % owners === 0)
          assert.deepEqual(sorted(strip(parts.flat())), sorted(strip(drawn(alone, lanes, 5))));
      }),
    );
  });

test("the lanes of a schedule send each entry of the data once, in the order of the arrivals", () => {
  for (const count of SENDERS) {
    const steps = sharesOf(count).flatMap((share) => {
      const lanes = Math.ceil(4 / count);
      const feed = new RequestFeed(makeService(), makeDataset(56), { usesIds: false, senders: share });
      feed.ownPart(share);
      feed.setActiveLanes(lanes);
      // Arrival j of the sender goes to lane j modulo their number.
      return Array.from({ length: countOf(56, share) }, (_, arrival) => {
        feed.next(arrival % lanes, 0);
        assert.equal(feed.step, numberOf(arrival, share));
        return feed.step;
      });
    });
    assert.deepEqual(
      steps.sort((a, b) => a - b),
      Array.from({ length: 56 }, (_, step) => step),
    );
  }
});

test("sequences: each begins with an id, a stream and a length of its own, as with one sender", () => {
  const options = (idCount: number | null) => ({
    plan: { length: 10, lengthVariationPct: 50, startId: 100, idCount },
    streamLengths: [3, 5],
    random: createRandom(4),
  });
  for (const idCount of [null, 50])
    for (const count of SENDERS) {
      const begun = (share: Share): string[] => {
        const sequences = new Sequences({ ...options(idCount), senders: share });
        return Array.from({ length: countOf(42, share) }, () => {
          const { id, stream } = sequences.next(0);
          let length = 1;
          while (sequences.isOpen(0)) {
            sequences.next(0);
            length++;
          }
          return `${id} ${stream} ${length}`;
        });
      };
      assert.deepEqual(sorted(sharesOf(count).flatMap(begun)), sorted(begun(WHOLE)), `${count}`);
    }
});

test("a mix: the members take turns by weight, with the steps of their data in order", () => {
  const make = (share: Share): MixedFeed => {
    const members = [3, 1].map((weight) => ({
      feed: new RequestFeed(makeService(), makeDataset(7), { usesIds: false, isInOrder: true }),
      ...{ stepCount: 7, weight },
    }));
    const mixed = new MixedFeed(members);
    mixed.ownPart(share);
    return mixed;
  };
  const alone = drawn(make(WHOLE), 1, 84);
  for (const count of SENDERS) {
    const parts = sharesOf(count).map((share) => drawn(make(share), 1, countOf(84, share)));
    assert.deepEqual(
      alone.map((_, at) => parts[at % count]?.[Math.floor(at / count)]),
      alone,
    );
  }
});

test("a mix keeps its weights from level to level, also when fewer senders own some", () => {
  for (const count of SENDERS) {
    const feeds = sharesOf(count).map(() => {
      const members = [1, 1].map((weight) => ({
        feed: new RequestFeed(makeService(), makeDataset(7), { usesIds: false, isInOrder: true }),
        ...{ stepCount: 7, weight },
      }));
      return new MixedFeed(members);
    });
    for (const owners of [count, count, 1, count]) {
      const sent = feeds.slice(0, owners).flatMap((feed, index) => {
        feed.ownPart({ index, count: owners });
        return drawn(feed, 1, 8);
      });
      // The steps of the first member are 0 to 6.
      const first = sent.filter((one) => Number(one.split(" ")[0]) < 7).length;
      assert.equal(first, sent.length / 2, `${owners} of ${count}`);
    }
  }
});

test("cancellation: the same requests are cancelled", () => {
  const cancelled = (share: Share): boolean[] => {
    const slots = new Set<number>();
    const atOnce = (action: () => void): (() => void) => {
      action();
      return () => {};
    };
    const clock = { ...systemClock, nextTurn: atOnce };
    const canceller = new Canceller({ sharePct: 30, delayMs: 0, seed: 3 }, clock, share);
    canceller.attach((slot) => slots.add(slot));
    canceller.isEnabled = true;
    return Array.from({ length: countOf(100, share) }, (_, slot) => {
      canceller.add(new Call(slot));
      return slots.has(slot);
    });
  };
  const alone = cancelled(WHOLE);
  assert.ok(alone.includes(true) && alone.includes(false));
  for (const count of SENDERS) {
    const parts = sharesOf(count).map(cancelled);
    assert.deepEqual(
      alone.map((_, at) => parts[at % count]?.[Math.floor(at / count)]),
      alone,
    );
  }
});

const picks = (turns: ServerTurns, count: number): number[] => Array.from({ length: count }, () => turns.pick());

test("several servers: the requests of a schedule go to those of one sender", () => {
  for (const count of SENDERS)
    for (let serverCount = 2; serverCount <= 5; serverCount++)
      for (const requestCount of [1, 3, 40]) {
        const alone = picks(new ServerTurns(serverCount), requestCount);
        const parts = sharesOf(count).map((share) => {
          const turns = new ServerTurns(serverCount, 1);
          turns.ownPart({ first: share.index, stride: share.count, isScheduled: true });
          return picks(turns, countOf(requestCount, share));
        });
        assert.deepEqual(
          alone.map((_, at) => parts[at % count]?.[Math.floor(at / count)]),
          alone,
        );
      }
});

test("several servers: in a closed loop each round goes to all of them, and each sender sends to all", () => {
  for (const count of SENDERS)
    for (let serverCount = 2; serverCount <= 5; serverCount++) {
      const total = serverCount * serverCount * count;
      const parts = sharesOf(count).map((share) => {
        const turns = new ServerTurns(serverCount);
        turns.ownPart({ first: share.index, stride: share.count, isScheduled: false });
        return picks(turns, countOf(total, share));
      });
      const all = Array.from({ length: total }, (_, at) => parts[at % count]?.[Math.floor(at / count)]);
      for (let at = 0; at < total; at += serverCount)
        assert.equal(new Set(all.slice(at, at + serverCount)).size, serverCount, `${count} senders: ${all}`);
      // The first ones are those of one sender.
      assert.deepEqual(all.slice(0, serverCount), picks(new ServerTurns(serverCount), serverCount));
      for (const part of parts)
        for (let server = 0; server < serverCount; server++)
          assert.equal(part.filter((one) => one === server).length, serverCount, `${count} senders: ${part}`);
    }
});

test("sessions: each is held by one sender, with all its turns", () => {
  const turns = [2, 1, 3, 1, 2];
  for (const count of SENDERS) {
    const parts = sharesOf(count).map((share) => {
      const feed = makeSessionFeed(...turns);
      feed.ownPart(share);
      let begun = 0;
      for (; feed.begin(begun); begun++) feed.next(0, 0, begun);
      assert.equal(begun, countOf(turns.length, share));
      assert.equal(feed.tally.sessionCount, begun);
      return feed.turnCountOf(share);
    });
    assert.equal(sum(parts), 9);
  }
});
