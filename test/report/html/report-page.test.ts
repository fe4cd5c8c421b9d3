import assert from "node:assert/strict";
import { after, describe, test } from "node:test";
import * as fc from "fast-check";
import { REPORTED_PERCENTILES } from "../../../src/measure/intervals/percentile-interval.ts";
import { BUNCHED_RATIO } from "../../../src/measure/tokens/metrics.ts";
import { formatReportPage } from "../../../src/report/html/report-page.ts";
import { escapeHtml } from "../../../src/report/markup.ts";
import type { Cell, ModelTable, Note, ReportModel, Section } from "../../../src/report/model/report-model.ts";
import { timeUnitFor } from "../../../src/report/model/values.ts";
import type { Plot } from "../../../src/report/plot.ts";
import { readChartLibrary } from "../../../src/report/plots/chart-library.ts";
import { toChartOption } from "../../../src/report/plots/chart-option.ts";
import { type LevelJson, runsOf } from "../../../src/report/schema/report-schema.ts";
import { p99 } from "../../../src/scenario/assertions.ts";
import { steps } from "../../../src/scenario/loads/concurrency.ts";
import { prompts } from "../../../src/scenario/prompts.ts";
import { embedded } from "../../../src/scenario/targets/embedded.ts";
import { embeddedLlm } from "../../../src/scenario/targets/llm.ts";
import { LIMIT } from "../../time-limit.ts";
import { TINY } from "../../tokenize/tiny.ts";
import { spreadIn, valueIn } from "../json-metrics.ts";
import { chartsOf, type Drawn, type DrawnSeries, digits, pointsOf } from "./drawn-charts.ts";
import { type Written, writeReports } from "./make-report.ts";
import { checkPageTables } from "./read-page.ts";

/** The page renders a model: its numbers, its charts and its words, whatever they are. */

const LIBRARY = await readChartLibrary();
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
  ["a mark", { value: 1, mark: "uncertain" }, "* too few independent requests to be sure of it: measure longer."],
  ["an interval", { value: 1, interval: { low: 0, high: 2 } }, "Small: 95 % intervals."],
  ["neither", { value: 1 }, undefined],
] as const)
  test(`the line below a table explains what the table has: ${name}`, () => {
    const columns = [{ key: "a", title: "a", quantity: "count", dropOrder: 0 }] as const;
    const section = sectionOf({ tables: [{ title: "", columns, rows: [[cell]] }] });
    const page = formatReportPage({ ...EMPTY, sections: [section] }, LIBRARY);
    assert.equal(/<p class="note">((?:\*|Small).*?)<\/p>/.exec(page)?.[1], note);
  });

test("a mark on a value of far more requests than it needs says that the value may have moved", () => {
  const noteOf = (key: string, requests: number): string | undefined => {
    const columns = [
      { key, title: key, quantity: "time" as const, dropOrder: 0 },
      { key: "completed", title: "completed", quantity: "count" as const, dropOrder: 0 },
    ];
    const rows = [[{ value: 1e6, mark: "uncertain" as const }, { value: requests }]];
    const page = formatReportPage(
      { ...EMPTY, sections: [sectionOf({ tables: [{ title: "", columns, rows }] })] },
      LIBRARY,
    );
    return /<p class="note">(\*.*?)<\/p>/.exec(page)?.[1];
  };
  const few = "* too few independent requests to be sure of it: measure longer.";
  assert.equal(
    noteOf("latency.p90", 119_824),
    "* it moved too much, or has too few independent requests: measure longer.",
  );
  assert.deepEqual([noteOf("latency.p90", 600), noteOf("latency.p99.9", 60_000)], [few, few]);
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
      const html = formatReportPage(model, LIBRARY);
      checkPageTables(html, model);
    }),
    { numRuns: 200 },
  );
});

test("a table with many columns has less room between them, so that a screen shows the last ones", () => {
  const wideOf = (count: number): boolean => {
    const keys = Array.from({ length: count }, (_, index) => `column ${index}`);
    const columns = keys.map((key) => ({ key, title: key, quantity: "count" as const, dropOrder: 0 }));
    const table = { title: "", columns, rows: [keys.map((_, value) => ({ value }))] };
    return formatReportPage({ ...EMPTY, sections: [sectionOf({ tables: [table] })] }, LIBRARY).includes(
      '<table class="dense">',
    );
  };
  assert.deepEqual([wideOf(14), wideOf(18)], [false, true]);
});

