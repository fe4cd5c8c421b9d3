import { escapeHtml } from "../markup.ts";
import type { Plot } from "../plot.ts";
import { createSvgPainter } from "../plots/chart-library.ts";
import { toChartOption } from "../plots/chart-option.ts";
import { themeColors } from "../plots/themes.ts";

/** Charts of a page as pictures, which need no script. */

/** A chart has a picture for each of these widths, because text must not shrink with its picture. The style of the page shows the one that fits. */
const WIDTHS_PX = { narrow: 360, middle: 560, broad: 900 } as const;

/** What a picture inside a page does not need: ids for scripts, and what the page says itself. */
const NEEDLESS =
  /<\?xml.*\n|<style[\s\S]*?<\/style>| (?:class="zr|xmlns:xlink="|xml:space="|version="|baseProfile="|pointer-events=")[^"]*"|font-family:[^;]*;|\n/g;

/** Returns the HTML of a chart, with a height in pixels. */
export type StillDrawer = (plot: Plot, heightPx: number) => string;

/** Creates a drawer for the charts of one page. @param library ECharts' code */
export function createStillDrawer(library: string): StillDrawer {
  const paint = createSvgPainter(library);
  return (plot, heightPx) => {
    const option = toChartOption(plot, "still");
    const pictures = Object.entries(WIDTHS_PX).map(([name, width]) =>
      ownColors(paint(option, width, heightPx).replaceAll(NEEDLESS, ""))
        .replace(/<svg width="\d+" height="\d+"/, `<svg class="${name}"`)
        .replace(/<rect [^>]*><\/rect>/, ""),
    );
    return `<div class="still" role="img" aria-label="${escapeHtml(plot.title)}">${pictures.join("")}</div>`;
  };
}

/** Replaces the colors of the light theme by those of the page, which has a dark one too. */
function ownColors(svg: string): string {
  const { text, faint, grid, hollow } = themeColors("light");
  const names = new Map([
    [text, "--text"],
    [faint, "--faint"],
    [grid, "--line"],
    [hollow, "--panel"],
  ]);
  return svg.replaceAll(/(fill|stroke)="(#[0-9a-f]{6})"/g, (whole, attribute, color) => {
    const name = names.get(color);
    return name === undefined ? whole : `${attribute}="var(${name})"`;
  });
}
