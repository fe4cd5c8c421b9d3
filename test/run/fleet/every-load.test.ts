import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { type Dataset, NO_TENSORS } from "../../../src/inputs/dataset.ts";
import type { PhasePlan } from "../../../src/plan/load-options.ts";
import type { LoadPlan } from "../../../src/plan/load-plan.ts";
import type { InputsPlan, Plan } from "../../../src/plan/plan.ts";
import { LOAD_MODES, loadModeOf } from "../../../src/registry/load-modes.ts";
import { errorRate } from "../../../src/scenario/assertions.ts";
import { defineScenario } from "../../../src/scenario/define.ts";
import { steps } from "../../../src/scenario/loads/concurrency.ts";
import { findMax } from "../../../src/scenario/loads/find-max.ts";
import { embedded } from "../../../src/scenario/targets/embedded.ts";
import { toPlan } from "../../../src/scenario/to-plan.ts";
import { makeFolder, writeIn } from "../../make-folder.ts";
import { makePlan, type PlanChange } from "../../plan/make-plan.ts";
import { LIMIT } from "../../time-limit.ts";
import { makeSessions, openConversation } from "../send/make-sessions.ts";
import { runSenders, type SentRun } from "./run-senders.ts";

/** Whole runs of every load of the table with 1 to 7 senders, whose requests are answered at once: together they send what one sends. */

const SENDERS = [1, 2, 3, 4, 5, 6, 7];
const REQUESTS = 60;
/** Divisible by each number of senders, so that the steps of one stay its own when the data begins again. */
const STEPS = 420;
/** A search has two levels, with a warm-up each. */
const MOST_RESTARTS = 4;
const SESSION_TURNS = [2, 1, 3, 1, 2, 4, 1, 1, 2, 3, 1];

/** How the senders divide a load. */
type Division =
  /** All together send exactly what one sends. */
  | "whole"
  /** Time ends the load. Each sender sends the steps of the data that are its own, one after the other. */
  | "steps"
  /** The first sends exactly what one sends alone, because requests wait for each other, and the others send nothing. */
  | "alone";

interface Case {
  readonly division: Division;
  readonly change: PlanChange | (() => Plan);
  readonly data?: Dataset;
  /** Number of requests of the run. Default: {@link REQUESTS}. */
  readonly count?: number;
}

const folder = makeFolder();
const intervalsFile = writeIn(folder, "intervals.txt", "100\n300\n50\n");

/** Steps with their numbers, in two bytes. @param gapMs between the times of two steps */
function makeSteps(count: number, gapMs = 0): Dataset {
  const stream = Array.from({ length: count }, (_, step) => ({
    inputs: new Map([["IN", { bytes: Uint8Array.of(step >> 8, step & 255) }]]),
    ...{ expected: NO_TENSORS, timestampMs: step * gapMs },
  }));
  return { streams: [stream], isFromJson: true, warnings: [] };
}

const closed = (...values: number[]): LoadPlan => ({
  ...{ kind: "concurrency", levels: { kind: "list", values }, search: "linear" },
});
const rateOf = (perSec: number, distribution: "constant" | "poisson" | "gamma"): LoadPlan => ({
  ...{ kind: "request-rate", levels: { kind: "list", values: [perSec] }, search: "linear", distribution, seed: 3 },
});
const counted = (load: LoadPlan): PlanChange => ({
  ...{ load, measurement: { mode: { kind: "requests", count: REQUESTS } } },
});
/** The data decides. */
const EACH_ONCE = { kind: "requests", count: null } as const;
const windows = { kind: "time-windows", windowMs: 20, stabilityPct: 900, maxTrials: 50 } as const;
const phase = (load: LoadPlan, count: number, rest: Partial<PhasePlan> = {}): PhasePlan => ({
  ...{ load, mode: { kind: "requests", count }, ...rest },
});
const PHASES = [phase(closed(8), 20, { isWarmup: true }), phase(rateOf(4000, "poisson"), 23), phase(closed(9), 17)];

/** A search whose limit holds everywhere, so that its levels do not depend on the speed of this machine. */
function planSearch(): Plan {
  const where = [errorRate().atMost("50 %")];
  const load = findMax({ range: steps([8, 12]), where, settle: "5 ms", window: "20 ms", forAtMost: "2 s" });
  return toPlan(defineScenario({ name: "a search", target: embedded(), load }), "/");
}

const sessions = makeSessions(...SESSION_TURNS);
const turnCount = SESSION_TURNS.reduce((sum, count) => sum + count, 0);
const ofSessions = { division: "whole", data: sessions, count: turnCount } as const;

