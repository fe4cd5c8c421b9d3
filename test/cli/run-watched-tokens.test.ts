import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import type { MetricsJson } from "../../src/report/schema/metrics.ts";
import { spreadIn } from "../report/json-metrics.ts";
import { readMetrics, type Sample } from "../report/live/read-metrics.ts";
import { startAnsweringServer } from "../servers/answering-server.ts";
import { startLlmStub } from "../servers/llm-stub.ts";
import { LIMIT } from "../time-limit.ts";
import { createFolder, rampartCommand, startProcess } from "./rampart-process.ts";

/** The tokens of a run while it lasts: for Prometheus, and at its end for a collector, beside its report and a server that counts. */

const TTFT_MS = 30;
const TOKENS = 10;
const REQUESTS = 100;

interface OtlpMetric {
  readonly name: string;
  readonly sum?: { readonly dataPoints: readonly { readonly asInt: string }[] };
  readonly exponentialHistogram?: { readonly dataPoints: readonly { readonly count: string; readonly sum: number }[] };
}

function scenarioFor(port: number): string {
  return `import { defineScenario, hold, input, openai } from "rampart";
export default defineScenario({
  name: "watched",
  target: openai("127.0.0.1:${port}", { model: "tiny", streaming: true, tokenizer: "o200k_base" }),
  load: hold(2, { requests: ${REQUESTS} }),
  inputs: input.prompts({ isl: 8, osl: ${TOKENS} }),
});
`;
}

function sumOf(samples: readonly Sample[], name: string): number {
  return samples.filter((one) => one.name === name).reduce((sum, { value }) => sum + value, 0);
}

/** Reads the page until it has the first tokens of some responses. */
async function readTokens(url: string): Promise<readonly Sample[]> {
  for (;;) {
    const samples = readMetrics(await (await fetch(`${url}/metrics`)).text());
    if (sumOf(samples, "rampart_time_to_first_token_seconds_count") >= 10) return samples;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

for (const workers of [1, 2])
  test(
    `Prometheus and OTLP have the tokens that the report and the server have, with ${workers} workers`,
    LIMIT,
    async () => {
      await using stub = await startLlmStub({ ttftMs: TTFT_MS, itlMs: 4, tokens: TOKENS });
      using collector = await startAnsweringServer((response) => response.end("{}"));
      await stub.reset(true);
      using folder = createFolder({ "x.ts": scenarioFor(stub.port) });
      const flags = [
        "--watch-port",
        "0",
        "--otlp",
        collector.url,
        "--json",
        "x.json",
        "--no-live",
        "--workers",
        String(workers),
      ];
      const running = startProcess([...rampartCommand(), "run", "x.ts", ...flags], { cwd: folder.path });
      const [, url = ""] = await running.waitFor(/watched at (http:\S+)\/ /);
      const samples = await readTokens(url);
      const { code, out, err } = await running.result;
      assert.equal(code, 0, out + err);

      // While it runs: each response that has ended has all of its tokens, and its first one no earlier than the server sent it.
      const count = sumOf(samples, "rampart_time_to_first_token_seconds_count");
      assert.equal(sumOf(samples, "rampart_output_tokens_total"), TOKENS * count);
      assert.ok(sumOf(samples, "rampart_time_to_first_token_seconds_sum") >= (count * TTFT_MS) / 1000);
      assert.equal(sumOf(samples, "rampart_inter_token_latency_seconds_count"), count);

      // At the end.
      const { levels } = JSON.parse(await readFile(join(folder.path, "x.json"), "utf8")) as {
        readonly levels: readonly { readonly metrics: MetricsJson }[];
      };
      const [level = { metrics: {} }] = levels;
      const { resourceMetrics } = JSON.parse(collector.received.at(-1)?.text ?? "{}");
      const metrics = resourceMetrics[0].scopeMetrics[0].metrics as readonly OtlpMetric[];
      const find = (name: string): OtlpMetric => metrics.find((one) => one.name === name) ?? assert.fail(name);
      for (const [name, key] of [
        ["rampart.time_to_first_token", "timeToFirstTokenUs"],
        ["rampart.inter_token_latency", "interTokenLatencyUs"],
      ] as const) {
        const [point] = find(name).exponentialHistogram?.dataPoints ?? [];
        assert.equal(Number(point?.count), REQUESTS, name);
        const averageUs = ((point?.sum ?? 0) / REQUESTS) * 1e6;
        const expectedUs = spreadIn(level, key)?.mean ?? 0;
        assert.ok(Math.abs(averageUs / expectedUs - 1) < 1e-6, `${name}: ${averageUs}, not ${expectedUs} us`);
      }
      const tokens = find("rampart.output_tokens").sum?.dataPoints.map(({ asInt }) => Number(asInt));
      assert.deepEqual([tokens, (await stub.counter()).chunks], [[TOKENS * REQUESTS], TOKENS * REQUESTS]);
      const log = await stub.log();
      const trueNs = log.reduce((sum, { firstNs, receivedNs }) => sum + firstNs - receivedNs, 0) / log.length;
      const averageUs = spreadIn(level, "timeToFirstTokenUs")?.mean ?? 0;
      assert.ok(averageUs * 1000 >= trueNs, `${averageUs} us, below the server's ${trueNs} ns`);
    },
  );
