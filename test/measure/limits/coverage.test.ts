import assert from "node:assert/strict";
import { test } from "node:test";
import { errorOfLook, LIMIT_ERROR, planLooks } from "../../../src/measure/limits/looks.ts";
import type { Measurement } from "../../../src/measure/measurement.ts";
import { estimateMetric, type MetricEstimate } from "../../../src/measure/metrics/read-metric.ts";
import { TokenColumns } from "../../../src/measure/tokens/token-columns.ts";
import { measureColumns } from "../../../src/measure/tokens/token-tally.ts";
import type { MetricPlan } from "../../../src/plan/assertions.ts";
import { createRandom, type Random } from "../../../src/runtime/random.ts";
import { completionBins, completionsAt, makeWindow, tallyOf } from "../make-window.ts";

/** Intervals of 95 % contain the known truth in 90 of 100 simulated runs, or claim nothing, which they do in 10 of 100 at most. */

/** Runs of what is drawn fast, and of what is not. */
const [MANY, FEW] = [300, 100];
const REQUESTS = 1000;
const drawExponential = (random: Random): number => -Math.log(1 - random());

interface Coverage {
  readonly covered: number;
  readonly unknown: number;
}

function cover(truth: number, runs: number, draw: (random: Random) => MetricEstimate | undefined): Coverage {
  const random = createRandom(17);
  let covered = 0;
  let unknown = 0;
  for (let run = 0; run < runs; run++) {
    const estimate = draw(random);
    assert.ok(estimate);
    const { low, high } = estimate;
    if (low === null || high === null) unknown++;
    if ((low ?? 0) <= truth && truth <= (high ?? Number.POSITIVE_INFINITY)) covered++;
  }
  return { covered: covered / runs, unknown: unknown / runs };
}

/** Requests that fail with a ratio, in clusters of this mean length. */
function drawFailures(random: Random, ratio: number, length: number, count: number): MetricEstimate | undefined {
  const [ends, failed]: [number[], number[]] = [[], []];
  const enter = ratio / (1 - ratio) / length;
  let isFailing = random() < ratio;
  let atNs = 0;
  for (let request = 0; request < count; request++) {
    atNs += 1e6 * drawExponential(random);
    (isFailing ? failed : ends).push(atNs);
    isFailing = length === 1 ? random() < ratio : isFailing ? random() >= 1 / length : random() < enter;
  }
  const window = {
    ...makeWindow({
      failedCount: failed.length,
      durationNs: atNs,
      completions: completionsAt(ends, 0, atNs, failed),
    }),
    requestCount: ends.length,
  };
  return estimateMetric({ key: "errorRate" }, { window }, 1);
}

for (const [name, ratio, length, count] of [
  ["independent", 0.02, 1, REQUESTS],
  ["in clusters of 5", 0.05, 5, REQUESTS],
  ["in clusters of 10", 0.05, 10, REQUESTS],
  ["in two or three clusters of 20", 0.05, 20, REQUESTS],
  ["in clusters of 50", 0.05, 50, 10_000],
] as const)
  test(`an error rate with failures ${name}`, () => {
    const { covered, unknown } = cover(ratio, count > REQUESTS ? FEW : MANY, (random) =>
      drawFailures(random, ratio, length, count),
    );
    assert.ok(covered >= 0.9, String(covered));
    if (length === 1) assert.ok(unknown <= 0.1, String(unknown));
  });

test("of a few clusters of failures nothing is known about how many more there may be, and of their times neither", () => {
  const counts = Array.from({ length: 64 }, () => 15);
  const one = completionBins(1e7, counts, { failed: counts.map((_, at) => (at === 20 ? 40 : 0)) });
  const window = { ...makeWindow({ failedCount: 40, completions: one }), requestCount: 960 };
  const estimate = (of: Measurement) => estimateMetric({ key: "errorRate" }, { window: of }, 1);
  assert.equal(estimate(window)?.high, null);
  assert.ok((estimate(window)?.low ?? 1) < 0.005);
  const { completions: _, ...unknown } = window;
  const { high, low } = estimate(unknown) as MetricEstimate;
  assert.deepEqual([low, high], [null, null]);
});

