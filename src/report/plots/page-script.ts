/** Script of the page: draws its plots, and redraws them when the width or the theme changes. Runs in browsers after ECharts. */
export const PAGE_SCRIPT = `
"use strict";
(() => {
  const { themes, options } = JSON.parse(document.getElementById("data").textContent);
  for (const [name, theme] of Object.entries(themes)) echarts.registerTheme(name, theme);
  const system = matchMedia("(prefers-color-scheme: dark)");
  let theme = system.matches ? "dark" : "light";
  const charts = [...document.querySelectorAll("[data-plot]")].map((place) => {
    const chart = echarts.init(place, theme);
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
})();
`;
