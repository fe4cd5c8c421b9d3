import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import type { EChartsOption } from "echarts";
import { SET_AXIS_FORMATS } from "./axis-formats.ts";
import { THEMES, themeColors } from "./themes.ts";

/** ECharts as text: pages embed it, and SVG files are drawn here with the same text. */

/** Returns the library's browser code, about 1.1 MB. */
export async function readChartLibrary(): Promise<string> {
  try {
    // Bun and Deno import it as text, and bundles and executables embed it. `as string`, because text modules have no types.
    const library: unknown = await import("echarts/dist/echarts.min.js" as string, { with: { type: "text" } });
    return (library as { readonly default: string }).default;
  } catch {
    // Node does not support text modules.
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

/** Renders an option as an SVG file. */
export type SvgPainter = (option: EChartsOption, widthPx: number, heightPx: number) => string;

/** Creates a painter with the light theme. @param library the result of {@link readChartLibrary} */
export function createSvgPainter(library: string): SvgPainter {
  const exported: Partial<ServerLibrary> = {};
  // Loads a new copy for each painter: ids in a file are numbered by a counter, so they would depend on earlier drawings.
  new Function("exports", "module", library)(exported, { exports: exported });
  const { init } = exported as ServerLibrary;
  const setAxisFormats = new Function(`return ${SET_AXIS_FORMATS}`)() as (option: EChartsOption) => void;
  return (option, width, height) => {
    const chart = init(null, THEMES.light, { renderer: "svg", ssr: true, width, height });
    try {
      const formatted = structuredClone(option);
      setAxisFormats(formatted);
      chart.setOption({ ...formatted, backgroundColor: themeColors("light").panel });
      // Attributes for scripts, which a picture does not need: half of its bytes.
      const svg = chart.renderToSVGString().replaceAll(/ ecmeta_\w+="[^"]*"/g, "");
      return `<?xml version="1.0" encoding="UTF-8"?>\n${svg}\n`;
    } finally {
      // Its timers would keep the process alive.
      chart.dispose();
    }
  };
}