const CASES: { readonly [K in LoadPlan["kind"]]: Readonly<Record<string, Case>> } = {
  concurrency: {
    "a number of requests": { division: "whole", change: counted(closed(9)) },
    "several levels": { division: "whole", change: counted(closed(9, 2, 8)), count: 3 * REQUESTS },
    "fewer requests in flight than senders": { division: "whole", change: counted(closed(2)) },
    "windows until they are stable": {
      division: "steps",
      change: { load: closed(9), measurement: { mode: windows } },
    },
    "a search": { division: "steps", change: planSearch },
  },
  "concurrency-ramp": {
    "a number of requests": {
      division: "whole",
      change: counted({ kind: "concurrency-ramp", start: 8, end: 16, overMs: 20 }),
    },
  },
  "request-rate": {
    "constant gaps": { division: "whole", change: counted(rateOf(4000, "constant")) },
    "Poisson arrivals": { division: "whole", change: counted(rateOf(4000, "poisson")) },
    "gamma arrivals": { division: "whole", change: counted(rateOf(4000, "gamma")) },
    "windows until they are stable": {
      division: "steps",
      change: { load: rateOf(4000, "poisson"), measurement: { mode: windows } },
    },
  },
  intervals: {
    "a number of requests": { division: "whole", change: counted({ kind: "intervals", file: intervalsFile }) },
  },
  "fixed-schedule": {
    "each entry of the data": {
      division: "whole",
      change: { load: { kind: "fixed-schedule" }, measurement: { mode: EACH_ONCE } },
      data: makeSteps(REQUESTS, 0.4),
    },
  },
  "periodic-concurrency": {
    "groups that wait for the ones before": {
      division: "alone",
      change: {
        load: { kind: "periodic-concurrency", start: 3, end: 24, step: 3, periodResponses: 1 },
        measurement: { mode: { kind: "requests", count: 24 } },
      },
      count: 24,
    },
  },
  "session-concurrency": {
    "each session once": {
      ...ofSessions,
      change: { load: { kind: "session-concurrency", concurrency: 8 }, measurement: { mode: EACH_ONCE } },
    },
  },
  "session-rate": {
    "each session once": {
      ...ofSessions,
      change: {
        load: { kind: "session-rate", perSec: 1000, distribution: "poisson", seed: 3 },
        measurement: { mode: EACH_ONCE },
      },
    },
  },
  phases: {
    "a warm-up, a rate and a concurrency": { division: "whole", change: { load: { kind: "phases", phases: PHASES } } },
  },
  mlperf: {
    "single stream": {
      division: "alone",
      change: counted({ kind: "mlperf", scenario: "single-stream", percentile: 90 }),
    },
    "multi-stream": {
      division: "alone",
      change: counted({ kind: "mlperf", scenario: "multi-stream", percentile: 90, samplesPerQuery: 4 }),
    },
    offline: { division: "whole", change: counted({ kind: "mlperf", scenario: "offline", maxOutstanding: 9 }) },
  },
  "mlperf-server": {
    "Poisson arrivals": {
      division: "whole",
      change: counted({ kind: "mlperf-server", ratePerSec: 4000, percentile: 90, latencyLimitMs: 1000, seed: 3 }),
    },
  },
};

/** Inputs in order: which lane sends a step depends on time, in a closed loop. */
const IN_ORDER: InputsPlan = { kind: "json", files: ["x.json"], isInOrder: true };

function run({ change, data = makeSteps(STEPS) }: Case, senderCount: number): Promise<SentRun> {
  const plan = typeof change === "function" ? change() : makePlan({ ...change, client: { callMode: "async" } });
  const isOfSessions = loadModeOf(plan.load).dataOrder === "in-sessions";
  const traits = isOfSessions ? { conversations: async () => openConversation } : {};
  const inOrder = { ...plan, inputs: IN_ORDER };
  return runSenders(inOrder, { remoteCount: senderCount, failsSome: false, dataset: data, traits });
}

/** The numbers of what a sender sent, in order. */
const numbersOf = (sent: SentRun["sent"][number]): number[] =>
  sent.map(({ request: { payload } }) => payload.reduce((number, byte) => 256 * number + byte, 0));

const sorted = (numbers: readonly number[]): number[] => [...numbers].sort((a, b) => a - b);

/** Checks what senders sent against what one sends. */
const CHECKS: Readonly<Record<Division, (sent: readonly number[][], alone: readonly number[]) => void>> = {
  whole: (sent, alone) => assert.deepEqual(sorted(sent.flat()), sorted(alone)),
  alone: ([first = [], ...others], alone) => {
    assert.deepEqual(sorted(first), sorted(alone));
    for (const other of others) assert.deepEqual(other, []);
  },
  steps: (sent) => {
    for (const [index, numbers] of sent.entries()) {
      let restarts = 0;
      for (const [at, number] of numbers.entries()) {
        const before = numbers[at - 1];
        if (before !== undefined && number === (before + sent.length) % STEPS) continue;
        restarts++;
        assert.equal(number, index, `${index} of ${sent.length}, after ${before}`);
      }
      // The data begins again after each warm-up.
      assert.ok(restarts <= MOST_RESTARTS, `${index} of ${sent.length}: ${restarts}`);
    }
  },
};

test("every load of the table is here", () => {
  assert.deepEqual(Object.keys(CASES).sort(), Object.keys(LOAD_MODES).sort());
});

for (const [kind, cases] of Object.entries(CASES))
  describe(kind, LIMIT, () => {
    for (const [name, one] of Object.entries(cases) as [string, Case][])
      test(`${name}: ${one.division}`, async () => {
        const { sent: [only = []] = [], result } = await run(one, 0);
        assert.equal(result.error, undefined);
        const alone = numbersOf(only);
        if (one.division !== "steps") assert.equal(alone.length, one.count ?? REQUESTS);
        for (const count of SENDERS) {
          const { sent, result: joined } = await run(one, count);
          const numbers = sent.map(numbersOf);
          assert.equal(joined.error, undefined);
          assert.equal(numbers.length, count);
          CHECKS[one.division](numbers, alone);
          assert.equal(joined.sentCount, numbers.flat().length);
          // Most loads have work for all of them.
          const busy = numbers.filter(({ length }) => length > 0).length;
          if (one.division !== "alone") assert.ok(busy === count || name.startsWith("fewer"), `${busy} of ${count}`);
        }
      });
  });
