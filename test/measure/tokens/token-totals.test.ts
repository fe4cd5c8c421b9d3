import assert from "node:assert/strict";
import { test } from "node:test";
import { type AnsweredRequest, toMetricInput } from "../../../src/measure/tokens/answered-request.ts";
import { metricsOf } from "../../../src/measure/tokens/response-counts.ts";
import { joinTokenTotals, TokenTotals, type TotalledTokens } from "../../../src/measure/tokens/token-totals.ts";
import { makeTimes } from "./make-columns.ts";

/** What the tokens of a run add up to, which displays read while it lasts. */

/** @param contentMs arrivals of its tokens */
function answered(...contentMs: number[]): AnsweredRequest {
  return { sendNs: 0, times: makeTimes(contentMs, { reasoningTokens: Number.NaN }), inputTokens: 1 };
}

function totalsOf(...requests: readonly AnsweredRequest[]): TokenTotals {
  const totals = new TokenTotals();
  for (const request of requests) totals.add(metricsOf(toMetricInput(request)));
  return totals;
}

/** Leaves out room that a histogram has for more. */
function shown({ times, sums }: TotalledTokens) {
  const histograms = Object.values(times).map(({ counts, offset, count, sumNs }) => [
    ...[count, sumNs],
    [...counts].flatMap((one, at) => (one === 0 ? [] : [[offset + at, one]])),
  ]);
  return { sums, histograms };
}

const early = [answered(20, 25, 30), answered(40, 40, 40, 40)];
const late = [answered(21), answered(500, 900)];

test("totals have the tokens, the times to the first one, and those between", () => {
  const totals = totalsOf(...early);
  const { times, sums } = totals;
  assert.deepEqual(
    [sums.outputTokens, sums.inputTokens.sum, times.timeToFirstToken.count],
    [{ sum: 7, count: 2 }, 2, 2],
  );
  // All but the first of the second response's tokens came together with the one before.
  assert.deepEqual(sums.bunchedRatio, { sum: 1, count: 2 });
  const [low = 0, high = 0] = times.timeToFirstToken.quantiles([0.5, 1]) ?? [];
  assert.ok(Math.abs(low / 20e6 - 1) < 0.01 && Math.abs(high / 40e6 - 1) < 0.01, `${low} ${high}`);
  assert.equal(times.interTokenLatency.sumNs, 5e6);
});

test("a response that came whole has tokens and no times between them", () => {
  const { times, sums } = totalsOf({ ...answered(30), lacksStream: true });
  assert.deepEqual([sums.outputTokens.sum, times.timeToFirstToken.count, times.interTokenLatency.count], [1, 0, 0]);
});

test("the totals of parts are those of the whole, also after they were sent to another thread", () => {
  const sent = [totalsOf(...early), totalsOf(...late)].map((part) => structuredClone<TotalledTokens>(part));
  assert.deepEqual(shown(joinTokenTotals(sent)), shown(totalsOf(...early, ...late)));
});

test("totals with fewer values are not later ones", () => {
  assert.equal(totalsOf(...early).isWithin(totalsOf(...early, ...late)), true);
  assert.equal(totalsOf(...early, ...late).isWithin(totalsOf(...early)), false);
});

test("without earlier totals, those of the time since then are left", () => {
  const totals = totalsOf(...early, ...late);
  totals.addAll(structuredClone<TotalledTokens>(totalsOf(...early)), -1);
  assert.deepEqual(shown(totals), shown(totalsOf(...late)));
});
