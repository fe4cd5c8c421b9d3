import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { checkLittlesLaw, explainLittlesLaw, meanInFlight } from "../../src/measure/in-flight.ts";
import { makeWindow, type WindowParts } from "./make-window.ts";

test("the mean number in flight is the time in flight over the window's", () => {
  assert.equal(meanInFlight(makeWindow({ durationNs: 2e9, inFlightSumNs: 5e9 })), 2.5);
  assert.equal(meanInFlight(makeWindow({ durationNs: 0, inFlightSumNs: 5e9 })), 0);
});

/** Ten requests of 100 ms in a second: one in flight on average. */
const steady: WindowParts = { latenciesNs: new Array(10).fill(100e6) };

describe("Little's law", () => {
  for (const [name, inFlightMean, isKept] of [
    ["is kept where both agree", 1, true],
    ["is kept within a tenth of the larger", 1.11, true],
    ["is broken by more", 1.12, false],
    ["is broken by less", 0.89, false],
  ] as const)
    test(name, () => {
      const window = makeWindow({ ...steady, inFlightSumNs: inFlightMean * 1e9 });
      assert.deepEqual(checkLittlesLaw(window), { inFlightMean, expectedMean: 1, isKept });
      assert.equal(explainLittlesLaw(window) === undefined, isKept);
    });

  const causes: readonly (readonly [cause: RegExp, parts: WindowParts])[] = [
    [/^throughput × mean latency is 1 request in flight, 2 were: the 5 requests that failed/, { failedCount: 5 }],
    [/not steady: 0 requests were in flight at the start and 40 at the end/, { openAfterCount: 40 }],
    [/the measurement is short/, { openBeforeCount: 2, openAfterCount: 2 }],
  ];
  for (const [cause, parts] of causes)
    test(`names the cause: ${cause.source.slice(-30)}`, () => {
      assert.match(explainLittlesLaw(makeWindow({ ...steady, inFlightSumNs: 2e9, ...parts })) ?? "", cause);
    });

  test("has nothing to compare where nothing was answered", () => {
    assert.equal(explainLittlesLaw(makeWindow({ latenciesNs: [], inFlightSumNs: 2e9 })), undefined);
  });
});
