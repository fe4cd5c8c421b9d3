import assert from "node:assert/strict";
import { test } from "node:test";
import type { ServerDelta } from "../../../src/measure/server-delta.ts";
import { makeDelta, makeWindow } from "../../measure/make-window.ts";
import { makeLevel } from "../make-result.ts";
import { modelOf } from "./make-model.ts";

/** Where the server spends the time: the parts of a level are its mean latency. */

/** Returns the parts of a level of 100 requests of 500 us, by name, in microseconds. */
function partsOf(server: ServerDelta): Record<string, number> {
  const window = makeWindow({ latenciesNs: new Array(100).fill(500_000), server });
  const plot = modelOf({}, [makeLevel({ window })]).sections.find(({ id }) => id === "server")?.charts[0];
  assert.ok(plot?.kind === "bars");
  assert.match(plot.yLabel, /\(us\)/);
  return Object.fromEntries(plot.series.map(({ name, values }) => [name, Number(values[0])]));
}

test("the parts add up to the mean latency where a cache answers most requests", () => {
  // 90 are answered from the cache in 50 us, and 10 are computed in 250 us.
  const server = makeDelta(100, {
    successNs: 90 * 50_000 + 10 * 250_000,
    queueNs: 0,
    ...{ computeInputCount: 10, computeInferCount: 10, computeOutputCount: 10 },
    ...{ computeInputNs: 0, computeInferNs: 10 * 200_000, computeOutputNs: 0 },
    ...{ cacheHitCount: 90, cacheHitNs: 90 * 50_000, cacheMissCount: 10, cacheMissNs: 10 * 50_000 },
  });
  assert.deepEqual(partsOf(server), { "compute infer": 20, "other in the server": 50, "network and client": 430 });
});

test("requests with several responses have no parts, because the server's count of them may end before the responses", () => {
  const times = new Array(10).fill(500_000);
  const window = makeWindow({ latenciesNs: times, firstResponseNs: times, server: makeDelta(10) });
  const { sections } = modelOf({}, [makeLevel({ window })]);
  assert.ok(sections.every(({ id, charts }) => id !== "server" || charts.length === 0));
});

test("the queues of an ensemble's models are its queue; those of a model that calls others are in its own time", () => {
  // As a Triton counts them: an ensemble has the sums of what its models compute, and no queue.
  const computed = { computeInputNs: 0, computeOutputNs: 0, computeInferNs: 100 * 100_000 };
  const called = makeDelta(100, { ...computed, name: "called", queueNs: 100 * 180_000, successNs: 100 * 290_000 });
  const ensemble = makeDelta(100, { ...computed, queueNs: 0, successNs: 100 * 300_000, composing: [called] });
  assert.deepEqual(partsOf(ensemble), {
    ...{ queue: 180, "compute infer": 100 },
    ...{ "other in the server": 20, "network and client": 200 },
  });
  const script = makeDelta(100, {
    ...{ ...computed, computeInferNs: 100 * 290_000, queueNs: 100 * 10_000 },
    ...{ successNs: 100 * 300_000, composing: [called] },
  });
  assert.deepEqual(partsOf(script), { queue: 10, "compute infer": 290, "network and client": 200 });
});
