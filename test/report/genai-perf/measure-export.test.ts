import assert from "node:assert/strict";
import { test } from "node:test";
import { systemMetrics } from "../../../src/measure/tokens/row-measurement.ts";
import { measureColumns } from "../../../src/measure/tokens/token-tally.ts";
import { tokenWarnings } from "../../../src/measure/tokens/token-warnings.ts";
import { UserError } from "../../../src/plan/problem.ts";
import { detectExportKind, measureExports } from "../../../src/report/genai-perf/measure-export.ts";
import { artifactFiles } from "../../../src/report/genai-perf/outputs.ts";
import { openProfileExport, type ProfileExport } from "../../../src/report/read/profile-export.ts";
import { countGood } from "../../measure/tokens/make-columns.ts";

/** From exports to measured requests: what the original stops at, and what it mixes up. */

const START_NS = 1795237662030072343n;
const countTokens = (text: string): number => text.length;

interface Recorded {
  readonly sendMs: number;
  readonly reads: readonly (readonly [ms: number, text: string])[];
  readonly payload?: string;
}

function exportOf(endpoint: string, ...experiments: readonly (readonly Recorded[])[]): ProfileExport {
  const text = JSON.stringify({
    experiments: experiments.map((requests, i) => ({
      experiment: { mode: "concurrency", value: i + 1 },
      requests: requests.map(({ sendMs, reads, payload = '{"messages":[{"content":"abc"}]}' }) => ({
        timestamp: `#${START_NS + BigInt(sendMs * 1e6)}#`,
        request_inputs: { payload },
        response_timestamps: reads.map(([ms]) => `#${START_NS + BigInt((sendMs + ms) * 1e6)}#`),
        response_outputs: reads.map(([, response]) => ({ response })),
      })),
    })),
    service_kind: "openai",
    endpoint,
  }).replace(/"#(\d+)#"/g, "$1");
  const bytes = new TextEncoder().encode(text);
  return openProfileExport("run.json", () => {
    let offset = 0;
    return {
      read: (into) => {
        const piece = bytes.subarray(offset, offset + into.length);
        into.set(piece);
        offset += piece.length;
        return piece.length;
      },
      close: () => {},
    };
  });
}

function chunk(content: string): string {
  return `data: ${JSON.stringify({ object: "chat.completion.chunk", choices: [{ delta: { content } }] })}\n\n`;
}

const good: Recorded = {
  sendMs: 0,
  reads: [
    [50, chunk("ab")],
    [70, chunk("c")],
  ],
};

test("a request that failed in mid-stream is counted and does not end the report", () => {
  const failed: Recorded = {
    sendMs: 10,
    reads: [
      [50, chunk("ab")],
      [60, 'event: error\ndata: {"error":{"message":"out of memory"}}\n\n'],
    ],
  };
  const columns = measureExports([exportOf("v1/chat/completions", [good, failed])], { countTokens });
  assert.equal(columns.failedCount, 1);
  assert.equal(columns.count, 1);
});

test("an error in place of an embedding is counted, too", () => {
  const requests: readonly Recorded[] = [
    { sendMs: 0, reads: [[10, '{"data":[{"embedding":[1]}]}']] },
    { sendMs: 0, reads: [[10, '{"error":{"message":"no such model"}}']] },
    { sendMs: 0, reads: [] },
  ];
  const columns = measureExports([exportOf("v1/embeddings", requests)], {});
  assert.deepEqual([columns.count, columns.failedCount, columns.emptyCount], [1, 1, 1]);
});

test("runs of several hosts are joined by their times, request by request", () => {
  const later = { ...good, sendMs: 30 };
  const sources = [exportOf("v1/chat/completions", [later]), exportOf("v1/chat/completions", [good])];
  const columns = measureExports(sources, { countTokens });
  assert.equal(columns.count, 2);
  // 100 ms from the second file's send to the first file's last token; GenAI-Perf adds up the rates of runs, also of separate ones.
  assert.equal(systemMetrics(columns).durationNs, 100e6);
  assert.equal(systemMetrics(columns).requestsPerSec, 20);
});

test("levels of load are not mixed", () => {
  const source = exportOf("v1/chat/completions", [good], [good, good]);
  assert.equal(measureExports([source], { countTokens }).count, 1);
  assert.equal(measureExports([source], { countTokens, experiment: 1 }).count, 2);
});

test("lengths are counted, inputs only once", () => {
  let counted = 0;
  const count = (text: string): number => {
    counted++;
    return text.length;
  };
  const columns = measureExports([exportOf("v1/chat/completions", [good, good])], { countTokens: count });
  assert.deepEqual([...columns.metrics.inputTokens.view()], [3, 3]);
  assert.deepEqual([...columns.metrics.outputTokens.view()], [3, 3]);
  assert.equal(counted, 3);
});

test("an ambiguous kind must be given", () => {
  const source = exportOf("my/path", [{ ...good, reads: [[5, '{"x":1}']] }]);
  assert.throws(
    () => detectExportKind(source),
    /^UserError: run\.json, endpoint: the path and the first response do not show .* \(got my\/path\)/,
  );
  assert.equal(measureExports([source], { kind: "generate" }).emptyCount, 1);
});

test("an invalid payload is named with its request", () => {
  const source = exportOf("v1/chat/completions", [good, { ...good, payload: "{no" }]);
  assert.throws(
    () => measureExports([source], { countTokens }),
    (error) =>
      error instanceof UserError && /^run\.json, request 1: the request's payload is not JSON/.test(error.message),
  );
});

test("a response that came whole has no first token where a stream was asked for, and is no good one", () => {
  const whole: Recorded = { sendMs: 10, reads: [[60, '{"choices":[{"message":{"content":"ab"}}]}']] };
  const source = exportOf("v1/chat/completions", [good, whole]);
  const streamed = measureExports([source], { countTokens, wantsStreams: true });
  assert.deepEqual([...streamed.metrics.timeToFirstTokenNs.view()], [50e6, Number.NaN]);
  assert.match(tokenWarnings(measureColumns(streamed)).join(), /1 of 2 responses was not streamed/);
  assert.equal(countGood(streamed, "text", { time_to_first_token: 1000 }), 1);
  assert.equal(countGood(streamed, "text", { request_latency: 1000 }), 2);
  const asItIs = measureExports([source], { countTokens });
  assert.deepEqual([...asItIs.metrics.timeToFirstTokenNs.view()], [50e6, 60e6]);
  assert.equal(countGood(asItIs, "text", { time_to_first_token: 1000 }), 2);
});

test("the export's name renames all files", () => {
  assert.deepEqual(artifactFiles("a", "profile_export.json"), {
    profileExport: "a/profile_export.json",
    genaiPerfJson: "a/profile_export_genai_perf.json",
    genaiPerfCsv: "a/profile_export_genai_perf.csv",
    json: "a/profile_export_genai_perf_rampart.json",
    serverMetricsJson: "a/server_metrics_export_genai_perf_rampart.json",
    serverMetricsCsv: "a/server_metrics_export.csv",
    plots: "a/plots",
  });
  assert.equal(artifactFiles("a", "my.run.json").genaiPerfCsv, "a/my.run_genai_perf.csv");
  assert.equal(artifactFiles("a", "b/x").genaiPerfJson, "a/x_genai_perf.json");
  assert.equal(artifactFiles("a", "b/x").profileExport, "a/b/x");
});
