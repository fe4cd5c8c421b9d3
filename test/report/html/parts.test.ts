import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { formatCount, formatPct } from "../../../src/plan/units.ts";
import { timeUnitFor } from "../../../src/report/html/shown-run.ts";
import { answerOf, answerOverRuns } from "../../../src/report/rampart/find-max.ts";
import { formatUs } from "../../../src/report/rampart/format.ts";
import { type LevelJson, type ReportJson, runsOf } from "../../../src/report/schema/report-schema.ts";
import type { FindMaxResult } from "../../../src/result/run-result.ts";
import { type AnsweringServer, startAnsweringServer } from "../../servers/answering-server.ts";
import { checkRepeated } from "../check-repeated.ts";
import { readXml } from "../read-xml.ts";
import { chartsOf, type Drawn, type DrawnSeries, digits, pointsOf } from "./drawn-charts.ts";
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

/** Groups, searches, MLPerf and repeated runs: the page, Markdown and JUnit have the numbers of the JSON report. */

const LIMIT = { timeout: 120_000 };
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

/** Returns the cells of a page's table by its header, without the small lines. */
function tableOf(html: string, title: string): string[][] {
  const start = html.indexOf(`<h3>${title}</h3>`);
  assert.ok(start >= 0, title);
  const table = html.slice(start, html.indexOf("</table>", start));
  return [...table.matchAll(/<tr>(.*?)<\/tr>/gs)].map(([, row = ""]) =>
    [...row.matchAll(/<t[hd][^>]*>(.*?)<\/t[hd]>/gs)].map(([, cell = ""]) => cell.replace(/<small>.*?<\/small>/s, "")),
  );
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

  test("has a table and two charts for each tag, with the numbers of its groups", LIMIT, () => {
    const html = report.read("html");
    const charts = chartsOf(html);
    for (const tag of ["target", "size"]) {
      const groups = levels.flatMap((level) => (level.groups ?? []).filter(({ tags }) => tag in tags));
      assert.equal(groups.length, 2 * levels.length);
      const rows = tableOf(html, `By ${tag}`).slice(1);
      assert.deepEqual(
        rows.map((cells) => [cells[1], cells.at(-2), cells.at(-1)]),
        groups.map(({ inferPerSec, errorRatio, failed, requests }) => [
          formatCount(inferPerSec),
          failed === 0 ? "0 %" : formatPct(errorRatio),
          formatCount(requests),
        ]),
      );
      const latency = charts.get(`Latency by ${tag}`) as Drawn;
      for (const [index, name] of (["p50", "p90", "p99"] as const).entries())
        assert.deepEqual(
          latency.series[index]?.data,
          groups.map((group) => digits((group.latency?.percentiles[name].us ?? 0) / scaleOf(latency))),
          `${tag} ${name}`,
        );
      const throughput = charts.get(`Throughput by ${tag}`) as Drawn;
      assert.deepEqual(
        throughput.series[0]?.data,
        groups.map(({ inferPerSec }) => digits(inferPerSec)),
      );
      assert.equal(throughput.xAxis.data?.length, groups.length);
    }
  });

  test("has the extracted values and tokens of each target", LIMIT, () => {
    const html = report.read("html");
    const web = levels.flatMap(({ groups = [] }) => groups.filter(({ tags }) => tags["target"] === "web"));
    const scores = tableOf(html, "Extracted values by target").filter(([, value]) => value === "score");
    assert.deepEqual(
      scores.map((cells) => [cells[2], cells[7]]),
      web.map(({ extracted }) => {
        const { mean = Number.NaN, count = 0 } = extracted?.["score"]?.numbers ?? {};
        return [String(Number(mean.toPrecision(6))), formatCount(count)];
      }),
    );
    const chat = levels.flatMap(({ groups = [] }) => groups.filter(({ tags }) => tags["target"] === "chat"));
    const first = tableOf(html, "Tokens by target").filter(([, metric]) => metric === "time to first token");
    assert.deepEqual(
      first.map((cells) => cells[2]),
      chat.map(({ tokens }) => formatUs(tokens?.metrics["timeToFirstTokenUs"]?.mean ?? 0)),
    );
  });

  test("shows the first wrong answers as text, and JUnit has them in a failure", LIMIT, () => {
    const [run] = runsOf(report.json);
    const answers = run?.failures.flatMap((failure) => failure.answers ?? []) ?? [];
    assert.equal(answers.length, 3);
    const html = report.read("html");
    const rows = tableOf(html, "The first answers that check refused").slice(1);
    assert.deepEqual(
      rows.map(([reason]) => reason),
      answers.map(() => "the score is &lt;b&gt;too high&lt;/b&gt;"),
    );
    assert.ok(rows.every(([, answer]) => answer?.includes("&quot;score&quot;:6")));
    const [suite] = readXml(report.read("junit")).children;
    const wrong = suite?.children.find(({ attributes }) => attributes["name"] === "answers are right");
    const count = run?.failures.reduce((sum, failure) => sum + (failure.kind === "check" ? failure.count : 0), 0);
    assert.equal(wrong?.children[0]?.attributes["message"], `${count} answers are wrong`);
    assert.match(wrong?.children[0]?.text ?? "", /the score is <b>too high<\/b>\n {2}\{"score":6/);
  });
});

