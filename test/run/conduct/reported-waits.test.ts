import assert from "node:assert/strict";
import { test } from "node:test";
import type { RunObserver } from "../../../src/result/observer.ts";
import { startPlan } from "../../../src/run/run-plan.ts";
import { makePlan } from "../../plan/make-plan.ts";
import { LIMIT } from "../../time-limit.ts";
import { KserveServer, takeMs } from "../kserve-server.ts";

/** What a run says while it waits for requests in flight. */

test(
  "a run reports its waits: for a steady load, for the end of a round, and for the last responses",
  LIMIT,
  async () => {
    await using server = await new KserveServer({ onInfer: () => takeMs(200) }).start();
    const load = { kind: "concurrency", levels: { kind: "list", values: [2] }, search: "linear" } as const;
    const plan = makePlan({
      target: { url: server.url },
      load,
      measurement: { mode: { kind: "duration", durationMs: 100 } },
    });
    const waits: (number | undefined)[] = [];
    const observer: RunObserver = { onWait: (mostMs) => void waits.push(mostMs) };
    const { result } = startPlan(plan, { openObserver: async () => observer, check: () => Promise.resolve() });
    assert.equal((await result).error, undefined);
    const [, , roundMs = 0] = waits;
    assert.deepEqual(waits, [10_100, undefined, roundMs, undefined, 10_000, undefined]);
    // Of a response that takes 200 ms, and longer on a busy machine.
    assert.ok(roundMs >= 300, `${roundMs} ms`);
  },
);
