import assert from "node:assert/strict";
import { createServer } from "node:http";
import { test } from "node:test";
import { type LevelJson, runsOf } from "../../../src/report/schema/report-schema.ts";
import { hold, steps } from "../../../src/scenario/loads/concurrency.ts";
import { warmup } from "../../../src/scenario/loads/phases.ts";
import { mix } from "../../../src/scenario/mix.ts";
import { prompts } from "../../../src/scenario/prompts.ts";
import { embedded } from "../../../src/scenario/targets/embedded.ts";
import { http } from "../../../src/scenario/targets/http.ts";
import { embeddedLlm } from "../../../src/scenario/targets/llm.ts";
import { listen } from "../../servers/listen.ts";
import { LIMIT } from "../../time-limit.ts";
import { TINY } from "../../tokenize/tiny.ts";
import { RECORDS, writeReports } from "../html/make-report.ts";
import { spreadIn } from "../json-metrics.ts";

/** Records: one line of JSON for each request of a run. */

interface Line {
  readonly metadata: {
    readonly request_start_ns: number;
    readonly request_ack_ns?: number;
    readonly request_end_ns: number;
    readonly benchmark_phase: string;
    readonly concurrency: number;
    readonly phase?: string;
    readonly run?: number;
    readonly tags?: { readonly target?: string };
  };
  readonly metrics: Readonly<Record<string, { readonly value: number; readonly unit: string }>>;
  readonly error?: { readonly type: string; readonly message: string; readonly code?: number };
}

const epochMs = (): number => performance.timeOrigin + performance.now();

function linesOf(text: string): Line[] {
  assert.ok(text.endsWith("\n"));
  return text
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as Line);
}

test("every request has a line with its times, outcome, sizes and level", LIMIT, async () => {
  using written = await writeReports(
    {
      name: "records",
      target: embedded({ latency: "1 ms", errorRate: "30 %" }),
      load: steps([1, 3], { requests: 50 }),
      warmupRequests: 10,
    },
    RECORDS,
  );
  const lines = linesOf(written.read("records"));
  const [run] = runsOf(written.json);
  const failed = lines.filter(({ error }) => error !== undefined);
  assert.deepEqual([lines.length, failed.length], [run?.requests.sent, run?.requests.failed]);
  const warm = lines.filter(({ metadata }) => metadata.benchmark_phase === "warmup");
  assert.equal(warm.length, run?.warmup?.sent);
  for (const level of run?.levels ?? []) {
    const own = lines.filter(
      ({ metadata, error }) =>
        metadata.benchmark_phase === "profiling" && metadata.concurrency === level.level && error === undefined,
    );
    assert.equal(own.length, level.completed, `concurrency ${level.level}`);
    // The level's mean is that of its lines.
    const sum = own.reduce((all, { metrics }) => all + (metrics["request_latency"]?.value ?? 0), 0);
    const meanUs = (1000 * sum) / own.length;
    assert.ok(Math.abs(meanUs - (spreadIn(level, "latencyUs")?.mean ?? 0)) < 1e-6 * meanUs + 0.01, `${meanUs}`);
  }
  for (const { metrics, error } of lines) {
    assert.ok((metrics["request_content_size"]?.value ?? 0) > 0);
    if (error === undefined) assert.ok((metrics["response_content_size"]?.value ?? 0) > 0);
    else assert.deepEqual([error.type, error.code, error.message], ["http", 400, "planned failure"]);
  }
});

test("each line has the times of its request at the server", LIMIT, async () => {
  const [FIRST_MS, REST_MS] = [40, 60];
  const log: { readonly arrivedMs: number; firstMs: number; endedMs: number }[] = [];
  const server = createServer((_, response) => {
    const entry = { arrivedMs: epochMs(), firstMs: 0, endedMs: 0 };
    log.push(entry);
    setTimeout(() => {
      entry.firstMs = epochMs();
      response.write("the first part, ");
      setTimeout(() => {
        entry.endedMs = epochMs();
        response.end("and the rest");
      }, REST_MS);
    }, FIRST_MS);
  });
  const target = http(`http://127.0.0.1:${await listen(server)}/`);
  const written = await writeReports({ name: "records", target, load: hold(1, { requests: 12 }) }, RECORDS);
  try {
    const lines = linesOf(written.read("records"));
    assert.deepEqual([lines.length, log.length], [12, 12]);
    // Numbers of 19 digits are exact to 0.3 us, and the clocks of the log and of the records to the nearest millisecond.
    const CLOCK_MS = 2;
    for (const [index, { metadata, metrics }] of lines.entries()) {
      const { arrivedMs, firstMs, endedMs } = log[index] ?? assert.fail();
      const [startMs, endMs] = [metadata.request_start_ns / 1e6, metadata.request_end_ns / 1e6];
      const ackMs = (metadata.request_ack_ns ?? Number.NaN) / 1e6;
      const times = [startMs, arrivedMs, firstMs, ackMs, endedMs, endMs];
      assert.ok(startMs <= arrivedMs + CLOCK_MS, `${index}: ${times}`);
      assert.ok(ackMs >= firstMs - CLOCK_MS && endMs >= endedMs - CLOCK_MS && ackMs <= endMs, `${index}: ${times}`);
      const latencyMs = metrics["request_latency"]?.value ?? 0;
      assert.ok(latencyMs >= FIRST_MS + REST_MS - CLOCK_MS, `${index}: ${latencyMs}`);
      assert.ok(Math.abs(latencyMs - (endMs - startMs)) < 0.01, `${index}: ${latencyMs}`);
    }
  } finally {
    written.remove();
    server.closeAllConnections();
    server.close();
  }
});

