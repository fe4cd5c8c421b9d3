import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { sum } from "../../../src/plan/units.ts";
import { type PlotPoint, pickEvenly, roundForPlot } from "../../../src/report/plot.ts";
import { dropCovered, findBin } from "../../../src/report/plots/plotted-run.ts";
import { binWhole, nameBin, toBox } from "../../../src/report/plots/standard-plots.ts";
import { toHistogram } from "../../../src/report/plots/time-plots.ts";

/** From samples to what is drawn of them. */

describe("boxes", () => {
  test("whiskers end at the last values within 1.5 times the box; all points are there", () => {
    const box = toBox("run", Float64Array.from([100, 3, 1, 2, 5, 4]));
    assert.deepEqual(box.quartiles, [2.25, 3.5, 4.75]);
    assert.deepEqual(box.whiskers, [1, 5]);
    assert.deepEqual(box.points, [1, 2, 3, 4, 5, 100]);
  });

  test("of a large sample points at even ranks are kept, both ends among them", () => {
    const box = toBox(
      "run",
      Float64Array.from({ length: 10_001 }, (_, i) => 10_000 - i),
    );
    assert.deepEqual(box.quartiles, [2_500, 5_000, 7_500]);
    assert.deepEqual([box.points.length, box.points[0], box.points.at(-1)], [500, 0, 10_000]);
    assert.deepEqual(pickEvenly([1, 2, 3], 3), [1, 2, 3]);
  });
});

test("bins of whole numbers have widths of 1, 2 or 5 times a power of ten", () => {
  const cases: readonly (readonly [least: number, greatest: number, width: number, first: string])[] = [
    [46, 50, 1, "46"],
    [10, 49, 2, "10–11"],
    [10, 109, 5, "10–14"],
    [7, 1_000, 50, "0–49"],
    [3, 3, 1, "3"],
  ];
  for (const [least, greatest, width, first] of cases) {
    const bins = binWhole(least, greatest, 24);
    assert.deepEqual([bins.width, nameBin(bins, 0)], [width, first]);
    assert.ok(bins.count <= 24);
    assert.deepEqual(
      [findBin(bins, least), findBin(bins, greatest)],
      [Math.floor((least - bins.start) / width), bins.count - 1],
    );
  }
});

test("covered points go, extremes stay, and few points all stay", () => {
  const few: PlotPoint[] = [
    [1, 1],
    [1, 1],
  ];
  assert.deepEqual(dropCovered(few), few);
  const many = Array.from({ length: 50_000 }, (_, i): PlotPoint => [i % 100, (i * 7) % 10]);
  const kept = dropCovered([...many, [40, 5_000]]);
  assert.ok(kept.length <= 200 && kept.length >= 100, `${kept.length} are kept`);
  assert.deepEqual(kept.at(-1), [40, 5_000]);
});

describe("histograms", () => {
  const frame = { title: "Distribution of X", group: "G" };

  test("every value is in one bin; the percentiles of a single sample are marked", () => {
    const plot = toHistogram(frame, "X (ms)", [{ name: "run", values: Float64Array.from([1, 1, 2, 3, 9]) }]);
    const points = plot.series[0]?.points ?? [];
    assert.equal(sum(points.map(([, count]) => count)), 5);
    assert.deepEqual(
      [points[0], points[1], points.at(-1)],
      [
        [1, 0],
        [1, 2],
        [9, 0],
      ],
    );
    assert.deepEqual(plot.marks?.[0], { x: 2, label: "p50" });
    assert.deepEqual(plot.notes, []);
  });

  test("values far beyond the 99th percentile are noted instead of drawn", () => {
    const values = Float64Array.from({ length: 1_000 }, (_, i) => (i === 500 ? 1e6 : i / 100));
    const plot = toHistogram(frame, "X (ms)", [{ name: "run", values }]);
    assert.equal(
      plot.series[0]?.points.reduce((sum, [, count]) => sum + count, 0),
      999,
    );
    assert.match(plot.notes[0] ?? "", /^1 of 1000 values are above .*; the greatest is 1000000\.$/);
  });

  test("several samples share their bins; equal values make one", () => {
    const same = Float64Array.from([5, 5]);
    const plot = toHistogram(frame, "X", [
      { name: "a", values: same },
      { name: "b", values: same },
    ]);
    assert.deepEqual(
      plot.series.map(({ points }) => points),
      [
        [
          [4.5, 0],
          [4.5, 2],
          [5.5, 0],
        ],
        [
          [4.5, 0],
          [4.5, 2],
          [5.5, 0],
        ],
      ],
    );
    assert.deepEqual(plot.marks, []);
  });
});

test("drawn numbers have six significant digits", () => {
  assert.deepEqual([1234.56789, 0.000123456789, 5].map(roundForPlot), [1234.57, 0.000123457, 5]);
});
