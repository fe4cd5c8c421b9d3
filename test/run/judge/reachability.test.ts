import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { type Reach, Reachability } from "../../../src/run/judge/reachability.ts";
import type { Failure, FailureKind } from "../../../src/transport/failure.ts";

/** When a target that loses connections counts as gone. Times are in seconds here. */

const failed = (kind: FailureKind, server?: string): Failure => ({ kind, message: "", server });

interface Case {
  /** When a request succeeded, before all failures or between; undefined: never. */
  readonly lastSuccess?: number | undefined;
  readonly serverCount?: number;
  readonly outstanding?: number;
  /** Time from the send of each request to its failure. Default: 0.1. */
  readonly sentSecBefore?: number;
  readonly isSending?: boolean;
  /** Default: true. */
  readonly waitsForServer?: boolean;
}

/** Failures at their times; what the last one says of the target. */
function reachAfter(
  failures: readonly (readonly [atSec: number, failure: Failure])[],
  {
    lastSuccess = 0.5,
    serverCount = 1,
    outstanding = 0,
    sentSecBefore = 0.1,
    isSending = true,
    waitsForServer = true,
  }: Case = {},
): Reach {
  const reachability = new Reachability(serverCount, waitsForServer);
  let reach: Reach = "reachable";
  for (const [atSec, failure] of failures) {
    const hasSucceeded = lastSuccess <= atSec;
    reach = reachability.judge(failure, {
      failedNs: atSec * 1e9,
      lastSuccessNs: hasSucceeded ? lastSuccess * 1e9 : 0,
      completedCount: hasSucceeded ? 1 : 0,
      outstanding,
      sentNs: (atSec - sentSecBefore) * 1e9,
      isSending,
    });
  }
  return reach;
}

function isGone(serverCount: number, failures: Parameters<typeof reachAfter>[0], lastSuccess = 0.5): boolean {
  return reachAfter(failures, { serverCount, lastSuccess }) === "unreachable";
}

const many = (kind: FailureKind, count: number): [number, Failure][] =>
  Array.from({ length: count }, (_, index) => [index + 1, failed(kind)]);

test("a target is gone at once when its server has ended for good", () => {
  assert.equal(reachAfter([[1, { ...failed("closed"), isServerGone: true }]]), "unreachable");
  assert.equal(reachAfter([[1, failed("closed")]]), "reachable");
});

describe("a target has stopped answering", () => {
  const never = Number.POSITIVE_INFINITY;
  const cases: readonly (readonly [name: string, failures: [number, Failure][], state: Case, reach: Reach])[] = [
    ["not when one request is silent", many("stalled", 1), {}, "reachable"],
    ["not when seven in a row are", many("stalled", 7), {}, "reachable"],
    ["when eight in a row are", many("stalled", 8), {}, "stalled"],
    ["not while more are in flight than were silent", many("stalled", 63), { outstanding: 64 }, "reachable"],
    ["when as many were silent as were in flight", many("stalled", 64), { outstanding: 64 }, "stalled"],
    ["not when a request succeeded between", many("stalled", 12), { lastSuccess: 6.5 }, "reachable"],
    ["when eight in a row are after the last success", many("stalled", 14), { lastSuccess: 6.5 }, "stalled"],
    ["not when the very first request is silent", many("stalled", 1), { lastSuccess: never }, "reachable"],
    ["when it has answered nothing, and two are silent", many("stalled", 2), { lastSuccess: never }, "stalled"],
    [
      "not when it answers with an error between",
      [
        [1, failed("stalled")],
        [2, failed("http")],
        [3, failed("stalled")],
      ],
      { lastSuccess: never },
      "reachable",
    ],
    ["not when requests take too long, however many", many("timeout", 100), { lastSuccess: never }, "reachable"],
    ["not when it answered others after they were sent", many("stalled", 20), { sentSecBefore: 30 }, "reachable"],
    ["not at the end of the load", many("stalled", 20), { isSending: false }, "reachable"],
    [
      "at the end of the load too when it has never answered",
      many("stalled", 2),
      { isSending: false, lastSuccess: never },
      "stalled",
    ],
    [
      "not when it answered others with an error after they were sent",
      [[0.5, failed("http")], ...many("stalled", 20)],
      { lastSuccess: never, sentSecBefore: 30 },
      "reachable",
    ],
    ["not when one of two servers is silent", many("stalled", 20), { serverCount: 2 }, "reachable"],
  ];
  for (const [name, failures, state, reach] of cases)
    test(name, () => assert.equal(reachAfter(failures, state), reach));
});

describe("a target is gone", () => {
  const refused = failed("connect");

  test("when it refuses for 5 s without a success between", () => {
    assert.equal(isGone(1, [[1, refused]]), false);
    assert.equal(
      isGone(1, [
        [1, refused],
        [5.9, refused],
      ]),
      false,
    );
    assert.equal(
      isGone(1, [
        [1, refused],
        [6, refused],
      ]),
      true,
    );
    assert.equal(
      isGone(
        1,
        [
          [1, refused],
          [6, refused],
        ],
        3,
      ),
      false,
    );
  });

  test("but not when it answers, even with an error", () => {
    assert.equal(
      isGone(1, [
        [1, refused],
        [2, failed("http")],
        [6, refused],
      ]),
      false,
    );
  });

  test("when it closes many connections, not when it closes a few", () => {
    const closed = (count: number) => Array.from({ length: count }, (_, i) => [1 + i, failed("closed")] as const);
    assert.equal(isGone(1, closed(7)), false);
    assert.equal(isGone(1, closed(8)), true);
  });

  test("of several servers when all of them are: a slow one may still answer", () => {
    const one = failed("connect", "a:1");
    const other = failed("tls", "b:1");
    assert.equal(
      isGone(2, [
        [1, one],
        [9, one],
      ]),
      false,
    );
    assert.equal(
      isGone(2, [
        [1, one],
        [3, other],
        [9, one],
      ]),
      true,
    );
    assert.equal(
      isGone(
        2,
        [
          [1, one],
          [3, other],
          [9, one],
          [20, one],
        ],
        10,
      ),
      false,
    );
  });
});

const atOnce = (kind: FailureKind, count: number): [number, Failure][] =>
  many(kind, count).map(([, failure]) => [1, failure]);

describe("a target that has answered nothing yet, and gets no time", () => {
  const state: Case = { lastSuccess: Number.POSITIVE_INFINITY, waitsForServer: false };
  const cases: readonly (readonly [name: string, failures: [number, Failure][], more: Case, reach: Reach])[] = [
    ["is gone when its first response is not of the protocol", many("protocol", 1), {}, "unreachable"],
    ["is gone after eight connections without a response", many("closed", 8), {}, "unreachable"],
    ["may close seven", many("closed", 7), {}, "reachable"],
    ["may close eight while more requests are in flight", atOnce("closed", 8), { outstanding: 16 }, "reachable"],
    ["may close some once it has answered", many("closed", 4), { lastSuccess: 0.5 }, "reachable"],
    ["is there while another of its servers may be", many("protocol", 8), { serverCount: 2 }, "reachable"],
  ];
  for (const [name, failures, more, reach] of cases)
    test(name, () => assert.equal(reachAfter(failures, { ...state, ...more }), reach));
});
