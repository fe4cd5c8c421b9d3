import assert from "node:assert/strict";
import { describe, test } from "node:test";
import * as fc from "fast-check";
import { formatReportPage } from "../../../src/report/html/report-page.ts";
import { escapeHtml } from "../../../src/report/markup.ts";
import type { Cell, ModelTable, Note, ReportModel, Section } from "../../../src/report/model/report-model.ts";
import type { Plot } from "../../../src/report/plot.ts";
import { toChartOption } from "../../../src/report/plots/chart-option.ts";
import { checkPageTables } from "./read-page.ts";

/** The page renders a model: its numbers, its charts and its words, whatever they are. */

const PARTS = { library: "/* the library */" };
const EMPTY: ReportModel = {
  name: "n",
  subject: "s",
  setup: [],
  verdict: { name: "measured", headline: "", facts: [] },
  checks: [],
  notes: [],
  sections: [],
  suites: [],
  origin: "2026-11-24",
};

function sectionOf(part: Partial<Section>): Section {
  return { id: "levels", title: "", isSummary: true, tables: [], charts: [], ...part };
}

for (const [name, cell, note] of [
  ["a mark", { value: 1, mark: "uncertain" }, "* too few samples to trust."],
  ["an interval", { value: 1, interval: { low: 0, high: 2 } }, "Small: 95 % intervals."],
  ["neither", { value: 1 }, undefined],
] as const)
  test(`the line below a table explains what the table has: ${name}`, () => {
    const columns = [{ key: "a", title: "a", quantity: "count", dropOrder: 0 }] as const;
    const section = sectionOf({ tables: [{ title: "", columns, rows: [[cell]] }] });
    const page = formatReportPage({ ...EMPTY, sections: [section] }, PARTS);
    assert.equal(/<p class="note">((?:\*|Small).*?)<\/p>/.exec(page)?.[1], note);
  });

const times = fc.double({ min: 1e3, max: 1e12, noNaN: true });
const cells = fc.record({
  value: times,
  kind: fc.constantFrom("plain", "uncertain", "both", "low", "high"),
  width: fc.double({ min: 0.01, max: 0.5, noNaN: true }),
});

function toCell({ value, kind, width }: { value: number; kind: string; width: number }): Cell {
  if (kind === "uncertain") return { value, mark: "uncertain" };
  if (kind === "plain") return { value };
  const [low, high] = [value * (1 - width), value * (1 + width)];
  return { value, interval: { low: kind === "high" ? null : low, high: kind === "low" ? null : high } };
}

test("every number of a table is the model's, in one unit a column, with its interval or its mark", () => {
  fc.assert(
    fc.property(fc.array(cells, { minLength: 1, maxLength: 8 }), (made) => {
      const rows = made.map((one, index): Cell[] => [{ value: index }, toCell(one), { value: (index % 10) / 10 }]);
      const table: ModelTable = {
        title: "",
        columns: [
          { key: "level", title: "level", quantity: "count", dropOrder: 0 },
          { key: "latency.p99", title: "p99", quantity: "time", dropOrder: 0 },
          { key: "failed", title: "failed", quantity: "ratio", dropOrder: 0 },
        ],
        rows,
      };
      const model = { ...EMPTY, sections: [sectionOf({ tables: [table] })] };
      const html = formatReportPage(model, PARTS);
      checkPageTables(html, model);
    }),
    { numRuns: 200 },
  );
});

const MARKUP = ["<script>x</script>", '"><img src=x onerror=alert(1)>', "</td></table>", "&lt;b&gt;", "a\nb <!-- c"];
const words = fc
  .tuple(fc.string({ maxLength: 6 }), fc.constantFrom(...MARKUP), fc.string({ maxLength: 6 }))
  .map((parts) => parts.join(""));

