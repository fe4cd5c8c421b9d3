import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { scheduledArrivals } from "../../../../src/load/arrivals.ts";
import type { Drive } from "../../../../src/load/drive.ts";
import { sentPerSec } from "../../../../src/measure/derived-values.ts";
import type { MlperfResult } from "../../../../src/measure/mlperf/judge-mlperf.ts";
import type { Plan } from "../../../../src/plan/plan.ts";
import { nsToMs } from "../../../../src/plan/units.ts";
import { prepareLoad } from "../../../../src/registry/load-modes.ts";
import { LevelRun } from "../../../../src/run/conduct/level.ts";
import type { QueryMinimums } from "../../../../src/run/send/messages.ts";
import { type LoadgenAnswer, type LoadgenTask, runLoadgen } from "../../../servers/loadgen.ts";
import { makeLevel, STEP, settleWithin } from "../make-level.ts";
// Loaded before the simulated clock moves, because a run imports them when it needs them.
import "../../../../src/measure/mlperf/judge-mlperf.ts";
import "../../../../src/measure/mlperf/mlperf-tally.ts";
import "../../../../src/run/send/groups/group-load.ts";
import "../../../../src/run/send/scheduled-load.ts";

/**
 * Time decides when these loads end. LoadGen runs with a real clock; then the same requests are answered at the same times on a simulated
 * one. Both must send the same number of queries, until the same time, with the same verdict.
 */

const LATENCIES_US = [3000, 7000, 2000, 11_000, 5000];

interface Case {
  readonly scenario: LoadgenTask["scenario"];
  readonly load: Plan["load"];
  /** Shortest time and lowest number of queries. */
  readonly minDurationMs: number;
  readonly queries: number;
  readonly settings: Readonly<Record<string, number>>;
  /** Whether LoadGen's number of queries is fixed, so that its run may end too early. */
  readonly isFixed?: true;
}

const SINGLE = { kind: "mlperf", scenario: "single-stream", percentile: 50 } as const;
const MULTI = { kind: "mlperf", scenario: "multi-stream", percentile: 50, samplesPerQuery: 3 } as const;
const SERVER = { kind: "mlperf-server", ratePerSec: 80, percentile: 50, latencyLimitMs: 10_000, seed: 0 } as const;
const OFFLINE = { kind: "mlperf", scenario: "offline", maxOutstanding: 1 } as const;

const ofSingle = { single_stream_target_latency_percentile: 0.5 };
const ofMulti = { multi_stream_target_latency_percentile: 0.5, multi_stream_samples_per_query: 3 };
const ofServer = {
  server_target_qps: SERVER.ratePerSec,
  server_target_latency_ns: SERVER.latencyLimitMs * 1e6,
  server_target_latency_percentile: 0.5,
};

const CASES: readonly Case[] = [
  { scenario: "SingleStream", load: SINGLE, minDurationMs: 250, queries: 10, settings: ofSingle },
  { scenario: "SingleStream", load: SINGLE, minDurationMs: 50, queries: 40, settings: ofSingle },
  { scenario: "SingleStream", load: SINGLE, minDurationMs: 250, queries: 20, settings: ofSingle, isFixed: true },
  { scenario: "MultiStream", load: MULTI, minDurationMs: 400, queries: 10, settings: ofMulti },
  { scenario: "MultiStream", load: MULTI, minDurationMs: 50, queries: 25, settings: ofMulti },
  { scenario: "MultiStream", load: MULTI, minDurationMs: 400, queries: 10, settings: ofMulti, isFixed: true },
  ...[1, 2, 3, 4].map((seed) => ({
    scenario: "Server" as const,
    load: SERVER,
    minDurationMs: 250,
    queries: 10,
    settings: { ...ofServer, schedule_rng_seed: seed },
  })),
  { scenario: "Server", load: SERVER, minDurationMs: 50, queries: 30, settings: ofServer },
  { scenario: "Offline", load: OFFLINE, minDurationMs: 200, queries: 60, settings: {}, isFixed: true },
  { scenario: "Offline", load: OFFLINE, minDurationMs: 200, queries: 10, settings: {}, isFixed: true },
];

/** When a run that sends forever would send its queries, and what each of their requests takes. Times are milliseconds. */
interface Times {
  readonly dueMs: readonly number[];
  readonly latenciesMs: readonly (readonly number[])[];
}

