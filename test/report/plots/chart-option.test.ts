import assert from "node:assert/strict";
import { test } from "node:test";
import { toChartOption } from "../../../src/report/plots/chart-option.ts";
import type { Plot } from "../../../src/report/plots/plot.ts";

/** What keeps the texts of charts readable on a page. */

function bars(categories: readonly string[]): Plot {
  const frame = { title: "By target", xLabel: "target", yLabel: "Latency (ms)", group: "Tags", notes: [] };
  const series = ["p50", "p99"].map((name) => ({ name, values: categories.map((_, index) => index) }));
  return { kind: "bars", ...frame, categories: [...categories], series, isStacked: false };
}

interface Axis {
  readonly data: readonly string[];
  readonly axisLabel?: { readonly rotate?: number; readonly interval?: number; readonly hideOverlap?: boolean };
}

function axisOf(categories: readonly string[]): Axis {
  return toChartOption(bars(categories), { isAlone: false }).xAxis as Axis;
}

test("names of bars that would hide each other are tilted, each on one line", () => {
  const names = ["chat", "tensors"].flatMap((name) => [`${name}\nconcurrency 1`, `${name}\nconcurrency 16`]);
  const { data, axisLabel } = axisOf(names);
  assert.deepEqual(data, [
    "chat, concurrency 1",
    "chat, concurrency 16",
    "tensors, concurrency 1",
    "tensors, concurrency 16",
  ]);
  assert.ok((axisLabel?.rotate ?? 0) > 0);
  assert.deepEqual([axisLabel?.interval, axisLabel?.hideOverlap], [0, true]);
});

test("short names of bars stay level, on two lines where they have two", () => {
  for (const names of [["1", "4", "16"], ["chat\nc 1", "tensors\nc 1"], ["a ramp of concurrency from 1 to 16"]]) {
    const { data, axisLabel } = axisOf(names);
    assert.deepEqual([data, axisLabel?.rotate], [names, undefined]);
  }
});

test("entries of a legend that scrolls are as high as their letters", () => {
  const { legend } = toChartOption(bars(["1"]), { isAlone: false }) as {
    readonly legend: { readonly type: string; readonly itemHeight: number };
  };
  assert.equal(legend.type, "scroll");
  assert.ok(legend.itemHeight >= 12, `${legend.itemHeight} px`);
});

test("a series with a color of its own keeps it, and takes none of the palette from the others", () => {
  const frame = { title: "By load", xLabel: "load", yLabel: "p90", group: "Search", notes: [] };
  const points = [[1, 2]] as const;
  const { series } = toChartOption(
    {
      kind: "xy",
      ...frame,
      isFromZero: true,
      series: [
        { name: "a", style: "line", points },
        { name: "kept", style: "points", color: "#123456", points },
        { name: "kept", style: "line", isPartOfLast: true, points },
        { name: "b", style: "line", points },
        { name: "c", style: "line", points },
      ],
    },
    { isAlone: false },
  ) as { readonly series: readonly { readonly itemStyle: { readonly color: string } }[] };
  const colors = series.map(({ itemStyle }) => itemStyle.color);
  assert.deepEqual([colors[1], colors[2]], ["#123456", "#123456"]);
  assert.equal(new Set(colors).size, 4);
});

test("names of many rows of a heat map do not overlap", () => {
  const intervalOf = (rowCount: number, panelCount: number): number => {
    const frame = { title: "Cells", xLabel: "time", yLabel: "latency", group: "Time", notes: [] };
    const rows = Array.from({ length: rowCount }, (_, row) => String(row));
    const panels = Array.from({ length: panelCount }, (_, panel) => ({ name: `run ${panel}`, cells: [] }));
    const plot: Plot = { kind: "heat-map", ...frame, columns: ["0"], rows, panels };
    const { yAxis } = toChartOption(plot, { isAlone: false }) as {
      readonly yAxis: readonly { readonly axisLabel: { readonly interval: number } }[];
    };
    return yAxis[0]?.axisLabel.interval ?? Number.NaN;
  };
  assert.deepEqual([intervalOf(5, 1), intervalOf(20, 1), intervalOf(23, 1), intervalOf(23, 4)], [0, 0, 1, 1]);
});
