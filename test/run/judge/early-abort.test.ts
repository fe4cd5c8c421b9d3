import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import type { PhasePlan } from "../../../src/plan/load-options.ts";
import type { LoadPlan } from "../../../src/plan/load-plan.ts";
import { startPlan } from "../../../src/run/run-plan.ts";
import { makePlan } from "../../plan/make-plan.ts";
import { KserveServer } from "../kserve-server.ts";

/** Assertions that end a run early. */

const LIMIT = { timeout: 180_000 };
const hold = (concurrency: number): LoadPlan => ({
  ...{ kind: "concurrency", levels: { kind: "list", values: [concurrency] }, search: "linear" },
});
const time = (load: LoadPlan, durationMs: number, rest: Partial<PhasePlan> = {}): PhasePlan => ({
  load,
  mode: { kind: "duration", durationMs },
  ...rest,
});

let server: KserveServer;
before(async () => {
  // Every seventh request fails.
  server = await new KserveServer({
    onInfer: async ({ index }) => {
      await new Promise((resolve) => setTimeout(resolve, 10));
      return index % 7 === 3 ? "no" : undefined;
    },
  }).start();
});
after(() => server.stop());

describe("an assertion that ends the run", () => {
  const failing = {
    assertions: [
      { metric: { kind: "error-ratio" }, comparison: "is", limit: 0, abortAfterMs: 60 },
      { metric: { kind: "throughput" }, comparison: "at-least", limit: 0, abortAfterMs: 50 },
    ],
  } as const;

  test("does so in the phase in which it no longer holds, and the report has what was measured", LIMIT, async () => {
    // Failures of the warm-up are not judged: it lasts longer than the time.
    const phases = [time(hold(7), 150, { isWarmup: true }), time(hold(7), 60_000), time(hold(1), 60)];
    const plan = makePlan({ target: { url: server.url }, load: { kind: "phases", phases }, ...failing });
    const { error, aborted, levels, phased, isInterrupted } = await startPlan(
      plan,
      () => Promise.resolve({}),
      () => Promise.resolve(),
    ).result;
    assert.deepEqual([error?.code, isInterrupted, aborted?.assertionIndex], ["assertion-failed", false, 0]);
    assert.match(error?.message ?? "", /"error rate is 0 %" did not hold over the last 60 ms, with [\d.]+ %/);
    assert.ok((aborted?.measured ?? 0) > 0);
    assert.deepEqual(
      levels.map(({ outcome, phase }) => [outcome, phase?.index]),
      [["partial", 1]],
    );
    assert.ok((levels[0]?.window.durationNs ?? 0) >= 60e6 && (levels[0]?.window.failedCount ?? 0) > 0);
    assert.equal(phased?.phases.length, 2);
  });

  test("ends a run without phases too, and one that holds ends nothing", LIMIT, async () => {
    const at = { target: { url: server.url }, load: hold(7) };
    const mode = { kind: "duration", durationMs: 60_000 } as const;
    const abort = await startPlan(
      makePlan({ ...at, ...failing, measurement: { mode } }),
      () => Promise.resolve({}),
      () => Promise.resolve(),
    ).result;
    assert.deepEqual([abort.error?.code, abort.levels[0]?.outcome], ["assertion-failed", "partial"]);
    const holds = await startPlan(
      makePlan({ ...at, assertions: [failing.assertions[1]], measurement: { mode: { ...mode, durationMs: 200 } } }),
      () => Promise.resolve({}),
      () => Promise.resolve(),
    ).result;
    assert.deepEqual([holds.error, holds.aborted, holds.levels[0]?.outcome], [undefined, undefined, "measured"]);
  });
});
