// Runs on: bun, deno, node.
import assert from "node:assert/strict";
import { test } from "node:test";
import { followRuns } from "../../../../src/report/json/followed-runs.ts";
import { makePlan, rateLoad } from "../../../plan/make-plan.ts";
import { LIMIT } from "../../../time-limit.ts";
import { KserveServer } from "../../kserve-server.ts";
import { count, forMs, holdAt, planFor, run, start, until, useNats, withAgents } from "./with-agents.ts";

useNats();

/** Times of a run whose senders' clocks are set back. The server of the test reads the clock of this process. */

/** Messages to agents are delayed by 15 ms at least; the fastest of many requests takes less. */
const DELAY_MS = 15;
/** Clocks of two threads are compared that exactly. */
const ERROR_MS = 5;

test("times of day of a run with agents are right while another run in this process has none", LIMIT, async () => {
  await withAgents(1, async () => {
    await using server = await new KserveServer({}).start();
    await using other = await new KserveServer({}).start();
    const sentMs: number[] = [];
    const running = start(planFor(server.url, {}, { load: rateLoad([50]), measurement: forMs(600_000) }), {
      onRecord: ({ sendEpochNs }) => sentMs.push(Number(sendEpochNs) / 1e6),
    });
    await server.until(() => server.successCount > 20);
    const { error } = await run(makePlan({ target: { url: other.url }, load: holdAt(1), measurement: count(10) }));
    const countThen = server.infers.length;
    await until(() => sentMs.length >= countThen + 50);
    running.interrupt();
    assert.deepEqual([error, (await running.result).error], [undefined, undefined]);
    sentMs.sort((a, b) => a - b);
    const leastMs = server.infers
      .slice(0, sentMs.length)
      .map(({ arrivedMs }, index) => performance.timeOrigin + arrivedMs - (sentMs[index] as number))
      .slice(countThen)
      .reduce((least, one) => Math.min(least, one));
    assert.ok(leastMs > -ERROR_MS && leastMs < DELAY_MS - ERROR_MS, `${leastMs} ms from send to arrival`);
  });
});

test(
  "spans over time lie beside the windows of their levels, although agents' clocks are set back",
  LIMIT,
  async () => {
    await withAgents(2, async () => {
      await using server = await new KserveServer({}).start();
      const plan = planFor(server.url, { agentCount: 2 }, { load: holdAt(2, 4), measurement: count(100) });
      const followed = followRuns(plan);
      const result = await run(plan, { ...followed.observer, onRecord: () => {} });
      const { spans, windows } = followed.toJson([result])[0] ?? assert.fail();
      assert.deepEqual([result.error, spans.length, windows.length], [undefined, 2, 2]);
      for (const [index, { startSec, endSec }] of spans.entries()) {
        const window = windows[index] ?? assert.fail();
        assert.equal(endSec, window.endSec);
        assert.ok(startSec <= window.startSec, `${startSec} s and ${window.startSec} s`);
      }
    });
  },
);
