import { secToNs } from "../../../src/plan/units.ts";
import type { FindMaxResult } from "../../../src/result/run-result.ts";
import { createRandom } from "../../../src/runtime/random.ts";
import { mean, p90, p95, p99 } from "../../../src/scenario/assertions.ts";
import { ramp } from "../../../src/scenario/loads/concurrency.ts";
import type { FindMaxOptions } from "../../../src/scenario/loads/find-max.ts";
import { rateRamp } from "../../../src/scenario/loads/rates.ts";
import {
  closedLoop,
  exponential,
  openLoop,
  type Servers,
  type SimulatedAnswer,
  type SimulatedServer,
  simulateSearch,
} from "./simulate-search.ts";

/** Simulated servers, and the highest load that keeps the limit, in closed form or by a numerical root. */

/** A search on a simulated server. */
export interface SearchCase {
  readonly name: string;
  readonly options: FindMaxOptions;
  readonly server: SimulatedServer;
  /** The highest load that keeps the limits: a rate, or a number of users. Infinite: all loads of the search do. */
  readonly truth: number;
}

const markovian = (perSec: number): Servers => ({ count: 1, draw: (random) => exponential(random, perSec) });
const fixed = (count: number, ms: number): Servers => ({ count, draw: () => () => secToNs(ms / 1000) });

/** Servers whose time rises and falls by a few percent, as that of a busy machine does, far more slowly than requests follow each other. */
const drifting = (count: number, ms: number): Servers => ({
  count,
  draw: () => {
    let at = 0;
    return () => secToNs((ms / 1000) * (1 + 0.03 * Math.sin(at++ / 200)));
  },
});

/** Under Poisson arrivals the time in an M/M/1 system is exponential with the rate `perSec - rate`. */
const markovianRate = (perSec: number, share: number, limitSec: number): number => perSec + Math.log(share) / limitSec;

/** The probability that a request of an M/D/1 system waits no longer than `waitSec` (Erlang 1909). */
function waitsAtMost(rate: number, serviceSec: number, waitSec: number): number {
  let sum = 0;
  let factorial = 1;
  for (let k = 0; k * serviceSec <= waitSec; k++) {
    factorial *= Math.max(1, k);
    const x = rate * (k * serviceSec - waitSec);
    sum += (x ** k / factorial) * Math.exp(-x);
  }
  return (1 - rate * serviceSec) * sum;
}

/** The highest rate at which at most a share of the requests of an M/D/1 system take longer than a limit. */
function deterministicRate(serviceSec: number, share: number, limitSec: number): number {
  let [low, high] = [0, 1 / serviceSec];
  for (let step = 0; step < 60; step++) {
    const middle = (low + high) / 2;
    if (1 - waitsAtMost(middle, serviceSec, limitSec - serviceSec) <= share) low = middle;
    else high = middle;
  }
  return low;
}

/** With n users of one exponential server a request takes n times of service: it is late when fewer than n end in time. */
function markovianUsers(perSec: number, share: number, limitSec: number): number {
  const mean = perSec * limitSec;
  let term = Math.exp(-mean);
  let sum = term;
  let users = 1;
  for (; sum <= share; users++) {
    term *= mean / users;
    sum += term;
  }
  return users - 1;
}

const poisson = (from: number, to: number) => rateRamp(from, to, { distribution: "poisson" });

