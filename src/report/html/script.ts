/** What the script of a report does besides drawing its charts. */
export const REPORT_SCRIPT = {
  // Sharp on paper, and drawn at once.
  init: `, { renderer: "svg" }`,
  before: `
  const power = (value) => String(Number((10 ** value).toPrecision(3)));
  for (const { yAxis } of options)
    for (const axis of [yAxis ?? []].flat())
      if (axis.axisLabel?.formatter === "power") axis.axisLabel.formatter = power;
`,
  after: `
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
`,
} as const;
