import assert from "node:assert/strict";
import { test } from "node:test";
import { makeDelta, makeWindow } from "../../measure/make-window.ts";
import { makeLevel } from "../make-result.ts";
import { modelOf } from "./make-model.ts";

/** Where the server spends the time: the parts of a level are its mean latency. */

test("the parts add up to the mean latency where a cache answers most requests", () => {
  // Of 100 requests of 500 us, 90 are answered from the cache in 50 us, and 10 are computed in 250 us.
  const server = makeDelta(100, {
    successNs: 90 * 50_000 + 10 * 250_000,
    queueNs: 0,
    ...{ computeInputCount: 10, computeInferCount: 10, computeOutputCount: 10 },
    ...{ computeInputNs: 0, computeInferNs: 10 * 200_000, computeOutputNs: 0 },
    ...{ cacheHitCount: 90, cacheHitNs: 90 * 50_000, cacheMissCount: 10, cacheMissNs: 10 * 50_000 },
  });
  const window = makeWindow({ latenciesNs: new Array(100).fill(500_000), server });
  const { sections } = modelOf({}, [makeLevel({ window })]);
  const plot = sections.find(({ id }) => id === "server")?.charts?.[0];
  assert.ok(plot?.kind === "bars");
  assert.match(plot.yLabel, /\(us\)/);
  const parts = Object.fromEntries(plot.series.map(({ name, values }) => [name, values[0]]));
  assert.deepEqual(parts, { "compute infer": 20, "other in the server": 50, "network and client": 430 });
});
