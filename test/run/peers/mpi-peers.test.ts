// Runs on: bun, deno, node.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { MpiPeers } from "../../../src/run/peers/mpi-peers.ts";
import type { MpiWorld } from "../../../src/runtime/launch/mpi.ts";
import { FakeClock } from "../../runtime/fake-clock.ts";

/** Ranks of a job within one process, over a network of arrays. */

interface Rank {
  readonly peers: MpiPeers;
  readonly told: string[];
  readonly signal: { isStopped: boolean };
  isFinal: boolean;
}

function makeRanks(size: number): Rank[] {
  const inboxes: { from: number; value: number }[][] = Array.from({ length: size }, () => []);
  return inboxes.map((inbox, rank) => {
    const told: string[] = [];
    const world: MpiWorld = {
      rank,
      size,
      send: (to, value) => {
        assert.notEqual(to, rank);
        inboxes[to]?.push({ from: rank, value });
      },
      receive: () => inbox.shift(),
      finalize: () => {
        made.isFinal = true;
      },
    };
    const made: Rank = {
      peers: new MpiPeers(world, (line) => told.push(line), clock),
      told,
      signal: { isStopped: false },
      isFinal: false,
    };
    return made;
  });
}

const PENDING = Symbol("pending");

/** All ranks poll by it, so that the test decides how long they wait. */
const clock = new FakeClock();

/** What a promise has come to after a while, during which a rank polls many times. */
async function after<T>(promise: Promise<T>): Promise<T | typeof PENDING> {
  let found: T | typeof PENDING = PENDING;
  void promise.then((value) => {
    found = value;
  });
  await clock.advanceMs(30);
  return found;
}

/** The results of ranks that wait for each other. */
async function all<T>(promises: readonly Promise<T>[]): Promise<T[]> {
  const results = Promise.all(promises);
  await clock.advanceMs(30);
  return results;
}

const begin = ({ peers, signal }: Rank): Promise<void> => peers.waitForAll(signal);
const judge = ({ peers, signal }: Rank, isStable: boolean): Promise<boolean> => peers.areAllStable(isStable, signal);

describe("the ranks of a job", () => {
  test("begin when the last one is there", async () => {
    const [first, second, third] = makeRanks(3) as [Rank, Rank, Rank];
    assert.equal(first.peers.count, 3);
    const waiting = [begin(first), begin(second)];
    for (const promise of waiting) assert.equal(await after(promise), PENDING);
    await all<unknown>([...waiting, begin(third)]);
  });

  test("are stable when each of them is, after the same window", async () => {
    const ranks = makeRanks(3);
    await all<unknown>(ranks.map(begin));
    for (const [verdicts, areAll] of [
      [[true, false, true], false],
      [[false, true, false], false],
      [[true, true, true], true],
    ] as const)
      assert.deepEqual(await all<unknown>(ranks.map((rank, index) => judge(rank, verdicts[index] as boolean))), [
        areAll,
        areAll,
        areAll,
      ]);
  });

  test("wait for the slowest's window", async () => {
    const [first, second] = makeRanks(2) as [Rank, Rank];
    await all<unknown>([begin(first), begin(second)]);
    const early = judge(first, true);
    assert.equal(await after(early), PENDING);
    assert.deepEqual(await all<unknown>([early, judge(second, true)]), [true, true]);
  });

  test("do not wait for windows of one that went on to the next level, and are waited for by it", async () => {
    const [first, second] = makeRanks(2) as [Rank, Rank];
    await all<unknown>([begin(first), begin(second)]);
    assert.deepEqual(await all<unknown>([judge(first, false), judge(second, false)]), [false, false]);
    const next = begin(first);
    assert.equal(await after(judge(second, false)), false);
    assert.equal(await after(judge(second, true)), true);
    assert.equal(await after(next), PENDING);
    await all<unknown>([next, begin(second)]);
    // What was said of the level before counts no more.
    assert.deepEqual(await all<unknown>([judge(first, true), judge(second, false)]), [false, false]);
    assert.deepEqual(await all<unknown>([judge(first, true), judge(second, true)]), [true, true]);
  });

  test("end together: load continues until the last one has finished measuring", async () => {
    const [first, second] = makeRanks(2) as [Rank, Rank];
    await all<unknown>([begin(first), begin(second)]);
    const end = first.peers.waitForEnd(first.signal);
    assert.equal(await after(end), PENDING);
    // Who has ended is not waited for.
    assert.equal(await after(judge(second, false)), false);
    assert.equal(await after(judge(second, true)), true);
    await after(begin(second));
    await all<unknown>([end, second.peers.waitForEnd(second.signal)]);
    assert.deepEqual([first.told, second.told], [[], []]);
  });

  test("leave MPI when all have closed, without a word after a common end", async () => {
    const ranks = makeRanks(2) as [Rank, Rank];
    await all<unknown>(ranks.map(begin));
    await all<unknown>(ranks.map(({ peers, signal }) => peers.waitForEnd(signal)));
    await all<unknown>(ranks.map(({ peers }) => peers.close()));
    assert.deepEqual(
      ranks.map(({ isFinal, told }) => [isFinal, told]),
      [
        [true, []],
        [true, []],
      ],
    );
  });

  test("report a missing one once, and continue without it", async () => {
    const [first, second, third] = makeRanks(3) as [Rank, Rank, Rank];
    const waiting = [begin(first), begin(third)];
    const closing = second.peers.close();
    await all<unknown>(waiting);
    assert.deepEqual(await all<unknown>([judge(first, true), judge(third, true)]), [true, true]);
    for (const { told } of [first, third])
      assert.deepEqual(told, ["rampart: rank 1 ended early: its load is missing from now on."]);
    assert.equal(await after(closing), PENDING);
    assert.equal(second.isFinal, false, "MPI's end waits for all, so that it must come last");
    await all<unknown>([first, third].map(({ peers, signal }) => peers.waitForEnd(signal)));
    await clock.advanceMs(30);
    await closing;
    assert.equal(second.isFinal, true);
  });

  test("stop waiting when stopped", async () => {
    for (const wait of [
      (rank: Rank) => begin(rank),
      async (rank: Rank) => assert.equal(await judge(rank, false), false),
      (rank: Rank) => rank.peers.waitForEnd(rank.signal),
    ]) {
      const [first] = makeRanks(2) as [Rank, Rank];
      const waiting = wait(first);
      assert.equal(await after(waiting as Promise<unknown>), PENDING);
      first.signal.isStopped = true;
      await clock.advanceMs(30);
      await waiting;
    }
  });
});
