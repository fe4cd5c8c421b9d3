// Runs on: bun, deno, node.

import assert from "node:assert/strict";
import { test } from "node:test";
import type { RecordColumns } from "../../../src/measure/records.ts";
import { prepareLoad } from "../../../src/registry/load-modes.ts";
import { Conductor } from "../../../src/run/conduct/conductor.ts";
import { hostLimitsOf } from "../../../src/run/host-limits.ts";
import { RunSignal } from "../../../src/run/interrupt.ts";
import { openSender } from "../../../src/run/open-sending.ts";
import { ALONE } from "../../../src/run/peers/peers.ts";
import { nowNs, systemClock, toEpochNs } from "../../../src/runtime/clock.ts";
import { makePlan } from "../../plan/make-plan.ts";
import { FakeClient, makeDataset, makeDriver, makeService } from "../send/fake-client.ts";

/** A client whose requests are answered one turn of the event loop after they were sent. */
class EagerClient extends FakeClient {
  override flush(): void {
    setImmediate(() => {
      for (const slot of this.active) this.answer(slot);
    });
  }
}

test("a run begins once its rehearsal is over, and before its first request", async () => {
  const plan = makePlan({ measurement: { mode: { kind: "requests", count: 3 } } });
  const { driver, feed } = makeDriver({ createClient: ({ onDone }) => new EagerClient(onDone) });
  const sentEpochNs: bigint[] = [];
  let rehearsedNs = 0;
  const parts = {
    plan,
    observer: {
      onBatch: ({ sendStartNs }: RecordColumns, count: number) => {
        for (let row = 0; row < count; row++) sentEpochNs.push(toEpochNs(sendStartNs[row] as number));
      },
    },
    load: prepareLoad(plan.load),
    session: {
      service: makeService(),
      dataset: makeDataset(1),
      warnings: [],
      shared: undefined,
      counters: async () => undefined,
    },
  };
  const rehearse = async (): Promise<void> => {
    rehearsedNs = nowNs();
  };
  const run = new Conductor({
    ...parts,
    signal: new RunSignal(),
    createSender: (listener) =>
      openSender({ ...parts, feed, driver, canceller: undefined, tokens: undefined }, listener),
    ...{ clock: systemClock, laneCount: driver.laneCount, timestampsMs: [], hasTokens: false, poller: undefined },
    hostLimits: hostLimitsOf(plan, prepareLoad(plan.load).search),
    peers: ALONE,
    ...{ startNs: nowNs(), rehearse },
    check: () => Promise.resolve(),
  });
  const { startEpochNs, durationNs, error, completedCount } = await run.execute();
  assert.deepEqual([error, completedCount, sentEpochNs.length], [undefined, 3, 3]);
  assert.ok(startEpochNs >= toEpochNs(rehearsedNs), `${toEpochNs(rehearsedNs) - startEpochNs} ns before it was over`);
  for (const sent of sentEpochNs) assert.ok(sent >= startEpochNs, `sent ${startEpochNs - sent} ns before the run`);
  assert.ok(durationNs > 0 && durationNs <= nowNs() - rehearsedNs, String(durationNs));
});