const MARKUP = ["<script>x</script>", '"><img src=x onerror=alert(1)>', "</td></table>", "&lt;b&gt;", "a\nb <!-- c"];
const words = fc
  .tuple(fc.string({ maxLength: 6 }), fc.constantFrom(...MARKUP), fc.string({ maxLength: 6 }))
  .map((parts) => parts.join(""));

test("the answer in words is above what was checked, and long tables of details are folded", () => {
  const table = {
    title: "each",
    columns: [{ key: "k", title: "k", quantity: "count", dropOrder: 0 }],
    rows: Array.from({ length: 20 }, (_, value) => [{ value }]),
  } as const;
  const html = formatReportPage(
    {
      ...EMPTY,
      checks: [{ state: "pass", text: "the check", measured: "" }],
      sections: [
        sectionOf({ id: "answer", title: "", isSummary: true, lines: ["the answer"], tables: [table] }),
        sectionOf({ id: "more", title: "More", isSummary: false, tables: [table] }),
      ],
    },
    LIBRARY,
  );
  const places = ["the answer", "the check", '<section id="answer">'].map((text) => html.indexOf(text));
  assert.deepEqual(
    places.toSorted((a, b) => a - b),
    places,
  );
  assert.ok(places.every((place) => place > 0));
  assert.equal(html.split("the answer").length, 2, "it is said once");
  const [summary = "", details = ""] = html.slice(places[2]).split('<section id="more">');
  assert.doesNotMatch(summary, /<summary>/);
  assert.match(details, /<summary>each: 20 rows<\/summary>/);
});

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
        LIBRARY,
      );
      const body = html.slice(0, html.indexOf('<script type="application/json"'));
      assert.doesNotMatch(body, /<script|<img|onerror=(?!alert)|<!-- /);
      assert.equal(body.split("</table>").length, 2);
      assert.ok(body.split(escapeHtml(text)).length > 15, "it is in all places");
      const data = /<script type="application\/json" id="data">(.*?)<\/script>/s.exec(html)?.[1] ?? "";
      assert.doesNotMatch(data, /</);
      assert.ok(JSON.stringify(JSON.parse(data)).includes(JSON.stringify(text)));
    }),
    // Each page evaluates the chart library.
    { numRuns: 20 },
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
  const html = formatReportPage({ ...EMPTY, sections }, LIBRARY);
  const data = /<script type="application\/json" id="data">(.*?)<\/script>/s.exec(html)?.[1] ?? "";
  const { options } = JSON.parse(data) as { options: unknown };
  const expected = charts.map((plot) => toChartOption(plot, "page"));
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

test("uncertain points and bars are hollow, and the legend says so where there are some", () => {
  const frame = { xLabel: "load", yLabel: "ms", group: "", notes: [] };
  const plotOf = (uncertain: readonly boolean[]): Plot[] => [
    {
      ...{ kind: "xy", title: "line", ...frame, isFromZero: true },
      series: [
        {
          name: "p99",
          style: "line",
          points: [
            [1, 2],
            [2, 3],
          ],
          labels: ["1", "2"],
          uncertain,
        },
      ],
    },
    {
      ...{ kind: "bars", title: "bars", ...frame, isStacked: false, categories: ["a", "b"] },
      series: [{ name: "p99", values: [2, 3], uncertain }],
    },
  ];
  for (const uncertain of [[false, true], [false, false], []]) {
    const charts = plotOf(uncertain);
    const html = formatReportPage({ ...EMPTY, sections: [sectionOf({ charts })] }, LIBRARY);
    const isHollow = uncertain.includes(true);
    assert.equal(html.match(/hollow: uncertain/g)?.length ?? 0, isHollow ? 2 : 0);
    for (const chart of chartsOf(html).values()) {
      const [one, other] = chart.series[0]?.data ?? [];
      assert.ok(!JSON.stringify(one).includes("itemStyle"));
      assert.equal(JSON.stringify(other).includes("itemStyle"), isHollow);
      const { itemStyle, label } = Object(other) as { itemStyle?: { borderColor: string }; label?: { color: string } };
      assert.equal(label?.color, itemStyle?.borderColor, "its label is not hollow");
    }
  }
});

