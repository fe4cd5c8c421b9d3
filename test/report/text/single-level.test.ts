import assert from "node:assert/strict";
import { test } from "node:test";
import type { ReportModel } from "../../../src/report/model/report-model.ts";
import { renderText } from "../../../src/report/text/render-text.ts";
import type { RunResult } from "../../../src/result/run-result.ts";
import type { TritonTargetPlan } from "../../../src/service/triton/target.ts";
import { makeWindow } from "../../measure/make-window.ts";
import type { PlanChange } from "../../plan/make-plan.ts";
import { makeLevel } from "../make-result.ts";
import { modelOf } from "../model/make-model.ts";

/** A report of one level as lines, as `rampart http` prints it. */

const targetOf = (path: string): NonNullable<PlanChange["target"]> =>
  ({ kind: "plain-http", method: "GET", url: "http://localhost:8000", path }) as unknown as TritonTargetPlan;
const HTTP: PlanChange = {
  name: "http",
  target: targetOf("/health"),
  measurement: { mode: { kind: "duration", durationMs: 2000 } },
};
const LATENCIES = Array.from({ length: 4000 }, (_, index) => 1e6 * (1 + ((index * 617) % 1000) / 1000));
const level = (failedCount = 0) =>
  makeLevel({
    level: 16,
    window: makeWindow({ durationNs: 2e9, latenciesNs: LATENCIES, failedCount, sentCount: 4000 }),
  });

const render = (model: ReportModel): string[] => renderText(model, { showsLines: true }).split("\n").slice(0, 4);
const linesOf = (received: RunResult["received"], change: PlanChange = {}, failedCount = 0): string[] =>
  render(modelOf({ ...HTTP, ...change }, [level(failedCount)], { durationNs: 3e9, ...(received && { received }) }));

test("one level is its subject with its own load, time and rate, its latencies, and its counts", () => {
  assert.deepEqual(linesOf(undefined), [
    "http  GET localhost:8000/health               16 in flight   2.0 s   2,000 req/s",
    "  mean 1.50 ms   p50 1.50 ms   p90 1.90 ms   p95 1.95 ms   p99 1.99 ms",
    "  max 2.00 ms",
    "  completed 4,000   failed 0",
  ]);
});

for (const [name, statuses, failedCount, counts] of [
  ["that were all measured are counted", { 200: 4000 }, 0, "status 200: 4,000   failed 0   received 400 kB"],
  [
    "of several kinds are counted",
    { 200: 4000, 503: 3 },
    3,
    "status 200: 4,000   status 503: 3   failed 3   received 400 kB",
  ],
  [
    "of a warm-up are not counted as measured",
    { 200: 6000 },
    0,
    "completed 4,000   failed 0   status 200   received 67 bytes each",
  ],
  [
    "of several kinds are counted with the warm-up",
    { 200: 6000, 503: 3 },
    0,
    "completed 4,000   failed 0   statuses with the warm-up 200: 6,000, 503: 3",
  ],
] as const)
  test(`answers ${name}`, () => {
    const [, , , line] = linesOf({ bytes: 400_000, statuses }, {}, failedCount);
    assert.equal(line, `  ${counts}`);
  });

test("a verdict comes first, and the facts have a line of their own where the first one has no room", () => {
  const assertions = [{ metric: { key: "errorRate" }, comparison: "is", limit: 0 }] as const;
  const target = targetOf("/a/long/path");
  assert.deepEqual(linesOf(undefined, { assertions, target }, 4).slice(0, 3), [
    "FAILED  http  GET localhost:8000/a/long/path",
    "  1 of 1 assertions failed",
    "  16 in flight   2.0 s   2,000 req/s",
  ]);
});

test("several levels are a table, and so is one level in detail", () => {
  const levels = [level(), { ...level(), level: 32 }];
  assert.match(renderText(modelOf(HTTP, levels), { showsLines: true }), /^MEASURED {2}http: GET/);
  const detailed = renderText(modelOf(HTTP, [level()]), { showsLines: true, isVerbose: true });
  assert.match(detailed, /^concurrency +req\/s +mean .* failed$/m);
});