test("the lines of repeated runs name their run", LIMIT, async () => {
  using written = await writeReports(
    {
      name: "records",
      target: embedded({ latency: "1 ms" }),
      load: steps([2], { requests: 20 }),
      repeat: 2,
    },
    RECORDS,
  );
  const runs = linesOf(written.read("records")).map(({ metadata }) => metadata.run);
  assert.deepEqual([runs.filter((run) => run === 1).length, runs.filter((run) => run === 2).length], [20, 20]);
});

/** The names of metrics in records, and in the JSON report. */
const TOKEN_NAMES = [
  ["time_to_first_token", "timeToFirstTokenUs"],
  ["time_to_second_token", "timeToSecondTokenUs"],
  ["inter_token_latency", "interTokenLatencyUs"],
  ["normalized_time_per_output_token", "normalizedTimePerOutputTokenUs"],
  ["output_token_throughput_per_user", "outputTokensPerSecPerUser"],
  ["output_sequence_length", "outputTokens"],
  ["input_sequence_length", "inputTokens"],
] as const;

function checkTokens(lines: readonly Line[], level: Pick<LevelJson, "metrics">): void {
  for (const [name, reported] of TOKEN_NAMES) {
    const values = lines.flatMap(({ metrics }) => metrics[name]?.value ?? []);
    const metric = spreadIn(level, reported);
    // Forgotten where most tokens arrived together, which a busy machine does to them.
    if (metric === undefined && reported === "outputTokensPerSecPerUser") continue;
    assert.equal(values.length, metric?.count, name);
    const scale = reported.endsWith("Us") ? 1000 : 1;
    const mean = (scale * values.reduce((sum, value) => sum + value, 0)) / values.length;
    assert.ok(Math.abs(mean - (metric?.mean ?? 0)) <= 1e-9 * mean, `${name}: ${mean} of ${metric?.mean}`);
  }
}

test("records of streamed responses have the token metrics of the report", async () => {
  using written = await writeReports(
    {
      name: "tokens",
      target: embeddedLlm({
        streaming: true,
        timeToFirstToken: "3 ms",
        interTokenLatency: "1 ms",
        tokenizer: TINY,
        errorRate: "10 %",
      }),
      inputs: prompts({ isl: 12, osl: 5, count: 4 }),
      load: steps([1, 4], { requests: 60 }),
      warmupRequests: 8,
    },
    RECORDS,
  );
  const lines = linesOf(written.read("records"));
  const [run] = runsOf(written.json);
  assert.equal(lines.length, run?.requests.sent);
  for (const level of run?.levels ?? []) {
    const own = lines.filter(
      ({ metadata, error }) =>
        metadata.benchmark_phase === "profiling" && metadata.concurrency === level.level && error === undefined,
    );
    assert.equal(own.length, level.completed);
    checkTokens(own, level);
    for (const { metrics } of own) {
      const gaps = metrics["inter_chunk_latency"]?.value as unknown as readonly number[];
      const last = gaps.reduce((sum, gap) => sum + gap, metrics["time_to_first_token"]?.value ?? 0);
      assert.ok(last <= (metrics["request_latency"]?.value ?? 0) + 1e-6, "content ends before the request");
    }
  }
  const warm = lines.filter(({ metadata, error }) => metadata.benchmark_phase === "warmup" && error === undefined);
  assert.ok(warm.length > 0 && warm.every(({ metrics }) => metrics["time_to_first_token"] !== undefined));
});

test("records of phases and of a mix have their phase, level and target, with the counts of the report", async () => {
  const target = mix([
    {
      name: "chat",
      target: embeddedLlm({ streaming: true, tokenizer: TINY }),
      inputs: prompts({ isl: 12, osl: 5, count: 4 }),
      weight: 1,
    },
    { name: "tensors", target: embedded({ latency: "1 ms" }), weight: 2 },
  ]);
  using written = await writeReports(
    {
      name: "phases",
      target,
      load: [warmup("100 ms", hold(1)), hold(2, { for: "200 ms" }), hold(4, { for: "200 ms" })],
    },
    RECORDS,
  );
  const lines = linesOf(written.read("records")).filter(({ error }) => error === undefined);
  const [run] = runsOf(written.json);
  for (const level of run?.levels ?? []) {
    const own = lines.filter(({ metadata }) => metadata.phase === level.phase?.name);
    assert.ok(own.every(({ metadata }) => metadata.concurrency === level.level));
    const chat = own.filter(({ metadata }) => metadata.tags?.target === "chat");
    const group = level.groups?.find(({ tags }) => tags["target"] === "chat");
    assert.deepEqual([own.length, chat.length], [level.completed, group?.completed], level.phase?.name);
    checkTokens(chat, group as NonNullable<typeof group>);
    assert.ok(
      own.every(({ metadata, metrics }) => (metadata.tags?.target === "chat") === "time_to_first_token" in metrics),
    );
  }
});
