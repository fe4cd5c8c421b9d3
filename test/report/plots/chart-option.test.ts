import assert from "node:assert/strict";
import { test } from "node:test";
import type { Plot, TimeLinePlot, XyPlot } from "../../../src/report/plot.ts";
import { toChartOption } from "../../../src/report/plots/chart-option.ts";
import { colorsOf, legendOf } from "../../../src/report/plots/series-look.ts";
import { MEANING_COLORS, PALETTE, THEMES, themeColors } from "../../../src/report/plots/themes.ts";
import { timeLineHeightPx } from "../../../src/report/plots/time-line-option.ts";

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
  return toChartOption(bars(categories), "page").xAxis as Axis;
}

test("every type of axis has the colors of its theme, so that its numbers are readable on a dark page", () => {
  for (const theme of Object.values(THEMES) as Record<string, { axisLabel?: { color?: string } }>[]) {
    const [value, category, log] = ["valueAxis", "categoryAxis", "logAxis"].map((key) => theme[key]?.axisLabel?.color);
    assert.match(value ?? "", /^#/);
    assert.deepEqual([category, log], [value, value]);
  }
});

/** Relative luminance by WCAG 2.2. */
function luminanceOf(color: string): number {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5]
    .map((at) => Number.parseInt(color.slice(at, at + 2), 16) / 255)
    .map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4));
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

test("a series without a meaning has the color of none that is shown", () => {
  const [throughput, queue, p50, latency] = colorsOf([{ meaning: "throughput" }, {}, { meaning: "p50" }, {}]);
  assert.equal(new Set([throughput, queue, p50, latency]).size, 4);
});

test("every line has a contrast of 3:1 at least on a light and on a dark page", () => {
  const shades = colorsOf(Array.from({ length: 41 }, (_, index) => ({ shade: index / 40 })));
  const weak = [...PALETTE, ...Object.values(MEANING_COLORS), ...shades].flatMap((color) =>
    (["light", "dark"] as const).flatMap((theme) => {
      const [dim = 0, bright = 0] = [color, themeColors(theme).panel].map(luminanceOf).sort((a, b) => a - b);
      const contrast = (bright + 0.05) / (dim + 0.05);
      return contrast >= 3 ? [] : [`${color} on ${theme}: ${contrast.toFixed(2)}`];
    }),
  );
  assert.deepEqual(weak, []);
});

test("labels of points have room above the highest point", () => {
  const series = (labels: readonly string[] | undefined) => [
    { name: "p99", style: "line", points: [[1, 2] as const], ...(labels === undefined ? {} : { labels }) } as const,
  ];
  const gapOf = (labels: readonly string[] | undefined): unknown => {
    const plot = { kind: "xy", title: "", xLabel: "", yLabel: "", group: "", notes: [], series: series(labels) };
    return (toChartOption(plot as unknown as Plot, "alone") as unknown as { yAxis: { boundaryGap?: unknown } }).yAxis
      .boundaryGap;
  };
  assert.deepEqual(gapOf(["4"]), [0, "12%"]);
  assert.equal(gapOf(undefined), undefined);
});

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
  for (const names of [["1", "4", "16"], ["chat\nc 1", "tensors\nc 1"], ["requests of evening users, 1 to 16"]]) {
    const { data, axisLabel } = axisOf(names);
    assert.deepEqual([data, axisLabel?.rotate], [names, undefined]);
  }
});

test("a series with a meaning has its color, and takes none of the palette from the others", () => {
  const frame = { title: "By load", xLabel: "load", yLabel: "p90", group: "Search", notes: [] };
  const points = [[1, 2]] as const;
  const { series } = toChartOption(
    {
      kind: "xy",
      ...frame,
      isFromZero: true,
      series: [
        { name: "a", style: "line", points },
        { name: "kept", style: "points", meaning: "passed", points },
        { name: "kept", style: "line", isPartOfLast: true, points },
        { name: "b", style: "line", points },
        { name: "c", style: "line", points },
      ],
    },
    "page",
  ) as { readonly series: readonly { readonly itemStyle: { readonly color: string } }[] };
  const colors = series.map(({ itemStyle }) => itemStyle.color);
  assert.deepEqual([colors[1], colors[2]], [MEANING_COLORS.passed, MEANING_COLORS.passed]);
  assert.equal(new Set(colors).size, 4);
});

test("names of many rows of a heat map do not overlap", () => {
  const intervalOf = (rowCount: number, panelCount: number): number => {
    const frame = { title: "Cells", xLabel: "time", yLabel: "latency", group: "Time", notes: [] };
    const rows = Array.from({ length: rowCount }, (_, row) => String(row));
    const panels = Array.from({ length: panelCount }, (_, panel) => ({ name: `run ${panel}`, cells: [] }));
    const plot: Plot = { kind: "heat-map", ...frame, columns: ["0"], rows, panels };
    const { yAxis } = toChartOption(plot, "page") as {
      readonly yAxis: readonly { readonly axisLabel: { readonly interval: number } }[];
    };
    return yAxis[0]?.axisLabel.interval ?? Number.NaN;
  };
  assert.deepEqual([intervalOf(5, 1), intervalOf(20, 1), intervalOf(23, 1), intervalOf(23, 4)], [0, 0, 1, 1]);
});

const XY: Pick<XyPlot, "kind" | "title" | "xLabel" | "yLabel" | "group" | "notes" | "isFromZero"> = {
  kind: "xy",
  title: "Over load",
  xLabel: "load",
  yLabel: "ms",
  group: "",
  notes: [],
  isFromZero: true,
};

