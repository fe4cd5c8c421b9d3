import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { StabilityJudge } from "../../src/measure/stability.ts";

/** perf_analyzer's rule: three windows in a row whose largest throughput and latency are at most 1 + s/100 times their smallest. */

function judgeAll(
  windows: readonly (readonly [rate: number, latencyNs: number])[],
  toleranceRatio: number,
  latencyLimitNs?: number,
): StabilityJudge {
  const judge = new StabilityJudge({ toleranceRatio, latencyLimitNs });
  for (const [rate, latencyNs] of windows) judge.add(rate, latencyNs);
  return judge;
}

const cases: readonly (readonly [
  name: string,
  windows: [number, number][],
  isStable: boolean,
  isThroughputStable: boolean,
])[] = [
  [
    "two windows are never enough",
    [
      [100, 10],
      [100, 10],
    ],
    false,
    false,
  ],
  [
    "three equal windows",
    [
      [100, 10],
      [100, 10],
      [100, 10],
    ],
    true,
    true,
  ],
  [
    "just within ten percent",
    [
      [100, 10],
      [110, 11],
      [105, 10.5],
    ],
    true,
    true,
  ],
  [
    "throughput too far apart",
    [
      [100, 10],
      [110.2, 10],
      [100, 10],
    ],
    false,
    false,
  ],
  [
    "latency too far apart",
    [
      [100, 10],
      [100, 11.1],
      [100, 10],
    ],
    false,
    true,
  ],
  [
    "an old window no longer counts",
    [
      [5, 999],
      [100, 10],
      [101, 10],
      [102, 10],
    ],
    true,
    true,
  ],
  [
    "the newest window counts",
    [
      [100, 10],
      [101, 10],
      [102, 10],
      [5, 999],
    ],
    false,
    false,
  ],
  [
    "a window without a request",
    [
      [100, 10],
      [0, Number.POSITIVE_INFINITY],
      [100, 10],
    ],
    false,
    false,
  ],
  [
    "no requests at all",
    [
      [0, Number.POSITIVE_INFINITY],
      [0, Number.POSITIVE_INFINITY],
      [0, Number.POSITIVE_INFINITY],
    ],
    false,
    false,
  ],
];

for (const [name, windows, isStable, isThroughputStable] of cases) {
  test(`stable at 10 %: ${name}`, () => {
    const judge = judgeAll(windows, 0.1);
    assert.deepEqual([judge.isStable, judge.isThroughputStable], [isStable, isThroughputStable]);
  });
}

test("the rule is max/min <= 1 + s/100 over the last three windows, for both quantities", () => {
  const window = fc.tuple(fc.double({ min: 1, max: 1000, noNaN: true }), fc.double({ min: 1, max: 1000, noNaN: true }));
  fc.assert(
    fc.property(fc.array(window, { maxLength: 8 }), fc.integer({ min: 0, max: 300 }), (windows, stabilityPct) => {
      const judge = judgeAll(windows, stabilityPct / 100);
      const recent = windows.slice(-3);
      const isWithin = (values: number[]): boolean =>
        Math.max(...values) / Math.min(...values) <= 1 + stabilityPct / 100;
      const rates = recent.map(([rate]) => rate);
      const latencies = recent.map(([, latency]) => latency);
      assert.equal(judge.isThroughputStable, recent.length === 3 && isWithin(rates));
      assert.equal(judge.isStable, recent.length === 3 && isWithin(rates) && isWithin(latencies));
    }),
  );
});

test("the limit is reached when one of three windows reaches it, not before", () => {
  assert.equal(
    judgeAll(
      [
        [1, 99],
        [1, 99],
      ],
      0.1,
      50,
    ).isOverLimit,
    false,
  );
  assert.equal(
    judgeAll(
      [
        [1, 10],
        [1, 50],
        [1, 10],
      ],
      0.1,
      50,
    ).isOverLimit,
    true,
  );
  assert.equal(
    judgeAll(
      [
        [1, 10],
        [1, 49],
        [1, 10],
      ],
      0.1,
      50,
    ).isOverLimit,
    false,
  );
  assert.equal(
    judgeAll(
      [
        [1, 99],
        [1, 99],
        [1, 99],
      ],
      0.1,
    ).isOverLimit,
    false,
  );
  assert.equal(
    judgeAll(
      [
        [1, 99],
        [1, 10],
        [1, 10],
        [1, 10],
      ],
      0.1,
      50,
    ).isOverLimit,
    false,
  );
});

test("the spread is how far each quantity moved", () => {
  const { throughputRatio, latencyRatio } = judgeAll(
    [
      [100, 10],
      [120, 12],
      [150, 11],
    ],
    0.1,
  ).spread;
  assert.equal(throughputRatio, 0.5);
  assert.ok(Math.abs(latencyRatio - 0.2) < 1e-12);
});
