import assert from "node:assert/strict";
import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, test } from "node:test";
import { RunError } from "../../../src/plan/problem.ts";
import { formatPlotPage, writePlots } from "../../../src/report/html/write-plots.ts";
import type { Plot, PlotSet } from "../../../src/report/plot.ts";
import { createSvgPainter, readChartLibrary } from "../../../src/report/plots/chart-library.ts";
import { toChartOption } from "../../../src/report/plots/chart-option.ts";
import { makeFolder } from "../../make-folder.ts";

/** Plots as files: that they stand alone, that they are whole, and that they show the data. */

const frame = { xLabel: "X", yLabel: "Y", group: "Group", notes: [] };
const EVIL = '</script><img src="http://evil.test/x" onerror=alert(1)>';
const PLOTS: readonly Plot[] = [
  {
    ...frame,
    kind: "box",
    title: "Boxes",
    notes: [`A note & ${EVIL}`],
    series: [{ name: EVIL, whiskers: [1, 9], quartiles: [3, 4, 5], points: [1, 4, 9] }],
  },
  {
    ...frame,
    kind: "heat-map",
    title: "Cells",
    columns: ["10", "11"],
    rows: ["1", "2"],
    panels: [
      { name: "a", cells: [[0, 1, 7]] },
      { name: "b", cells: [[1, 0, 3]] },
    ],
  },
  {
    ...frame,
    kind: "xy",
    title: "Points",
    isFromZero: true,
    marks: [{ x: 2, label: "p50" }],
    series: [
      {
        name: "points",
        style: "points",
        points: [
          [1, 2],
          [3, 4],
          [2, 2],
        ],
        labels: ["one", "two", "three"],
      },
      {
        name: "points",
        style: "line",
        points: [
          [1, 2],
          [3, 4],
        ],
        isPartOfLast: true,
      },
      {
        name: "steps",
        style: "area",
        points: [
          [1, 1],
          [3, 0],
        ],
      },
    ],
  },
  {
    ...frame,
    kind: "spans",
    title: "Spans",
    spans: [
      { number: 1, sendSec: 0, firstTokenSec: 1, endSec: 2 },
      { number: 2, sendSec: 0.5, firstTokenSec: undefined, endSec: 3 },
    ],
  },
];
const SET: PlotSet = { plots: PLOTS, leftOut: [{ title: "Missing", reason: "nothing came" }] };
const TEXT = { title: `A <run> ${EVIL}`, subtitle: "chat", facts: ["Requests 12"] };

const library = await readChartLibrary();

