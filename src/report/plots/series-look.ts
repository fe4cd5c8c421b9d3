import type { Plot, SpanPlot, TimeLinePlot, XySeries } from "../plot.ts";
import { HOLLOW, MEANING_COLORS, PALETTE, SHADES } from "./themes.ts";

/** The colors of series, and the legend of a plot. */

/** Returns the color of each series: that of its meaning or of the series it belongs to, else one that no meaning in the plot has. */
export function colorsOf(series: readonly Pick<XySeries, "meaning" | "shade" | "isPartOfLast">[]): string[] {
  const meant = new Set(series.map(({ meaning }) => meaning && MEANING_COLORS[meaning]));
  const free = PALETTE.filter((color) => !meant.has(color));
  let index = 0;
  let last: string = free[0] ?? PALETTE[0];
  return series.map(({ isPartOfLast, meaning, shade }) => {
    if (isPartOfLast === true) return last;
    if (meaning !== undefined) last = MEANING_COLORS[meaning];
    else last = shade === undefined ? (free[index++ % free.length] as string) : shadeOf(shade);
    return last;
  });
}

/** Returns the style of an uncertain point or bar, whose label keeps the color. An uncertain point is shown even if others are not. */
export function hollow(color: string): object {
  return {
    symbol: "circle",
    itemStyle: { color: HOLLOW, borderColor: color, borderWidth: 2, opacity: 1 },
    label: { color },
  };
}

/** Reports whether a plot has uncertain points or bars. */
export function hasHollow(plot: Plot): boolean {
  return (
    (plot.kind === "xy" || plot.kind === "bars") && plot.series.some(({ uncertain = [] }) => uncertain.includes(true))
  );
}

/** Returns the colors of the series of a timeline by name: the same in all its charts. */
export function timeLineColors(plot: Pick<TimeLinePlot, "panels">): ReadonlyMap<string, string> {
  const series = uniqueSeries(plot);
  const colors = colorsOf(series);
  return new Map(series.map(({ name }, i) => [name, colors[i] as string]));
}

function uniqueSeries({ panels }: Pick<TimeLinePlot, "panels">): XySeries[] {
  const all = panels.flatMap(({ series }) => series);
  return all.filter(({ name }, at) => all.findIndex((one) => one.name === name) === at);
}

/** Returns the color for a position between the first and the last of ordered series. */
function shadeOf(ratio: number): string {
  const at = Math.max(0, Math.min(1, ratio)) * (SHADES.length - 1);
  const from = Math.min(SHADES.length - 2, Math.floor(at));
  const [low, high] = [SHADES[from], SHADES[from + 1]] as [string, string];
  const part = (color: string, start: number): number => Number.parseInt(color.slice(start, start + 2), 16);
  const mixed = [1, 3, 5].map((start) =>
    Math.round(part(low, start) + (at - from) * (part(high, start) - part(low, start))),
  );
  return `#${mixed.map((value) => value.toString(16).padStart(2, "0")).join("")}`;
}

/** An entry of a legend. */
export interface LegendEntry {
  readonly name: string;
  readonly color: string;
  readonly isDashed: boolean;
}

/** Returns the legend of a plot: its series by name, in order. Empty if its series need no names. */
export function legendOf(plot: Plot): LegendEntry[] {
  switch (plot.kind) {
    case "xy":
    case "bars":
      return entriesOf(plot.series);
    case "time-line":
      return entriesOf(uniqueSeries(plot));
    case "spans":
      return spanParts(plot.spans).toReversed();
    case "box":
    case "changes":
    case "heat-map":
      return [];
  }
}

/** Returns the parts of request bars: the whole request, or if responses were streamed the time to the first token and the rest. */
export function spanParts(spans: SpanPlot["spans"]): [LegendEntry, ...LegendEntry[]] {
  const isStreamed = spans.some(({ firstTokenSec }) => firstTokenSec !== undefined);
  const rest = { name: isStreamed ? "to the end" : "request", color: PALETTE[0], isDashed: false };
  return isStreamed ? [rest, { name: "to first token", color: PALETTE[1], isDashed: false }] : [rest];
}

function entriesOf(
  series: readonly Pick<XySeries, "name" | "meaning" | "shade" | "isPartOfLast" | "isDashed">[],
): LegendEntry[] {
  const colors = colorsOf(series);
  const entries = new Map<string, LegendEntry>();
  for (const [i, { name, isDashed = false }] of series.entries())
    if (!entries.has(name)) entries.set(name, { name, color: colors[i] as string, isDashed });
  return entries.size > 1 ? [...entries.values()] : [];
}