/** Returns LoadGen's times, each query lasting until the next one is issued, and more queries after its last one. */
function timesOf({ scenario }: Case, { dueNs, latenciesNs }: LoadgenAnswer): Times {
  if (scenario === "Offline") {
    const endsMs = [...(latenciesNs[0] ?? [])].sort((a, b) => a - b).map(nsToMs);
    return { dueMs: [], latenciesMs: [...endsMs.map((endMs, index) => [endMs - (endsMs[index - 1] ?? 0)]), ...MORE] };
  }
  const latenciesMs = latenciesNs.map((query, index) => {
    const nextNs = scenario === "Server" ? undefined : dueNs[index + 1];
    const lastNs = Math.max(...query);
    return query.map((ns) => nsToMs(ns === lastNs && nextNs !== undefined ? nextNs - (dueNs[index] ?? 0) : ns));
  });
  const endMs = nsToMs(dueNs.at(-1) ?? 0);
  return {
    dueMs: [...dueNs.map(nsToMs), ...MORE.map((_, index) => endMs + 5 * (index + 1))],
    latenciesMs: [...latenciesMs, ...MORE],
  };
}

/** Queries that are there to be sent, and must not be. */
const MORE = Array.from({ length: 100 }, () => [5, 5, 5]);

interface Run {
  readonly mlperf: MlperfResult | undefined;
  readonly sentPerSec: number | undefined;
  readonly lastSentMs: number;
  readonly endMs: number;
}

/** Runs the load with these times on a simulated clock. @param count number of queries that ends it; default: time decides */
async function simulate({ load, minDurationMs, queries }: Case, times: Times, count?: number): Promise<Run> {
  const samplesPerQuery = load === MULTI ? MULTI.samplesPerQuery : 1;
  const level = makeLevel({ load, mode: { kind: "requests", count: queries * samplesPerQuery, minDurationMs } });
  const { clock, context, driver, client } = level;
  const latencies = times.latenciesMs.flatMap((query) => query.slice(0, samplesPerQuery));
  Object.defineProperty(level.server, "latencyMs", { get: () => latencies[client.sent.length - 1] });
  const drives: Readonly<Record<string, Drive>> = {
    "mlperf-server": { kind: "scheduled", arrivals: scheduledArrivals(times.dueMs) },
    mlperf: load === MULTI ? { kind: "groups", size: samplesPerQuery } : { kind: "closed", concurrency: 1 },
  };
  driver.setLanes({ ...driver.lanes, laneCount: 1, isSync: load.kind === "mlperf" });
  const drive = prepareLoad(load).drive(1, []);
  const scheduled = drive.kind === "scheduled" ? { isScheduled: true, due: drive.due } : {};
  const run = new LevelRun({ ...context, ...scheduled }, 1);
  await run.begin(undefined);
  const startMs = clock.nowMs;
  level.load.drive = () => drives[load.kind] as Drive;
  const starting = context.sender.start(STEP, { quota: run.minimums as QueryMinimums });
  if (count !== undefined) driver.quota = count * samplesPerQuery;
  await starting;
  const { mlperf, window } = await settleWithin(clock, 5000, run.measure()).finally(() => driver.close());
  const ends = { mlperf, sentPerSec: sentPerSec(window) };
  return { ...ends, lastSentMs: nsToMs(client.sent.at(-1)?.atNs ?? 0) - startMs, endMs: clock.nowMs - startMs };
}

describe("a run whose end time decides has as many queries as LoadGen's, and its verdict", () => {
  for (const entry of CASES) {
    const { scenario, minDurationMs, queries, settings, isFixed } = entry;
    const seed = "schedule_rng_seed" in settings ? `, seed ${settings["schedule_rng_seed"]}` : "";
    const fixed = isFixed === true ? ", which ends by number" : "";
    test(`${scenario}, ${minDurationMs} ms and ${queries} queries${seed}${fixed}`, async () => {
      const answer = await runLoadgen({
        scenario,
        latenciesUs: LATENCIES_US,
        count: queries,
        settings: {
          min_duration_ms: minDurationMs,
          max_query_count: isFixed === true && scenario !== "Offline" ? queries : 0,
          ...settings,
        },
      });
      const times = timesOf(entry, answer);
      const { results } = answer;
      const isMet = results["result_min_duration_met"] === true;
      const counted = scenario === "Offline" ? (answer.latenciesNs[0] ?? []) : answer.dueNs;
      // A busy LoadGen takes longer, and has no more queries for that where their number is fixed.
      const ran = await simulate(entry, times, isMet && isFixed !== true ? undefined : queries);
      assert.equal(ran.mlperf?.queryCount, counted.length);
      assert.equal(ran.mlperf.isValid, results["result_validity"] === "VALID", ran.mlperf.broken.join());
      assert.equal(/the run lasted/.test(ran.mlperf.broken.join()), !isMet);
      if (scenario !== "Offline")
        assert.ok(Math.abs(ran.lastSentMs - nsToMs(answer.dueNs.at(-1) ?? 0)) < 1e-3, `${ran.lastSentMs}`);
      if (scenario === "Server")
        // LoadGen prints six digits.
        assert.equal(Number(ran.sentPerSec?.toPrecision(6)), results["result_scheduled_samples_per_sec"]);
      // Left alone, it reaches the shortest time.
      const alone = (await simulate(entry, times)).mlperf;
      assert.doesNotMatch(alone?.broken.join() ?? "", /the run lasted/);
    });
  }
});