/** Elements that are opened must be closed in turn. Throws where they are not. */
function checkXml(svg: string): number {
  const text = svg.replaceAll(/<!\[CDATA\[[\s\S]*?\]\]>/g, "");
  const open: string[] = [];
  let count = 0;
  for (const [, isEnd, name, rest] of text.matchAll(/<(\/?)([a-zA-Z][\w:-]*)((?:"[^"]*"|'[^']*'|[^<>"'])*)>/g)) {
    if (isEnd === "/") assert.equal(open.pop(), name);
    else {
      count++;
      if (rest?.endsWith("/") !== true) open.push(name as string);
    }
  }
  assert.deepEqual(open, []);
  // What is left besides elements and their texts would be a broken tag.
  assert.doesNotMatch(text.replace(/<[?/]?[a-zA-Z][^<>]*>/g, ""), /[<>]/);
  return count;
}

describe("the page", () => {
  const page = formatPlotPage(TEXT, SET, library);
  const scripts = [...page.matchAll(/<script([^>]*)>([\s\S]*?)<\/script>/g)];
  const markup = page.replaceAll(/<script[^>]*>[\s\S]*?<\/script>/g, "").replaceAll(/<style>[\s\S]*?<\/style>/g, "");

  test("it loads nothing, and is not allowed to", () => {
    assert.match(page, /Content-Security-Policy" content="default-src 'none'; script-src 'unsafe-inline'; /);
    assert.doesNotMatch(page, /<link|<iframe|<script[^>]*\bsrc=|@import|url\(\s*['"]?https?:/i);
    assert.doesNotMatch(markup, /https?:\/\/(?!evil\.test)/);
  });

  test("texts of a run stay texts", () => {
    assert.doesNotMatch(markup, /<img/);
    assert.match(markup, /<h1>A &lt;run&gt; &lt;\/script&gt;&lt;img/);
    assert.equal(scripts.length, 3, "a name that ends a script must not");
  });

  test("it lists what is drawn, what is not, and the run's numbers", () => {
    for (const { title } of PLOTS) assert.match(markup, new RegExp(`<figcaption>${title}</figcaption>`));
    assert.match(markup, /<p>Missing: nothing came\.<\/p>/);
    assert.match(markup, /<span>Requests 12<\/span>/);
    assert.match(markup, /A note &amp; &lt;\/script/);
    assert.equal([...markup.matchAll(/data-plot="(\d)"/g)].map(([, index]) => index).join(""), "0123");
  });

  test("its data are the plots' options, and its scripts are complete", () => {
    const [data, code, script] = scripts.map(([, , text]) => text as string);
    const { options, themes } = JSON.parse(data as string);
    assert.deepEqual(options, JSON.parse(JSON.stringify(PLOTS.map((plot) => toChartOption(plot, "page")))));
    assert.deepEqual(Object.keys(themes), ["light", "dark"]);
    assert.equal(code, library, "the library stands there as it is");
    assert.doesNotThrow(() => new Function(script as string));
  });
});

describe("pictures", () => {
  for (const plot of PLOTS)
    test(`${plot.kind}: a complete SVG file, identical each time`, () => {
      const option = toChartOption(plot, "alone");
      const svg = createSvgPainter(library)(option, 700, 450);
      assert.match(svg, /^<\?xml [^>]*>\n<svg width="700" height="450" xmlns="http:\/\/www\.w3\.org\/2000\/svg"/);
      assert.ok(checkXml(svg) > 10);
      assert.doesNotMatch(svg, /<script|<image|href="http|<img/);
      assert.match(svg, new RegExp(`>${plot.title}</text>`));
      assert.doesNotMatch(svg, /NaN|undefined/);
      assert.doesNotMatch(svg, /"#[0-9a-f]{8}"/, "a colour that SVG does not know");
      assert.equal(createSvgPainter(library)(option, 700, 450), svg);
    });

  test("they show the data", () => {
    const paint = createSvgPainter(library);
    const [boxes, cells, points, spans] = PLOTS.map((plot) => paint(toChartOption(plot, "alone"), 700, 450));
    const isBox = /<path [^>]*fill="rgb\(47,126,216\)" fill-opacity="0\.25" stroke="#2f7ed8"/;
    assert.match(boxes ?? "", isBox);
    assert.equal([...(boxes ?? "").matchAll(/<path [^>]*fill="#2f7ed8" fill-opacity="0\.6"/g)].length, 3, "points");
    assert.match(cells ?? "", />7<\/text>[\s\S]*>3<\/text>/);
    for (const text of ["one", "two", "three", "p50: 2", "points", "steps"])
      assert.match(points ?? "", new RegExp(`>${text}</text>`), text);
    const bars = [...(spans ?? "").matchAll(/<(?:path|polyline)[^>]*stroke="(#dc7731|#2f7ed8)"[^>]*>/g)];
    assert.equal(bars.filter(([, color]) => color === "#dc7731").length >= 1, true);
    assert.equal(bars.filter(([, color]) => color === "#2f7ed8").length >= 2, true);
  });
});

describe("files", () => {
  test("the page, the pictures, or both, as asked", async () => {
    const folder = makeFolder();
    const names = ["boxes.svg", "cells.svg", "points.svg", "spans.svg"];
    const svg = await writePlots(TEXT, SET, join(folder, "a"), ["svg"]);
    assert.deepEqual([svg.length, (await readdir(join(folder, "a"))).sort()], [4, names]);
    const html = await writePlots(TEXT, SET, join(folder, "b"), ["html"]);
    assert.deepEqual(html, [join(folder, "b", "plots.html")]);
    await writePlots(TEXT, SET, join(folder, "c", "d"), ["html", "svg"]);
    assert.deepEqual((await readdir(join(folder, "c", "d"))).sort(), [...names, "plots.html"].sort());
    assert.equal(
      await readFile(join(folder, "b", "plots.html"), "utf8"),
      await readFile(join(folder, "c", "d", "plots.html"), "utf8"),
    );
  });

  test("without plots no folder is created", async () => {
    const folder = makeFolder();
    assert.deepEqual(await writePlots(TEXT, { plots: [], leftOut: [] }, join(folder, "a"), ["html", "svg"]), []);
    assert.deepEqual(await readdir(folder), []);
  });

  test("a folder that cannot be created is named", async () => {
    const folder = makeFolder();
    await writeFile(join(folder, "file"), "");
    await assert.rejects(
      writePlots(TEXT, SET, join(folder, "file", "plots"), ["html"]),
      (error) => error instanceof RunError && error.code === "output" && /file.plots/.test(error.message),
    );
  });
});
