import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { escapeHtml } from "../../../src/report/markup.ts";
import { buildRunModel } from "../../../src/report/model/build-model.ts";
import { timeUnitFor } from "../../../src/report/model/values.ts";
import type { OverMetricsJson } from "../../../src/report/schema/metrics.ts";
import { findOver } from "../../../src/report/schema/read-metrics.ts";
import { type LevelJson, type ReportJson, runsOf } from "../../../src/report/schema/report-schema.ts";
import { type AnsweringServer, startAnsweringServer } from "../../servers/answering-server.ts";
import { LIMIT } from "../../time-limit.ts";
import { checkRepeated } from "../check-repeated.ts";
import { spreadIn, valueIn } from "../json-metrics.ts";
import { readXml } from "../read-xml.ts";
import { chartsOf, type Drawn, type DrawnSeries, digits, pointsOf, valuesOf } from "./drawn-charts.ts";
import { type Written, writeReports } from "./make-report.ts";
import {
  answerWithScores,
  MLPERF,
  MLPERF_TOKENS,
  mixed,
  REPEATED,
  REPEATED_PHASES,
  REPEATED_SEARCH,
  SEARCH,
} from "./page-scenarios.ts";
import { checkPageTables } from "./read-page.ts";

/** Groups, searches, MLPerf and repeated runs: the page and its charts have the numbers of the JSON report. */

let server: AnsweringServer;
const written: Written[] = [];

before(async () => {
  server = await startAnsweringServer(answerWithScores);
}, LIMIT);

after(() => {
  for (const one of written) one.remove();
  server.close();
});

async function write(scenario: object): Promise<Written> {
  const one = await writeReports(scenario);
  written.push(one);
  return one;
}

/** Asserts that the tables of a page are those of the model of its JSON report. Returns the page. */
function checkPage({ plan, json, read }: Written): string {
  const html = read("html");
  checkPageTables(html, buildRunModel(plan, json));
  return html;
}

function scaleOf(chart: Drawn): number {
  const unit = /\((\w+)\)$/.exec(chart.yAxis.name)?.[1] ?? "";
  return { s: 1e6, ms: 1e3, us: 1 }[unit] ?? Number.NaN;
}

