import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { joinPeers } from "../../../src/run/peers/join-peers.ts";
import { MpiPeers } from "../../../src/run/peers/mpi-peers.ts";
import { ALONE } from "../../../src/run/peers/peers.ts";
import type { MpiWorld } from "../../../src/runtime/mpi.ts";
import { makePlan } from "../../plan/make-plan.ts";

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
      peers: new MpiPeers(world, (line) => told.push(line)),
      told,
      signal: { isStopped: false },
      isFinal: false,
    };
    return made;
  });
}

const PENDING = Symbol("pending");

/** What a promise has come to after a while, during which a rank polls many times. */
function after<T>(promise: Promise<T>): Promise<T | typeof PENDING> {
  return Promise.race([promise, new Promise<typeof PENDING>((resolve) => setTimeout(() => resolve(PENDING), 30))]);
}

const begin = ({ peers, signal }: Rank): Promise<void> => peers.waitForAll(signal);
const judge = ({ peers, signal }: Rank, isStable: boolean): Promise<boolean> => peers.areAllStable(isStable, signal);

describe("the ranks of a job", () => {
  test("begin when the last one is there", async () => {
    const [first, second, third] = makeRanks(3) as [Rank, Rank, Rank];
    assert.equal(first.peers.count, 3);
    const waiting = [begin(first), begin(second)];
    for (const promise of waiting) assert.equal(await after(promise), PENDING);
    await Promise.all([...waiting, begin(third)]);
  });

  test("are stable when each of them is, after the same window", async () => {
    const ranks = makeRanks(3);
    await Promise.all(ranks.map(begin));
    for (const [verdicts, areAll] of [
      [[true, false, true], false],
      [[false, true, false], false],
      [[true, true, true], true],
    ] as const)
      assert.deepEqual(await Promise.all(ranks.map((rank, index) => judge(rank, verdicts[index] as boolean))), [
        areAll,
        areAll,
        areAll,
      ]);
  });

  test("wait for the slowest's window", async () => {
    const [first, second] = makeRanks(2) as [Rank, Rank];
    await Promise.all([begin(first), begin(second)]);
    const early = judge(first, true);
    assert.equal(await after(early), PENDING);
    assert.deepEqual(await Promise.all([early, judge(second, true)]), [true, true]);
  });

  test("do not wait for windows of one that went on to the next level, and are waited for by it", async () => {
    const [first, second] = makeRanks(2) as [Rank, Rank];
    await Promise.all([begin(first), begin(second)]);
    assert.deepEqual(await Promise.all([judge(first, false), judge(second, false)]), [false, false]);
    const next = begin(first);
    assert.equal(await judge(second, false), false);
    assert.equal(await judge(second, true), true);
    assert.equal(await after(next), PENDING);
    await Promise.all([next, begin(second)]);
    // What was said of the level before counts no more.
    assert.deepEqual(await Promise.all([judge(first, true), judge(second, false)]), [false, false]);
    assert.deepEqual(await Promise.all([judge(first, true), judge(second, true)]), [true, true]);
  });

  test("end together: load goes on until the last one has nothing more to measure", async () => {
    const [first, second] = makeRanks(2) as [Rank, Rank];
    await Promise.all([begin(first), begin(second)]);
    const end = first.peers.waitForEnd(first.signal);
    assert.equal(await after(end), PENDING);
    // Who has ended is not waited for.
    assert.equal(await judge(second, false), false);
    assert.equal(await judge(second, true), true);
    await begin(second);
    await Promise.all([end, second.peers.waitForEnd(second.signal)]);
    assert.deepEqual([first.told, second.told], [[], []]);
  });

  test("leave MPI when all have closed, without a word after a common end", async () => {
    const ranks = makeRanks(2) as [Rank, Rank];
    await Promise.all(ranks.map(begin));
    await Promise.all(ranks.map(({ peers, signal }) => peers.waitForEnd(signal)));
    await Promise.all(ranks.map(({ peers }) => peers.close()));
    assert.deepEqual(
      ranks.map(({ isFinal, told }) => [isFinal, told]),
      [
        [true, []],
        [true, []],
      ],
    );
  });

  test("are told of one that is missing, once, and go on without it", async () => {
    const [first, second, third] = makeRanks(3) as [Rank, Rank, Rank];
    const waiting = [begin(first), begin(third)];
    const closing = second.peers.close();
    await Promise.all(waiting);
    assert.deepEqual(await Promise.all([judge(first, true), judge(third, true)]), [true, true]);
    for (const { told } of [first, third])
      assert.deepEqual(told, ["rampart: rank 1 ended early: its load is missing from now on."]);
    assert.equal(await after(closing), PENDING);
    assert.equal(second.isFinal, false, "MPI's end waits for all, so that it must come last");
    await Promise.all([first, third].map(({ peers, signal }) => peers.waitForEnd(signal)));
    await closing;
    assert.equal(second.isFinal, true);
  });

  test("stop waiting when they are told to stop", async () => {
    for (const wait of [
      (rank: Rank) => begin(rank),
      async (rank: Rank) => assert.equal(await judge(rank, false), false),
      (rank: Rank) => rank.peers.waitForEnd(rank.signal),
    ]) {
      const [first] = makeRanks(2) as [Rank, Rank];
      const waiting = wait(first);
      assert.equal(await after(waiting as Promise<unknown>), PENDING);
      first.signal.isStopped = true;
      await waiting;
    }
  });
});

test("a process alone waits for nobody", async () => {
  const told: string[] = [];
  const peers = await joinPeers(makePlan(), (line) => told.push(line));
  assert.equal(peers, ALONE);
  assert.deepEqual(told, []);
  await peers.waitForAll({ isStopped: false });
  assert.equal(await peers.areAllStable(true, { isStopped: false }), true);
  assert.equal(await peers.areAllStable(false, { isStopped: false }), false);
  await peers.waitForEnd({ isStopped: false });
  await peers.close();
});
