import assert from "node:assert/strict";
import { test } from "node:test";
import { entryOf, TOKEN_METRICS } from "../../../src/measure/tokens/metrics.ts";
import { tokenSamples } from "../../../src/measure/tokens/token-columns.ts";
import { makeColumns, makeTimes } from "./make-columns.ts";

test("samples are the measured values, in the order of the metrics", () => {
  const samples = tokenSamples(makeColumns({ times: makeTimes([50, 60]) }, { times: makeTimes([80]) }), true);
  const names = [...samples.keys()];
  assert.ok(names.length > 5);
  assert.deepEqual(
    names,
    TOKEN_METRICS.filter((metric) => samples.has(metric)),
  );
  assert.deepEqual([...(samples.get("requestLatencyNs")?.measured() ?? [])], [60e6, 80e6]);
  assert.deepEqual(
    [...(samples.get("timeToSecondTokenNs")?.measured() ?? [])],
    [10e6],
    "what a request does not have is left out",
  );
});

test("a metric that no request has is not shown, nor are reasoning metrics without reasoning", () => {
  const without = tokenSamples(makeColumns({ times: makeTimes([50]) }), true);
  assert.deepEqual([without.has("serverOutputTokens"), without.has("reasoningTokens")], [false, false]);
  const reasoning = tokenSamples(makeColumns({ times: makeTimes([50], { reasoningTokens: 3 }) }), true);
  assert.deepEqual([...(reasoning.get("reasoningTokens")?.measured() ?? [])], [3]);
});

test("without streams there are no times of tokens", () => {
  const names = [...tokenSamples(makeColumns({ times: makeTimes([50, 60]) }), false).keys()];
  assert.ok(names.includes("requestLatencyNs"));
  assert.deepEqual(
    names.filter((name) => entryOf(name).isStreamed),
    [],
  );
});
