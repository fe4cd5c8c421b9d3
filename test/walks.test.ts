import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { test } from "node:test";

/**
 * The way of a user's value to the bytes that are sent, and of a measured one to the picture that shows it. A file is on a walk when a function of it gets the value, or the object that holds it,
 * and hands it on to the next one, as it is or as something else. Files that hold types only, and questions whose reply is another value, are
 * not. Whoever follows the value opens these files, so that the number only goes down.
 */

/** A file below `src/`, what hands on the value there, and whether that changes its form. */
type Stop = readonly [file: string, by: readonly string[], does: "computes" | "passes on"];

/** From the plan to the request that a slot sends. */
const PLAN_TO_SEND: readonly Stop[] = [
  ["cli/execute.ts", ["executePlan"], "passes on"],
  ["registry/load-modes.ts", ["planOfRun", "prepareLoad"], "computes"],
  ["run/run-plan.ts", ["startPlan", "openRun", "followRun"], "passes on"],
  ["load/concurrency.ts", ["concurrencyMode"], "computes"],
  ["run/conduct/conductor.ts", ["Conductor"], "passes on"],
  ["run/conduct/step.ts", ["Step"], "computes"],
  ["load/search.ts", ["ladderOf", "LoadSearch"], "computes"],
  ["run/conduct/separate-levels.ts", ["SeparateLevels"], "passes on"],
  ["run/send/local-sender.ts", ["LocalSender"], "computes"],
  ["run/send/load-starter.ts", ["LoadStarter"], "passes on"],
  ["run/send/closed-load.ts", ["ClosedLoad"], "computes"],
  ["run/send/request-sender.ts", ["RequestSender"], "computes"],
];

/** From the answer to a request to the lists of what requests took. */
const RESPONSE_TO_RECORDS: readonly Stop[] = [
  ["transport/http1/connection.ts", ["Connection"], "computes"],
  ["transport/http1/received-response.ts", ["ReceivedResponse"], "computes"],
  ["run/send/request-sender.ts", ["RequestSender"], "passes on"],
  ["run/send/ended-requests.ts", ["EndedRequests", "writeRecord"], "computes"],
  ["measure/records.ts", ["RecordColumns"], "passes on"],
];

const WALKS: Readonly<Record<string, readonly Stop[]>> = {
  "--concurrency-range of perf_analyzer mode, from the command line to the socket": [
    ["main.ts", ["runCommandLine"], "passes on"],
    ["cli/commands.ts", ["runCommandLine"], "passes on"],
    ["cli/perf-analyzer/command.ts", ["runPerfAnalyzer", "measure"], "passes on"],
    ["cli/perf-analyzer/options/table.ts", ["parseOptions"], "passes on"],
    ["cli/options/getopt.ts", ["parseGetopt"], "computes"],
    ["cli/perf-analyzer/settings.ts", ["readSettings", "option", "ValueReader"], "computes"],
    ["cli/perf-analyzer/options/load.ts", ["readConcurrency", "toLoad"], "computes"],
    ["cli/options/place.ts", ["putValue", "withPlanValues"], "passes on"],
    ["cli/perf-analyzer/to-plan.ts", ["toPlan"], "passes on"],
    ...PLAN_TO_SEND,
    ["transport/http1/client.ts", ["Http1Client"], "computes"],
    ["transport/http1/connection.ts", ["Connection"], "computes"],
  ],
  "the load of a scenario, from its builder to the send": [
    ["scenario/loads/concurrency.ts", ["ramp", "rampBuilder"], "computes"],
    ["index.ts", ["defineScenario"], "passes on"],
    ["scenario/define.ts", ["defineScenario"], "passes on"],
    ["cli/run.ts", ["runLoaded", "runPlan"], "passes on"],
    ["scenario/load-module.ts", ["loadScenario", "loadedFrom"], "passes on"],
    ["scenario/plain-data.ts", ["readFields", "copyPlainData"], "passes on"],
    ["cli/scenarios/prepare.ts", ["openScenario", "prepareScenario"], "passes on"],
    ["scenario/resolve.ts", ["resolveFields"], "computes"],
    ["scenario/to-plan.ts", ["toPlan"], "passes on"],
    ["scenario/definition/definition-schema.ts", ["definitionSchema"], "computes"],
    ["scenario/loads/table.ts", ["convertLoads"], "computes"],
    ["plan/functions.ts", ["numberFunctions"], "passes on"],
    ...PLAN_TO_SEND,
  ],
  "the time of a response, from the socket to the curve over the load": [
    ...RESPONSE_TO_RECORDS,
    ["run/count/window-counter.ts", ["LevelMeter", "WindowCounter"], "passes on"],
    ["measure/tally/window-tally.ts", ["WindowTally", "toMeasurement"], "passes on"],
    ["measure/tally/duration-tally.ts", ["DurationTally"], "computes"],
    ["run/send/local-sender.ts", ["LocalSender"], "passes on"],
    ["run/conduct/window-cutter.ts", ["WindowCutter"], "passes on"],
    ["run/conduct/level-frame.ts", ["LevelFrame"], "computes"],
    ["run/conduct/modes/duration.ts", ["measureDuration"], "passes on"],
    ["run/conduct/level.ts", ["LevelRun"], "passes on"],
    ["run/conduct/separate-levels.ts", ["SeparateLevels", "measureSteady"], "passes on"],
    ["run/conduct/conductor.ts", ["Conductor"], "passes on"],
    ["run/run-plan.ts", ["startPlan"], "passes on"],
    ["cli/execute.ts", ["executePlan"], "passes on"],
    ["report/report.ts", ["guardReport", "createDataReport", "createModelReport"], "passes on"],
    ["report/json/report-json.ts", ["toReportJson"], "passes on"],
    ["report/json/level.ts", ["toLevelJson"], "passes on"],
    ["report/json/metrics.ts", ["toMetricsJson"], "computes"],
    ["measure/metrics/read-metric.ts", ["sampleOf"], "passes on"],
    ["measure/metrics/request-metrics.ts", ["sampleOfSketch"], "passes on"],
    ["measure/metrics/sample.ts", ["sampleOfSketch"], "passes on"],
    ["measure/intervals/percentile-interval.ts", ["estimatePercentile"], "computes"],
    ["report/model/build-model.ts", ["buildRunModel"], "passes on"],
    ["report/model/charts/load-charts.ts", ["loadCharts"], "computes"],
    ["report/schema/read-metrics.ts", ["readerOf"], "computes"],
    ["report/html/report-page.ts", ["formatPage"], "passes on"],
    ["report/plots/chart-option.ts", ["toChartOption"], "passes on"],
    ["report/plots/xy-option.ts", ["drawXy"], "computes"],
  ],
  "the time of a response, from the socket to the time line": [
    ...RESPONSE_TO_RECORDS,
    ["run/conduct/conductor.ts", ["Conductor"], "passes on"],
    ["result/observer.ts", ["broadcast"], "passes on"],
    ["report/report.ts", ["guardReport", "createDataReport", "createModelReport"], "passes on"],
    ["report/json/followed-runs.ts", ["followRuns"], "passes on"],
    ["measure/timeline.ts", ["Timeline"], "passes on"],
    ["measure/exponential-histogram.ts", ["ExponentialHistogram"], "computes"],
    ["report/json/report-json.ts", ["toReportJson"], "passes on"],
    ["report/model/build-model.ts", ["buildRunModel"], "passes on"],
    ["report/model/charts/time-charts.ts", ["timeLine"], "computes"],
    ["report/html/report-page.ts", ["formatPage"], "passes on"],
    ["report/plots/chart-option.ts", ["toChartOption"], "passes on"],
    ["report/plots/time-line-option.ts", ["drawTimeLine"], "passes on"],
    ["report/plots/xy-option.ts", ["drawSeries"], "computes"],
  ],
};

