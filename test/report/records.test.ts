import assert from "node:assert/strict";
import { test } from "node:test";
import { runsOf } from "../../src/report/schema/report-schema.ts";
import { steps } from "../../src/scenario/loads.ts";
import { embedded } from "../../src/scenario/targets/embedded.ts";
import { writeReports } from "./html/make-report.ts";

/** Records: one line of JSON for each request of a run. */

interface Line {
  readonly metadata: {
    readonly request_start_ns: number;
    readonly request_end_ns: number;
    readonly benchmark_phase: string;
    readonly concurrency: number;
    readonly run?: number;
  };
  readonly metrics: Readonly<Record<string, { readonly value: number; readonly unit: string }>>;
  readonly error?: { readonly type: string; readonly message: string; readonly code?: number };
}

function linesOf(text: string): Line[] {
  assert.ok(text.endsWith("\n"));
  return text
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as Line);
}

test("every request has a line with its times, outcome, sizes and level", { timeout: 180_000 }, async () => {
  const written = await writeReports({
    name: "records",
    target: embedded({ latency: "1 ms", errorRatio: 0.3 }),
    load: steps([1, 3], { requests: 50 }),
    warmupRequests: 10,
  });
  try {
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
      assert.equal(own.length, level.requests, `concurrency ${level.level}`);
      // The level's mean is that of its lines.
      const sum = own.reduce((all, { metrics }) => all + (metrics["request_latency"]?.value ?? 0), 0);
      const meanUs = (1000 * sum) / own.length;
      assert.ok(Math.abs(meanUs - (level.latency?.meanUs ?? 0)) < 1e-6 * meanUs + 0.01, `${meanUs}`);
    }
    for (const { metrics, error } of lines) {
      assert.ok((metrics["request_content_size"]?.value ?? 0) > 0);
      if (error === undefined) assert.ok((metrics["response_content_size"]?.value ?? 0) > 0);
      else assert.deepEqual([error.type, error.code, error.message], ["http", 400, "planned failure"]);
    }
  } finally {
    written.remove();
  }
});

test("the lines of repeated runs name their run", { timeout: 180_000 }, async () => {
  const written = await writeReports({
    name: "records",
    target: embedded({ latency: "1 ms" }),
    load: steps([2], { requests: 20 }),
    repeat: 2,
  });
  try {
    const runs = linesOf(written.read("records")).map(({ metadata }) => metadata.run);
    assert.deepEqual([runs.filter((run) => run === 1).length, runs.filter((run) => run === 2).length], [20, 20]);
  } finally {
    written.remove();
  }
});
