// Runs on: bun, deno, node.

import assert from "node:assert/strict";
import { test } from "node:test";
import type { RecordColumns } from "../../../src/measure/records.ts";
import type { Plan } from "../../../src/plan/plan.ts";
import { prepareLoad } from "../../../src/registry/load-modes.ts";
import type { RunObserver } from "../../../src/result/observer.ts";
import type { LevelResult, RunResult } from "../../../src/result/run-result.ts";
import { Conductor } from "../../../src/run/conduct/conductor.ts";
import { hostLimitsOf } from "../../../src/run/host-limits.ts";
import { RunSignal } from "../../../src/run/interrupt.ts";
import { openSender } from "../../../src/run/open-sending.ts";
import { ALONE } from "../../../src/run/peers/peers.ts";
import { nowNs, systemClock, toEpochNs } from "../../../src/runtime/clock.ts";
import { errorRate } from "../../../src/scenario/assertions.ts";
import { defineScenario } from "../../../src/scenario/define.ts";
import { ramp } from "../../../src/scenario/loads/concurrency.ts";
import { findMax } from "../../../src/scenario/loads/find-max.ts";
import { embedded } from "../../../src/scenario/targets/embedded.ts";
import { toPlan } from "../../../src/scenario/to-plan.ts";
import type { OnDone } from "../../../src/transport/call.ts";
import type { Failure } from "../../../src/transport/failure.ts";
import type { WireRequest } from "../../../src/transport/request.ts";
import { makePlan } from "../../plan/make-plan.ts";
import { FakeClient, makeDataset, makeDriver, makeService } from "../send/fake-client.ts";

/** A client whose requests are answered one turn of the event loop after they were sent; with a failure where more are in flight than it takes. */
class EagerClient extends FakeClient {
  private readonly mostActive: number;

  constructor(onDone: OnDone, mostActive = Number.POSITIVE_INFINITY) {
    super(onDone);
    this.mostActive = mostActive;
  }

  override send(slot: number, request: WireRequest, stamp: Uint8Array | undefined): void {
    super.send(slot, request, stamp);
    setImmediate(() => {
      const { length } = this.active;
      if (this.calls[slot]?.isActive === true) this.answer(slot, length > this.mostActive ? BUSY : undefined);
    });
  }
}

const BUSY: Failure = { kind: "http", status: 503, message: "busy" };

interface Conducted {
  readonly observer?: RunObserver;
  /** Most requests in flight that the server takes. Default: any number */
  readonly mostActive?: number;
  readonly rehearse?: () => Promise<void>;
}

/** Conducts a run whose server answers at once. */
function conduct(plan: Plan, { observer = {}, mostActive, rehearse }: Conducted): Promise<RunResult> {
  const { driver, feed } = makeDriver({ createClient: ({ onDone }) => new EagerClient(onDone, mostActive) });
  const load = prepareLoad(plan.load, plan.measurement.mode);
  const parts = {
    ...{ plan, observer, load },
    session: {
      service: makeService(),
      dataset: makeDataset(1),
      warnings: [],
      shared: undefined,
      counters: async () => undefined,
    },
  };
  const run = new Conductor({
    ...parts,
    signal: new RunSignal(),
    createSender: (listener) =>
      openSender({ ...parts, feed, driver, canceller: undefined, tokens: undefined }, listener),
    ...{ clock: systemClock, laneCount: driver.laneCount, timestampsMs: [], hasTokens: false, poller: undefined },
    hostLimits: hostLimitsOf(plan, load.search),
    peers: ALONE,
    ...{ startNs: nowNs(), rehearse },
    check: () => Promise.resolve(),
  });
  return run.execute();
}

test("a run begins once its rehearsal is over, and before its first request", async () => {
  const sentEpochNs: bigint[] = [];
  let rehearsedNs = 0;
  const plan = makePlan({ measurement: { mode: { kind: "requests", count: 3 } } });
  const { startEpochNs, durationNs, error, completedCount, ...rest } = await conduct(plan, {
    observer: {
      onBatch: ({ sendStartNs }: RecordColumns, count: number) => {
        for (let row = 0; row < count; row++) sentEpochNs.push(toEpochNs(sendStartNs[row] as number));
      },
    },
    rehearse: async () => {
      rehearsedNs = nowNs();
    },
  });
  assert.deepEqual([error, completedCount, sentEpochNs.length], [undefined, 3, 3]);
  assert.ok(startEpochNs >= toEpochNs(rehearsedNs), `${toEpochNs(rehearsedNs) - startEpochNs} ns before it was over`);
  for (const sent of sentEpochNs) assert.ok(sent >= startEpochNs, `sent ${startEpochNs - sent} ns before the run`);
  assert.ok(durationNs > 0 && durationNs <= nowNs() - rehearsedNs, String(durationNs));
  assert.deepEqual(["findMax" in rest, "warmup" in rest], [false, false]);
});

test("the levels of a search are in ascending order, with what it found", async () => {
  const measured: number[] = [];
  const where = errorRate().atMost("50 %");
  const load = findMax({ range: ramp(1, 16), where, settle: "5 ms", window: "20 ms", forAtMost: "2 s" });
  const plan = toPlan(defineScenario({ name: "a search", target: embedded(), load }), "/");
  const observer = { onLevelEnd: ({ level }: LevelResult) => measured.push(level) };
  const { levels, findMax: found } = await conduct(plan, { observer, mostActive: 6 });
  const ascending = (numbers: readonly number[]): number[] => [...numbers].sort((a, b) => a - b);
  assert.notDeepEqual(measured, ascending(measured));
  assert.deepEqual(
    levels.map(({ level }) => level),
    ascending(measured),
  );
  assert.deepEqual(found, { highest: 6, next: 7, isResolved: true });
});

test("the requests of a warm-up are counted apart", async () => {
  const mode = { kind: "requests", count: 3 } as const;
  const { warmup } = await conduct(makePlan({ measurement: { mode, warmupRequests: 5 } }), {});
  assert.deepEqual(warmup, { sentCount: 5, failedCount: 0 });
});
