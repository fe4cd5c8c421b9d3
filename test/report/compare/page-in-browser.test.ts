import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { pathToFileURL } from "node:url";
import { compareRuns } from "../../../src/report/compare/compare-runs.ts";
import { buildComparisonModel } from "../../../src/report/compare/model.ts";
import { formatPage } from "../../../src/report/html/report-page.ts";
import { makeFolder } from "../../make-folder.ts";
import { startChromium } from "../../servers/chromium.ts";
import { LIMIT } from "../../time-limit.ts";
import { makeRunSet } from "./make-runs.ts";

/** The page of a comparison in a real browser. */

/** The picture of the changes that is shown. */
const SHOWN = "[...document.querySelectorAll('#changes-1 svg')].filter((svg) => svg.getBoundingClientRect().width > 0)";
/** The texts of the picture that begin or end outside of it. */
const CUT = `${SHOWN}.flatMap((svg) => [...svg.querySelectorAll('text')].filter((text) => text.getBoundingClientRect().left < svg.getBoundingClientRect().left || text.getBoundingClientRect().right > svg.getBoundingClientRect().right).map((text) => text.textContent))`;
const FILLED = `${SHOWN}[0].getBoundingClientRect().width / document.querySelector('#changes-1 figure').clientWidth`;

test("the page fits desktop and phone in light and dark, and needs nothing", LIMIT, async () => {
  const metrics = (factor: number) => ({
    throughput: [100 * factor, 101 * factor, 99 * factor],
    "latency.p99": [20e6 / factor, 28e6 / factor, 14e6 / factor],
    serverComputeInfer: [20e6 / factor, 21e6 / factor, 19e6 / factor],
  });
  const [base, next] = [makeRunSet("base.json", metrics(1)), makeRunSet("new.json", metrics(1.2))];
  const comparison = compareRuns(base, next, { precision: 0.05, acceptsWithinRuns: false });
  const folder = makeFolder();
  const file = join(folder, "compare.html");
  const sides = [{ comparison, limits: [], isAll: false }];
  writeFileSync(file, await formatPage(buildComparisonModel(sides, false)));
  const browser = await startChromium();
  try {
    const page = await browser.open(pathToFileURL(file).href);
    for (const isDark of [false, true])
      for (const width of [1280, 390]) {
        await page.resize(width, 900, isDark);
        assert.equal(await page.evaluate("document.documentElement.scrollWidth"), width, "it scrolls sideways");
        const drawn =
          "Math.max(...[...document.querySelectorAll('#runs-1 svg')].map((svg) => svg.getBoundingClientRect().width))";
        assert.ok((await page.evaluate<number>(drawn)) > 250, "the runs are drawn");
        assert.deepEqual(await page.evaluate(CUT), [], `names of the changes are cut at ${width} px`);
        assert.ok((await page.evaluate<number>(FILLED)) > 0.9, `the changes fill their panel at ${width} px`);
        for (const column of ["verdict", "change", "95 % interval"]) {
          const right = `Math.max(...[...document.querySelectorAll('thead th')].filter((head) => head.textContent === '${column}').map((head) => head.getBoundingClientRect().right))`;
          assert.ok((await page.evaluate<number>(right)) < width, `${column} is seen at ${width} px`);
        }
      }
    const ground = "getComputedStyle(document.body).backgroundColor";
    const dark = await page.evaluate<string>(ground);
    await page.evaluate("document.getElementById('theme').click()");
    assert.notEqual(await page.evaluate(ground), dark, "the button makes the dark page light");
    assert.deepEqual([page.messages, page.requests], [[], []]);
  } finally {
    await browser.close();
  }
});
