import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { sum } from "../../src/plan/units.ts";
import type { MetricsJson } from "../../src/report/schema/metrics.ts";
import { makeFolder, writeIn } from "../make-folder.ts";
import { spreadIn, valueIn } from "../report/json-metrics.ts";
import { startTruth } from "../servers/truth.ts";
import { LIMIT } from "../time-limit.ts";
import { runWithReport } from "./command.ts";

/** Throughput and rates over real sockets, beside a server that knows them. */

const folder = makeFolder();

interface Level {
  readonly completed: number;
  readonly sent: number;
  readonly durationSec: number;
  readonly sendingSec?: number;
  readonly metrics: MetricsJson;
  readonly inFlight: { readonly mean: number };
  readonly load: { readonly unit: string; readonly asked: number | null; readonly isDelivered: boolean | null };
  readonly client: { readonly loopLagMaxMs: number };
}

interface Measured {
  readonly level: Level;
  readonly levels: readonly Level[];
  readonly stdout: string;
  readonly trueLog: Awaited<ReturnType<Awaited<ReturnType<typeof startTruth>>["log"]>>;
}

/** Measures a server whose latency is evenly spread between both times. @param load the fields of the scenario */
async function measure(fromMs: number, toMs: number, load: string): Promise<Measured> {
  await using server = await startTruth(fromMs, toMs);
  const text = `import { defineScenario, hold, http, intervals, rate, rateRamp } from "rampart";
export default defineScenario({ name: "truth", target: http("${server.url}/"), ${load} });
`;
  const file = writeIn(folder, `truth-${fromMs}-${toMs}.ts`, text);
  const { code, stdout, stderr, report } = await runWithReport(["run", file]);
  assert.equal(code, 0, `${stdout}\n${stderr}`);
  const log = await server.log();
  // Every request of the run, warm-up included, is in the server's log.
  assert.equal(report.requests.completed, log.length);
  const levels = report.levels as unknown as readonly Level[];
  return { level: levels[0] as Level, levels, stdout, trueLog: log };
}

/** A relative difference that a late timer at an end of the level explains on a busy machine. */
function checkClose(measured: number, truth: number, ratio: number): void {
  assert.ok(Math.abs(measured / truth - 1) <= ratio, `${measured}, not ${truth}`);
}

/**
 * Latencies vary by chance, and with them how many requests are in flight at both ends of a level: from 400 to 600 ms by 1.8 requests of 200, so
 * that 12 more or less are six deviations.
 */
const RATES: readonly (readonly [name: string, latency: readonly [number, number], load: string])[] = [
  ["for a time", [400, 600], `load: rate(50, { for: "4 s" })`],
  ["after a warm-up", [400, 600], `load: rate(50, { for: "4 s" }), warmupFor: "1 s"`],
  ["with a number of requests", [500, 500], `load: rate(50, { requests: 200 })`],
];

describe("a rate", () => {
  for (const [name, [fromMs, toMs], load] of RATES)
    test(`is delivered, and reported as sent: ${name}`, LIMIT, async () => {
      const { level, stdout, trueLog } = await measure(fromMs, toMs, load);
      const stoppedSec = level.client.loopLagMaxMs / 1000;
      checkClose(valueIn(level, "sentPerSec"), 50, 0.02 + stoppedSec / level.durationSec);
      // A client that is stopped for longer may miss more than the two requests at the edges of a level.
      if (stoppedSec * 50 < 1) {
        assert.equal(level.load.isDelivered, true);
        assert.doesNotMatch(stdout, /were sent of the requested|only [\d.]+ requests\/s/);
      }
      const arrivals = trueLog.map(({ arrivedMs }) => arrivedMs).sort((a, b) => a - b);
      const spanSec = ((arrivals.at(-1) ?? 0) - (arrivals[0] ?? 0)) / 1000;
      checkClose(valueIn(level, "sentPerSec"), (arrivals.length - 1) / spanSec, 0.03 + stoppedSec / level.durationSec);
      const lateSec = Math.max(0, ...trueLog.map((one) => one.answeredMs - one.arrivedMs - toMs)) / 1000;
      if (!load.includes("requests"))
        // What a late server answers after the level is not in it.
        checkClose(valueIn(level, "throughputPerSec"), 50, 0.06 + (stoppedSec + lateSec) / level.durationSec);
    });
});

