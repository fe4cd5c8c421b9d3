import assert from "node:assert/strict";
import { test } from "node:test";
import type { RequestTokens } from "../../src/measure/tokens/request-tokens.ts";
import type { RunTokens } from "../../src/measure/tokens/run-tokens.ts";
import { RunError } from "../../src/plan/problem.ts";
import type { RunResult } from "../../src/result/run-result.ts";
import { followTokens } from "../../src/run/followers.ts";
import { makePlan } from "../plan/make-plan.ts";
import { makeResult } from "../report/make-result.ts";
import { LIMIT } from "../time-limit.ts";

/** The tokens of single requests reach the observer of a run. */

const result: RunResult = makeResult(makePlan(), []);

function tokensOf(takeRequests: RunTokens["takeRequests"]): RunTokens {
  return { takeRequests } as RunTokens;
}

function one(index: number): RequestTokens {
  return { index, metrics: new Map(), contentNs: new Float64Array(0) };
}

test("what is measured only after the run reaches the observer before the result", LIMIT, async () => {
  const asked: boolean[] = [];
  const seen: number[] = [];
  const tokens = tokensOf(async (isLast) => {
    asked.push(isLast);
    return isLast ? [one(1), one(2)] : [one(0)];
  });
  const { promise, resolve } = Promise.withResolvers<void>();
  const observer = {
    onTokens: ({ index }: RequestTokens) => {
      seen.push(index);
      resolve();
    },
  };
  const found = await followTokens(tokens, observer, async () => {
    await promise;
    return result;
  });
  assert.equal(found, result);
  assert.equal(asked.filter((isLast) => isLast).length, 1);
  assert.equal(asked.at(-1), true, "the last request is for the rest");
  assert.deepEqual(seen.slice(-2), [1, 2]);
  assert.ok(seen.includes(0), "tokens arrive while the run lasts");
});

test("a thread that fails at the end is the run's error, unless the run has one", LIMIT, async () => {
  const failed = new RunError("internal", "the thread failed", "Report this.");
  const tokens = tokensOf(() => Promise.reject(failed));
  const follow = (given: RunResult): Promise<RunResult> =>
    followTokens(tokens, { onTokens: () => {} }, () => Promise.resolve(given));
  assert.equal((await follow(result)).error, failed);
  const own = new RunError("unreachable", "gone", "Start it.");
  assert.equal((await follow({ ...result, error: own })).error, own);
});
