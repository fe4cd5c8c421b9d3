import type { Plot, XySeries } from "./plot.ts";
import { MEANING_COLORS, PALETTE } from "./themes.ts";

/** The colors of series, and the legend of a plot. */

/** Returns the color of each series. A series that belongs to the one before it has its color. */
export function colorsOf(series: readonly Pick<XySeries, "meaning" | "isPartOfLast">[]): string[] {
  let index = 0;
  let last: string = PALETTE[0];
  return series.map(({ isPartOfLast, meaning }) => {
    if (isPartOfLast === true) return last;
    last = meaning === undefined ? (PALETTE[index++ % PALETTE.length] as string) : MEANING_COLORS[meaning];
    return last;
  });
}

/** An entry of a legend. */
export interface LegendEntry {
  readonly name: string;
  readonly color: string;
  readonly isDashed: boolean;
}

/** Returns the legend of a plot: its series by name, in order. Empty for a plot whose series need no names. */
export function legendOf(plot: Plot): LegendEntry[] {
  switch (plot.kind) {
    case "xy":
    case "bars":
      return entriesOf(plot.series);
    case "time-line":
      return entriesOf(plot.panels.flatMap(({ series }) => series));
    case "spans":
    case "box":
    case "changes":
    case "heat-map":
      return [];
  }
}

function entriesOf(series: readonly Pick<XySeries, "name" | "meaning" | "isPartOfLast" | "isDashed">[]): LegendEntry[] {
  const colors = colorsOf(series);
  const entries = new Map<string, LegendEntry>();
  for (const [i, { name, isDashed = false }] of series.entries())
    if (!entries.has(name)) entries.set(name, { name, color: colors[i] as string, isDashed });
  return entries.size > 1 ? [...entries.values()] : [];
}
