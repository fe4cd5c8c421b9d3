import assert from "node:assert/strict";
import { test } from "node:test";
import { sum } from "../../../../src/plan/units.ts";
import { LIMIT } from "../../../time-limit.ts";
import { KserveServer } from "../../kserve-server.ts";
import { after5Ms, count, forMs, holdAt, planFor, start, useNats, withAgents } from "./with-agents.ts";

useNats();

/** What a run has that lost an agent and had levels before, or may lose one. */

test("a run whose only agent is lost has the levels before", LIMIT, async () => {
  await withAgents(1, async (_, agents) => {
    await using server = await new KserveServer({ onInfer: after5Ms }).start();
    const change = { load: holdAt(1, 2), measurement: forMs(2000), client: { workers: 2 } };
    let [levelCount, countThen] = [0, 0];
    const { result } = start(planFor(server.url, {}, change), {
      onLevelStart: () => {
        levelCount++;
        countThen = server.successCount;
      },
    });
    await server.until(() => levelCount === 2 && server.successCount > countThen + 20);
    await agents[0]?.close();
    const { error, levels } = await result;
    assert.equal(error?.code, "unreachable");
    const [first, ...others] = levels;
    assert.deepEqual([first?.level, first?.outcome], [1, "measured"]);
    assert.ok(others.every(({ outcome }) => outcome === "partial"));
  });
});

test("a run that may lose an agent continues with the others, and says what is missing", LIMIT, async () => {
  await withAgents(3, async (heard, agents) => {
    await using server = await new KserveServer({ onInfer: after5Ms }).start();
    const began = Promise.withResolvers<void>();
    const change = { load: holdAt(6), measurement: count(1200), client: { workers: 2 } };
    const plan = planFor(server.url, { agentCount: 3, allowLost: 1 }, change);
    const { result } = start(plan, { onWindowStart: () => began.resolve() });
    await began.promise;
    const beforeCount = server.successCount;
    await server.until(() => server.successCount > beforeCount + 300);
    await agents[1]?.close();
    const { error, levels, hosts = [], completedCount } = await result;
    assert.deepEqual([error, levels[0]?.outcome], [undefined, "measured"]);
    const lost = hosts.find(({ name, lost: of }) => name === heard[1]?.name && of !== undefined)?.lost;
    assert.equal(hosts.filter((host) => host.lost !== undefined).length, 1);
    assert.ok(lost !== undefined && Math.abs(lost.loadRatio - 1 / 3) < 1e-9 && lost.reason === "it was stopped");
    assert.ok(lost.afterNs > 0 && lost.afterNs < 20e9, `${lost.afterNs}`);
    // Nothing is counted twice or lost in silence: what the lost one reported before is in the sum, and said to be in no level.
    assert.ok(completedCount <= server.successCount, `${completedCount} of ${server.successCount}`);
    const { window } = levels[0] as (typeof levels)[number];
    assert.deepEqual([window.requestCount, window.requestCount + lost.uncountedCount], [800, completedCount]);
    assert.ok(lost.uncountedCount > 0 && lost.fromNs < window.endNs, `${lost.uncountedCount}`);
    const ofAll = hosts.map((host) => host.completedCount);
    assert.equal(completedCount, sum(ofAll));
  });
});
