import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { pathToFileURL } from "node:url";
import { errorRate, p99 } from "../../../src/scenario/assertions.ts";
import { steps } from "../../../src/scenario/loads.ts";
import { prompts } from "../../../src/scenario/prompts.ts";
import { embedded } from "../../../src/scenario/targets/embedded.ts";
import { embeddedLlm } from "../../../src/scenario/targets/llm.ts";
import { type AnsweringServer, startAnsweringServer } from "../../servers/answering-server.ts";
import { type Browser, type OpenPage, startChromium } from "../../servers/chromium.ts";
import { TINY, type Written, writeReports } from "./make-report.ts";
import { answerWithScores, MLPERF, mixed, SEARCH } from "./page-scenarios.ts";

/** The page of a report in a real browser. */

const LIMIT = { timeout: 300_000 };
const EVIL = `evil </script><script>document.title = "taken"</script><img src="http://evil.test/x" onerror="document.title = 'taken'">`;

/** A function makes the scenario for the address of a server. */
type Made = object | ((url: string) => object);

const SCENARIOS: readonly (readonly [name: string, scenario: Made, charts: readonly string[]])[] = [
  [
    "streamed tokens with failures",
    {
      name: EVIL,
      target: embeddedLlm({ streaming: true, ttft: "5 ms", itl: "1 ms", tokenizer: TINY, errorRatio: 0.2 }),
      inputs: prompts({ isl: 12, osl: 5, count: 4 }),
      load: steps([1, 4], { requests: 60 }),
      assert: [p99("latency").below("1 us"), errorRate().below("90 %")],
    },
    [
      "Latency Against Throughput",
      "Latency by Percentile",
      "Time Line",
      "Latency Over Time",
      "Output Tokens per Second",
      "Time to first token",
      "Time to first token by Percentile",
      "Inter-token latency",
      "Inter-token latency by Percentile",
    ],
  ],
  [
    "windows, repeated",
    {
      name: "repeated",
      target: embedded({ latency: "1 ms" }),
      load: steps([1, 3]),
      stability: { window: "60 ms", percent: 900 },
      repeat: 2,
    },
    [
      "Throughput by Run",
      "p99 Latency by Run",
      "Latency Against Throughput",
      "Latency by Percentile",
      "Time Line",
      "Latency Over Time",
      "Windows and Stability",
      "Average Latency by Part",
    ],
  ],
  [
    "the search for a limit",
    SEARCH,
    [
      "Throughput by Load",
      "P50 latency by Load",
      "Error rate by Load",
      "Latency Against Throughput",
      "Latency by Percentile",
      "Time Line",
      "Latency Over Time",
      "Windows and Stability",
      "Average Latency by Part",
    ],
  ],
  ["MLPerf", MLPERF, ["Latency by Percentile", "Time Line", "Latency Over Time", "Average Latency by Part"]],
  [
    "targets and tags with wrong answers",
    mixed,
    [
      "Latency Against Throughput",
      "Latency by Percentile",
      "Latency by target",
      "Throughput by target",
      "Latency by size",
      "Throughput by size",
      "Time Line",
      "Latency Over Time",
      "Output Tokens per Second",
      "Time to first token",
      "Time to first token by Percentile",
      "Inter-token latency",
      "Inter-token latency by Percentile",
    ],
  ],
];

/** Whether each chart has drawn something: more than one color in its canvas. */
const DRAWN = `[...document.querySelectorAll("[data-plot]")].map((place) => {
  const canvas = place.querySelector("canvas");
  if (canvas === null) return place.ariaLabel + ": no canvas";
  // A copy, because reading a canvas that is drawn to slows it down, which the browser reports.
  const copy = new OffscreenCanvas(canvas.width, canvas.height).getContext("2d", { willReadFrequently: true });
  copy.drawImage(canvas, 0, 0);
  const { data } = copy.getImageData(0, 0, canvas.width, canvas.height);
  const colors = new Set(new Uint32Array(data.buffer));
  return colors.size > 8 ? place.ariaLabel : place.ariaLabel + ": " + colors.size + " colors";
})`;

const LEFT_OUT = `[...document.querySelectorAll("section > ul.note > li")].map(({ textContent }) => textContent)`;

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
          // A busy machine may leave a search undecided at its first point, which is no curve then.
          const leftOut = await page.evaluate<string[]>(LEFT_OUT);
          const expected = charts.filter((title) => !leftOut.includes(`${title}: the run has one level.`));
          assert.deepEqual(await page.evaluate(DRAWN), expected, `${width}`);
          await checkLayout(page, width);
        }
      assert.deepEqual([page.messages, page.requests], [[], []]);
      assert.notEqual(await page.evaluate("document.title"), "taken");
      assert.equal(await page.evaluate("document.querySelectorAll('img').length"), 0);
      assert.equal(await page.evaluate("document.querySelector('h1').textContent"), report.plan.name);
    });
  }

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