/** Fewer files than this are on each walk, but for those that have a number of their own. */
const BELOW = 25;
const BELOW_OF: Readonly<Record<string, number>> = {
  "the time of a response, from the socket to the curve over the load": 32,
  "the time of a response, from the socket to the time line": 19,
};

/**
 * What two files that call each other by an interface both import: a message, what a load asks of its sender, what all clients of a protocol have in
 * common, what all metrics have, or the model that all reports render.
 */
const INTERFACES = [
  "run/send/messages.ts",
  "run/send/active-load.ts",
  "transport/client.ts",
  "measure/metrics/metric.ts",
  "report/model/report-model.ts",
];

const SRC = join(import.meta.dirname, "..", "src");

const textOf = (file: string): string => readFileSync(join(SRC, file), "utf8");

/** Returns the files of `src/` that a file imports. */
function importsOf(file: string): string[] {
  const found = [...textOf(file).matchAll(/(?:\bfrom|\bimport\()\s*"(\.[^"]+)"/g)];
  return found.map(([, path = ""]) => relative(SRC, join(SRC, dirname(file), path)).replaceAll("\\", "/"));
}

/** Reports whether one of two files imports the other, or both call each other by an interface. */
function areLinked(file: string, other: string): boolean {
  const [own, others] = [importsOf(file), importsOf(other)];
  const isCalled = INTERFACES.some((one) => own.includes(one) && others.includes(one));
  return own.includes(other) || others.includes(file) || isCalled;
}

for (const [name, walk] of Object.entries(WALKS)) {
  const below = BELOW_OF[name] ?? BELOW;
  test(`${name}: fewer than ${below} files hand it on`, () => {
    const files = walk.map(([file]) => file);
    assert.deepEqual([...new Set(files)], files);
    assert.ok(files.length < below, `${files.length} files:\n${files.join("\n")}`);
    for (const [at, [file, by]] of walk.entries()) {
      const text = textOf(file);
      for (const one of by) assert.match(text, new RegExp(`\\b${one}\\b`), `${file}: ${one}`);
      const before = files.slice(0, at);
      assert.ok(at === 0 || before.some((other) => areLinked(file, other)), `nothing before ${file} knows it`);
    }
  });
}

test("files without a way between them are found", () => {
  assert.ok(areLinked("cli/commands.ts", "main.ts"));
  assert.ok(areLinked("run/send/local-sender.ts", "run/fleet/fleet-sender.ts"));
  assert.ok(!areLinked("main.ts", "run/send/driver.ts"));
});
