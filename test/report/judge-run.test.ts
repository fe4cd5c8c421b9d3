import assert from "node:assert/strict";
import { test } from "node:test";
import type { MetricPlan } from "../../src/plan/assertions.ts";
import { RunError, type RunErrorCode } from "../../src/plan/problem.ts";
import { toReportJson } from "../../src/report/json/report-json.ts";
import { judgeRun } from "../../src/report/judge-run.ts";
import { formatMarkdownReport } from "../../src/report/markdown.ts";
import { buildRunModel } from "../../src/report/model/build-model.ts";
import { renderText } from "../../src/report/text/render-text.ts";
import type { LevelResult, RunResult } from "../../src/result/run-result.ts";
import { createRandom } from "../../src/runtime/random.ts";
import { makeWindow } from "../measure/make-window.ts";
import { makePlan } from "../plan/make-plan.ts";
import { makeLevel, makeResult } from "./make-result.ts";

/** The exit code, JSON and the reports for people have the same verdict. */

/** What happened in a run, and what its plan asks for. */
interface Facts {
  readonly isErrorAsserted: boolean;
  readonly hasFailures: boolean;
  /** Too few requests to decide on p99. */
  readonly isPercentileAsserted: boolean;
  readonly isUnstable: boolean;
  readonly hasOnlyFailures: boolean;
  readonly isInterrupted: boolean;
  readonly error: RunErrorCode | undefined;
  readonly mlperf: "VALID" | "INVALID" | undefined;
}

const ERRORS = {
  ...{ unreachable: 69, stalled: 69, "host-limit": 66, internal: 1, exception: 64, "assertion-failed": 65 },
} as const;

function drawFacts(random: () => number): Facts {
  const is = (ratio: number): boolean => random() < ratio;
  const hasOnlyFailures = is(0.2);
  return {
    isErrorAsserted: is(0.4),
    hasFailures: hasOnlyFailures || is(0.4),
    isPercentileAsserted: is(0.3),
    isUnstable: is(0.2),
    hasOnlyFailures,
    isInterrupted: is(0.15),
    error: is(0.15) ? (Object.keys(ERRORS)[Math.floor(random() * 6)] as RunErrorCode) : undefined,
    mlperf: is(0.2) ? (is(0.5) ? "VALID" : "INVALID") : undefined,
  };
}

const LATENCY = { key: "latency", statistic: 99 } as const;

function planOf({ isErrorAsserted, isPercentileAsserted }: Facts): ReturnType<typeof makePlan> {
  return makePlan({
    outputs: { style: "rampart" },
    assertions: [
      ...(isErrorAsserted ? [{ metric: { key: "errorRate" }, comparison: "is", limit: 0 } as const] : []),
      ...(isPercentileAsserted ? [{ metric: LATENCY, comparison: "below", limit: 25e6 } as const] : []),
    ],
  });
}

function resultOf(facts: Facts): RunResult {
  const latenciesNs = facts.hasOnlyFailures ? [] : new Array<number>(30).fill(1e6);
  const level: LevelResult = makeLevel({
    outcome: facts.isUnstable ? "unstable" : "measured",
    window: makeWindow({ latenciesNs, failedCount: facts.hasFailures ? 5 : 0 }),
    ...(facts.mlperf === undefined
      ? {}
      : {
          mlperf: {
            scenario: "offline",
            isValid: facts.mlperf === "VALID",
            broken: facts.mlperf === "VALID" ? [] : ["too few queries"],
            queryCount: 1,
            sampleCount: 1,
          },
        }),
  });
  return makeResult(planOf(facts), [level], {
    isInterrupted: facts.isInterrupted,
    error: facts.error === undefined ? undefined : new RunError(facts.error, "it ended", ""),
  });
}

