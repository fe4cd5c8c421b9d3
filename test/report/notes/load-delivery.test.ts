import assert from "node:assert/strict";
import { test } from "node:test";
import type { LoadPlan } from "../../../src/plan/load-plan.ts";
import type { MeasurementModePlan } from "../../../src/plan/plan.ts";
import { toDeliveryJson } from "../../../src/report/json/level.ts";
import { describeDelivery, describeUndelivered, loadDelivery } from "../../../src/report/notes/load-delivery.ts";
import type { LevelResult } from "../../../src/result/run-result.ts";
import { makeWindow, type WindowParts } from "../../measure/make-window.ts";
import { makePlan } from "../../plan/make-plan.ts";
import { makeLevel } from "../make-result.ts";

/** What was asked for, and what was delivered, for every load mode. */

const MS = 1e6;
const HUNDRED = { latenciesNs: new Array<number>(100).fill(40 * MS) };
const list = { kind: "list", values: [100] } as const;
const rate = { kind: "request-rate", levels: list, search: "linear", distribution: "constant", seed: 0 } as const;
const WHOLE: MeasurementModePlan = { kind: "duration", durationMs: 1000 };

interface Case {
  readonly load: LoadPlan;
  readonly level: number;
  readonly parts?: WindowParts;
  readonly mode?: MeasurementModePlan;
  readonly expected: string;
  readonly isDelivered: boolean | undefined;
}

const CASES: Readonly<Record<string, Case>> = {
  "a concurrency": {
    load: { kind: "concurrency", levels: list, search: "linear" },
    level: 4,
    expected: "4 in flight on average, 4 asked for; throughput × mean latency is 4",
    isDelivered: true,
  },
  "a concurrency that was not reached": {
    load: { kind: "concurrency", levels: list, search: "linear" },
    level: 5,
    expected: "only 4 in flight on average, 5 asked for; throughput × mean latency is 4",
    isDelivered: false,
  },
  "a concurrency that rises": {
    load: { kind: "concurrency-ramp", start: 1, end: 7, overMs: 1000 },
    level: 7,
    mode: WHOLE,
    expected: "4 in flight on average, 4 asked for; throughput × mean latency is 4",
    isDelivered: true,
  },
  "a concurrency that rises to its level": {
    load: { kind: "concurrency", levels: list, search: "linear", rampMs: 500 },
    level: 5,
    mode: WHOLE,
    expected: "4 in flight on average, 4 asked for; throughput × mean latency is 4",
    isDelivered: true,
  },
  "a rate": {
    load: rate,
    level: 100,
    expected: "100 requests/s sent, 100 asked for; 4 in flight on average; throughput × mean latency is 4",
    isDelivered: true,
  },
  "a rate that was missed": {
    load: rate,
    level: 120,
    expected: "only 100 requests/s sent, 120 asked for; 4 in flight on average; throughput × mean latency is 4",
    isDelivered: false,
  },
  "a random rate that chance explains": {
    load: { ...rate, distribution: "poisson" },
    level: 120,
    expected: "100 requests/s sent, 120 asked for; 4 in flight on average; throughput × mean latency is 4",
    isDelivered: true,
  },
  "gaps of a file, fewer than the mean in this time": {
    load: { kind: "intervals", file: "gaps.txt" },
    level: 125,
    expected: "100 requests/s sent, 125 asked for; 4 in flight on average; throughput × mean latency is 4",
    isDelivered: true,
  },
  "gaps of a file that were missed": {
    load: { kind: "intervals", file: "gaps.txt" },
    level: 125,
    parts: { ...HUNDRED, sendDelayNs: new Array<number>(100).fill(200 * MS) },
    expected: "only 100 requests/s sent, 125 asked for; 4 in flight on average; throughput × mean latency is 4",
    isDelivered: false,
  },
  "a rate that rises": {
    load: { ...rate, ramp: { fromPerSec: 0, overMs: 1000 } },
    level: 200,
    mode: WHOLE,
    expected: "100 requests/s sent, 100 asked for; 4 in flight on average; throughput × mean latency is 4",
    isDelivered: true,
  },
  "a rate that rises before the window": {
    load: { ...rate, ramp: { fromPerSec: 0, overMs: 1000 } },
    level: 200,
    mode: { kind: "time-windows", windowMs: 1000, stabilityPct: 10, maxTrials: 10 },
    expected: "100 requests/s sent; 4 in flight on average; throughput × mean latency is 4",
    isDelivered: undefined,
  },
  "times of the data": {
    load: { kind: "fixed-schedule" },
    level: 1,
    expected: "100 requests/s sent; 4 in flight on average; throughput × mean latency is 4",
    isDelivered: undefined,
  },
  "times of the data that are all the same": {
    load: { kind: "fixed-schedule" },
    level: 1,
    parts: { ...HUNDRED, sendingNs: 0 },
    expected: "100 requests sent; 4 in flight on average; throughput × mean latency is 4",
    isDelivered: undefined,
  },
  conversations: {
    load: { kind: "session-concurrency", concurrency: 9 },
    level: 9,
    expected: "4 in flight on average; throughput × mean latency is 4",
    isDelivered: undefined,
  },
  "a load that Little's law does not fit": {
    load: { kind: "concurrency", levels: list, search: "linear" },
    level: 8,
    parts: { ...HUNDRED, inFlightSumNs: 8e9 },
    expected: "8 in flight on average, 8 asked for",
    isDelivered: true,
  },
};

for (const [name, { load, level, parts = HUNDRED, mode, expected, isDelivered }] of Object.entries(CASES))
  test(`asked for and delivered: ${name}`, () => {
    const plan = makePlan({ load, ...(mode === undefined ? {} : { measurement: { mode } }) });
    const isRate = ["request-rate", "intervals", "fixed-schedule"].includes(load.kind);
    const result = makeLevel({ unit: isRate ? "request-rate" : "concurrency", level, window: makeWindow(parts) });
    assert.equal(describeDelivery(plan, result), expected);
    assert.equal(loadDelivery(plan, result).isDelivered, isDelivered);
  });

test("a level of a phase is compared with the load of its phase", () => {
  const phases = [
    { name: "rise", load: { kind: "concurrency-ramp", start: 1, end: 7, overMs: 1000 }, mode: WHOLE },
    { name: "hold", load: { kind: "concurrency", levels: list, search: "linear" }, mode: WHOLE },
  ] as const;
  const plan = makePlan({ load: { kind: "phases", phases } });
  const levelOf = (index: number, level: number): LevelResult =>
    makeLevel({ level, window: makeWindow(HUNDRED), phase: { index, label: phases[index]?.name ?? "" } });
  const asked = [levelOf(0, 7), levelOf(1, 4), levelOf(1, 8)].map(
    (level) => Math.round(1e9 * (loadDelivery(plan, level).asked ?? 0)) / 1e9,
  );
  assert.deepEqual(asked, [4, 4, 8]);
  assert.deepEqual(toDeliveryJson(plan, levelOf(1, 8)), {
    ...{ unit: "concurrency", asked: 8, delivered: 4, isDelivered: false },
  });
  assert.equal(describeUndelivered(plan, levelOf(1, 4)), undefined);
  assert.match(describeUndelivered(plan, levelOf(1, 8)) ?? "", /^only 4 in flight on average, 8 asked for; /);
  assert.equal(describeUndelivered(plan, levelOf(0, 20)), undefined, "a ramp has no verdict");
});
