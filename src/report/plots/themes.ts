import type { Meaning } from "../plot.ts";

/** Light and dark themes of plots, with the same series colors. */

/** Colors of series, in order. People with color blindness can distinguish them. */
export const PALETTE = [
  "#2f7ed8",
  "#dc7731",
  "#1f9e89",
  "#b5539c",
  "#8c6bd6",
  "#a98d16",
  "#d1495b",
  "#5c8a3a",
] as const;

/** Colors for the meanings of series and marks: the same on every chart, readable on a light and on a dark background. */
export const MEANING_COLORS: Readonly<Record<Meaning, string>> = {
  throughput: "#2f7ed8",
  p50: "#1f9e89",
  p90: "#8c6bd6",
  p99: "#b5539c",
  inFlight: "#7d8798",
  failed: "#dc3e36",
  passed: "#3a9a4f",
  unresolved: "#c98407",
  limit: "#8a93a3",
  base: "#7d8798",
};

/** Colors from the first to the last of ordered series: lines, which need more contrast than cells. */
export const SHADES = ["#5a74c8", "#2f8fa3", "#479b5f", "#b0891a"] as const;

/** Fill color of uncertain points and bars. Pages replace it with the color of their panels. */
export const HOLLOW = "#fefefe";

/** Colors from low to high counts. */
export const HEAT_COLORS = ["#41589b", "#2f8fa3", "#57b98a", "#e6c84f"] as const;

type ThemeName = "light" | "dark";

interface Colors {
  readonly text: string;
  readonly faint: string;
  readonly grid: string;
  readonly panel: string;
}

const COLORS: Readonly<Record<ThemeName, Colors>> = {
  light: { text: "#1d2433", faint: "#5b6575", grid: "#e3e7ee", panel: "#ffffff" },
  dark: { text: "#e6eaf2", faint: "#9aa5b8", grid: "#303848", panel: "#1b212c" },
};

const FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'DejaVu Sans', sans-serif";

/** ECharts themes by name. */
export const THEMES: Readonly<Record<ThemeName, object>> = { light: makeTheme("light"), dark: makeTheme("dark") };

/** Returns the colors of a theme, except those of series. */
export function themeColors(name: ThemeName): Colors & { readonly hollow: string } {
  return { ...COLORS[name], hollow: HOLLOW };
}

function makeTheme(name: ThemeName): object {
  const { text, faint, grid, panel } = COLORS[name];
  const axis = {
    axisLine: { lineStyle: { color: faint } },
    axisTick: { lineStyle: { color: faint } },
    axisLabel: { color: faint },
    nameTextStyle: { color: text },
    splitLine: { lineStyle: { color: grid } },
  };
  return {
    color: PALETTE,
    backgroundColor: "transparent",
    textStyle: { fontFamily: FONT, color: text },
    title: { textStyle: { color: text } },
    legend: { textStyle: { color: text }, pageTextStyle: { color: text } },
    tooltip: { backgroundColor: panel, borderColor: grid, textStyle: { color: text } },
    toolbox: { iconStyle: { borderColor: faint } },
    visualMap: { textStyle: { color: faint } },
    markLine: { label: { color: text } },
    valueAxis: axis,
    logAxis: axis,
    categoryAxis: { ...axis, splitLine: { show: false } },
  };
}