/** The rules in the guide: how a run ended early comes first, which is a failure when an assertion ended it, then failures, an unreachable server, and what is unresolved. */
function expected(facts: Facts): { readonly exitCode: number; readonly name: string } {
  const hasEnded = facts.isInterrupted || facts.error !== undefined;
  const isFailed = (facts.isErrorAsserted && facts.hasFailures) || facts.mlperf === "INVALID";
  // A percentile cannot pass: of no requests, or of too few.
  const isOpen = facts.isPercentileAsserted || facts.isUnstable || (hasEnded && facts.isErrorAsserted);
  const isAsked = facts.isErrorAsserted || facts.isPercentileAsserted || facts.mlperf !== undefined;
  const name = hasEnded
    ? facts.error === "assertion-failed"
      ? "failed"
      : "partial"
    : isFailed
      ? "failed"
      : facts.hasOnlyFailures
        ? "failed"
        : isOpen
          ? "unresolved"
          : isAsked
            ? "passed"
            : "measured";
  if (facts.error !== undefined) return { name, exitCode: ERRORS[facts.error as keyof typeof ERRORS] };
  if (facts.isInterrupted) return { name, exitCode: 130 };
  if (isFailed) return { name, exitCode: 65 };
  if (facts.hasOnlyFailures) return { name, exitCode: 69 };
  return { name, exitCode: isOpen ? 66 : 0 };
}

test("the verdict and the exit code follow the rules, and JSON, the console and Markdown have the same ones", () => {
  const random = createRandom(24);
  const seen = new Set<string>();
  for (let run = 0; run < 400; run++) {
    const facts = drawFacts(random);
    const [plan, result] = [planOf(facts), resultOf(facts)];
    const { name, headline, exitCode, reasons } = judgeRun(plan, result);
    const text = JSON.stringify(facts);
    assert.deepEqual({ name, exitCode }, expected(facts), text);
    assert.equal(reasons.length === 0, name === "passed" || name === "measured", text);
    assert.equal(exitCode === 0, name === "passed" || name === "measured", text);
    const json = toReportJson(plan, result);
    assert.deepEqual(json.verdict, { name, headline, exitCode, reasons }, text);
    const model = buildRunModel(plan, json);
    const isGood = name === "passed" || name === "measured";
    assert.deepEqual([model.verdict.name, model.verdict.headline], [name, isGood ? "" : headline], text);
    assert.ok(formatMarkdownReport(model).includes(isGood ? "" : headline), text);
    assert.ok(renderText(model).startsWith(name.toUpperCase()), text);
    seen.add(`${name} ${exitCode}`);
  }
  assert.equal(seen.size, 10, [...seen].join());
});

test("reasons are words: what was asserted, what was measured and where", () => {
  const facts = { ...drawFacts(() => 1), isErrorAsserted: true, hasFailures: true, isUnstable: true };
  const { headline, reasons } = judgeRun(planOf(facts), resultOf(facts));
  assert.equal(headline, "the assertion failed");
  assert.deepEqual(reasons, [
    { state: "fail", code: "assertion", text: "error rate = 0 %: 14.3 % (5 of 35)" },
    { state: "unresolved", code: "unstable", text: "not stable: concurrency 1" },
  ]);
});

test("an error rate cannot pass that would not if requests without a response had failed, in one run or in each", () => {
  const unanswered = { kind: "unfinished", count: 4, example: "no response", status: undefined } as const;
  const judgeAt = (
    limit: number,
    runCount: number,
    failures: readonly (typeof unanswered)[],
    metric: MetricPlan = { key: "errorRate" },
  ) => {
    const assertion = { metric, comparison: "below", limit } as const;
    const plan = makePlan({ outputs: { style: "rampart" }, assertions: [assertion] });
    const levels = [1, 2].map((level) =>
      makeLevel({ level, window: makeWindow({ latenciesNs: [1e6, 1e6, 2e6, 3e6] }) }),
    );
    const run = makeResult(plan, levels, { failures });
    const runs = Array.from({ length: runCount }, () => run);
    return judgeRun(plan, runCount === 1 ? run : { runs });
  };
  const [reason] = judgeAt(0.5, 1, [unanswered]).reasons;
  assert.equal(reason?.text, "error rate < 50 %: 0 of 8; 4 requests had no response when the run ended");
  for (const runCount of [1, 2]) {
    assert.equal(judgeAt(0.5, runCount, [unanswered]).name, "unresolved");
    assert.equal(judgeAt(0.51, runCount, [unanswered]).name, "passed");
    assert.equal(judgeAt(0.5, runCount, []).name, "passed");
    // They took longer than any other request.
    const longest = { key: "latency", statistic: "max" } as const;
    assert.equal(judgeAt(5e6, runCount, [unanswered], longest).name, "unresolved");
    assert.equal(judgeAt(5e6, runCount, [], longest).name, "passed");
  }
});

