import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { pathToFileURL } from "node:url";
import { errorRate, p99 } from "../../../src/scenario/assertions.ts";
import { steps } from "../../../src/scenario/loads/concurrency.ts";
import { prompts } from "../../../src/scenario/prompts.ts";
import { embedded } from "../../../src/scenario/targets/embedded.ts";
import { embeddedLlm } from "../../../src/scenario/targets/llm.ts";
import { type AnsweringServer, startAnsweringServer } from "../../servers/answering-server.ts";
import { type Browser, type OpenPage, startChromium } from "../../servers/chromium.ts";
import { LIMIT } from "../../time-limit.ts";
import { TINY } from "../../tokenize/tiny.ts";
import { type Written, writeReports } from "./make-report.ts";
import { answerWithScores, MLPERF, mixed, SEARCH } from "./page-scenarios.ts";

/** The page of a report in a real browser. */

const EVIL = `evil </script><script>document.title = "taken"</script><img src="http://evil.test/x" onerror="document.title = 'taken'">`;

/** A function makes the scenario for the address of a server. */
type Made = object | ((url: string) => object);

/** The width of A4 within its margins. */
const A4_PX = 703;

const OVER_LOAD = ["Throughput over load", "Latency over load", "Latency against throughput"];

const SCENARIOS: readonly (readonly [name: string, scenario: Made, charts: readonly string[]])[] = [
  [
    "streamed tokens with failures",
    {
      name: EVIL,
      target: embeddedLlm({
        streaming: true,
        timeToFirstToken: "5 ms",
        // A busy machine must not make tokens arrive together, which hides their times.
        interTokenLatency: "30 ms",
        tokenizer: TINY,
        errorRate: "20 %",
      }),
      inputs: prompts({ isl: 12, osl: 5, count: 4 }),
      load: steps([1, 4], { requests: 60 }),
      assert: [p99("latency").below("1 us"), errorRate().below("90 %")],
    },
    [
      "Time to first token over load",
      "Inter-token latency over load",
      "Output tokens per second",
      "Time to first token by percentile",
      "Inter-token latency by percentile",
      "Throughput over load",
      "Latency over load",
      "Latency against throughput",
      "Latency by percentile",
      "Time line",
      "Latency over time",
    ],
  ],
  [
    "windows, repeated",
    {
      name: "repeated",
      target: embedded({ latency: "1 ms" }),
      load: steps([1, 3]),
      stability: { window: "60 ms", within: "900 %" },
      repeat: 2,
    },
    [
      "Throughput over load",
      "Latency over load",
      "Latency against throughput",
      "Throughput by run",
      "p99 latency by run",
      "Latency by percentile",
      "Time line",
      "Latency over time",
      "Windows and stability",
      "Mean latency by part",
    ],
  ],
  [
    "the search for a limit",
    SEARCH,
    [
      "Throughput by load",
      "p50 latency by load",
      "Error rate by load",
      "Throughput over load",
      "Latency over load",
      "Latency against throughput",
      "Latency by percentile",
      "Time line",
      "Latency over time",
      "Windows and stability",
      "Mean latency by part",
    ],
  ],
  ["MLPerf", MLPERF, ["Time line", "Latency by percentile", "Latency over time", "Mean latency by part"]],
  [
    "targets and tags with wrong responses",
    mixed,
    [
      "Time to first token over load",
      "Inter-token latency over load",
      "Output tokens per second",
      "Time to first token by percentile",
      "Inter-token latency by percentile",
      "Throughput over load",
      "Latency over load",
      "Latency against throughput",
      "Latency by percentile",
      "Latency by target",
      "Throughput by target",
      "Latency by size",
      "Throughput by size",
      "Time line",
      "Latency over time",
    ],
  ],
];

/** Whether each chart has drawn something: shapes of more than one color. */
const DRAWN = `[...document.querySelectorAll("[data-plot]")].map((place) => {
  const shapes = [...place.querySelectorAll("svg path")];
  const colors = new Set(shapes.flatMap((shape) => [shape.getAttribute("fill"), shape.getAttribute("stroke")]));
  return colors.size > 3 ? place.ariaLabel : place.ariaLabel + ": " + colors.size + " colors";
})`;

/** Titles of the charts that show none or several of their pictures, or one without its shapes. */
const WITHOUT_PICTURE = `[...document.querySelectorAll("figure")].filter((figure) => {
  const shown = [...figure.querySelectorAll(".still svg")].filter((picture) => picture.getBoundingClientRect().height > 100);
  const colors = new Set([...(shown[0]?.querySelectorAll("path") ?? [])].flatMap((shape) => [shape.getAttribute("fill"), shape.getAttribute("stroke")]));
  return shown.length !== 1 || colors.size < 4;
}).map((figure) => figure.querySelector("figcaption").textContent)`;