describe("a mix with tags", LIMIT, () => {
  let report: Written;
  let levels: readonly LevelJson[];
  before(async () => {
    report = await write(mixed(server.url));
    levels = runsOf(report.json)[0]?.levels ?? [];
  }, LIMIT);

  test("has two charts for each tag, with the numbers of its groups", LIMIT, () => {
    const charts = chartsOf(checkPage(report));
    for (const tag of ["target", "size"]) {
      const groups = levels.flatMap((level) => (level.groups ?? []).filter(({ tags }) => tag in tags));
      assert.equal(groups.length, 2 * levels.length);
      const latency = charts.get(`Latency by ${tag}`) as Drawn;
      for (const [index, name] of (["p50", "p90", "p99"] as const).entries())
        assert.deepEqual(
          valuesOf(latency.series[index]),
          groups.map((group) => digits((spreadIn(group, "latencyUs")?.[name] ?? 0) / scaleOf(latency))),
          `${tag} ${name}`,
        );
      const throughput = charts.get(`Throughput by ${tag}`) as Drawn;
      assert.deepEqual(
        valuesOf(throughput.series[0]),
        groups.map((group) => digits(valueIn(group, "throughputPerSec"))),
      );
      assert.equal(throughput.xAxis.data?.length, groups.length);
    }
  });

  test("shows the first wrong responses as text, and JUnit has them in a failure", LIMIT, () => {
    const [run] = runsOf(report.json);
    const responses = run?.failures.flatMap((failure) => failure.responses ?? []) ?? [];
    assert.equal(responses.length, 3);
    const html = report.read("html");
    assert.ok(html.includes("the score is &lt;b&gt;too high&lt;/b&gt;") && html.includes("&quot;score&quot;:6"));
    const [suite] = readXml(report.read("junit")).children;
    const wrong = suite?.children.find(({ attributes }) => attributes["name"] === "responses are right");
    const count = run?.failures.reduce((sum, failure) => sum + (failure.kind === "check" ? failure.count : 0), 0);
    assert.equal(wrong?.children[0]?.attributes["message"], `${count} responses are wrong`);
    assert.match(wrong?.children[0]?.text ?? "", /the score is <b>too high<\/b>\n {2}\{"score":6/);
  });
});

test("a search begins with its answer, and draws each limit by load with intervals and states", LIMIT, async () => {
  const report = await write(SEARCH);
  const [run] = runsOf(report.json);
  const html = checkPage(report);
  const [first] = report.json.verdict.headline.split(";");
  // A busy machine may keep the limits at all loads, which passes. Then the verdict has no reason, and the answer is the line below it.
  const said =
    /<div class="panel verdict[^"]*"><b>[A-Z]*<\/b><span>([^<]*)[\s\S]*?<p>([^<]*)/.exec(html)?.slice(1) ?? [];
  const answer = report.json.verdict.name === "passed" ? said[1] : said[0];
  assert.ok(answer?.startsWith(escapeHtml(first ?? "")), `${said.join(" | ")} for ${first}`);
  const levels = (run?.levels ?? []).toSorted((a, b) => a.level - b.level);
  const states = { kept: "keeps the limits", broken: "breaks a limit", unresolved: "unresolved" } as const;
  const charts = chartsOf(html);
  const chart = charts.get("Throughput by load") as Drawn;
  const measuredAt = (level: LevelJson): number => level.limits?.verdicts[0]?.measured?.value ?? Number.NaN;
  assert.deepEqual(
    pointsOf(chart.series[0] as DrawnSeries),
    levels.map((level) => [level.level, digits(measuredAt(level))]),
  );
  for (const [state, name] of Object.entries(states)) {
    const own = levels.filter((level) => level.limits?.verdicts[0]?.state === state);
    const [points, bars] = chart.series.filter((series) => series.name === name);
    assert.deepEqual(
      points === undefined ? [] : pointsOf(points),
      own.map((level) => [level.level, digits(measuredAt(level))]),
    );
    const drawn = (bars?.data ?? []) as unknown as { coords: [number, number][]; symbol: string[] }[];
    const known = own.filter(({ limits }) => {
      const { low = null, high = null } = limits?.verdicts[0]?.measured ?? {};
      // Windows of equal throughput have an interval without a length.
      return (low !== null || high !== null) && low !== high;
    });
    assert.equal(drawn.length, known.length);
    for (const [index, level] of known.entries()) {
      const { low = null, high = null } = level.limits?.verdicts[0]?.measured ?? {};
      for (const [at, end] of [low, high].entries()) {
        assert.equal(drawn[index]?.symbol[at], end === null ? "arrow" : "none");
        if (end !== null) assert.deepEqual(drawn[index]?.coords[at], [level.level, digits(end)]);
      }
    }
  }
  // The lowest loads alone are far below the limit.
  const most = Math.max(
    ...levels.map(({ limits }) => limits?.verdicts[0]?.measured?.high ?? limits?.verdicts[0]?.measured?.value ?? 0),
  );
  assert.equal(
    chart.series.some(({ name }) => name === "limit 450 infer/s"),
    most >= 450 / 4,
  );
});

test("the pages of MLPerf scenarios have the numbers of LoadGen's summary", LIMIT, async () => {
  for (const scenario of [MLPERF, MLPERF_TOKENS]) {
    const report = await write(scenario);
    const html = checkPage(report);
    const mlperf = runsOf(report.json)[0]?.levels[0]?.mlperf;
    assert.ok(html.includes(`MLPerf ${mlperf?.scenario} is valid`));
    assert.ok(html.includes(mlperf?.isValid === true ? "<b>pass</b>" : "<b>fail</b>"));
  }
});

/** The ends of an interval with its mean between them; of one beyond twice the mean, or below half of it, only the mean. */
function endsOf(over: ReturnType<typeof p99Over>): number[] {
  const { low = null, mean = 0, high = null } = over ?? {};
  const isShown = low !== null && high !== null && low >= mean / 2 && high <= 2 * mean;
  return isShown ? [low, mean, high] : [mean];
}

const p99Over = (metrics: OverMetricsJson) => findOver(metrics, "latency", "p99");