test("what is asserted of a tag cannot pass because of requests with this tag that had no response", () => {
  const window = makeWindow({ latenciesNs: [1e6, 1e6, 2e6, 3e6] });
  const groups = ["long", "short"].map((size) => ({ tags: { size }, window }));
  const judgeAt = (size: string, metric: MetricPlan, limit: number, runCount: number) => {
    const assertion = { metric, comparison: "below", limit, where: { size } } as const;
    const plan = makePlan({ outputs: { style: "rampart" }, assertions: [assertion] });
    const tagged = [{ tags: { size: "long" }, count: 4 }];
    const failures = [{ kind: "unfinished", count: 4, example: "no response", status: undefined, tagged }] as const;
    const run = makeResult(plan, [makeLevel({ window: { ...window, groups } })], { failures });
    const runs = Array.from({ length: runCount }, () => run);
    return judgeRun(plan, runCount === 1 ? run : { runs });
  };
  for (const runCount of [1, 2]) {
    for (const [metric, limit] of [
      [{ key: "errorRate" }, 0.5],
      [{ key: "latency", statistic: "max" }, 5e6],
    ] as const) {
      const { name, reasons } = judgeAt("long", metric, limit, runCount);
      assert.equal(name, "unresolved", metric.key);
      assert.match(reasons[0]?.text ?? "", /; \d requests had no response when the run ended$/);
      assert.equal(judgeAt("short", metric, limit, runCount).name, "passed", metric.key);
    }
    assert.equal(judgeAt("long", { key: "errorRate" }, 0.51, runCount).name, "passed");
  }
});

test("that all requests failed has those outside the measured time", () => {
  const plan = makePlan({ outputs: { style: "rampart" } });
  const window = makeWindow({ latenciesNs: [], failedCount: 21_543 });
  const failures = [{ kind: "http", count: 38_311, example: "no luck", status: 500 }] as const;
  const whole = { completedCount: 0, failedCount: 38_311, failures };
  const { headline } = judgeRun(plan, makeResult(plan, [makeLevel({ window })], whole));
  assert.equal(headline, "all 38,311 requests failed, 16,768 of them outside the measured time: no luck");
});

test("a run whose measured requests all failed measured nothing, although requests before them completed", () => {
  const plan = makePlan({ outputs: { style: "rampart" } });
  const failures = [{ kind: "http", count: 50, example: "model is not found", status: 404 }] as const;
  const whole = { completedCount: 20, failedCount: 50, failures };
  const failed = makeLevel({ window: makeWindow({ latenciesNs: [], failedCount: 40 }) });
  const { name, headline, exitCode } = judgeRun(plan, makeResult(plan, [failed], whole));
  assert.deepEqual({ name, exitCode }, { name: "failed", exitCode: 69 });
  assert.equal(headline, "all 40 measured requests failed: model is not found");
  assert.equal(judgeRun(plan, makeResult(plan, [failed, makeLevel({ level: 2 })], whole)).exitCode, 0);
});

test("perf_analyzer and genai-perf have exit codes of their own, so that JSON names none", () => {
  const plan = makePlan({ outputs: { style: "perf_analyzer" } });
  assert.equal("exitCode" in toReportJson(plan, makeResult(plan, [makeLevel()])).verdict, false);
});
