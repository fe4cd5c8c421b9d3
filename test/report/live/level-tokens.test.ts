import assert from "node:assert/strict";
import { test } from "node:test";
import { metricsOf } from "../../../src/measure/tokens/response-counts.ts";
import { TokenTotals, type TotalledTokens } from "../../../src/measure/tokens/token-totals.ts";
import { formatLiveLines } from "../../../src/report/live/live-text.ts";
import type { RunSnapshot } from "../../../src/report/live/run-snapshot.ts";
import { makePlan } from "../../plan/make-plan.ts";
import { startFakeRun } from "./fake-run.ts";

/** The tokens of levels while a run lasts. */

const TOKENS = { responses: "chat", isStreamed: true, tokenizer: "none", revision: "main" } as const;
const PLAN = makePlan({ target: { isStreaming: true }, measurement: { tokens: TOKENS } });

/** A run whose tokens are asked for. */
function startRun(plan = PLAN) {
  const asked: PromiseWithResolvers<TotalledTokens | undefined>[] = [];
  let totals = new TokenTotals();
  const run = startFakeRun(plan, () => {
    const one = Promise.withResolvers<TotalledTokens | undefined>();
    asked.push(one);
    return one.promise;
  });
  return {
    ...run,
    asked,
    /** Ends a response of ten tokens, 10 ms apart, whose first one came after this time. */
    respond: (firstMs: number) => {
      run.end(firstMs + 90);
      const contentNs = Array.from({ length: 10 }, (_, at) => (firstMs + 10 * at) * 1e6);
      const times = { ...NO_TIMES, contentNs, eventCount: 10, outputTokens: 10 };
      totals.add(metricsOf({ ...REST, times, outputTokens: 10, serverTextTokens: 10, interTokenLatencyNs: 10e6 }));
    },
    /** Answers the questions that are open. */
    answer: async () => {
      for (const { resolve } of asked.splice(0)) resolve(structuredClone<TotalledTokens>(totals));
      await new Promise(setImmediate);
      // A snapshot is kept for a moment.
      run.pass(0.2);
    },
    /** Another sender counts from here on. */
    renew: () => {
      totals = new TokenTotals();
    },
    read: (): RunSnapshot => run.state.snapshot() ?? assert.fail(),
  };
}

const NO_TIMES = { firstOutputNs: Number.NaN, firstReasoningNs: Number.NaN, reasoningTokens: Number.NaN };
const REST = {
  ...{
    wholeNs: Number.NaN,
    latencyNs: Number.NaN,
    inputTokens: Number.NaN,
    requestedTokens: Number.NaN,
    imageCount: 0,
  },
  ...{ usage: undefined, lacksStream: false },
};

/** The tokens of each level. */
function tokensOf({ levels }: RunSnapshot): readonly (number | undefined)[] {
  return levels.map(({ tokens }) => tokens?.totals.sums.outputTokens.sum);
}

test("tokens belong to the level in which they came, whenever they are known", async () => {
  const run = startRun();
  run.state.onLevelStart("concurrency", 1, false);
  run.respond(20);
  run.pass(1);
  run.read();
  await run.answer();
  run.respond(20);
  // What the level before has until now is asked for, and answered later.
  run.state.onLevelStart("concurrency", 2, false);
  await run.answer();
  run.respond(500);
  run.pass(2);
  run.read();
  await run.answer();
  assert.deepEqual(tokensOf(run.read()), [20, 10]);
});

test("they are asked for once a second, and never twice at a time", async () => {
  const run = startRun();
  run.state.onLevelStart("concurrency", 1, false);
  await run.answer();
  run.respond(20);
  run.pass(3);
  run.read();
  await run.answer();
  for (let frame = 0; frame < 3; frame++) {
    run.read();
    run.pass(0.25);
  }
  assert.equal(run.asked.length, 0);
  for (let frame = 0; frame < 20; frame++) {
    run.pass(0.25);
    run.read();
  }
  assert.equal(run.asked.length, 1);
});

test("counts that start again are not taken away from a level", async () => {
  const run = startRun();
  run.state.onLevelStart("concurrency", 1, false);
  run.respond(20);
  run.respond(20);
  run.read();
  await run.answer();
  run.renew();
  run.respond(20);
  run.pass(1);
  run.read();
  await run.answer();
  run.respond(20);
  run.pass(1);
  run.read();
  await run.answer();
  // Those between the two answers of different senders are not known.
  assert.deepEqual(tokensOf(run.read()), [30]);
});

test("the row of a level has the columns of the report's table", async () => {
  const run = startRun();
  run.state.onLevelStart("concurrency", 4, false);
  await run.answer();
  for (let request = 0; request < 20; request++) run.respond(20);
  run.pass(2);
  run.read();
  await run.answer();
  const lines = formatLiveLines(run.read(), 79).filter(({ isWide }) => isWide === true);
  const [header, row] = lines.map(({ text }) => text.trim().split(/ {2,}/));
  assert.deepEqual(header, [
    "users",
    "req/s",
    "tokens/s",
    "TTFT p50",
    "TTFT p99",
    "ITL p50",
    "ITL p99",
    "e2e p99",
    "failed",
  ]);
  // Requests until now, and tokens until they were asked for.
  assert.deepEqual(row?.slice(0, 3), ["4", "8.33", "90.9"]);
  for (const { text } of lines) assert.ok(text.length < 80, text);
});

test("responses without text have no such row", () => {
  const run = startRun(makePlan({ measurement: { tokens: { ...TOKENS, responses: "embeddings" } } }));
  run.state.onLevelStart("concurrency", 1, false);
  run.end(5);
  run.pass(1);
  const lines = formatLiveLines(run.read());
  assert.equal(run.asked.length, 0);
  assert.ok(lines.some(({ label }) => label === "recent"));
});
