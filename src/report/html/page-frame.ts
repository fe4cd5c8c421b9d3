import { maskSecrets } from "../../plan/secrets.ts";
import { escapeHtml } from "../markup.ts";
import type { Plot } from "../plot.ts";
import { SET_AXIS_FORMATS } from "../plots/axis-formats.ts";
import { createSvgPainter, type SvgPainter } from "../plots/chart-library.ts";
import { toChartOption } from "../plots/chart-option.ts";
import { THEMES, themeColors } from "../plots/themes.ts";
import { PAGE_STYLE } from "./page-style.ts";

/** Also prevents the page from loading anything if a text of the run contains an injected address. */
const POLICY = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data: blob:";

/** Draws the plots of a page that need ECharts, and redraws them when the width or the theme changes. Runs in browsers after ECharts. */
const PAGE_SCRIPT = `
"use strict";
(() => {
  const { themes, options } = JSON.parse(document.getElementById("data")?.textContent ?? '{"themes":{},"options":[]}');
  for (const [name, theme] of Object.entries(themes)) echarts.registerTheme(name, theme);
  const system = matchMedia("(prefers-color-scheme: dark)");
  let theme = system.matches ? "dark" : "light";
  options.forEach(${SET_AXIS_FORMATS});
  const charts = [...document.querySelectorAll("[data-plot]")].map((place) => {
    // Sharp on paper, and drawn at once.
    const chart = echarts.init(place, theme, { renderer: "svg" });
    chart.setOption(options[Number(place.dataset.plot)]);
    return chart;
  });
  const show = (name) => {
    theme = name;
    document.documentElement.dataset.theme = name;
    for (const chart of charts) chart.setTheme(name);
  };
  document.documentElement.dataset.theme = theme;
  system.addEventListener("change", ({ matches }) => show(matches ? "dark" : "light"));
  document.getElementById("theme").addEventListener("click", () => show(theme === "dark" ? "light" : "dark"));
  const sizes = new ResizeObserver(() => { for (const chart of charts) chart.resize(); });
  for (const chart of charts) sizes.observe(chart.getDom());
  for (const button of document.querySelectorAll("[data-series]"))
    button.addEventListener("click", () => {
      const chart = echarts.getInstanceByDom(button.closest("figure").querySelector("[data-plot]"));
      button.setAttribute("aria-pressed", String(button.getAttribute("aria-pressed") !== "true"));
      chart.dispatchAction({ type: "legendToggleSelect", name: button.dataset.series });
    });
  // Paper is white, has its own width, and nothing on it opens.
  let before;
  addEventListener("beforeprint", () => {
    before = { theme, folds: [...document.querySelectorAll("details:not(.plan):not([open])")] };
    for (const fold of before.folds) fold.open = true;
    document.documentElement.dataset.print = "";
    show("light");
    for (const chart of charts) {
      chart.setOption({ toolbox: { show: false } });
      chart.resize();
      chart.getZr().flush();
    }
  });
  addEventListener("afterprint", () => {
    for (const fold of before.folds) fold.open = false;
    delete document.documentElement.dataset.print;
    show(before.theme);
    for (const chart of charts) chart.setOption({ toolbox: { show: true } });
  });
})();
`;

/** Formats the script of a page whose charts are pictures: the button for light and dark, and printing. */
export const STILL_SCRIPT = `<script>${PAGE_SCRIPT}</script>`;

/** Formats the scripts that draw the plots of a page. @param library ECharts' code */
export function formatScripts(options: readonly object[], library: string): string {
  // Only data is masked, because a secret may be equal to a word of the scripts.
  const data = `{"themes":${JSON.stringify(THEMES)},"options":${maskSecrets(JSON.stringify(options))}}`;
  // The data must not end its script element.
  return `<script type="application/json" id="data">${data.replaceAll("<", "\\u003c")}</script>
<script>${library.replaceAll("</script", "<\\/script")}</script>
${STILL_SCRIPT}`;
}