test("a search begins with its answer, and draws each limit by load with intervals and states", LIMIT, async () => {
  const report = await write(SEARCH);
  const [run] = runsOf(report.json);
  const html = report.read("html");
  // A busy machine may leave even the lowest load undecided.
  const answer = answerOf(report.plan, report.runs[0]?.findMax as FindMaxResult);
  assert.ok(html.includes(`<p class="answer">${answer}</p>`));
  const verdict = run?.findMax?.isResolved === true ? "PASSED" : "UNRESOLVED";
  assert.ok(html.includes(`<b>${verdict}</b><span>${answer}`), "the verdict says it first");
  const levels = (run?.levels ?? []).toSorted((a, b) => a.level - b.level);
  const states = { kept: "keeps the limits", broken: "breaks a limit", unresolved: "unresolved" } as const;
  assert.deepEqual(
    tableOf(html, "Points of the search")
      .slice(1)
      .map(([name, state, , , , requests]) => [name, state, requests]),
    levels.map((level) => [
      `concurrency ${level.level}`,
      states[level.limits?.state ?? "unresolved"],
      formatCount(level.requests),
    ]),
  );
  const charts = chartsOf(html);
  const chart = charts.get("Throughput by Load") as Drawn;
  const measuredAt = (level: LevelJson): number => level.limits?.verdicts[0]?.measured?.value ?? Number.NaN;
  assert.deepEqual(
    pointsOf(chart.series[0] as DrawnSeries),
    levels.map((level) => [level.level, digits(measuredAt(level))]),
  );
  for (const [state, name] of Object.entries(states)) {
    const own = levels.filter((level) => level.limits?.verdicts[0]?.state === state);
    const [points, ...intervals] = chart.series.filter((series) => series.name === name);
    assert.deepEqual(
      points === undefined ? [] : pointsOf(points),
      own.map((level) => [level.level, digits(measuredAt(level))]),
    );
    assert.deepEqual(
      intervals.map(pointsOf),
      own.flatMap((level) => {
        const { value = 0, low, high } = level.limits?.verdicts[0]?.measured ?? {};
        // Windows of equal throughput have an interval without a length. An end that is missing is drawn at the value.
        const ends = [low ?? value, high ?? value];
        return ends[0] === ends[1] ? [] : [ends.map((end) => [level.level, digits(end)])];
      }),
    );
  }
  // The lowest loads alone are far below the limit.
  const most = Math.max(
    ...levels.map(({ limits }) => limits?.verdicts[0]?.measured?.high ?? limits?.verdicts[0]?.measured?.value ?? 0),
  );
  assert.equal(
    chart.series.some(({ name }) => name === "limit 450 infer/s"),
    most >= 450 / 4,
  );
  const cases = readXml(report.read("junit")).children[0]?.children ?? [];
  assert.ok(cases.some(({ attributes }) => attributes["name"] === "the highest load is found"));
});

test("an MLPerf scenario has its verdict and the numbers of LoadGen's summary", LIMIT, async () => {
  const report = await write(MLPERF);
  const mlperf = runsOf(report.json)[0]?.levels[0]?.mlperf as {
    readonly isValid: boolean;
    readonly queryCount: number;
    readonly target: { readonly latencyNs: number };
  };
  const rows = new Map(
    tableOf(report.read("html"), "MLPerf single-stream").map(([what = "", value = ""]) => [what, value]),
  );
  assert.equal(rows.get("Result is"), mlperf.isValid ? "VALID" : "INVALID");
  assert.equal(rows.get("queries"), formatCount(mlperf.queryCount));
  assert.equal(rows.get("p90 latency"), formatUs(mlperf.target.latencyNs / 1e3));
  const cases = readXml(report.read("junit")).children[0]?.children ?? [];
  const own = cases.find(({ attributes }) => attributes["name"] === "MLPerf single-stream is valid");
  assert.equal(own?.children[0]?.name, mlperf.isValid ? "system-out" : "failure");
});

