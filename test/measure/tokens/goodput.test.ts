import assert from "node:assert/strict";
import { test } from "node:test";
import { GOODPUT_NAMES, type GoodputLimits } from "../../../src/measure/tokens/goodput.ts";
import type { ResponseFamily } from "../../../src/measure/tokens/metrics.ts";
import { countGood, makeColumns, makeTimes } from "./make-columns.ts";

/** First tokens after 50, 100 and 50 ms; intervals of 10, 10 and none. */
const columns = makeColumns(
  { times: makeTimes([50, 60, 70]) },
  { times: makeTimes([100, 110, 120]) },
  { times: makeTimes([50]) },
);

const CASES: readonly (readonly [limits: GoodputLimits, good: number | undefined, family?: ResponseFamily])[] = [
  [{}, 3],
  [{ time_to_first_token: 99 }, 2],
  [{ time_to_first_token: 100 }, 3],
  [{ request_latency: 60 }, 1],
  [{ request_latency: 60 }, 1, "plain"],
  [{ inter_token_latency: 9 }, 1],
  [{ inter_token_latency: 10, time_to_first_token: 50 }, 2],
  [{ output_token_throughput_per_user: 101 }, 1],
  [{ output_token_throughput_per_user: 100 }, 3],
  [{ image_latency: 1 }, undefined],
  [{ time_to_first_token: 50 }, undefined, "plain"],
  [{ nonsense: 1 }, undefined],
];
for (const [limits, good, family = "text"] of CASES)
  test(`${JSON.stringify(limits)} of ${family} responses: ${good ?? "an unknown name"}`, () => {
    assert.equal(countGood(columns, family, limits), good);
  });

test("a response that was not streamed though it should have been breaks a limit on streams, and no other", () => {
  const whole = makeColumns({ times: makeTimes([50]), lacksStream: true }, { times: makeTimes([50, 60]) });
  assert.equal(countGood(whole, "text", { time_to_first_token: 1000 }), 1);
  assert.equal(countGood(whole, "text", { request_latency: 1000 }), 2);
});

test("all names that may be limited are listed once", () => {
  assert.equal(new Set(GOODPUT_NAMES).size, GOODPUT_NAMES.length);
  for (const name of ["time_to_first_token", "image_latency", "request_latency"])
    assert.ok(GOODPUT_NAMES.includes(name));
});