test("texts of servers and users are texts, wherever they are", () => {
  fc.assert(
    fc.property(words, (text) => {
      const frame = { title: text, xLabel: text, yLabel: text, group: "", notes: [text] };
      const series = [text, `${text}2`].map((name) => ({ name, style: "line" as const, points: [[1, 2] as const] }));
      const html = formatReportPage(
        {
          name: text,
          subject: text,
          setup: [text],
          verdict: { name: "failed", headline: text, facts: [text] },
          checks: [{ state: "fail", text, measured: text }],
          notes: [{ code: "x", severity: "caution", levels: [text], text }],
          ...{ suites: [], origin: text, plan: { name: text } },
          sections: [
            sectionOf({
              title: text,
              lines: [text],
              charts: [{ kind: "xy", ...frame, series, isFromZero: true }],
              tables: [
                {
                  title: text,
                  columns: [{ key: "k", title: text, quantity: "text", dropOrder: 0 }],
                  rows: [[{ value: text }]],
                },
              ],
            }),
          ],
        },
        PARTS,
      );
      const body = html.slice(0, html.indexOf('<script type="application/json"'));
      assert.doesNotMatch(body, /<script|<img|onerror=(?!alert)|<!-- /);
      assert.equal(body.split("</table>").length, 2);
      assert.ok(body.split(escapeHtml(text)).length > 15, "it is in all places");
      const data = /<script type="application\/json" id="data">(.*?)<\/script>/s.exec(html)?.[1] ?? "";
      assert.doesNotMatch(data, /</);
      assert.ok(JSON.stringify(JSON.parse(data)).includes(JSON.stringify(text)));
    }),
    { numRuns: 100 },
  );
});

test("the page draws the charts of the model, in its order", () => {
  const frame = { xLabel: "load", yLabel: "ms", group: "", notes: [] };
  const charts = ["one", "two", "three"].map(
    (title, at): Plot => ({
      kind: "xy",
      title,
      ...frame,
      series: [{ name: title, style: "line", points: [[at, at]] }],
      isFromZero: true,
    }),
  );
  const sections = charts.map((plot, at) => sectionOf({ id: `s${at}`, title: plot.title, charts: [plot] }));
  const html = formatReportPage({ ...EMPTY, sections }, PARTS);
  const data = /<script type="application\/json" id="data">(.*?)<\/script>/s.exec(html)?.[1] ?? "";
  const { options } = JSON.parse(data) as { options: unknown };
  const expected = charts.map((plot) => toChartOption(plot, { isAlone: false, isLegendOutside: true }));
  assert.deepEqual(options, JSON.parse(JSON.stringify(expected)));
  assert.deepEqual(
    [...html.matchAll(/data-plot="(\d)" role="img" aria-label="(\w+)"/g)].map(([, at, title]) => [at, title]),
    [
      ["0", "one"],
      ["1", "two"],
      ["2", "three"],
    ],
  );
});

describe("notes", () => {
  const make = (severity: Note["severity"], count: number): Note[] =>
    Array.from({ length: count }, (_, at) => ({ code: severity, severity, levels: [], text: `${severity} ${at}.` }));
  const pageOf = (notes: readonly Note[]): string => formatReportPage({ ...EMPTY, notes }, PARTS);
  const openOf = (html: string): string[] => {
    const section = html.slice(html.indexOf('<section id="notes">'), html.indexOf("</main>"));
    const open = section.slice(0, section.includes("<details>") ? section.indexOf("<details>") : undefined);
    return [...open.matchAll(/<li class="\w+">(.*?)<\/li>/g)].map(([, text = ""]) => text);
  };

  test("three are open, those first that say not to use a number, and details are folded", () => {
    const html = pageOf([...make("detail", 2), ...make("caution", 3), ...make("wrong", 1)]);
    assert.deepEqual(openOf(html), ["wrong 0.", "caution 0.", "caution 1."]);
    assert.match(html, /<summary>1 more caution<\/summary>/);
    assert.match(html, /<summary>2 details<\/summary>/);
    assert.match(html, /<a href="#notes">1 number not to be used, 3 cautions, 2 details<\/a>/);
    for (const note of ["caution 2.", "detail 0.", "detail 1."]) assert.ok(html.includes(note));
  });

  test("without any there is no section, and details alone are all folded", () => {
    assert.ok(!pageOf([]).includes('id="notes"'));
    assert.deepEqual(openOf(pageOf(make("detail", 1))), []);
  });
});

test("of many checks only those are open that do not pass", () => {
  const checks = Array.from({ length: 8 }, (_, at) => ({
    state: at === 6 ? ("fail" as const) : ("pass" as const),
    text: `check ${at}`,
    measured: "",
  }));
  const html = formatReportPage({ ...EMPTY, checks }, PARTS);
  const [open = "", folded = ""] = html.slice(html.indexOf('<ul class="checks">')).split("<details>");
  assert.ok(open.includes("check 6") && !open.includes("check 0"));
  assert.ok(folded.includes("7 checks pass") && folded.includes("check 0"));
});
