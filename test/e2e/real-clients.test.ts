// Runs only on: executable: other programs start it.
import assert from "node:assert/strict";
import { cpSync, mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, beforeEach, test } from "node:test";
import { makeFolder, writeIn } from "../make-folder.ts";
import { spreadIn, valueIn } from "../report/json-metrics.ts";
import { installPythonClients, type PythonClients } from "../servers/python-clients.ts";
import { modelsFolder, startTriton } from "../servers/triton.ts";
import { LIMIT } from "../time-limit.ts";
import type { JsonReport } from "./command.ts";
import { linkPerfAnalyzer, runClient, writeByteTokenizer, writeReportingScript } from "./real-clients.ts";
import { openTriton, readServerCounts, type TritonAddresses, waitForCounts } from "./servers.ts";

/** NVIDIA's own clients of perf_analyzer, unchanged, with Rampart in its place: what they report, and that Triton counted the same. */

let clients: PythonClients;
let triton: TritonAddresses;
let folder: string;
let bin: string;
before(async () => {
  clients = await installPythonClients();
  triton = await openTriton();
});
beforeEach(() => {
  folder = makeFolder();
  bin = linkPerfAnalyzer(folder);
});
after(() => triton?.stop());

type Statistics = Readonly<Record<"avg" | "min" | "max" | "p50" | "p99", number>>;

interface GenaiPerfReport {
  readonly request_count: { readonly avg: number };
  readonly request_throughput: { readonly avg: number };
  readonly request_latency: Statistics;
  readonly time_to_first_token: Statistics;
  readonly inter_token_latency: Statistics;
  readonly output_sequence_length: Statistics;
  readonly input_sequence_length: Statistics;
}

interface ExportedRequest {
  readonly timestamp: number;
  readonly request_inputs: { readonly text_input: string; readonly max_tokens?: number };
  readonly response_timestamps: readonly number[];
  readonly response_outputs: readonly { readonly text_output: string }[];
}

interface GenaiPerfRun {
  readonly report: GenaiPerfReport;
  readonly csv: string;
  readonly requests: readonly ExportedRequest[];
  /** What the run sent, in its order. */
  readonly inputs: readonly { readonly text_input: string | readonly string[] }[];
}

/** Runs `genai-perf profile` and checks that Triton counted as many requests as it was told to send. */
async function runGenaiPerf(model: string, count: number, flags: readonly string[]): Promise<GenaiPerfRun> {
  const start = await readServerCounts(triton.http, model);
  const { code, output } = await runClient(
    clients,
    [
      ...[clients.genaiPerf, "profile", "-m", model, "--endpoint-type", "kserve", "-u", triton.grpc, "--streaming"],
      ...[
        "--tokenizer",
        writeByteTokenizer(folder),
        "--synthetic-input-tokens-mean",
        "30",
        "--random-seed",
        "42",
        ...flags,
      ],
    ],
    { cwd: folder, bin },
  );
  assert.equal(code, 0, output);
  const counts = await waitForCounts(triton.http, model, ({ success }) => success >= start.success + count);
  assert.deepEqual(counts, { success: start.success + count, fail: start.fail });
  const [artifacts] = readdirSync(join(folder, "artifacts"));
  const read = (name: string): string => readFileSync(join(folder, "artifacts", artifacts as string, name), "utf8");
  return {
    report: JSON.parse(read("profile_export_genai_perf.json")),
    csv: read("profile_export_genai_perf.csv"),
    requests: JSON.parse(read("profile_export.json")).experiments[0].requests,
    inputs: JSON.parse(read("inputs.json")).data,
  };
}

/** The values of a CSV's first column: headings and names of metrics. */
function firstColumn(csv: string): string[] {
  return csv.split(/\r?\n/).map((line) => line.split(",")[0] as string);
}