describe("the page in Chromium", LIMIT, () => {
  let browser: Browser | undefined;
  let server: AnsweringServer | undefined;
  const written: Written[] = [];
  before(async () => {
    server = await startAnsweringServer(answerWithScores);
    browser = await startChromium();
  }, LIMIT);
  after(async () => {
    for (const one of written) one.remove();
    await browser?.close();
    server?.close();
  });

  for (const [name, scenario, charts] of SCENARIOS) {
    test(`draws all charts, fits desktop and phone, and loads nothing: ${name}`, LIMIT, async () => {
      const report = await writeReports(typeof scenario === "function" ? scenario(server?.url ?? "") : scenario);
      written.push(report);
      const page = await (browser as Browser).open(pathToFileURL(report.page).href);
      for (const isDark of [false, true])
        for (const width of [1280, 390]) {
          await page.resize(width, 900, isDark);
          const drawn = await page.evaluate<string[]>(DRAWN);
          // A busy machine may leave a search undecided at its first point, which is no curve over the load then.
          const isShort = !drawn.includes("Latency over load");
          // A client that stood still read several tokens at once, which may leave nothing to say of the time between them.
          const isBunched = await page.evaluate<boolean>("document.body.textContent.includes('tokens came together')");
          const isSure = (title: string): boolean => !(isBunched && title.startsWith("Inter-token"));
          const expected = charts.filter((title) => !(isShort && OVER_LOAD.includes(title)) && isSure(title));
          assert.equal(drawn[0], expected[0], "what answers comes first");
          assert.deepEqual(drawn.filter(isSure).toSorted(), expected.toSorted(), `${width}`);
          await checkLayout(page, width);
        }
      assert.deepEqual([page.messages, page.requests], [[], []]);
      assert.notEqual(await page.evaluate("document.title"), "taken");
      assert.equal(await page.evaluate("document.querySelectorAll('img').length"), 0);
      assert.equal(await page.evaluate("document.querySelector('h1').textContent"), report.plan.name);
    });
  }

  test("the verdict, the checks and the first chart are seen without scrolling", LIMIT, async () => {
    for (const report of written) {
      const page = await (browser as Browser).open(pathToFileURL(report.page).href);
      await page.resize(1280, 800);
      const bottom = "document.querySelector('[data-plot]').getBoundingClientRect().bottom";
      const isWide = "document.querySelector('figure').classList.contains('wide')";
      // Of charts below each other, the first one counts.
      const most = (await page.evaluate<boolean>(isWide)) ? 1200 : 800;
      assert.ok((await page.evaluate<number>(bottom)) <= most, report.plan.name);
    }
  });

  test("paper is white and has all of the page: no table, chart or fold hides a part", LIMIT, async () => {
    for (const report of written) {
      const page = await (browser as Browser).open(pathToFileURL(report.page).href);
      await page.resize(1280, 900, true);
      await page.prepareToPrint(A4_PX);
      const beyond = await page.evaluate<string[]>(
        `[...document.querySelectorAll("table, figure, svg, li, p")].filter((part) => part.getBoundingClientRect().right > ${A4_PX + 1}).map((part) => part.outerHTML.slice(0, 200))`,
      );
      assert.deepEqual(beyond, []);
      const closed = "document.querySelectorAll('details:not(.plan):not([open])').length";
      assert.equal(await page.evaluate(closed), 0);
      assert.equal(await page.evaluate("document.documentElement.dataset.theme"), "light");
      const drawn = await page.evaluate<string[]>(DRAWN);
      assert.deepEqual(
        drawn.filter((title) => title.includes(": ")),
        [],
        "charts are drawn at once",
      );
      assert.deepEqual(page.messages, []);
    }
  });

  test("without scripts each chart is a picture, which fits desktop and phone", LIMIT, async () => {
    for (const report of written) {
      const page = await (browser as Browser).open(pathToFileURL(report.page).href, false);
      for (const width of [1280, 390]) {
        await page.resize(width, 900);
        assert.deepEqual(await page.evaluate<string[]>(WITHOUT_PICTURE), [], report.plan.name);
        await checkLayout(page, width);
      }
      assert.equal(await page.evaluate("document.querySelector('[data-plot]').offsetHeight"), 0, "no empty places");
      const labels = await page.evaluate<string[]>(
        "[...document.querySelectorAll('.still text')].map((text) => text.textContent)",
      );
      assert.ok(!labels.includes("percentile") && !labels.includes("power"), "names of functions that format numbers");
    }
  });

  test("the legend has all series, and switches them", LIMIT, async () => {
    const [report] = written;
    const page = await (browser as Browser).open(pathToFileURL((report as Written).page).href);
    await page.resize(390, 844);
    const count = "document.querySelectorAll('figure path[stroke=\\'#b5539c\\']').length";
    const shown = await page.evaluate<number>(count);
    await page.evaluate("document.querySelector('[data-series=p99]').click()");
    await page.resize(390, 844);
    assert.ok((await page.evaluate<number>(count)) < shown);
    assert.equal(await page.evaluate("document.querySelector('[data-series=p99]').ariaPressed"), "false");
  });

  test("the switch changes between light and dark", LIMIT, async () => {
    const [report] = written;
    const page = await (browser as Browser).open(pathToFileURL((report as Written).page).href);
    const themeOf = (): Promise<string> => page.evaluate("document.documentElement.dataset.theme");
    const ground = (): Promise<string> => page.evaluate("getComputedStyle(document.body).backgroundColor");
    await page.resize(1280, 900, false);
    assert.equal(await themeOf(), "light");
    const light = await ground();
    await page.evaluate("document.getElementById('theme').click()");
    assert.equal(await themeOf(), "dark");
    assert.notEqual(await ground(), light);
    assert.deepEqual(page.messages, []);
  });
});

/** Nothing is wider than the window, but what scrolls by itself. */
async function checkLayout(page: OpenPage, width: number): Promise<void> {
  assert.equal(await page.evaluate("document.documentElement.scrollWidth"), width, "the page scrolls sideways");
  const links = await page.evaluate<string[]>(
    "[...document.querySelectorAll('nav a')].filter((a) => document.querySelector(a.getAttribute('href')) === null).map((a) => a.href)",
  );
  assert.deepEqual(links, [], "links to no section");
}