/** Formats an HTML file, without secrets. @param scripts from {@link formatScripts} */
export function formatDocument(title: string, body: string, scripts: string): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="${POLICY}">
<title>${maskSecrets(escapeHtml(title))}</title>
<style>${PAGE_STYLE}</style>
<noscript><style>.chart, header button { display: none; }</style></noscript>
</head>
<body>
${maskSecrets(body)}
${scripts}
</body>
</html>
`;
}

/** Formats the head of a page. */
export function formatHeader(title: string, subtitle: string): string {
  return `<header>
<div><h1>${escapeHtml(title)}</h1><p>${escapeHtml(subtitle)}</p></div>
<button id="theme" type="button" aria-label="Light or dark">◐</button>
</header>`;
}

/**
 * Formats the element in which the script of a page draws a chart.
 * @param index of the plot in the page @param still content if scripts do not run, for example in the artifacts of a CI server
 */
export function formatPlace({ title }: Plot, index: number, heightPx: number, still: string): string {
  const place = `<div class="chart" style="height:${heightPx}px" data-plot="${index}" role="img" aria-label="${escapeHtml(title)}"></div>`;
  return `${place}<noscript>${still}</noscript>`;
}

/** Each chart has a picture for each width, because text must not shrink. The style of the page shows the one that fits. */
const WIDTHS_PX = { narrow: 360, middle: 560, broad: 900 } as const;

/** Parts that a picture inside a page does not need: ids for scripts, and styles that the page already has. */
const NEEDLESS =
  /<\?xml.*\n|<style[\s\S]*?<\/style>| (?:class="zr|xmlns(?::xlink)?="|xml:space="|version="|baseProfile="|pointer-events=")[^"]*"|font-family:[^;]*;|\n/g;

type Width = keyof typeof WIDTHS_PX;

/** Returns the HTML of a chart, with a height in pixels. @param isOne whether one scalable picture is enough. Default: false */
export type StillDrawer = (plot: Plot, heightPx: number, isOne?: boolean) => string;

/** Creates a drawer for the charts of one page. @param library ECharts' code */
export function createStillDrawer(library: string): StillDrawer {
  let paint: SvgPainter | undefined;
  return (plot, heightPx, isOne = false) => {
    const widths = isOne ? [plot.isWide === true ? "broad" : "middle"] : Object.keys(WIDTHS_PX);
    paint ??= createSvgPainter(library);
    const draw = paint;
    const option = toChartOption(plot, "still");
    const pictures = (widths as Width[]).map((name) =>
      ownColors(draw(option, WIDTHS_PX[name], heightPx).replaceAll(NEEDLESS, ""))
        .replace(/<svg width="\d+" height="\d+"/, `<svg class="${name}"`)
        .replace(/<rect [^>]*><\/rect>/, ""),
    );
    return `<div class="still" role="img" aria-label="${escapeHtml(plot.title)}">${pictures.join("")}</div>`;
  };
}

/** Replaces the colors of the light theme by variables of the page, which also has a dark theme. */
function ownColors(svg: string): string {
  const { text, faint, grid, hollow } = themeColors("light");
  const names = new Map([
    [text, "text"],
    [faint, "faint"],
    [grid, "line"],
    [hollow, "panel"],
  ]);
  return svg.replaceAll(/(fill|stroke)="(#[0-9a-f]{6})"/g, (whole, attribute, color) => {
    const name = names.get(color);
    return name === undefined ? whole : `${attribute}="var(--${name})"`;
  });
}

/** Formats a chart with its title and notes. @param place element in which it is drawn */
export function formatFigure({ title, notes, isWide }: Plot, place: string, legend = ""): string {
  const text = notes.length === 0 ? "" : `<p class="note">${escapeHtml(notes.join(" "))}</p>`;
  const wide = isWide === true ? ' class="wide"' : "";
  return `<figure${wide}><figcaption>${escapeHtml(title)}</figcaption>${legend}${place}${text}</figure>`;
}
