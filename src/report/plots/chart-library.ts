import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import type { EChartsOption } from "echarts";
import { groundOf, THEMES } from "./themes.ts";

/** ECharts as one text: pages carry it along, and the same text draws the SVG files here. */

/** The library's code for browsers, about 1.1 MB. */
export async function readChartLibrary(): Promise<string> {
  try {
    // Bun and Deno read it as text; bundles and executables hold it that way. `as string`: a module of text has no types.
    const library: unknown = await import("echarts/dist/echarts.min.js" as string, { with: { type: "text" } });
    return (library as { readonly default: string }).default;
  } catch {
    // Node knows no modules of text.
    return readFile(createRequire(import.meta.url).resolve("echarts/dist/echarts.min.js"), "utf8");
  }
}

interface ServerChart {
  setOption(option: EChartsOption): void;
  renderToSVGString(): string;
  dispose(): void;
}

interface ServerLibrary {
  init(
    place: null,
    theme: object,
    settings: { readonly renderer: "svg"; readonly ssr: true; readonly width: number; readonly height: number },
  ): ServerChart;
}

/** Draws an option as the text of an SVG file. */
export type SvgPainter = (option: EChartsOption, widthPx: number, heightPx: number) => string;

/** A painter on light ground. @param library what {@link readChartLibrary} gave */
export function createSvgPainter(library: string): SvgPainter {
  const exported: Partial<ServerLibrary> = {};
  // A fresh copy for each painter: the names within a file count up in it, so that they would tell what was drawn before.
  new Function("exports", "module", library)(exported, { exports: exported });
  const { init } = exported as ServerLibrary;
  return (option, width, height) => {
    const chart = init(null, THEMES.light, { renderer: "svg", ssr: true, width, height });
    try {
      chart.setOption({ ...option, backgroundColor: groundOf("light") });
      // Marks for scripts that a picture has none of: half of its bytes.
      const svg = chart.renderToSVGString().replaceAll(/ ecmeta_\w+="[^"]*"/g, "");
      return `<?xml version="1.0" encoding="UTF-8"?>\n${svg}\n`;
    } finally {
      // Its timers would keep the process alive.
      chart.dispose();
    }
  };
}
