import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import type { Plan } from "../../../src/plan/plan.ts";
import type { MetricsJson } from "../../../src/report/schema/metrics.ts";
import { findDeadPort } from "../../golden/dead-port.ts";
import { makeFolder } from "../../make-folder.ts";
import { valueIn } from "../../report/json-metrics.ts";
import { KserveServer, takeMs, withServer } from "../../run/kserve-server.ts";
import { type MetricsStub, type MetricsStubOptions, startMetricsStub, twoGpus } from "../../servers/metrics-stub.ts";
import { makeCertificates } from "../../servers/tls.ts";
import { LIMIT } from "../../time-limit.ts";
import { type CommandResult, QUICK_WINDOWS, runCommand as run, startCommand } from "./run-command.ts";

/** What the flags of metrics and traces ask of the server, and when. Their names say which flags. */

const GPU_HEADER = ",Avg GPU Utilization,Avg GPU Power Usage,Max GPU Memory Usage,Total GPU Memory";
const EMPTY_SECTION = [
  "  Server Prometheus Metrics: ",
  "    Avg GPU Utilization:",
  "    Avg GPU Power Usage:",
  "    Max GPU Memory Usage:",
  "    Total GPU Memory:",
  "",
].join("\n");

/** Runs of a few requests may miss their load, which is noted. */
const withoutLoadNotes = (err: string): string =>
  err.replaceAll(/^rampart: (?:load: |throughput × |nothing completed ).*\n/gm, "");

/** A busy machine may take longer for a page than the interval of a second. */
const withoutSlowPages = (err: string): string =>
  withoutLoadNotes(err).replaceAll(/^WARNING: Triton metrics endpoint latency .*\n/gm, "");

async function withMetrics<T>(options: MetricsStubOptions, use: (stub: MetricsStub) => Promise<T>): Promise<T> {
  await using stub = await startMetricsStub(options);
  return await use(stub);
}

/** What a command line did; what stderr says of this busy machine is left out. */
async function runCommand(args: readonly string[]): Promise<CommandResult> {
  const result = await run(args);
  return {
    ...result,
    err: result.err.replace(/^rampart: the client .*\n/gm, ""),
  };
}

/** Windows of 300 ms at concurrency 1 and 2, each response after 5 ms. */
const LEVELS = ["-m", "simple", "-p", "250", "-s", "1000000", "--concurrency-range", "1:2"];
const paced = { onInfer: () => takeMs(5) };

