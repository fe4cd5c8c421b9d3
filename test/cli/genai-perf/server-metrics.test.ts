import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, test } from "node:test";
import { startMetricsStub } from "../../servers/metrics-stub.ts";
import { LIMIT } from "../../time-limit.ts";
import { answerChat, runChat } from "./chat-server.ts";

/** `--server-metrics-url`: what exporters and servers tell while a run measures. */

const FOLDER = "artifacts/tiny-openai-chat-concurrency1/";

function fixture(name: string): string {
  return readFileSync(new URL(`../../telemetry/fixtures/${name}.txt`, import.meta.url), "utf8");
}

describe("--server-metrics-url", () => {
  test("GPU metrics of an exporter are in table, CSV and JSON, in GenAI-Perf's layout", LIMIT, async () => {
    await using exporter = await startMetricsStub({ text: () => fixture("dcgm") });
    const urls = ["--server-metrics-url", `http://${exporter.url}`];
    const { code, out, err, files } = await runChat(() => ["--request-count", "5", "-v", ...urls]);
    assert.equal(code, 0, err);
    // Ahead of the run, at its beginning, and at its end.
    assert.ok(exporter.scrapes.length >= 3);
    assert.match(out, /NVIDIA GenAI-Perf \| Power Metrics[\s\S]*│ │ {9}1 │ 301\.25 │ 301\.25 │/);
    const report = JSON.parse(files.get(`${FOLDER}profile_export_genai_perf.json`) ?? "{}");
    const { unit, ...gpus } = report.telemetry_stats.sm_utilization;
    assert.deepEqual([unit, gpus["0"].avg, gpus["1"].p99], ["%", 62.5, 87.5]);
    assert.deepEqual(Object.keys(report.telemetry_stats.gpu_power_limit["0"]), ["avg"]);
    assert.equal(Object.keys(report.telemetry_stats).length, 29);
    const csv = files.get(`${FOLDER}profile_export_genai_perf.csv`) ?? "";
    assert.match(csv, /\r\n\r\nMetric,GPU,avg,min[\s\S]*\r\nGPU Clock Sm \(MHz\),1,"1,395\.00",/);
    assert.match(csv, /\r\n\r\nMetric,GPU,Value\r\nGPU Power Limit \(W\),0,400\.00\r\n/);
    assert.doesNotMatch(out, /Server metrics/);
  });

  test("of an inference server: gauges, counters and histograms, in tables and files of their own", LIMIT, async () => {
    await using server = await startMetricsStub({
      text: (scrape) => fixture(scrape < 2 ? "vllm-before" : "vllm-after"),
    });
    const url = `http://${server.url}`;
    const { code, out, err, files } = await runChat(() => ["--request-count", "5", "-v", "--server-metrics-url", url]);
    assert.equal(code, 0, err);
    assert.match(
      out,
      /Server metrics: gauges[\s\S]*│ +vllm:num_requests_running engine="0", model_name="tiny" │ 0\.00 │/,
    );
    assert.match(out, /Server metrics: counters[\s\S]*│ +vllm:generation_tokens \(tokens\)[^│]*│ +800\.00 │/);
    assert.match(out, /percentiles estimated from buckets[\s\S]*│ 20\.00 │ +0\.3 │ +0\.1 │ +1\.00 │ +1\.00 │/);
    assert.doesNotMatch(out, /python_gc|num_requests_waiting/);
    const { metrics, summary } = JSON.parse(
      files.get(`${FOLDER}server_metrics_export_genai_perf_rampart.json`) ?? "{}",
    );
    assert.deepEqual(summary.endpoints_successful, [url]);
    const labels = { engine: "0", model_name: "tiny" };
    assert.deepEqual(metrics["vllm:prompt_tokens"].series[0].labels, labels);
    assert.equal(metrics["vllm:prompt_tokens"].series[0].stats.total, 500);
    assert.equal(metrics["vllm:kv_cache_usage_perc"].series[0].stats.max, 0.125);
    assert.equal(metrics["vllm:request_queue_time_seconds"].series[0].stats.sum, 6);
    assert.match(
      files.get(`${FOLDER}server_metrics_export_genai_perf_rampart.json`) ?? "",
      /"first_fetch_ns": \d{19},/,
    );
    const csv = files.get(`${FOLDER}server_metrics_export.csv`) ?? "";
    assert.match(csv, /^Endpoint,Type,Metric,Labels,Unit,avg,.*\n127\.0\.0\.1:\d+,gauge,/);
    assert.match(csv, /\n\nEndpoint,Type,Metric,Labels,Unit,total,rate,Description\n.*counter/);
    const report = files.get(`${FOLDER}profile_export_genai_perf.json`) ?? "";
    assert.ok(!("telemetry_stats" in JSON.parse(report)) && !report.includes("vllm"));
  });

  test("plots show metrics over time, except those that were always 0", LIMIT, async () => {
    await using exporter = await startMetricsStub({ text: () => fixture("dcgm") });
    await using server = await startMetricsStub({ text: () => fixture("vllm-after") });
    const urls = [exporter, server].map(({ url }) => `http://${url}`);
    const args = ["--request-count", "3", "--generate-plots", "--server-metrics-url", ...urls];
    const { code, err, files } = await runChat(() => args);
    assert.equal(code, 0, err);
    const page = files.get(`${FOLDER}plots/plots.html`) ?? "";
    for (const name of ["gpu_power_usage", "sm_utilization", "vllm:num_requests_running"])
      assert.ok(page.includes(`${name} Over Time`), name);
    for (const name of ["video_encoder_utilization", "vllm:num_requests_waiting", "python_gc"])
      assert.ok(!page.includes(name), name);
  });

  test("an unreachable address is reported and skipped; the others are scraped", LIMIT, async () => {
    await using exporter = await startMetricsStub({ text: () => fixture("dcgm") });
    await using none = await startMetricsStub({ text: () => "<html>no metrics</html>" });
    const gone = await startMetricsStub();
    await gone.stop();
    const urls = [gone, none, exporter].map(({ url }) => `http://${url}`);
    const args = ["--request-count", "3", "--server-metrics-url", ...urls];
    const { code, err, files } = await runChat(() => args);
    assert.equal(code, 0, err);
    assert.match(err, new RegExp(`no metrics from ${urls[0]}: Connection refused`));
    assert.match(
      err,
      new RegExp(`no metrics from ${urls[1]}: the response contains no metrics in Prometheus' text format`),
    );
    const report = JSON.parse(files.get(`${FOLDER}profile_export_genai_perf.json`) ?? "{}");
    assert.equal(report.telemetry_stats.gpu_temperature["1"].max, 44);
    const { summary } = JSON.parse(files.get(`${FOLDER}server_metrics_export_genai_perf_rampart.json`) ?? "{}");
    assert.deepEqual([summary.endpoints_configured, summary.endpoints_successful], [urls, urls.slice(2)]);
  });

  test("an exporter that disappears during the run is reported; its samples count", LIMIT, async () => {
    // The first two have been read when the third is asked for.
    const third = Promise.withResolvers<void>();
    const text = (scrape: number): string => {
      if (scrape === 2) third.resolve();
      return fixture("dcgm");
    };
    const exporter = await startMetricsStub({ text });
    const answer: typeof answerChat = (response) =>
      void third.promise.then(() => exporter.stop()).then(() => answerChat(response));
    const url = `http://${exporter.url}`;
    const { code, err, files } = await runChat(() => ["--request-count", "1", "--server-metrics-url", url], { answer });
    assert.equal(code, 0, err);
    assert.match(err, new RegExp(`no metrics from ${url}: `));
    const report = JSON.parse(files.get(`${FOLDER}profile_export_genai_perf.json`) ?? "{}");
    assert.equal(report.telemetry_stats.gpu_power_usage["0"].avg, 223.546);
    const { summary } = JSON.parse(files.get(`${FOLDER}server_metrics_export_genai_perf_rampart.json`) ?? "{}");
    assert.ok(summary.endpoint_info[url].failed_fetches >= 1);
  });

  test(
    "without the flag a missing exporter at the default address is reported once, as GenAI-Perf does",
    LIMIT,
    async () => {
      // Where a test's machine has an exporter there, nothing is missing.
      const isThere = await fetch("http://localhost:9400/metrics").then(
        () => true,
        () => false,
      );
      for (const more of [[], ["-v"]]) {
        const { code, err } = await runChat(() => ["--request-count", "2", ...more]);
        assert.equal(code, 0, err);
        const lines = err.split("\n").filter((line) => line.includes("no metrics from http://localhost:9400/metrics"));
        assert.equal(lines.length, isThere ? 0 : 1, err);
      }
    },
  );

  test("an invalid address is rejected before anything is sent", LIMIT, async () => {
    const { code, err, requestCount } = await runChat(() => ["--server-metrics-url", "http://me:secret@gpu:1/metrics"]);
    assert.deepEqual([code, requestCount], [1, 0]);
    assert.match(err, /--server-metrics-url: http:\/\/<hidden>@gpu:1\/metrics must be an http/);
  });
});
