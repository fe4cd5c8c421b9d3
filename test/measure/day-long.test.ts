import assert from "node:assert/strict";
import { test } from "node:test";
import { CompletionGaps } from "../../src/measure/completion-gaps.ts";
import { RECORD_FAILED, RecordColumns } from "../../src/measure/records.ts";
import { WindowTally } from "../../src/measure/tally/window-tally.ts";
import { Timeline } from "../../src/measure/timeline.ts";
import { TokenTally } from "../../src/measure/tokens/token-tally.ts";
import { FailureLog } from "../../src/run/judge/failure-log.ts";
import { collectGarbage } from "../../src/runtime/machine.ts";
import { Readings } from "../../src/telemetry/readings.ts";
import { LIMIT } from "../time-limit.ts";
import { makeTimes } from "./tokens/make-columns.ts";

/**
 * What counts a level of 24 hours, on a simulated clock: every request has a latency of its own, up to a minute, so that whatever keeps one entry for
 * each grows. The memory after the first quarter of the day is compared with that at its end.
 */

const DAY_NS = 86_400e9;
/** About 14 requests/s, and one in seven has tokens. */
const COUNT = 1_200_000;
const TOKENS_EVERY = 7;
const MOST_GROWTH_MB = 30;

test("a level of 24 hours needs no more memory than its first quarter", LIMIT, () => {
  const startNs = 1e9;
  const options = {
    isScheduled: true,
    countsReading: true,
    isDecoupled: true,
    extracted: [{ name: "score" }, { name: "id" }],
  };
  const tally = new WindowTally(options);
  const timelines = [new Timeline(startNs, { durationNs: DAY_NS }), new Timeline(startNs)];
  const gaps = new CompletionGaps(startNs);
  const tokens = new TokenTally();
  const failures = new FailureLog();
  const gpu = new Readings();
  const records = new RecordColumns((columns, count) => {
    tally.add(columns, count);
    gaps.add(columns, count);
    for (const timeline of timelines) timeline.add(columns, count);
  });
  let state = 1;
  const random = (): number => {
    state = (state * 48_271) % 2_147_483_647;
    return state / 2_147_483_647;
  };
  const usedMb: number[] = [];
  for (let at = 1; at <= COUNT; at++) {
    const { row } = records;
    const endNs = startNs + (at / COUNT) * DAY_NS;
    const latencyNs = 1e6 * 60_000 ** random() + random() * 1e6;
    records.endNs[row] = endNs;
    records.overNs[row] = endNs;
    records.sendStartNs[row] = endNs - latencyNs;
    records.intendedSendNs[row] = endNs - latencyNs * (1 + random());
    records.sendEndNs[row] = endNs - latencyNs;
    records.firstByteNs[row] = endNs - latencyNs * random();
    const hasFailed = at % 1000 === 0;
    records.flags[row] = hasFailed ? RECORD_FAILED : 0;
    records.commit();
    if (hasFailed) failures.add({ kind: "http", status: 500 + (at % 50), message: `no ${at}`, excerpt: `body ${at}` });
    tally.extracted?.add([random(), `request ${at}`], endNs);
    gpu.add(endNs / 1e9, random());
    if (at % TOKENS_EVERY === 0) {
      const times = makeTimes([latencyNs / 2e6, latencyNs / 1e6]);
      tokens.add({ sendNs: endNs - latencyNs, inputTokens: 1 + Math.floor(100_000 * random()), times });
    }
    if (at % (COUNT / 4) === 0) {
      collectGarbage();
      const { heapUsed, external } = process.memoryUsage();
      usedMb.push((heapUsed + external) / 2 ** 20);
    }
  }
  records.drain();
  const [quarterMb, , , dayMb] = usedMb as [number, number, number, number];
  const course = `${usedMb.map((mb) => mb.toFixed(1)).join(", ")} MB at each quarter`;
  assert.ok(dayMb - quarterMb < MOST_GROWTH_MB, course);
  const latency = tally.latency.toSketch();
  assert.equal(latency.count, COUNT - COUNT / 1000);
  assert.equal(tokens.count, Math.floor(COUNT / TOKENS_EVERY));
  const columns = timelines.map((timeline) => timeline.columns(startNs + DAY_NS));
  assert.ok(
    columns.every(({ length }) => length <= 60),
    columns.map(({ length }) => length).join(),
  );
  assert.ok(failures.list().length <= 50);
  assert.ok(
    latency.values.length < 2 ** 21 && (tally.extracted?.cut(startNs, startNs + DAY_NS)[1]?.texts.length ?? 0) <= 1000,
    course,
  );
});