/** Searches whose time is enough, where {@link SearchCase.truth} says what it must find. */
export const SEARCH_CASES: readonly SearchCase[] = [
  {
    name: "M/M/1, 2,000/s, p90 < 10 ms",
    options: { range: poisson(100, 4000), where: [p90("latency").below("10 ms")], forAtMost: "1 min" },
    server: openLoop(markovian(2000), "poisson"),
    truth: markovianRate(2000, 0.1, 0.01),
  },
  {
    name: "M/M/1, 1,000/s, p99 < 20 ms",
    options: { range: poisson(50, 2000), where: [p99("latency").below("20 ms")], forAtMost: "3 min", within: "20 %" },
    server: openLoop(markovian(1000), "poisson"),
    truth: markovianRate(1000, 0.01, 0.02),
  },
  {
    name: "M/M/1, 1,000/s, mean < 2.5 ms",
    options: {
      range: poisson(50, 2000),
      where: [mean("latency").below("2.5 ms")],
      forAtMost: "1 min",
      within: "20 %",
    },
    server: openLoop(markovian(1000), "poisson"),
    truth: 600,
  },
  {
    name: "M/D/1, 1,000/s, p99 < 8 ms",
    options: { range: poisson(50, 2000), where: [p99("latency").below("8 ms")], forAtMost: "3 min" },
    server: openLoop(fixed(1, 1), "poisson"),
    truth: deterministicRate(0.001, 0.01, 0.008),
  },
  {
    name: "M/D/1, 500/s, p95 < 10 ms",
    options: { range: poisson(20, 1000), where: [p95("latency").below("10 ms")], forAtMost: "3 min" },
    server: openLoop(fixed(1, 2), "poisson"),
    truth: deterministicRate(0.002, 0.05, 0.01),
  },
  {
    name: "8 servers of 20 ms, p99 < 50 ms",
    options: { range: rateRamp(10, 1000), where: [p99("latency").below("50 ms")] },
    server: openLoop(fixed(8, 20), "constant"),
    truth: 400,
  },
  {
    name: "users of M/M/1, 500/s, p95 < 20 ms",
    options: { range: ramp(1, 64), where: [p95("latency").below("20 ms")], forAtMost: "2 min" },
    server: closedLoop(markovian(500)),
    truth: markovianUsers(500, 0.05, 0.02),
  },
  {
    name: "users of 16 servers of 20 ms, p99 < 21 ms",
    options: { range: ramp(1, 64), where: [p99("latency").below("21 ms")] },
    server: closedLoop(fixed(16, 20)),
    truth: 16,
  },
  {
    name: "M/M/1, 1,000/s, up to 400/s, at most 10 s",
    options: { range: poisson(50, 400), where: [p99("latency").below("50 ms")], forAtMost: "10 s" },
    server: openLoop(markovian(1000), "poisson"),
    truth: Number.POSITIVE_INFINITY,
  },
  {
    name: "users of 16 servers of 20 ms, up to 12",
    options: { range: ramp(1, 12), where: [p99("latency").below("21 ms")] },
    server: closedLoop(fixed(16, 20)),
    truth: Number.POSITIVE_INFINITY,
  },
  {
    name: "users of 8 servers of 2 ms that drift, up to 8",
    options: { range: ramp(1, 8), where: [p90("latency").below("50 ms")], window: "200 ms", settle: "100 ms" },
    server: closedLoop(drifting(8, 2)),
    truth: Number.POSITIVE_INFINITY,
  },
];

/** The answers of several searches. */
export interface SearchTally {
  /** The highest load that keeps the limits lies between the ends of the answer, or above the range. */
  readonly right: number;
  readonly unresolved: number;
  readonly wrong: number;
}

/** Counts how many answers are right. */
export function tallyAnswers({ truth }: SearchCase, answers: readonly FindMaxResult[]): SearchTally {
  const isRight = ({ highest = 0, next = Number.POSITIVE_INFINITY }: FindMaxResult): boolean =>
    highest <= truth && truth <= next;
  const resolved = answers.filter(({ isResolved }) => isResolved);
  const right = resolved.filter(isRight).length;
  return { right, unresolved: answers.length - resolved.length, wrong: resolved.length - right };
}

/** Runs a search with each of the seeds from 1. */
export async function simulateCase({ options, server }: SearchCase, runs: number): Promise<SimulatedAnswer[]> {
  const answers: SimulatedAnswer[] = [];
  for (let seed = 1; seed <= runs; seed++) answers.push(await simulateSearch(options, server, createRandom(seed)));
  return answers;
}