test(
  "--collect-metrics reads --metrics-url every --metrics-interval and reports each GPU of each level",
  LIMIT,
  async () => {
    await using server = await new KserveServer(paced).start();
    await withMetrics({}, async (stub) => {
      const folder = makeFolder();
      const csv = join(folder, "out.csv");
      const json = join(folder, "out.json");
      const flags = ["--collect-metrics", "--metrics-url", `${stub.url}?gpus=all`, "--metrics-interval", "100"];
      const files = ["-f", csv, "--verbose-csv", "--json", json];
      const { code, out, err } = await runCommand([...LEVELS, "-u", server.url, ...flags, ...files]);
      // A busy machine may read the page slower than that.
      const notes = withoutLoadNotes(err).replace(/^WARNING: Triton metrics endpoint latency \(.*\n/m, "");
      assert.deepEqual({ code, err: notes }, { code: 0, err: "" });
      const section =
        /^ {2}Server Prometheus Metrics: \n {4}Avg GPU Utilization:\n {6}GPU-aaa : [\d.]+%\n {6}GPU-bbb : 50%\n {4}Avg GPU Power Usage:\n {6}GPU-aaa : [\d.]+ watts\n {6}GPU-bbb : 60 watts\n {4}Max GPU Memory Usage:\n {6}GPU-aaa : 10000000\d\d bytes\n {6}GPU-bbb : 2000000000 bytes\n {4}Total GPU Memory:\n {6}GPU-aaa : 17179869184 bytes\n {6}GPU-bbb : 17179869184 bytes\n/gm;
      assert.equal([...out.matchAll(section)].length, 2, out);
      const [header = "", first = "", second = ""] = readFileSync(csv, "utf8").split("\n");
      assert.ok(header.endsWith(`,response wait${GPU_HEADER}`), header);
      const cells =
        /,GPU-aaa:0\.2[\d]+;GPU-bbb:0\.5;,GPU-aaa:5[\d.]+;GPU-bbb:60;,GPU-aaa:(10000000\d\d);GPU-bbb:2000000000;,GPU-aaa:17179869184;GPU-bbb:17179869184;$/;
      // Rows are in the order of their throughput, which a busy machine may turn around.
      const rows = [first, second].toSorted((a, b) => Number.parseInt(a, 10) - Number.parseInt(b, 10));
      const peaks = rows.map((row) => Number(cells.exec(row)?.[1]));
      // The stub's memory rises with each scrape, so the levels' peaks tell when they were read.
      assert.ok((peaks[0] ?? 0) < (peaks[1] ?? 0), `${first}\n${second}`);
      const report = JSON.parse(readFileSync(json, "utf8")) as {
        levels: { telemetry: { readings: number; gpus: { uuid: string; metrics: MetricsJson }[] } }[];
      };
      // Three windows of 300 ms per level. Each reading within them is a scrape; the stub's energy rises with each, also before the first
      // and after the last one.
      for (const { telemetry } of report.levels) {
        assert.ok(telemetry.readings >= 2 && telemetry.readings <= stub.scrapes.length, String(telemetry.readings));
        const [first, second] = telemetry.gpus.map((gpu) => valueIn(gpu, "gpuEnergyJoules"));
        // Few readings do not say what was used between them, and a counter that stands still says nothing.
        assert.ok(Number.isNaN(first) || (first ?? 0) > 10 * (telemetry.readings - 1), String(first));
        assert.equal(second, Number.NaN);
      }
      assert.ok(stub.scrapes.every(({ path }) => path === "/metrics?gpus=all"));
      const scrapedMs = (stub.scrapes.at(-1)?.atMs ?? 0) - (stub.scrapes[0]?.atMs ?? 0);
      assert.ok(stub.scrapes.length <= scrapedMs / 100 + 4, `${stub.scrapes.length} scrapes in ${scrapedMs} ms`);
    });
  },
);

test("without their flags metrics are looked for at the server's port 8002, once a second", LIMIT, async () => {
  const planOf = async (...args: string[]): Promise<Plan> =>
    JSON.parse((await runCommand(["-m", "simple", ...args, "--dry-run"])).out) as Plan;
  assert.deepEqual((await planOf("-u", "gpu-host:9000", "--collect-metrics")).telemetry, {
    metrics: { url: "gpu-host:8002/metrics", intervalMs: 1000 },
    trace: null,
  });
  assert.equal((await planOf("--collect-metrics")).telemetry.metrics?.url, "localhost:8002/metrics");
  assert.equal((await planOf("-i", "grpc", "--collect-metrics")).telemetry.metrics?.url, "localhost:8002/metrics");
  assert.deepEqual((await planOf()).telemetry, { metrics: null, trace: null });
});

test("an unreachable URL is reported once and leaves the values empty", LIMIT, async () => {
  await using server = await new KserveServer(paced).start();
  const folder = makeFolder();
  const csv = join(folder, "out.csv");
  const url = `127.0.0.1:${await findDeadPort()}/metrics`;
  const flags = ["--collect-metrics", "--metrics-url", url, "--metrics-interval", "50", "-f", csv, "--verbose-csv"];
  const { code, out, err } = await runCommand([...LEVELS, "-u", server.url, ...flags]);
  assert.equal(code, 0);
  assert.match(withoutLoadNotes(err), /^rampart: no metrics from 127\.0\.0\.1:\d+\/metrics: [^\n]+\n$/);
  assert.equal(out.split(EMPTY_SECTION).length, 3, out);
  const [header = "", ...rows] = readFileSync(csv, "utf8").trimEnd().split("\n");
  assert.ok(header.endsWith(GPU_HEADER));
  for (const row of rows) assert.match(row, /,\d+,,,,$/);
});

test(
  "an error in place of metrics is reported with its status, metrics without GPUs like perf_analyzer does",
  LIMIT,
  async () => {
    await using server = await new KserveServer({}).start();
    const args = ["-m", "simple", "-u", server.url, ...QUICK_WINDOWS, "--collect-metrics", "--metrics-url"];
    await withMetrics({ status: 404 }, async (stub) => {
      const { code, err } = await runCommand([...args, stub.url]);
      assert.equal(code, 0);
      assert.equal(withoutLoadNotes(err), `rampart: no metrics from ${stub.url}: HTTP status 404.\n`);
    });
    await withMetrics({ text: () => "nv_cpu_utilization 0.5\n" }, async (stub) => {
      const { code, out, err } = await runCommand([...args, stub.url]);
      assert.equal(code, 0);
      const families = ["utilization", "power_usage", "memory_used_bytes", "memory_total_bytes"];
      assert.equal(
        withoutSlowPages(err),
        families.map((name) => `WARNING: Unable to parse 'nv_gpu_${name}' metric.\n`).join(""),
      );
      assert.ok(out.includes(EMPTY_SECTION), out);
    });
  },
);

test("metrics that never arrive do not delay the run, which reports that there are none", LIMIT, async () => {
  await using server = await new KserveServer({}).start();
  await withMetrics({ delayMs: () => Number.POSITIVE_INFINITY }, async (stub) => {
    const flags = ["--collect-metrics", "--metrics-url", stub.url];
    const { code, out, err } = await runCommand(["-m", "simple", "-u", server.url, ...QUICK_WINDOWS, ...flags]);
    assert.equal(code, 0);
    // On a busy machine the run may last longer than the wait for a page.
    assert.match(
      err,
      /^rampart: no metrics (?:were read within the measured windows, so none are shown|from \S+: no response within \S+ s)\.$/m,
    );
    assert.ok(out.includes(EMPTY_SECTION), out);
  });
});

test("metrics slower than the interval are reported once, with the flag that helps", LIMIT, async () => {
  await using server = await new KserveServer(paced).start();
  await withMetrics({ delayMs: () => 60 }, async (stub) => {
    const flags = ["--collect-metrics", "--metrics-url", stub.url, "--metrics-interval", "20"];
    const { code, err } = await runCommand([...LEVELS, "-u", server.url, ...flags]);
    assert.equal(code, 0);
    assert.match(
      withoutLoadNotes(err),
      /^WARNING: Triton metrics endpoint latency \(\d+ms\) is larger than the querying interval \(20ms\)\. Please try a larger querying interval via `--metrics-interval`\.\n$/,
    );
  });
});

test("more than 16 GPUs are left to the CSV, which has them only with --verbose-csv", LIMIT, async () => {
  const many = Array.from({ length: 17 }, (_, gpu) => twoGpus(0).replaceAll("GPU-aaa", `GPU-${gpu}`)).join("");
  await using server = await new KserveServer({}).start();
  await withMetrics({ text: () => many }, async (stub) => {
    const folder = makeFolder();
    const csv = join(folder, "out.csv");
    const args = ["-m", "simple", "-u", server.url, ...QUICK_WINDOWS, "--collect-metrics", "--metrics-url", stub.url];
    const verbose = await runCommand([...args, "-f", csv, "--verbose-csv"]);
    assert.match(
      verbose.out,
      /^ {2}Server Prometheus Metrics: \nToo many GPUs on system to print out individual Prometheus metrics, use the CSV output feature to see metrics\.\n(?:\[WARNING\] Perf Analyzer is not able to keep up [^\n]*\n)?Inferences/m,
    );
    assert.equal([...readFileSync(csv, "utf8").matchAll(/GPU-\w+:0\.25;/g)].length, 17);
    const plain = await runCommand([...args, "-f", csv]);
    assert.ok(plain.err.startsWith("rampart: the metrics are in the CSV only with --verbose-csv.\n"), plain.err);
    assert.doesNotMatch(readFileSync(csv, "utf8"), /GPU/);
  });
});

test("metrics over https are trusted by the --ssl-https-* flags", LIMIT, async () => {
  const { caFile, certFile, keyFile, remove } = await makeCertificates();
  try {
    await using server = await new KserveServer({}).start();
    await withMetrics({ tls: { certFile, keyFile } }, async (stub) => {
      const url = `https://localhost:${stub.port}/metrics`;
      const flags = ["--collect-metrics", "--metrics-url", url];
      // The first read over TLS takes a runtime that loads and compiles its client some hundred milliseconds, and more on a busy machine.
      const windows = ["-p", "1500", "-s", "1000000", "--metrics-interval", "60000"];
      const args = ["-m", "simple", "-u", server.url, ...flags];
      const trusted = await runCommand([...args, ...windows, "--ssl-https-ca-certificates-file", caFile]);
      assert.deepEqual({ code: trusted.code, err: withoutLoadNotes(trusted.err) }, { code: 0, err: "" });
      assert.match(trusted.out, /^ {6}GPU-aaa : 25%$/m);
      const untrusted = await runCommand([...args, ...windows]);
      assert.equal(untrusted.code, 0);
      assert.match(
        withoutLoadNotes(untrusted.err),
        /^rampart: no metrics from https:\/\/localhost:\d+\/metrics: .+\n$/,
      );
    });
  } finally {
    await remove();
  }
});

const FORMER = { trace_level: ["OFF"], trace_rate: "1000", trace_count: "-1", log_frequency: "0", trace_file: "" };
const TRACED = ["--trace-level", "TIMESTAMPS", "--trace-rate", "5"];

/** What was asked of the server about traces, and whether an inference was: `GET`, the body of a `POST`, or `infer`. */
function traceQuestions(server: KserveServer): unknown[] {
  const seen: unknown[] = [];
  for (const { path, method, body } of server.requests) {
    if (path.endsWith("/infer") && seen.at(-1) !== "infer") seen.push("infer");
    if (path === "/v2/trace/setting")
      seen.push(method === "POST" ? (JSON.parse(new TextDecoder().decode(body)) as unknown) : method);
  }
  return seen;
}

test(
  "the --trace-* flags and --log-frequency are set before anything is asked and set back after the run",
  LIMIT,
  async () => {
    await using server = await new KserveServer({}).start();
    const { trace_mode: mode } = server.trace;
    const flags = [
      "--trace-level",
      "OFF",
      "--trace-level",
      "TIMESTAMPS",
      "--trace-level",
      "TENSORS",
      "--trace-rate",
      "5",
    ];
    const more = ["--trace-count", "100", "--log-frequency", "10", "--trace-file", "t.json"];
    const { code, err } = await runCommand([
      "-m",
      "simple",
      "-u",
      server.url,
      "--request-count",
      "3",
      ...flags,
      ...more,
    ]);
    assert.deepEqual({ code, err: withoutLoadNotes(err) }, { code: 0, err: "" });
    const asked = {
      log_frequency: "10",
      trace_count: "100",
      trace_file: "t.json",
      trace_level: ["TIMESTAMPS", "TENSORS"],
      trace_rate: "5",
    };
    assert.deepEqual(traceQuestions(server), ["GET", asked, "infer", FORMER]);
    assert.deepEqual(
      server.requests.slice(0, 3).map(({ path }) => path),
      ["/v2/trace/setting", "/v2/trace/setting", "/v2/models/simple"],
    );
    assert.deepEqual(server.trace, { ...FORMER, trace_mode: mode });
  },
);

test(
  "trace settings that no flag names stay as they are, and without a flag nothing is asked of them",
  LIMIT,
  async () => {
    await using server = await new KserveServer({}).start();
    const args = ["-m", "simple", "-u", server.url, "--request-count", "3"];
    await runCommand(args);
    assert.deepEqual(traceQuestions(server), ["infer"]);
    server.requests.length = 0;
    await runCommand([...args, "--trace-count", "7"]);
    assert.deepEqual(traceQuestions(server), ["GET", { trace_count: "7" }, "infer", { trace_count: "-1" }]);
  },
);

test("a trace setting that the server refuses is named, and the others are set back", LIMIT, async () => {
  const onTrace = (change: Readonly<Record<string, unknown>>): string | undefined =>
    "trace_level" in change && String(change["trace_level"]) !== "OFF" ? "trace file name is not given" : undefined;
  await using server = await new KserveServer({ onTrace }).start();
  const { code, out, err } = await runCommand(["-m", "simple", "-u", server.url, "--request-count", "3", ...TRACED]);
  assert.deepEqual({ code, out }, { code: 99, out: "" });
  assert.match(err, /^error: failed to set --trace-level TIMESTAMPS: trace file name is not given\n {2}\S/);
  assert.doesNotMatch(err, /trace-rate/);
  assert.equal(server.infers.length, 0);
  assert.equal(server.trace["trace_rate"], "1000");
});

test("a server without trace settings is reported", LIMIT, async () => {
  await using server = await new KserveServer({}).start();
  const { code, err } = await runCommand([
    "-m",
    "simple",
    "-u",
    `${server.url}/none`,
    "--request-count",
    "3",
    ...TRACED,
  ]);
  assert.equal(code, 99);
  assert.match(err, /^error: failed to get the server's trace settings: /);
});

test("trace settings are set back after Ctrl-C and after a failed request", LIMIT, async () => {
  await withServer(paced, async (server) => {
    const running = startCommand(["-m", "simple", "-u", server.url, "-p", "5000", ...TRACED]);
    await server.until(() => server.infers.length > 3);
    assert.equal(server.trace["trace_rate"], "5");
    running.interrupt();
    const { code } = await running.result;
    assert.equal(code, 99);
    assert.deepEqual(traceQuestions(server).at(-1), { trace_level: ["OFF"], trace_rate: "1000" });
    assert.equal(server.trace["trace_rate"], "1000");
  });
  await using server = await new KserveServer({
    onInfer: ({ index }) => (index === 2 ? "deliberate failure" : undefined),
  }).start();
  const { code, err } = await runCommand(["-m", "simple", "-u", server.url, "-p", "200", ...TRACED]);
  assert.equal(code, 99);
  assert.match(err, /deliberate failure/);
  assert.equal(server.trace["trace_rate"], "1000");
});

test("a server that does not restore its settings is reported within seconds, with what it keeps", LIMIT, async () => {
  const onTrace = ({ trace_rate: rate }: Readonly<Record<string, unknown>>): string | undefined =>
    rate === "1000" ? "hang" : undefined;
  await using server = await new KserveServer({ onTrace }).start();
  const { code, err } = await runCommand(["-m", "simple", "-u", server.url, "--request-count", "3", ...TRACED]);
  assert.equal(code, 0);
  const [waiting, ...rest] = withoutLoadNotes(err).split("\n");
  assert.match(waiting ?? "", /^ {2}waiting for 127\.0\.0\.1:\d+, /);
  assert.deepEqual(rest, [
    "rampart: the server's trace settings could not be set back from --trace-level TIMESTAMPS, --trace-rate 5: the server does not answer.",
    "",
  ]);
});

test("-v -v prints the responses about traces too", LIMIT, async () => {
  await using server = await new KserveServer({}).start();
  const args = ["-m", "simple", "-u", server.url, "--request-count", "1", "-v", "-v", ...TRACED];
  const { code, out, err } = await runCommand(args);
  assert.equal(code, 0);
  assert.match(out, /^\{"trace_level":\["TIMESTAMPS"\],"trace_rate":"5",/m);
  assert.match(err, /^> POST \/v2\/trace\/setting HTTP\/1\.1/m);
});
