import assert from "node:assert/strict";
import type { PreparedPhase } from "../../../src/load/load-mode.ts";
import type { Measurement } from "../../../src/measure/measurement.ts";
import { msToNs, secToNs } from "../../../src/plan/units.ts";
import { loadModeOf } from "../../../src/registry/load-modes.ts";
import type { FindMaxResult, LevelResult } from "../../../src/result/run-result.ts";
import { resolveLimits } from "../../../src/run/conduct/resolve-limits.ts";
import { runSteps, Step, verdictOf } from "../../../src/run/conduct/step.ts";
import { findMaxOf } from "../../../src/run/found-levels.ts";
import { RunSignal } from "../../../src/run/interrupt.ts";
import type { Random } from "../../../src/runtime/random.ts";
import { defineScenario } from "../../../src/scenario/define.ts";
import { findMax } from "../../../src/scenario/loads/find-max.ts";
import { embedded } from "../../../src/scenario/targets/embedded.ts";
import { toPlan } from "../../../src/scenario/to-plan.ts";
import { makeWindow, sketchAt } from "../../measure/make-window.ts";
import { makeLevel } from "../../report/make-result.ts";

/** Whole searches on a simulated clock: the steps, looks and verdicts of `findMax`, on requests of a simulated queue. */

/** A request of a queue. */
export interface ServedRequest {
  readonly sentNs: number;
  readonly endNs: number;
}

/** A queue under a load, from an empty server. Each call returns the next request, in the order of their ends. */
export type Queue = () => ServedRequest;

/** Starts a queue at a level. */
export type SimulatedServer = (level: number, random: Random) => Queue;

/** The answer of a simulated search. */
export interface SimulatedAnswer extends FindMaxResult {
  /** Simulated time of the whole search. */
  readonly seconds: number;
  readonly levels: readonly LevelResult[];
}

/** Runs one search. */
export async function simulateSearch(
  options: Parameters<typeof findMax>[0],
  server: SimulatedServer,
  random: Random,
): Promise<SimulatedAnswer> {
  const plan = toPlan(defineScenario({ name: "x", target: embedded(), load: findMax(options) }), "/");
  const { mode, warmupMs = 0 } = plan.measurement;
  assert.equal(mode.kind, "until-resolved");
  const loadMode = loadModeOf(plan.load);
  const search = { unit: loadMode.unit, ...loadMode.levels?.(plan.load) } as PreparedPhase["load"]["search"];
  const phase = { plan: { load: plan.load }, load: { search, drive: loadMode.prepare(plan.load).drive } };
  const levels: LevelResult[] = [];
  let ns = 0;
  await runSteps(Step.first({ phases: [phase] }, plan), new RunSignal(), async (step) => {
    const cut = cutWindows(server(step.level, random));
    let atNs = msToNs(warmupMs);
    cut(0, atNs);
    const nextWindow = (): Promise<Measurement> => {
      const startNs = atNs;
      atNs += msToNs(mode.windowMs);
      return Promise.resolve(cut(startNs, atNs));
    };
    const { windowMs, maxMs } = mode;
    const resolved = await resolveLimits({ plan, level: step.level, batchSize: 1, windowMs, maxMs, nextWindow });
    assert.ok(resolved);
    ns += atNs;
    const level = makeLevel({ level: step.level, limits: resolved.limits });
    levels.push(level);
    return step.after(verdictOf(level));
  });
  return { ...findMaxOf(levels, true, mode.withinRatio), seconds: ns / secToNs(1), levels };
}

/** Returns a function that takes the requests that end within a time. Times ascend. */
function cutWindows(next: Queue): (startNs: number, endNs: number) => Measurement {
  let first = next();
  return (startNs, endNs) => {
    const latencies: number[] = [];
    const ends: number[] = [];
    for (; first.endNs < endNs; first = next()) {
      latencies.push(first.endNs - first.sentNs);
      ends.push(first.endNs);
    }
    const latency = sketchAt(latencies, ends, startNs, endNs);
    const window = makeWindow({ startNs, durationNs: endNs - startNs, latenciesNs: [] });
    const requestCount = latencies.length;
    return { ...window, latency, requestCount, responseCount: requestCount, sentCount: Number.POSITIVE_INFINITY };
  };
}

/** Draws times between events of a Poisson process. @param perSec mean number per second */
export function exponential(random: Random, perSec: number): () => number {
  return () => (-Math.log(1 - random()) / perSec) * secToNs(1);
}

/** Servers that take the requests in their order, each for a time. */
export interface Servers {
  readonly count: number;
  /** Returns a time of service in nanoseconds. */
  readonly draw: (random: Random) => () => number;
}

/** Requests at a rate. @param arrivals how the gaps are distributed */
export function openLoop({ count, draw }: Servers, arrivals: "poisson" | "constant"): SimulatedServer {
  return (perSec, random) => {
    const serve = draw(random);
    const gap = arrivals === "constant" ? () => secToNs(1) / perSec : exponential(random, perSec);
    const freeNs = new Array<number>(count).fill(0);
    let sentNs = 0;
    const ended: ServedRequest[] = [];
    // Of several servers a later request may end earlier: as many wait here as can overtake.
    return () => {
      while (ended.length < count) {
        sentNs += gap();
        const server = freeNs.indexOf(Math.min(...freeNs));
        const endNs = Math.max(sentNs, freeNs[server] as number) + serve();
        freeNs[server] = endNs;
        ended.push({ sentNs, endNs });
      }
      const next = ended.reduce((least, one) => (one.endNs < least.endNs ? one : least));
      ended.splice(ended.indexOf(next), 1);
      return next;
    };
  };
}

/** Users who each send when the response before has come. */
export function closedLoop({ count, draw }: Servers): SimulatedServer {
  return (users, random) => {
    const serve = draw(random);
    const sent = new Array<number>(Math.max(0, users - count)).fill(0);
    const busy = Array.from({ length: Math.min(users, count) }, () => ({ sentNs: 0, endNs: serve() }));
    return () => {
      const first = busy.reduce((least, one) => (one.endNs < least.endNs ? one : least));
      sent.push(first.endNs);
      busy[busy.indexOf(first)] = { sentNs: sent.shift() as number, endNs: first.endNs + serve() };
      return first;
    };
  };
}
