import assert from "node:assert/strict";
import { readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { makeFolder } from "../make-folder.ts";
import { startTriton, type Triton } from "../servers/triton.ts";
import { type Outcome, runRampart, runWithReport } from "./command.ts";

/** A real Triton that was started with tracing: its settings are changed for a run and set back, and its statistics are those of the right version. */

const FORMER = { trace_level: ["OFF"], trace_rate: "1000", trace_count: "-1", log_frequency: "0" };

const folder = makeFolder();
let triton: Triton;
before(async () => {
  const flags = ["--trace-config=mode=triton", `--trace-config=triton,file=${join(folder, "trace.json")}`];
  triton = await startTriton({ only: ["simple", "failing", "multi_version"], flags });
});
after(() => triton.stop());

async function readTrace(): Promise<Record<string, unknown>> {
  const response = await fetch(`http://127.0.0.1:${triton.httpPort}/v2/trace/setting`);
  const { trace_file: _file, trace_mode: _mode, ...settings } = (await response.json()) as Record<string, unknown>;
  return settings;
}

async function assertFormer({ code, stdout, stderr }: Outcome, expected: number): Promise<void> {
  assert.equal(code, expected, `${stdout}\n${stderr}`);
  assert.deepEqual(await readTrace(), FORMER);
}

for (const protocol of ["http", "grpc"] as const) {
  describe(`over ${protocol}`, () => {
    const args = (model: string, ...more: string[]): string[] => {
      const port = protocol === "http" ? triton.httpPort : triton.grpcPort;
      return ["perf_analyzer", "-m", model, "-i", protocol, "-u", `127.0.0.1:${port}`, ...more];
    };

    test("requests are traced as asked for, and the settings are as before", async () => {
      for (const name of readdirSync(folder)) if (name.startsWith("trace.")) rmSync(join(folder, name));
      const flags = ["--trace-level", "TIMESTAMPS", "--trace-rate", "1", "--trace-count", "4", "--log-frequency", "2"];
      await assertFormer(await runRampart(args("simple", "--request-count", "10", ...flags)), 0);
      const files = readdirSync(folder).filter((name) => /^trace\.json\.\d+$/.test(name));
      assert.equal(files.length, 2, readdirSync(folder).join());
      const traces = files.flatMap((name) => JSON.parse(readFileSync(join(folder, name), "utf8")) as { id: number }[]);
      const models = traces.filter((trace) => "model_name" in trace);
      assert.equal(new Set(models.map(({ id }) => id)).size, 4);
    });

    test("rejected settings are reported in the server's words, and nothing is changed", async () => {
      const flags = ["--trace-level", "TIMESTAMPS", "--trace-file", "/tmp/other.json", "--trace-rate", "0"];
      const outcome = await runRampart(args("simple", "--request-count", "10", ...flags));
      await assertFormer(outcome, 99);
      assert.match(
        outcome.stderr,
        /^error: failed to set --trace-file \/tmp\/other\.json: trace file location can not be updated through network protocol; --trace-rate 0: [^\n]*sample rate must be non-zero\n/,
      );
      assert.doesNotMatch(outcome.stderr, /TIMESTAMPS/);
    });

    test("they are set back after Ctrl-C", async () => {
      let during: Promise<Record<string, unknown>> | undefined;
      const outcome = await runRampart(
        args("simple", "-p", "20000", "--trace-level", "TIMESTAMPS", "--trace-rate", "7"),
        {
          onStdout: (text, kill) => {
            if (during !== undefined || !text.includes("Request concurrency: 1")) return;
            during = readTrace().finally(() => kill("SIGINT"));
          },
        },
      );
      assert.deepEqual(await during, { ...FORMER, trace_level: ["TIMESTAMPS"], trace_rate: "7" });
      await assertFormer(outcome, 99);
    });

    test("they are set back after a failed request, and when the model does not exist", async () => {
      const flags = ["--request-count", "3", "--trace-level", "TENSORS"];
      const failed = await runRampart(args("failing", ...flags));
      await assertFormer(failed, 99);
      assert.match(failed.stderr, /deliberate failure/);
      const absent = await runRampart(args("absent", ...flags));
      await assertFormer(absent, 99);
      assert.match(absent.stderr, /absent/);
    });

    test("statistics are those of the version that serves, or that was asked for", async () => {
      for (const [flags, version] of [
        [[], "3"],
        [["-x", "1"], "1"],
        [["-x", "3"], "3"],
      ] as const) {
        const outcome = await runWithReport(args("multi_version", "--request-count", "40", ...flags));
        assert.equal(outcome.code, 0, outcome.stderr);
        const [level] = outcome.report.levels as unknown as { server: { version: string; successCount: number } }[];
        assert.deepEqual([level?.server.version, level?.server.successCount], [version, 40]);
        assert.doesNotMatch(outcome.stderr, /Multiple versions/);
      }
    });
  });
}

test("when several versions serve requests, the statistics of the highest are reported, with one warning", async () => {
  let isOver = false;
  const others = (async () => {
    let count = 0;
    const body = JSON.stringify({ inputs: [{ name: "INPUT0", datatype: "FP32", shape: [4], data: [1, 2, 3, 4] }] });
    const url = `http://127.0.0.1:${triton.httpPort}/v2/models/multi_version/versions/1/infer`;
    for (; !isOver; count++) assert.equal((await fetch(url, { method: "POST", body })).status, 200);
    return count;
  })();
  const args = [
    "perf_analyzer",
    "-m",
    "multi_version",
    "-u",
    `127.0.0.1:${triton.httpPort}`,
    "-p",
    "300",
    "-s",
    "1000",
  ];
  const outcome = await runWithReport(args).finally(() => {
    isOver = true;
  });
  assert.ok((await others) > 3);
  const [level] = outcome.report.levels as unknown as { completed: number; server: { version: string } }[];
  assert.equal(level?.server.version, "3");
  const warnings = outcome.stderr.match(/^WARNING: Multiple versions of model multi_version are loaded/gm);
  assert.equal(warnings?.length, 1, outcome.stderr);
});

test("Triton's metrics are read; without a GPU each missing family is reported once", async () => {
  const url = `127.0.0.1:${triton.metricsPort}/metrics`;
  const flags = ["-p", "300", "-s", "1000000", "--collect-metrics", "--metrics-url", url, "--metrics-interval", "100"];
  const args = ["perf_analyzer", "-m", "simple", "-u", `127.0.0.1:${triton.httpPort}`, ...flags];
  const outcome = await runRampart(args);
  assert.equal(outcome.code, 0, outcome.stderr);
  assert.equal(outcome.stderr.match(/^WARNING: Unable to parse 'nv_gpu_\w+' metric\.$/gm)?.length, 4, outcome.stderr);
  assert.match(
    outcome.stdout,
    /^ {2}Server Prometheus Metrics: \n {4}Avg GPU Utilization:\n {4}Avg GPU Power Usage:$/m,
  );
});