describe("notes", () => {
  const make = (severity: Note["severity"], count: number): Note[] =>
    Array.from({ length: count }, (_, at) => ({ code: severity, severity, levels: [], text: `${severity} ${at}.` }));
  const pageOf = (notes: readonly Note[]): string => formatReportPage({ ...EMPTY, notes }, LIBRARY);
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

  test("no section is shown without any, and details alone are all folded", () => {
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
  const html = formatReportPage({ ...EMPTY, checks }, LIBRARY);
  const [open = "", folded = ""] = html.slice(html.indexOf('<ul class="checks">')).split("<details>");
  assert.ok(open.includes("check 6") && !open.includes("check 0"));
  assert.ok(folded.includes("7 checks pass") && folded.includes("check 0"));
});

/** The charts and tables of a page have the numbers of the JSON report. */

const toRemove: Written[] = [];
after(() => {
  for (const one of toRemove) one.remove();
});

async function write(scenario: object): Promise<Written> {
  const written = await writeReports(scenario);
  toRemove.push(written);
  return written;
}

test("charts of levels have the numbers of the JSON report", LIMIT, async () => {
  const { json, read } = await write({
    name: "levels",
    target: embeddedLlm({
      streaming: true,
      timeToFirstToken: "5 ms",
      interTokenLatency: "1 ms",
      tokenizer: TINY,
      errorRate: "10 %",
    }),
    inputs: prompts({ isl: 12, osl: 5, count: 4 }),
    load: steps([1, 4], { requests: 80 }),
    assert: [p99("latency").below("10 s")],
  });
  const html = read("html");
  const charts = chartsOf(html);
  const { levels } = runsOf(json)[0] as { levels: readonly LevelJson[] };
  const percentile = (level: LevelJson, name: "p50" | "p90" | "p99"): number =>
    spreadIn(level, "latencyUs")?.[name] ?? 0;

  const throughput = charts.get("Throughput over load") as Drawn;
  assert.deepEqual(
    pointsOf(throughput.series[0] as DrawnSeries),
    levels.map((level) => [level.level, digits(valueIn(level, "throughputPerSec"))]),
  );
  assert.deepEqual(
    pointsOf(throughput.series.find(({ name }) => name === "failed") as DrawnSeries),
    levels.map(({ level, failed, durationSec }) => [level, digits(failed / durationSec)]),
  );
  assert.match(html, /time to first token/);
  assert.doesNotMatch(html, /time to first output token/, "it is another one only after reasoning");
  // One name for the load, and one for its throughput.
  assert.match(html, /<p>[^<]* · users 1, 4</);
  assert.match(html, />req\/s</);
  assert.equal(throughput.yAxis.name, "Throughput (req/s)");
  const latency = charts.get("Latency over load") as Drawn;
  const scale = { "Latency (s)": 1e6, "Latency (ms)": 1e3, "Latency (us)": 1 }[latency.yAxis.name] as number;
  for (const [index, name] of (["p50", "p90", "p99"] as const).entries())
    assert.deepEqual(
      pointsOf(latency.series[index] as DrawnSeries),
      levels.map((level) => [level.level, digits(percentile(level, name) / scale)]),
    );
  const knee = charts.get("Latency against throughput") as Drawn;
  assert.deepEqual(
    pointsOf(knee.series[1] as DrawnSeries),
    levels
      .toSorted((one, other) => one.level - other.level)
      .map((level) => [digits(valueIn(level, "throughputPerSec")), digits(percentile(level, "p99") / scale)]),
  );

  const curves = charts.get("Latency by percentile") as Drawn;
  const unit = { "Latency (s)": 1e6, "Latency (ms)": 1e3, "Latency (us)": 1 }[curves.yAxis.name] as number;
  for (const [index, level] of levels.entries()) {
    const points = pointsOf(curves.series[index] as DrawnSeries);
    for (const [nines, name] of [
      [1, "p90"],
      [digits(Math.log10(2)), "p50"],
    ] as const)
      assert.equal(points.find(([x]) => x === nines)?.[1], digits(percentile(level, name) / unit), name);
    assert.equal(
      points.at(-1)?.[1],
      digits(Math.floor(spreadIn(level, "latencyUs")?.max ?? 0) / unit),
      "the last point is the maximum",
    );
    const { count = 0, confidence95 } = spreadIn(level, "latencyUs") ?? {};
    const marked = REPORTED_PERCENTILES.filter((one) => {
      const found = confidence95?.[`p${one}`];
      return found?.low === null && found.isDecided !== true;
    })
      .map((one) => -Math.log10(1 - one / 100))
      .filter((nines) => nines < Math.log10(count));
    const hollow = curves.series[index]?.data.flatMap((point) => ("itemStyle" in point ? [point] : []));
    assert.ok(marked.length > 0, "95 % of 80 requests are too few");
    assert.deepEqual(
      hollow?.map((point) => ("value" in point ? point.value[0] : undefined)),
      marked.map(digits),
      "what the tables mark is hollow",
    );
    assert.ok(hollow?.every((point) => "symbol" in point));
    const ascending = points.map(([, y]) => y ?? 0);
    assert.deepEqual(
      ascending,
      ascending.toSorted((a, b) => a - b),
    );
  }

  const rates = charts.get("Output tokens per second") as Drawn;
  assert.deepEqual(
    pointsOf(rates.series[0] as DrawnSeries),
    levels.map((level) => [level.level, digits(valueIn(level, "outputTokensPerSec"))]),
  );
  const first = charts.get("Time to first token over load") as Drawn;
  const timeOf = (level: LevelJson): number => spreadIn(level, "timeToFirstTokenUs")?.p99 ?? 0;
  const per = timeUnitFor(Math.max(...levels.map(timeOf))).us;
  assert.deepEqual(
    pointsOf(first.series[2] as DrawnSeries),
    levels.map((level) => [level.level, digits(timeOf(level) / per)]),
  );
  for (const [chart, key] of [
    [latency, "latencyUs"],
    [first, "timeToFirstTokenUs"],
  ] as const)
    for (const [index, name] of (["p50", "p90", "p99"] as const).entries()) {
      const isUncertain = (level: LevelJson): boolean => {
        const found = spreadIn(level, key)?.confidence95?.[name];
        return found?.low === null && found.isDecided !== true;
      };
      const hollow = chart.series[index]?.data.map((point) => "itemStyle" in point);
      assert.deepEqual(hollow, levels.map(isUncertain), `what the tables mark is hollow: ${key} ${name}`);
    }
  assert.match(html, /Time to first token over load<\/figcaption>.*?<\/i>hollow: uncertain</);
  // A busy machine makes tokens arrive together.
  const isUncut = levels.some((level) => (spreadIn(level, "bunchedRatio")?.mean ?? 0) < BUNCHED_RATIO);
  assert.deepEqual([...charts.keys()].slice(0, isUncut ? 3 : 2), [
    "Time to first token over load",
    ...(isUncut ? ["Inter-token latency over load"] : []),
    "Output tokens per second",
  ]);
});

test("the time line and the heat map count all requests of the run once", LIMIT, async () => {
  const { json, read } = await write({
    name: "time",
    target: embedded({ latency: "2 ms", errorRate: "20 %" }),
    load: steps([1, 4], { requests: 100 }),
    warmupRequests: 20,
  });
  const [run] = runsOf(json);
  const charts = chartsOf(read("html"));
  const heat = charts.get("Latency over time") as unknown as { series: { data: [string, string, number][] }[] };
  const cells = heat.series[0]?.data.reduce((sum, [, , count]) => sum + count, 0);
  assert.equal(cells, run?.requests.completed);
  const line = charts.get("Time line") as Drawn;
  for (const [name, count] of [
    ["completed", run?.requests.completed],
    ["failed", run?.requests.failed],
  ] as const) {
    const points = pointsOf(line.series.find((series) => series.name === name) as DrawnSeries);
    const sum = points.slice(0, -1).reduce((all, [x = 0, y = 0], i) => all + y * ((points[i + 1]?.[0] ?? 0) - x), 0);
    assert.ok(Math.abs(sum - (count ?? 0)) < 0.01 * (count ?? 0) + 0.5, `${name}: ${sum} of ${count}`);
  }
});

test("the page has the failures with examples, the plan without secrets, and the machine", LIMIT, async () => {
  const { read, json } = await write({
    name: "failing",
    target: embedded({ errorRate: "100 %" }),
    load: steps([1], { requests: 10 }),
  });
  const html = read("html");
  assert.match(html, /planned failure/);
  assert.match(html, /The plan as JSON/);
  assert.ok(html.includes(json.machine.runtime));
});

test("a run without a success has no empty charts", LIMIT, async () => {
  const { read } = await write({
    name: "failing",
    target: embedded({ errorRate: "100 %" }),
    load: steps([1, 2], { requests: 20 }),
  });
  const html = read("html");
  const charts = chartsOf(html);
  assert.deepEqual([...charts.keys()], ["Throughput over load", "Time line"]);
  assert.deepEqual(
    charts.get("Time line")?.series.map(({ name }) => name),
    ["completed", "failed", "in flight"],
  );
});

test("units of charts follow their values", () => {
  assert.deepEqual(
    [50, 999, 1000, 30_000, 5e6].map((us) => timeUnitFor(us).name),
    ["us", "us", "ms", "ms", "s"],
  );
});