test(
  "repeated runs have their means with intervals, a point for each run, and a suite for each run",
  LIMIT,
  async () => {
    const report = await write(REPEATED);
    const json = report.json as Extract<ReportJson, { runs: unknown }>;
    const charts = chartsOf(checkPage(report));
    const throughput = charts.get("Throughput by run") as Drawn;
    const latency = charts.get("p99 latency by run") as Drawn;
    const most = Math.max(
      ...json.combination.levels.map(({ metrics }) => p99Over(metrics)?.high ?? p99Over(metrics)?.mean ?? 0),
    );
    assert.equal(scaleOf(latency), timeUnitFor(most).us);
    for (const combined of json.combination.levels) {
      const own = json.runs.map(({ levels }) => levels.find(({ level }) => level === combined.level));
      for (const [chart, values, over, scale] of [
        [
          throughput,
          own.map((level) => (level === undefined ? 0 : valueIn(level, "throughputPerSec"))),
          findOver(combined.metrics, "throughput"),
          1,
        ],
        [
          latency,
          own.map((level) => (level === undefined ? 0 : (spreadIn(level, "latencyUs")?.p99 ?? 0))),
          p99Over(combined.metrics),
          scaleOf(latency),
        ],
      ] as const) {
        const [points, ...lines] = chart.series.filter(({ name }) => name === `concurrency ${combined.level}`);
        assert.deepEqual(
          pointsOf(points as DrawnSeries),
          values.map((value, run) => [run + 1, digits(value / scale)]),
        );
        assert.deepEqual(
          lines.map((line) => pointsOf(line).map(([, y]) => y)),
          endsOf(over).map((end) => [1, 3].map(() => digits(end / scale))),
        );
      }
    }
    const suites = readXml(report.read("junit")).children;
    assert.deepEqual(
      suites.map(({ attributes }) => attributes["name"]),
      ["repeated", "repeated, run 1", "repeated, run 2", "repeated, run 3"],
    );
    const sum = suites.reduce((all, { attributes }) => all + Number(attributes["tests"]), 0);
    assert.equal(sum, Number(readXml(report.read("junit")).attributes["tests"]));
  },
);

test("repeated phases have their means apart, also where two of them have the same load", LIMIT, async () => {
  const report = await write(REPEATED_PHASES);
  checkRepeated(report.plan, { runs: report.runs });
  const json = report.json as Extract<ReportJson, { runs: unknown }>;
  const names = ["first: concurrency 2", "second: concurrency 2", "rates: 100 requests/s", "rates: 200 requests/s"];
  const chart = chartsOf(report.read("html")).get("Throughput by run") as Drawn;
  assert.deepEqual(
    json.combination.levels.map(({ phase, level, runs }) => [phase?.name, level, runs]),
    [
      ["first", 2, 2],
      ["second", 2, 2],
      ["rates", 100, 2],
      ["rates", 200, 2],
    ],
  );
  for (const [index, name] of names.entries()) {
    const own = json.runs.map(({ levels }) => valueIn(levels[index] as LevelJson, "throughputPerSec"));
    const [points, ...lines] = chart.series.filter((series) => series.name === name);
    assert.deepEqual(
      pointsOf(points as DrawnSeries),
      own.map((value, run) => [run + 1, digits(value)]),
    );
    const mean = ((own[0] as number) + (own[1] as number)) / 2;
    // Between the ends of its interval, where that says something.
    assert.deepEqual(pointsOf(lines[lines.length >> 1] as DrawnSeries)[0], [1, digits(mean)]);
  }
  const suites = readXml(report.read("junit")).children;
  for (const suite of suites.slice(1))
    assert.deepEqual(
      suite.children.map(({ attributes }) => attributes["name"]),
      names.map((name) => `${name} is measured`),
    );
});

test("a repeated search has its answer over runs, a point for each run, and a curve for each", LIMIT, async () => {
  const report = await write(REPEATED_SEARCH);
  const related = checkRepeated(report.plan, { runs: report.runs });
  const html = checkPage(report);
  const { highest } = related.combination.findMax ?? {};
  const certain = report.runs.flatMap(({ findMax }, run) =>
    findMax?.isResolved === true && findMax.highest !== undefined ? [[run + 1, findMax.highest]] : [],
  );
  const charts = chartsOf(html);
  const chart = charts.get("Highest load by run");
  if (highest === undefined) assert.deepEqual([chart, certain], [undefined, []]);
  else {
    const [points, ...lines] = chart?.series ?? [];
    assert.deepEqual(pointsOf(points as DrawnSeries), certain);
    const mean = lines.length === 1 ? lines[0] : lines[1];
    assert.deepEqual(pointsOf(mean as DrawnSeries)[0], [1, digits(highest.mean)]);
  }
  const curves = charts.get("Throughput by load")?.series.map(({ name }) => name) ?? [];
  assert.deepEqual(curves.slice(0, 2), ["run 1, measured", "run 2, measured"]);
});
