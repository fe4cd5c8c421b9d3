import assert from "node:assert/strict";
import type { Plan } from "../../src/plan/plan.ts";
import type { RunResult } from "../../src/result/run-result.ts";
import type { PlanChange } from "../plan/make-plan.ts";
import { rateLoad } from "../plan/make-plan.ts";
import { checkSequences } from "../run/send/sequence-traffic.ts";
import { type Fault, LIMIT_BYTES, SLOW_MS, type Traffic } from "./row.ts";

/** The cases through which every row goes. */

/** A case. Its counts are compared with the servers' in each case. */
export interface Case {
  /** What is changed in the plan of a run. */
  readonly plan?: Omit<PlanChange, "target">;
  /** Which fault its servers have, and on which requests by their number. Default: none. */
  readonly fault?: { readonly name: Fault; has(index: number): boolean };
  /** Requests wait at the server until this many have arrived. */
  readonly holdUntil?: number;
  readonly hasTls?: true;
  readonly isSequence?: true;
  /** How many servers share the load. Default: 1. */
  readonly serverCount?: number;
  /** Ctrl-C as soon as this many requests have arrived. */
  readonly interruptAt?: number;
  /** The case waits for something: it runs for all rows at the same time. */
  readonly waits?: true;
  /** How many requests are sent. */
  readonly count: number;
  /** What the case checks besides the counts. */
  check?(result: RunResult, traffics: readonly Traffic[]): void;
}

/** The name of a case, for what a row cannot have. */
export type CaseName = keyof typeof CASES;

const THIRDS = (index: number): boolean => index % 3 === 1;

function requests(count: number, more: Partial<Plan["measurement"]> = {}): Pick<PlanChange, "measurement"> {
  return { measurement: { mode: { kind: "requests", count }, ...more } };
}

function concurrency(...values: number[]): Pick<PlanChange, "load"> {
  return { load: { kind: "concurrency", levels: { kind: "list", values }, search: "linear" } };
}

const RATE: Plan["load"] = rateLoad([500], "poisson");

/** Sequences that are open at a time. */
export const OPEN_SEQUENCES = 2;

export const CASES = {
  concurrency: {
    plan: { ...requests(24), ...concurrency(4) },
    holdUntil: 4,
    count: 24,
    check: (_result, [traffic]) => assert.equal(traffic?.mostOutstanding ?? 4, 4),
  },
  "two levels": {
    plan: { ...requests(10), ...concurrency(1, 3) },
    count: 20,
    check: ({ levels }) => {
      const counts = levels.map(({ level, window }) => [level, window.requestCount]);
      assert.deepEqual(counts, [
        [1, 10],
        [3, 10],
      ]);
    },
  },
  "a request rate": { plan: { ...requests(30), load: RATE }, count: 30 },
  "a number of requests after a warm-up": {
    // As in compatible modes: the warm-up drains. In scenarios its last requests end in the measurement and count there.
    plan: { ...requests(12, { warmupRequests: 5 }), behaviour: { measuresFromNothing: true } },
    count: 17,
    check: ({ levels, warmup }) => {
      assert.equal(levels[0]?.window.requestCount, 12);
      assert.equal(warmup?.sentCount, 5);
    },
  },
  sequences: {
    plan: {
      ...requests(24),
      ...concurrency(OPEN_SEQUENCES),
      sequences: { length: 4, lengthVariationPct: 0, startId: 1, idCount: null, concurrent: 4, isSerial: false },
    },
    isSequence: true,
    count: 24,
    check: (_result, traffics) => {
      for (const { sequences } of traffics) assert.ok(checkSequences(sequences).sequenceCount >= 6);
    },
  },
  "answers that report an error": { plan: requests(12), fault: { name: "error", has: THIRDS }, count: 12 },
  "slow answers": {
    plan: { ...requests(6), ...concurrency(2) },
    fault: { name: "slow", has: THIRDS },
    count: 6,
    check: ({ levels }) => assert.ok((levels[0]?.window.latency.max ?? 0) >= SLOW_MS * 1e6),
  },
  "no answer": {
    // Long enough that a busy machine makes no other request stall.
    plan: { ...requests(6), client: { stallTimeoutMs: 4000 } },
    fault: { name: "silent", has: (index) => index === 2 },
    waits: true,
    count: 6,
  },
  "a connection closed without an answer": {
    plan: requests(12),
    // The first one of a connection may have been closed before the request came: it would be sent again.
    fault: { name: "close", has: (index) => index === 0 },
    count: 12,
  },
  "a connection closed within an answer": {
    plan: requests(12),
    fault: { name: "break", has: THIRDS },
    count: 12,
  },
  "answers of another content type": {
    plan: requests(6),
    fault: { name: "wrong-type", has: (index) => index < 2 },
    count: 6,
  },
  "large answers": { plan: requests(4), fault: { name: "large", has: THIRDS }, count: 4 },
  "answers beyond the limit": {
    plan: { ...requests(6), client: { maxResponseBytes: LIMIT_BYTES } },
    fault: { name: "huge", has: THIRDS },
    count: 6,
  },
  cancellation: {
    plan: { ...requests(6), ...concurrency(2), cancellation: { sharePct: 100, delayMs: 5, seed: 1 } },
    fault: { name: "silent", has: () => true },
    count: 6,
    check: ({ cancelledCount, failedCount }) => assert.deepEqual([cancelledCount, failedCount], [6, 0]),
  },
  TLS: { plan: requests(8), hasTls: true, count: 8 },
  "several servers": {
    plan: { ...requests(12), ...concurrency(2) },
    serverCount: 2,
    count: 12,
    check: ({ servers }, traffics) => {
      assert.deepEqual(
        servers?.map(({ sentCount }) => sentCount),
        traffics.map(({ received }) => received),
      );
      for (const { received } of traffics) assert.equal(received, 6);
    },
  },
  "Ctrl-C": {
    plan: { ...requests(40), ...concurrency(2) },
    fault: { name: "silent", has: (index) => index >= 6 },
    interruptAt: 8,
    waits: true,
    count: 8,
    check: ({ isInterrupted, completedCount }) => assert.deepEqual([isInterrupted, completedCount], [true, 6]),
  },
} as const satisfies Readonly<Record<string, Case>>;