test("genai-perf measures a vLLM model's tokens", LIMIT, async () => {
  const flags = ["--backend", "vllm", "--output-tokens-mean", "8", "--concurrency", "2", "--request-count", "24"];
  const { report, csv, requests } = await runGenaiPerf("llm_vllm", 24, flags);
  assert.equal(report.request_count.avg, 24);
  assert.equal(requests.length, 24);
  for (const request of requests)
    assert.deepEqual(
      request.response_outputs.map(({ text_output }) => text_output),
      ["a", "b", "c", "d", "e", "f", "g", "h"],
    );
  const { output_sequence_length: outputs, input_sequence_length: inputs } = report;
  assert.deepEqual([outputs.min, outputs.avg, outputs.max], [8, 8, 8]);
  assert.deepEqual([inputs.min, inputs.max], [30, 30]);
  // The model waits 20 ms before its first letter and 4 ms before each of the others.
  assert.ok(report.time_to_first_token.min >= 20, `${report.time_to_first_token.min}`);
  assert.ok(report.request_latency.min >= 20 + 7 * 4, `${report.request_latency.min}`);
  assert.ok(report.inter_token_latency.p50 > 2, `${report.inter_token_latency.p50}`);
  const tailMs = report.request_latency.avg - report.time_to_first_token.avg;
  assert.ok(Math.abs(7 * report.inter_token_latency.avg - tailMs) < 0.001, `${tailMs}`);
  const seconds = 24 / report.request_throughput.avg;
  assert.ok(2 * seconds * 1000 >= 24 * report.request_latency.avg * 0.95, "two requests are outstanding at most");
  assert.match(csv, /^Metric,avg,min,max,p99,p95,p90,p75,p50,p25,p10,p5,p1\r?\n/);
  assert.deepEqual(firstColumn(csv).slice(0, 14), [
    "Metric",
    "Time To First Token (ms)",
    "Time To Second Token (ms)",
    "Request Latency (ms)",
    "Inter Token Latency (ms)",
    "Output Token Throughput Per User (tokens/sec/user)",
    "Output Sequence Length (tokens)",
    "Input Sequence Length (tokens)",
    "",
    "Metric",
    "Output Token Throughput (tokens/sec)",
    "Request Throughput (per sec)",
    "Request Count (count)",
    "",
  ]);
});

test("genai-perf measures a TensorRT-LLM model at a request rate, after a warm-up", LIMIT, async () => {
  const load = ["--request-rate", "25", "--request-count", "30", "--warmup-request-count", "7"];
  const data = ["--num-dataset-entries", "10", "--output-tokens-mean", "6", "--output-tokens-stddev", "2"];
  const flags = ["--backend", "tensorrtllm", ...load, ...data];
  const { report, requests, inputs } = await runGenaiPerf("llm_tensorrtllm", 37, flags);
  assert.equal(report.request_count.avg, 30);
  // Three times through the data from its start, each text with the number of tokens asked for and an empty final response.
  const texts = requests
    .toSorted((a, b) => a.timestamp - b.timestamp)
    .map(({ request_inputs }) => request_inputs.text_input);
  const dataset = inputs.map(({ text_input: [text] }) => text as string);
  assert.deepEqual(texts, [...dataset, ...dataset, ...dataset]);
  let tokens = 0;
  for (const { request_inputs, response_outputs, response_timestamps } of requests) {
    const expected = request_inputs.max_tokens as number;
    assert.equal(response_outputs.map(({ text_output }) => text_output).join("").length, expected);
    assert.deepEqual([response_outputs.length, response_timestamps.length], [expected + 1, expected + 1]);
    tokens += expected;
  }
  assert.ok(Math.abs(report.output_sequence_length.avg - tokens / 30) < 1e-9);
  // 25 a second are due, so the last one 29 gaps after the first; a busy machine takes longer.
  const sentMs = requests.map(({ timestamp }) => timestamp / 1e6);
  const endMs = Math.max(...requests.flatMap(({ response_timestamps: times }) => times)) / 1e6;
  const seconds = (endMs - Math.min(...sentMs)) / 1000;
  assert.ok(Math.abs((report.request_throughput.avg * seconds) / 30 - 1) < 0.001, `${seconds} s`);
});

