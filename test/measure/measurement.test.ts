import assert from "node:assert/strict";
import { test } from "node:test";
import { latencyOf, sendDelayOf } from "../../src/measure/measurement.ts";
import { RECORD_FAILED, RecordColumns } from "../../src/measure/records.ts";
import { NO_OPEN_REQUESTS, toMeasurement, WindowTally } from "../../src/measure/tally/window-tally.ts";
import { fill } from "./make-records.ts";
import { makeWindow } from "./make-window.ts";

test("latencies that a measurement does not have apart are its latency", () => {
  const plain = makeWindow({ latenciesNs: [5e6] });
  assert.deepEqual(
    [latencyOf(plain, "firstResponse"), latencyOf(plain, "scheduledLatency"), sendDelayOf(plain).count],
    [plain.latency, plain.latency, 0],
  );
  const due = makeWindow({ latenciesNs: [5e6], scheduledNs: [7e6], firstResponseNs: [1e6], sendDelayNs: [2e6] });
  assert.deepEqual(
    [latencyOf(due, "firstResponse").max, latencyOf(due, "scheduledLatency").max, sendDelayOf(due).max],
    [1e6, 7e6, 2e6],
  );
});

for (const [name, count] of [
  ["without requests", 0],
  ["with one", 1],
  ["with many, some of which take seconds or fail", 3000],
] as const)
  test(`a window ${name} is plain data: its clone, and what JSON makes of it, are equal`, () => {
    const tally = new WindowTally({
      ...{ isScheduled: true, isDecoupled: true, countsReading: true },
      extracted: [{ name: "a" }, { name: "b" }],
    });
    const records = new RecordColumns((columns, rows) => tally.add(columns, rows));
    for (let at = 0; at < count; at++) {
      const endNs = 1e9 + at * 1e6;
      fill(records, { sendStartNs: endNs - 1000.5 * at ** 2, endNs, flags: at % 7 === 3 ? RECORD_FAILED : 0 });
      tally.extracted?.add([at / 3, at % 2 === 0 ? "text" : null], endNs);
    }
    records.drain();
    for (const durationNs of [0, 4e9]) {
      const window = toMeasurement(tally, {
        ...{ startNs: 1e9, endNs: 1e9 + durationNs, sentCount: count, laneCount: 1, canLanesWait: false },
        ...{ openBefore: NO_OPEN_REQUESTS, openAfter: NO_OPEN_REQUESTS },
        health: { cpuRatio: 0, loopLagMaxNs: 0, loopLagMeanNs: 0 },
      });
      assert.deepEqual(structuredClone(window), window);
      assert.deepEqual(JSON.parse(JSON.stringify(window)), window);
    }
  });
