import assert from "node:assert/strict";
import { test } from "node:test";
import { judgeTokens } from "../../../src/measure/mlperf/judge-tokens.ts";
import type { MlperfTokenSample } from "../../../src/measure/mlperf/token-sample.ts";

/** What LoadGen has no numbers for; `loadgen-tokens.test.ts` compares the rest with it. */

const LIMITS = { timeToFirstTokenMs: 10, timePerOutputTokenMs: 2 };

function makeSample(firstCount: number, perCount: number, change: Partial<MlperfTokenSample> = {}): MlperfTokenSample {
  return {
    firstTokenNs: new Float64Array(firstCount).fill(5e6),
    perTokenNs: new Float64Array(perCount).fill(1e6),
    tokenCount: 2 * firstCount,
    uncountedCount: 0,
    ...change,
  };
}

const CASES: readonly {
  readonly name: string;
  readonly sample: MlperfTokenSample;
  readonly failedCount?: number;
  readonly broken: readonly RegExp[];
}[] = [
  { name: "all within the limits: nothing", sample: makeSample(700, 700), broken: [] },
  {
    name: "failed requests, which are named elsewhere: only early stopping",
    sample: makeSample(690, 690),
    failedCount: 10,
    broken: [/^early stopping .*time per output token: 10 of 700/, /^early stopping .*time to first token: 10 of 700/],
  },
  {
    name: "responses of one token",
    sample: makeSample(700, 690),
    broken: [/^10 of 700 requests failed or have fewer than two tokens$/, /^early stopping .* output token: 10 of 700/],
  },
  {
    name: "answers without a stream",
    sample: makeSample(690, 690),
    broken: [/^10 of 700 requests failed or have no streamed token$/, /output token: 10 of/, /first token: 10 of/],
  },
  {
    name: "responses of unknown length",
    sample: makeSample(700, 0, { uncountedCount: 700 }),
    broken: [/^the number of tokens of 700 responses is unknown, so name a tokenizer$/, /output token: 700 of 700/],
  },
  {
    name: "a percentile over its limit",
    sample: makeSample(700, 700, { firstTokenNs: new Float64Array(700).fill(11e6) }),
    broken: [/first token: 700 of 700/, /^p99 of time to first token is 11 ms, over the limit of 10 ms$/],
  },
];

for (const { name, sample, failedCount = 0, broken } of CASES)
  test(`broken rules of ${name}`, () => {
    const judged = judgeTokens(LIMITS, 99, sample, { queryCount: 700, failedCount });
    assert.equal(judged.broken.length, broken.length, judged.broken.join("\n"));
    for (const [index, pattern] of broken.entries()) assert.match(judged.broken[index] as string, pattern);
  });

test("without a token there are no statistics, and every request is over the limit", () => {
  const { times } = judgeTokens(LIMITS, 99, makeSample(0, 0), { queryCount: 3, failedCount: 3 });
  for (const time of Object.values(times)) {
    assert.deepEqual([time.count, time.latency, time.target], [0, undefined, undefined]);
    assert.deepEqual([time.earlyStopping.isMet, time.earlyStopping.overCount], [false, 3]);
  }
});
