import assert from "node:assert/strict";
import { test } from "node:test";
import type { Cell, Column, ReportModel, VerdictName } from "../../../src/report/model/report-model.ts";
import { renderText } from "../../../src/report/text/render-text.ts";

/** A report of one level as lines, as `rampart http` prints it. */

const CELLS: readonly (readonly [key: string, title: string, quantity: Column["quantity"], cell: Cell])[] = [
  ["level", "concurrency", "number", { value: 16 }],
  ["throughput", "req/s", "rate", { value: 36_695.2 }],
  ["latency.mean", "mean", "time", { value: 435e3 }],
  ["latency.p50", "p50", "time", { value: 346e3, mark: "uncertain" }],
  ["latency.p99", "p99", "time", { value: 2.6e6 }],
  ["latency.p99.9", "p99.9", "time", { value: 9e6 }],
  ["serverLatency.mean", "server mean", "time", { value: 1e6 }],
  ["failed", "failed", "count", { value: 3 }],
  ["requests", "requests", "count", { value: 73_381 }],
];

function makeModel(rowCount: number, name: VerdictName = "measured", received: readonly string[] = []): ReportModel {
  const columns = CELLS.map(([key, title, quantity]) => ({ key, title, quantity, dropOrder: 1 }));
  const rows = Array.from({ length: rowCount }, () => CELLS.map(([, , , cell]) => cell));
  const section = { title: "", tables: [], charts: [] };
  return {
    name: "http",
    subject: "GET /health on localhost:8000",
    verdict: { name, headline: name === "measured" ? "" : "1 of 1 check failed", facts: ["2.0 s", "73,384 requests"] },
    setup: [],
    checks: [],
    notes: [],
    suites: [],
    origin: "",
    sections: [
      { ...section, id: "levels", isSummary: true, tables: [{ title: "", columns, rows }] },
      { ...section, id: "received", isSummary: false, lines: received },
    ],
  };
}

const lines = (model: ReportModel): string[] => renderText(model, { showsLines: true }).split("\n").slice(0, 4);

test("one level is its subject with load and rate, its latencies, and its counts", () => {
  assert.deepEqual(lines(makeModel(1)), [
    "http  GET /health on localhost:8000          16 in flight   2.0 s   36,695 req/s",
    "  mean 435 us   p50 346 us*   p99 2.60 ms",
    "  completed 73,381   failed 3",
    "",
  ]);
});

test("statuses and bytes stand beside what failed", () => {
  const [, , counts] = lines(makeModel(1, "measured", ["status 200: 73,381", "status 503: 3", "received 9.98 MB"]));
  assert.equal(counts, "  status 200: 73,381   status 503: 3   failed 3   received 9.98 MB");
});

test("a verdict comes first, and the facts have a line of their own where the first one has no room", () => {
  assert.deepEqual(lines(makeModel(1, "failed")).slice(0, 3), [
    "FAILED  http  GET /health on localhost:8000",
    "  1 of 1 check failed",
    "  16 in flight   2.0 s   36,695 req/s",
  ]);
});

test("several levels are a table, and so is one level in detail", () => {
  assert.match(renderText(makeModel(2), { showsLines: true }), /^MEASURED {2}http: GET/);
  assert.match(renderText(makeModel(1), { showsLines: true, isVerbose: true }), /^ *req\/s +mean .*p99\.9/m);
});
