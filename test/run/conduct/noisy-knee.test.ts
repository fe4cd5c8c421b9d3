import assert from "node:assert/strict";
import { test } from "node:test";
import type { LevelSearch } from "../../../src/load/load-mode.ts";
import type { Measurement } from "../../../src/measure/measurement.ts";
import type { AssertionPlan } from "../../../src/plan/assertions.ts";
import type { Plan } from "../../../src/plan/plan.ts";
import { findMaxOf } from "../../../src/result/found-levels.ts";
import type { LevelResult } from "../../../src/result/run-result.ts";
import { resolveLimits } from "../../../src/run/conduct/resolve-limits.ts";
import { createRandom, type Random } from "../../../src/runtime/random.ts";
import { defineScenario } from "../../../src/scenario/define.ts";
import { hold } from "../../../src/scenario/loads/concurrency.ts";
import { embedded } from "../../../src/scenario/targets/embedded.ts";
import { toPlan } from "../../../src/scenario/to-plan.ts";
import { makeWindow } from "../../measure/make-window.ts";
import { makeLevel } from "../../report/make-result.ts";
import { type RunLevel, walkSteps } from "./walk-steps.ts";

/**
 * Whole searches on a simulated server that serves 17 requests at a time and lets others wait. Its times are lognormal, 20 ms on average. The
 * limit is the latency at 18, so that an answer above 17 is wrong: at most 5 of 100 searches may give one.
 */

const SLOTS = 17;
const MEAN_NS = 20e6;
const LIMIT_NS = (MEAN_NS * (SLOTS + 1)) / SLOTS;
const RUNS = 40;
const SECOND_NS = 1e9;
const SEARCH: LevelSearch = {
  unit: "concurrency",
  levels: { kind: "range", start: SLOTS, end: SLOTS + 1, step: 1 },
  search: "highest",
};
const LIMIT: AssertionPlan = {
  metric: { key: "latency", statistic: "mean" },
  comparison: "below",
  limit: LIMIT_NS,
};
const PLAN: Plan = {
  ...toPlan(defineScenario({ name: "x", target: embedded(), load: hold(4) }), "/"),
  limits: [LIMIT],
};

/** Times of service. @param correlation of neighbours */
function drawTimes(random: Random, correlation: number): () => number {
  const normal = (): number => Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
  let state = normal();
  return () => {
    const timeNs = MEAN_NS * (0.25 + 0.75 * Math.exp(0.5 * state - 0.125));
    state = correlation * state + Math.sqrt(1 - correlation ** 2) * normal();
    return timeNs;
  };
}

/** A closed loop against the server. Returns a function with the latencies of the requests that end until a time. */
function serve(users: number, draw: () => number): (untilNs: number) => number[] {
  const busy = Array.from({ length: Math.min(users, SLOTS) }, () => ({ sentNs: 0, endNs: draw() }));
  const waiting = Array.from({ length: users - busy.length }, () => ({ sentNs: 0, timeNs: draw() }));
  return (untilNs) => {
    const latencies: number[] = [];
    for (;;) {
      const first = busy.reduce((least, slot) => (slot.endNs < least.endNs ? slot : least));
      const atNs = first.endNs;
      if (atNs > untilNs) return latencies;
      latencies.push(atNs - first.sentNs);
      waiting.push({ sentNs: atNs, timeNs: draw() });
      const next = waiting.shift() as { sentNs: number; timeNs: number };
      Object.assign(first, { sentNs: next.sentNs, endNs: atNs + next.timeNs });
    }
  };
}

/** Returns the answer of one search. */
async function search(random: Random, correlation: number): Promise<number | undefined> {
  const levels: LevelResult[] = [];
  const runLevel: RunLevel = async (level) => {
    const until = serve(level, drawTimes(random, correlation));
    let atNs = SECOND_NS;
    until(atNs);
    const nextWindow = (): Promise<Measurement> => {
      const startNs = atNs;
      atNs += SECOND_NS;
      return Promise.resolve(makeWindow({ startNs, latenciesNs: until(atNs) }));
    };
    const takeTokens = () => Promise.resolve(undefined);
    const parts = { plan: PLAN, level, batchSize: 1, windowMs: 1000, maxMs: 30_000, nextWindow, takeTokens };
    const resolved = await resolveLimits(parts);
    assert.ok(resolved);
    levels.push(makeLevel({ level, limits: resolved.limits }));
    return resolved.limits.state;
  };
  await walkSteps(SEARCH, runLevel);
  return findMaxOf(levels, true).highest;
}

for (const correlation of [0, 0.9])
  test(`a search does not answer with a load above a noisy knee, neighbours correlate by ${correlation}`, async () => {
    const random = createRandom(11);
    const answers = { below: 0, knee: 0, above: 0 };
    for (let run = 0; run < RUNS; run++) {
      const highest = await search(random, correlation);
      answers[highest === undefined ? "below" : highest <= SLOTS ? "knee" : "above"]++;
    }
    assert.ok(answers.above <= 0.05 * RUNS, JSON.stringify(answers));
    if (correlation === 0) assert.ok(answers.knee >= 0.9 * RUNS, JSON.stringify(answers));
  });
