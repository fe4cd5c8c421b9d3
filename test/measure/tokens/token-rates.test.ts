import assert from "node:assert/strict";
import { test } from "node:test";
import { goodPerSec, outputTokensPerSec } from "../../../src/measure/tokens/token-rates.ts";
import { makeColumns, makeTimes } from "./make-columns.ts";

const window = { durationNs: 2e9 };
const columns = makeColumns({ times: makeTimes([50, 60, 70]) }, { times: makeTimes([100]) });

test("rates are over the window, not from the first send to the last token", () => {
  assert.equal(outputTokensPerSec(columns, window), 2);
  assert.equal(goodPerSec(columns, window, { time_to_first_token: 50 }), 0.5);
  assert.equal(goodPerSec(columns, window, {}), 1);
});

test("without requests, counts, time or a known name there is no rate", () => {
  assert.equal(outputTokensPerSec(makeColumns(), window), undefined);
  assert.equal(
    outputTokensPerSec(makeColumns({ times: makeTimes([5], { outputTokens: Number.NaN }) }), window),
    undefined,
  );
  assert.equal(outputTokensPerSec(columns, { durationNs: 0 }), undefined);
  assert.equal(goodPerSec(makeColumns(), window, {}), undefined);
  assert.equal(goodPerSec(columns, window, { nonsense: 1 }), undefined);
});

test("a window of nothing but failures has a goodput of 0", () => {
  const failed = makeColumns();
  failed.addFailures(3);
  assert.equal(goodPerSec(failed, window, {}), 0);
});
