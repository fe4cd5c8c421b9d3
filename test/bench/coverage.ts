// npm run bench:coverage [-- --runs N]
//
// Asks whether intervals contain the truth: many short runs over real sockets, beside a server in a process of its own that answers after random
// times and notes them. Each run divides its users' requests among two targets. Its intervals of throughput and of mean latency are taken as it was
// measured whole, and joined from the two parts. Exits with 1 when fewer than 94 % of the runs contain the truth. Needs an idle machine: what other
// programs add to one run and not to the next is in no interval of one run.
//
// The truth is one for all runs, by the server's log of all: responses per second, and the mean time from a request to its response, with the time that
// sockets and client add on average, which is printed.
import { parseArgs } from "node:util";
import { inferPerSec } from "../../src/measure/derived-values.ts";
import { estimateMeanNs } from "../../src/measure/intervals/mean-interval.ts";
import { ratioInterval } from "../../src/measure/intervals/ratio-interval.ts";
import { throughputInterval } from "../../src/measure/intervals/throughput.ts";
import type { Measurement } from "../../src/measure/measurement.ts";
import { joinParallel } from "../../src/measure/merge.ts";
import { checkPlan } from "../../src/registry/check-plan.ts";
import { startPlan } from "../../src/run/run-plan.ts";
import { defineScenario } from "../../src/scenario/define.ts";
import { hold } from "../../src/scenario/loads/concurrency.ts";
import { mix } from "../../src/scenario/mix.ts";
import { http } from "../../src/scenario/targets/http.ts";
import { toPlan } from "../../src/scenario/to-plan.ts";
import { startTruth, type TruthServer } from "../servers/truth.ts";
import { judgeGoal } from "./goals.ts";
import { writeFigures } from "./write-figures.ts";

const DEFAULT_RUNS = 200;
const USERS = 32;
const FROM_MS = 10;
const TO_MS = 90;
/** Times of a run, by the server. The users begin together and soon send each at another time; all send for longer than a second. */
const SETTLED_MS = 400;
const LAST_MS = 1050;
const LEAST_RATIO = 0.94;

interface Run {
  readonly whole: Measurement;
  readonly joined: Measurement;
  /** Responses of the server between the times above, and their mean time by its clock. */
  readonly answeredCount: number;
  readonly answeredNs: number;
}

interface Interval {
  readonly value: number;
  readonly low: number | null;
  readonly high: number | null;
}

process.exitCode = await main();

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: { runs: { type: "string", default: String(DEFAULT_RUNS) } },
  });
  const server = await startTruth(FROM_MS, TO_MS);
  try {
    // The first run compiles the code.
    let known = (await measure(server, 0)).loggedCount;
    const runs: Run[] = [];
    while (runs.length < Number(values.runs)) {
      const run = await measure(server, known);
      known += run.loggedCount;
      runs.push(run);
    }
    return report(runs);
  } finally {
    await server.stop();
  }
}

/** @param known number of responses of earlier runs */
async function measure(server: TruthServer, known: number): Promise<Run & { readonly loggedCount: number }> {
  const target = mix([
    { name: "most", target: http(`${server.url}/`), weight: 3 },
    { name: "rest", target: http(`${server.url}/`) },
  ]);
  const plan = toPlan(defineScenario({ name: "coverage", target, load: hold(USERS, { for: "1 s" }) }), "/");
  const observer = async () => ({});
  const { levels, error } = await startPlan(plan, { openObserver: observer, check: async () => checkPlan(plan) })
    .result;
  const [level] = levels;
  if (level === undefined || level.window.failedCount > 0)
    throw new Error(`a run failed: ${error?.message ?? "requests failed"}`);
  const log = await server.log(known);
  const firstMs = Math.min(...log.map(({ arrivedMs }) => arrivedMs));
  const isSettled = (ms: number): boolean => ms > firstMs + SETTLED_MS && ms <= firstMs + LAST_MS;
  const settled = log.filter(({ answeredMs }) => isSettled(answeredMs));
  return {
    whole: level.window,
    joined: joinParallel((level.window.groups ?? []).map(({ window }) => window)),
    answeredCount: settled.length,
    answeredNs: (1e6 * settled.reduce((sum, one) => sum + one.answeredMs - one.arrivedMs, 0)) / settled.length,
    loggedCount: log.length,
  };
}

function report(runs: readonly Run[]): number {
  const meanOf = (pick: (run: Run) => number): number => runs.reduce((sum, run) => sum + pick(run), 0) / runs.length;
  const perSec = (1000 * meanOf((run) => run.answeredCount)) / (LAST_MS - SETTLED_MS);
  const answeredNs = meanOf((run) => run.answeredNs);
  const addedNs = meanOf(({ whole }) => whole.latency.mean) - answeredNs;
  console.log(
    `by the server's log ${perSec.toFixed(1)} responses/s after ${(answeredNs / 1e6).toFixed(2)} ms; sockets and client add ${(addedNs / 1e6).toFixed(2)} ms`,
  );
  const cases: readonly (readonly [name: string, truth: number, of: (run: Run) => Interval])[] = [
    ["throughput, undivided", perSec, ({ whole }) => throughputOf(whole)],
    ["throughput, joined", perSec, ({ joined }) => throughputOf(joined)],
    ["mean latency, undivided", answeredNs + addedNs, ({ whole }) => estimateMeanNs(whole.latency)],
    ["mean latency, joined", answeredNs + addedNs, ({ joined }) => estimateMeanNs(joined.latency)],
  ];
  const missed = cases.map(([name, truth, of]) => {
    const found = runs.map(of);
    const hits = found.filter(({ low, high }) => (low ?? 0) <= truth && truth <= (high ?? Infinity)).length;
    const empty = found.filter(({ low, high }) => low === null || high === null).length;
    const { low, high } = ratioInterval(hits, runs.length);
    const offset = found.reduce((sum, { value }) => sum + value / truth - 1, 0) / runs.length;
    const widths = found.map(({ low, high }) => ((high ?? truth) - (low ?? truth)) / truth / 2);
    const width = widths.reduce((sum, one) => sum + one, 0) / runs.length;
    const isEnough = hits >= LEAST_RATIO * runs.length;
    const pct = (ratio: number | null): string => `${(100 * (ratio ?? 0)).toFixed(1)} %`;
    console.log(
      `${isEnough ? "PASS" : "MISS"}  ${name}: ${hits} of ${runs.length} runs contain the truth, ${pct(hits / runs.length)} (by chance ${pct(low)} to ${pct(high)}); ${empty} have an open end; on average ${(100 * offset).toFixed(2)} % off and ± ${pct(width)}`,
    );
    return 1 - hits / runs.length;
  });
  const goal = judgeGoal("intervals that miss the truth, %", 100 * Math.max(...missed), 100 * (1 - LEAST_RATIO));
  if (runs.length >= DEFAULT_RUNS) writeFigures("bench:coverage", { goals: [goal] });
  return goal.passed ? 0 : 1;
}

function throughputOf(window: Measurement): Interval {
  const value = inferPerSec(window, 1);
  return { value, ...throughputInterval(window, value, 1) };
}