test("an interval is a bar, and an end without a bound an arrow that the axis makes room for", () => {
  const plot: Plot = {
    ...XY,
    series: [
      {
        name: "p99",
        style: "line",
        points: [
          [1, 10],
          [2, 20],
          [4, 30],
        ],
        intervals: [{ low: 8, high: 12 }, { low: 15, high: null }, undefined],
      },
    ],
  };
  const { series } = toChartOption(plot, "page") as {
    readonly series: readonly { readonly type: string; readonly data: readonly unknown[] }[];
  };
  const bars = series.find(({ type }) => type === "lines")?.data as {
    readonly coords: readonly (readonly [number, number])[];
    readonly symbol: readonly string[];
  }[];
  assert.deepEqual(bars[0], {
    coords: [
      [1, 8],
      [1, 12],
    ],
    symbol: ["none", "none"],
  });
  assert.equal(bars.length, 2);
  const end = bars[1]?.coords[1]?.[1] ?? 0;
  assert.ok(end > 20, `${end}`);
  assert.deepEqual(bars[1]?.symbol, ["none", "arrow"]);
  const room = series.find(({ type }) => type === "scatter")?.data;
  assert.ok(room?.some((point) => JSON.stringify(point) === JSON.stringify([2, end])));
});

test("a line is not drawn across a break", () => {
  const points = [
    [1, 5],
    [2, 5],
    [6, 5],
  ] as const;
  const plot: Plot = { ...XY, series: [{ name: "p99", style: "line", points, breaks: [{ from: 2.5, to: 5.5 }] }] };
  const { series } = toChartOption(plot, "page") as {
    readonly series: readonly { readonly data: unknown }[];
  };
  assert.deepEqual(series[0]?.data, [
    [1, 5],
    [2, 5],
    [4, "-"],
    [6, 5],
  ]);
});

test("a legend outside of the picture has all names and colors, and the picture has none", () => {
  const names = Array.from({ length: 12 }, (_, i) => `a long name of run ${i}`);
  const points = [[1, 2]] as const;
  const plot: Plot = { ...XY, series: names.map((name) => ({ name, style: "line" as const, points })) };
  assert.deepEqual(
    legendOf(plot).map(({ name }) => name),
    names,
  );
  const option = toChartOption(plot, "page") as {
    readonly legend: { readonly show: boolean };
    readonly series: readonly { readonly itemStyle: { readonly color: string } }[];
  };
  assert.equal(option.legend.show, false);
  assert.deepEqual(
    legendOf(plot).map(({ color }) => color),
    option.series.map(({ itemStyle }) => itemStyle.color),
  );
});

test("a stall is marked in all charts of a time line", () => {
  const points = [
    [0, 1],
    [9, 1],
  ] as const;
  const frame = { title: "Time line", xLabel: "s", yLabel: "", group: "", notes: [] };
  const panels = ["a", "b"].map((name) => ({ label: name, series: [{ name, style: "line" as const, points }] }));
  const plot: TimeLinePlot = { kind: "time-line", ...frame, panels, spans: [], stalls: [{ from: 3, to: 5 }] };
  const { series } = toChartOption(plot, "page") as {
    readonly series: readonly { readonly markArea: { readonly data: readonly (readonly { xAxis: number }[])[] } }[];
  };
  for (const { markArea } of series)
    assert.deepEqual(
      markArea.data[0]?.map(({ xAxis }) => xAxis),
      [3, 5],
    );
});

test("names of spans that would overlap are on several lines, and left out where that is not enough", () => {
  const frame = { title: "Time line", xLabel: "s", yLabel: "", group: "", notes: [] };
  const panels = [{ label: "ms", series: [{ name: "p50", style: "line" as const, points: [[0, 1] as const] }] }];
  const spans = (
    [
      ["concurrency from 1 to 16 over 2 s", 0, 4],
      ["soak", 4, 8],
      ["requests/s of the evening", 8, 9],
    ] as const
  ).map(([label, startSec, endSec]) => ({ label, startSec, endSec, isWarmup: false }));
  const plot: TimeLinePlot = { kind: "time-line", ...frame, panels, spans };
  const { series } = toChartOption(plot, "page") as {
    readonly series: readonly {
      readonly markArea: { readonly data: readonly [{ readonly name: string }, object][] };
    }[];
  };
  const names = series[0]?.markArea.data.map(([{ name }]) => name);
  assert.deepEqual(names, ["concurrency from 1 to\n16 over 2 s", "soak", ""]);
  assert.ok(timeLineHeightPx({ panels, spans }) > timeLineHeightPx({ panels, spans: spans.slice(1, 2) }));
});

test("a series has one color in all charts of a time line", () => {
  const frame = { title: "Time line", xLabel: "s", yLabel: "", group: "", notes: [] };
  const series = ["run 1", "run 2"].map((name) => ({ name, style: "line" as const, points: [[0, 1] as const] }));
  const panels = ["a", "b"].map((label) => ({ label, series }));
  const plot: TimeLinePlot = { kind: "time-line", ...frame, panels, spans: [] };
  const drawn = toChartOption(plot, "page") as {
    readonly series: readonly { readonly name: string; readonly itemStyle: { readonly color: string } }[];
  };
  assert.equal(drawn.series.length, 4);
  const colors = new Map(legendOf(plot).map(({ name, color }) => [name, color]));
  assert.equal(new Set(colors.values()).size, 2);
  for (const { name, itemStyle } of drawn.series) assert.equal(itemStyle.color, colors.get(name));
});