/** What Model Analyzer is told: two levels, few requests, and windows that are stable at once. */
function modelAnalyzerConfig(
  models: string,
  ports: { httpPort: number; grpcPort: number; metricsPort: number },
): string {
  return JSON.stringify({
    model_repository: models,
    profile_models: {
      simple: {
        parameters: { concurrency: [1, 2] },
        perf_analyzer_flags: { "stability-percentage": 999, "measurement-request-count": 100 },
      },
    },
    run_config_search_disable: true,
    triton_launch_mode: "remote",
    triton_http_endpoint: `localhost:${ports.httpPort}`,
    triton_grpc_endpoint: `localhost:${ports.grpcPort}`,
    triton_metrics_url: `http://localhost:${ports.metricsPort}/metrics`,
    perf_analyzer_path: writeReportingScript(bin, join(folder, "reports")),
    duration_seconds: 1,
    checkpoint_directory: join(folder, "checkpoints"),
    export_path: join(folder, "export"),
    output_model_repository_path: join(folder, "output"),
    skip_detailed_reports: true,
  });
}

test("Model Analyzer sweeps a model of a remote Triton", LIMIT, async () => {
  const models = join(folder, "models");
  mkdirSync(models);
  cpSync(join(modelsFolder, "simple"), join(models, "simple"), { recursive: true });
  const server = await startTriton({ models, flags: ["--model-control-mode=explicit", "--load-model=simple"] });
  try {
    // JSON is YAML.
    const config = writeIn(folder, "config.yaml", modelAnalyzerConfig(models, server));
    const args = [clients.modelAnalyzer, "profile", "-f", config];
    const { code, output } = await runClient(clients, args, { cwd: folder, bin });
    assert.equal(code, 0, output);
    const reports = readdirSync(join(folder, "reports"))
      .map((name) => JSON.parse(readFileSync(join(folder, "reports", name), "utf8")) as JsonReport)
      .sort((a, b) => (a.levels[0]?.level ?? 0) - (b.levels[0]?.level ?? 0));
    assert.deepEqual(
      reports.map(({ levels }) => levels.map(({ level, outcome }) => [level, outcome])),
      [[[1, "measured"]], [[2, "measured"]]],
    );
    const sent = reports.reduce((sum, { requests }) => sum + requests.sent, 0);
    assert.ok(sent >= 2 * 3 * 100, `three windows of 100 requests and two levels are more than ${sent} requests`);
    const counts = await waitForCounts(`127.0.0.1:${server.httpPort}`, "simple", ({ success }) => success >= sent);
    assert.deepEqual(counts, { success: sent, fail: 0 });
    checkModelAnalyzerTable(
      readFileSync(join(folder, "export", "results", "metrics-model-inference.csv"), "utf8"),
      reports,
    );
  } finally {
    await server.stop();
  }
});

/** Model Analyzer's table must have what the runs' own reports say, to one decimal. */
function checkModelAnalyzerTable(csv: string, reports: readonly JsonReport[]): void {
  const [header, ...lines] = csv.trim().split(/\r?\n/);
  const columns = (header as string).split(",");
  const rows = lines.map((line) => new Map(line.split(",").map((value, index) => [columns[index], value])));
  const levels = reports.flatMap((report) => report.levels);
  assert.equal(rows.length, levels.length, csv);
  for (const one of levels) {
    const { level } = one;
    const row = rows.find((candidate) => candidate.get("Concurrency") === `${level}`);
    assert.equal(row?.get("Model"), "simple", csv);
    for (const [name, expected] of [
      ["Throughput (infer/sec)", valueIn(one, "throughputPerSec")],
      ["p99 Latency (ms)", (spreadIn(one, "latencyUs")?.p99 ?? 0) / 1000],
    ] as const)
      assert.ok(Math.abs(Number(row?.get(name)) - expected) <= 0.06, `${name}: ${row?.get(name)} is not ${expected}`);
  }
}