test("limits of streamed tokens have their percentiles and early stopping in every report", LIMIT, async () => {
  const report = await write(MLPERF_TOKENS);
  const mlperf = runsOf(report.json)[0]?.levels[0]?.mlperf as {
    readonly tokens: Readonly<Record<string, { readonly target: { readonly latencyNs: number } }>>;
  };
  const cells = tableOf(report.read("html"), "MLPerf server");
  const rows = new Map(cells.map(([what = "", value = ""]) => [what, value]));
  const cases = readXml(report.read("junit")).children[0]?.children ?? [];
  const own = cases.find(({ attributes }) => attributes["name"] === "MLPerf server is valid");
  for (const [name, label, limit] of [
    ["timeToFirstToken", "time to first token", "2 s"],
    ["timePerOutputToken", "time per output token", "1 s"],
  ] as const) {
    const shown = `${formatUs((mlperf.tokens[name]?.target.latencyNs ?? 0) / 1e3)} (limit: ${limit})`;
    assert.equal(rows.get(`p90 ${label}`), shown);
    assert.equal(rows.get(`early stopping, ${label}`), "met with 0 queries over the limit");
    assert.equal(own?.children[0]?.text, "VALID");
  }
});

test(
  "repeated runs have their means with intervals, a point for each run, and a suite for each run",
  LIMIT,
  async () => {
    const report = await write(REPEATED);
    const json = report.json as Extract<ReportJson, { runs: unknown }>;
    const html = report.read("html");
    const charts = chartsOf(html);
    const throughput = charts.get("Throughput by Run") as Drawn;
    const latency = charts.get("p99 Latency by Run") as Drawn;
    const most = Math.max(...json.combination.levels.map(({ latencyUs: { p99 } }) => p99?.high ?? p99?.mean ?? 0));
    assert.equal(scaleOf(latency), timeUnitFor(most).us);
    const [best] = json.combination.levels.toSorted((a, b) => (b.inferPerSec?.mean ?? 0) - (a.inferPerSec?.mean ?? 0));
    const mean = `mean of 3 runs, concurrency ${best?.level}`;
    assert.ok(
      html.includes(
        `<dt>Highest throughput, ${mean}</dt><dd>${formatCount(best?.inferPerSec?.mean ?? 0)} infer/s</dd>`,
      ),
    );
    assert.ok(html.includes(`<dt>p99 latency, ${mean}</dt><dd>${formatUs(best?.latencyUs.p99?.mean ?? 0)}</dd>`));
    for (const combined of json.combination.levels) {
      const own = json.runs.map(({ levels }) => levels.find(({ level }) => level === combined.level));
      for (const [chart, values, over, scale] of [
        [throughput, own.map((level) => level?.inferPerSec ?? 0), combined.inferPerSec, 1],
        [
          latency,
          own.map((level) => level?.latency?.percentiles.p99.us ?? 0),
          combined.latencyUs.p99,
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
          [over?.low, over?.mean, over?.high].map((end) => [1, 3].map(() => digits((end ?? 0) / scale))),
        );
      }
      assert.ok(html.includes(`<td class="figure">${formatUs(combined.latencyUs.mean?.mean ?? 0)}</td>`));
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
  const chart = chartsOf(report.read("html")).get("Throughput by Run") as Drawn;
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
    const own = json.runs.map(({ levels }) => levels[index]?.inferPerSec ?? 0);
    const [points, ...lines] = chart.series.filter((series) => series.name === name);
    assert.deepEqual(
      pointsOf(points as DrawnSeries),
      own.map((value, run) => [run + 1, digits(value)]),
    );
    const mean = ((own[0] as number) + (own[1] as number)) / 2;
    assert.deepEqual(pointsOf(lines[1] as DrawnSeries)[0], [1, digits(mean)]);
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
  const html = report.read("html");
  const answer = answerOverRuns(report.plan, { runs: report.runs }) ?? "";
  assert.ok(html.includes(`<p class="answer">${answer}</p>`), answer);
  assert.match(
    html,
    new RegExp(`<div class="panel verdict \\w+"><b>\\w+</b><span>${answer.replaceAll(/[().]/g, "\\$&")}`),
  );
  const { highest } = related.combination.findMax ?? {};
  const certain = report.runs.flatMap(({ findMax }, run) =>
    findMax?.isResolved === true && findMax.highest !== undefined ? [[run + 1, findMax.highest]] : [],
  );
  const charts = chartsOf(html);
  const chart = charts.get("Highest Load by Run");
  if (highest === undefined) assert.deepEqual([chart, certain], [undefined, []]);
  else {
    const [points, ...lines] = chart?.series ?? [];
    assert.deepEqual(pointsOf(points as DrawnSeries), certain);
    const mean = lines.length === 1 ? lines[0] : lines[1];
    assert.deepEqual(pointsOf(mean as DrawnSeries)[0], [1, digits(highest.mean)]);
    assert.ok(html.includes(`<dt>Highest load, mean of ${highest.count} `));
  }
  const curves = charts.get("Throughput by Load")?.series.map(({ name }) => name) ?? [];
  assert.deepEqual(curves.slice(0, 2), ["run 1, measured", "run 2, measured"]);
});