const CHANGES: readonly (readonly [name: string, load: string])[] = [
  ["phases", `load: [hold(4, { for: "500 ms" }), rate(30, { for: "1 s" }), rate(60, { for: "1 s" })]`],
  ["a ramp", `load: rateRamp(20, 100, { over: "2 s" })`],
  ["a ramp that falls", `load: rateRamp(60, 0, { over: "2 s" })`],
  ["a rate that is reached", `load: rate(60, { rampUp: "1 s", for: "2 s" })`],
  ["a rate that is reached, of a number of requests", `load: rate(60, { rampUp: "1 s", requests: 45 })`],
];

describe("a load that changes", () => {
  for (const [name, load] of CHANGES)
    test(`has exactly the requests of its rate: ${name}`, LIMIT, async () => {
      const { levels, trueLog } = await measure(20, 20, load);
      assert.equal(sum(levels.map(({ sent }) => sent)), trueLog.length);
      const rates = levels.filter((level) => level.load.unit === "request-rate");
      assert.ok(rates.length > 0);
      for (const { sent, sendingSec, durationSec, load: delivery, client } of rates) {
        // A request that a late client sends after the end of a phase ends its sending: half a request more, which the float may miss.
        const due = Math.round((delivery.asked ?? Number.NaN) * (sendingSec ?? durationSec) + 1e-3);
        // What is due while the client stands still at the end of a phase is not sent.
        const lost = Math.ceil((100 * client.loopLagMaxMs) / 1000);
        assert.ok(sent <= due && sent >= due - lost, `${sent} of ${due}`);
        if (client.loopLagMaxMs < 5) assert.equal(sent, due);
      }
    });
});

test("gaps of a file have their exact rate", LIMIT, async () => {
  const file = writeIn(folder, "gaps.txt", "100000\n200000\n500000\n");
  const { level, trueLog } = await measure(20, 20, `load: intervals(${JSON.stringify(file)}, { requests: 6 })`);
  const arrived = trueLog.map(({ arrivedMs }) => arrivedMs).sort((a, b) => a - b);
  assert.deepEqual([arrived.length, level.load.asked], [6, 3.75]);
  // Five gaps of the file, from the first request on.
  checkClose((arrived.at(-1) ?? 0) / 1500, 1, 0.05 + level.client.loopLagMaxMs / 1500);
  checkClose(valueIn(level, "sentPerSec"), 3.75, 0.02 + level.client.loopLagMaxMs / 1600);
});

const LOOPS: readonly (readonly [
  name: string,
  latency: readonly [number, number],
  concurrency: number,
  load: string,
])[] = [
  ["a level of a second", [30, 30], 8, `load: hold(8, { for: "1 s" })`],
  ["a level of few latencies", [350, 350], 4, `load: hold(4, { for: "1 s" })`],
  ["a warm-up", [100, 300], 16, `load: hold(16, { for: "2 s" }), warmupRequests: 32`],
];

describe("a closed loop", () => {
  for (const [name, [fromMs, toMs], concurrency, load] of LOOPS)
    test(`has the throughput of its load: ${name}`, LIMIT, async () => {
      const { level, trueLog } = await measure(fromMs, toMs, load);
      const times = trueLog.map(({ arrivedMs, answeredMs }) => answeredMs - arrivedMs);
      // Of a constant time the least: what was late before or after the level says nothing about it.
      const isConstant = fromMs === toMs;
      const serverMs = isConstant ? Math.min(...times) : times.reduce((sum, one) => sum + one, 0) / times.length;
      // A stop at an end of the level moves the responses of that time over it. One just before it is not in the level's own lag, but makes
      // the server late.
      const lateMs = isConstant ? Math.max(...times) - serverMs : 0;
      const stopped = Math.max(level.client.loopLagMaxMs, lateMs) / 1000 / level.durationSec;
      // The loop never waits, so the server's own time bounds the throughput, and the latency of the report explains it.
      const bound = (1000 * concurrency) / serverMs;
      assert.ok(
        valueIn(level, "throughputPerSec") <= bound * ((isConstant ? 1.05 : 1.1) + stopped),
        `${valueIn(level, "throughputPerSec")}, ${bound}`,
      );
      const explained = (1e6 * concurrency) / (spreadIn(level, "latencyUs")?.mean ?? 0);
      checkClose(valueIn(level, "throughputPerSec"), explained, (isConstant ? 0.05 : 0.1) + stopped);
      assert.equal(level.completed, level.sent);
    });
});