interface Stream {
  readonly seconds: number;
  readonly columns: TokenColumns;
}

/** Streams that arrive with rate 100/s at random, or one after the other, of independent lengths and latencies. */
function drawStreams(random: Random, arrivals: "poisson" | "closed"): Stream {
  const columns = new TokenColumns();
  let atNs = 0;
  for (let row = 0; row < REQUESTS; row++) {
    const latencyNs = 1e6 * (5 + 5 * drawExponential(random));
    const firstNs = latencyNs * (0.2 + 0.2 * random());
    const outputTokens = 1 + Math.floor(100 * drawExponential(random));
    const times = { contentNs: [firstNs, latencyNs], endNs: latencyNs, outputTokens };
    columns.add({ sendNs: atNs, times: times as never, inputTokens: 1 });
    atNs += arrivals === "poisson" ? 1e7 * drawExponential(random) : latencyNs;
  }
  return { seconds: atNs / 1e9, columns };
}

const tokenMean = 1 + 1 / (Math.exp(0.01) - 1);
const goodput: MetricPlan = { key: "goodput", limits: { latency: 10e6 } };
// A latency is at most 10 ms with the probability 1 - 1/e.
const goodRatio = 1 - Math.exp(-1);
for (const [name, metric, arrivals, truth] of [
  ["goodput under Poisson arrivals", goodput, "poisson", 100 * goodRatio],
  ["goodput of a closed loop", goodput, "closed", 100 * goodRatio],
  ["tokens/s under Poisson arrivals", { key: "outputTokensPerSec" }, "poisson", 100 * tokenMean],
  ["tokens/s of a closed loop with independent lengths", { key: "outputTokensPerSec" }, "closed", 100 * tokenMean],
] as const)
  test(name, () => {
    const { covered, unknown } = cover(truth, FEW, (random) => {
      const { seconds, columns } = drawStreams(random, arrivals);
      const latencies = columns.metrics.requestLatencyNs.view();
      const ends = columns.sendNs.view().map((sendNs, row) => sendNs + (latencies[row] as number));
      const durationNs = 1e9 * seconds;
      const latency = tallyOf(latencies);
      const window = {
        ...makeWindow({ durationNs, completions: completionsAt(ends.toSorted(), 0, durationNs) }),
        ...{ latency, requestCount: REQUESTS },
      };
      const tokens = measureColumns(columns, [goodput.limits ?? {}], { startNs: 0, endNs: durationNs });
      return estimateMetric(metric, { window: { ...window, tokens } }, 1);
    });
    assert.ok(covered >= 0.9, String(covered));
    assert.ok(unknown <= 0.1, String(unknown));
  });

test("the errors of all looks together are the stated one, from the second window to the last", () => {
  for (const most of [2, 3, 5, 30, 299.5, 3600]) {
    const looks = planLooks(most);
    assert.deepEqual([looks[0]?.windowCount, looks.at(-1)?.windowCount], [2, Math.floor(most)]);
    const sum = looks.reduce((all, { error }) => all + error, 0);
    assert.ok(Math.abs(sum - LIMIT_ERROR) < 1e-12, String(sum));
    assert.ok(looks.every(({ windowCount }, index) => windowCount > (looks[index - 1]?.windowCount ?? 0)));
  }
  assert.deepEqual(
    planLooks(30).map(({ windowCount }) => windowCount),
    [2, 3, 4, 6, 9, 13, 20, 30],
  );
});

test("any number of looks has the stated error at most", () => {
  let sum = 0;
  for (let look = 1; look <= 10_000; look++) sum += errorOfLook(look);
  assert.ok(sum < LIMIT_ERROR && sum > 0.99 * LIMIT_ERROR, String(sum));
});
