// Runs on: bun, deno, node.
import assert from "node:assert/strict";
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import type { BusPlan, Plan } from "../../../../src/plan/plan.ts";
import { RunError, UserError } from "../../../../src/plan/problem.ts";
import type { RunObserver } from "../../../../src/result/observer.ts";
import type { RunResult } from "../../../../src/result/run-result.ts";
import { type Agent, startAgent } from "../../../../src/run/fleet/bus/agent.ts";
import { claimSubject, FIND_SUBJECT } from "../../../../src/run/fleet/bus/agent-messages.ts";
import { openNatsBus } from "../../../../src/run/fleet/bus/nats-bus.ts";
import { type RunningPlan, startPlan } from "../../../../src/run/run-plan.ts";
import { sleepMs } from "../../../../src/runtime/clock.ts";
import { makePlan, type PlanChange } from "../../../plan/make-plan.ts";
import { type Nats, startNats } from "../../../servers/nats.ts";
import { withServer } from "../../kserve-server.ts";

/** Whole runs whose load is sent by agents on a real NATS server, against a server that counts. */

const LIMIT = { timeout: 120_000 };

let nats: Nats;
before(async () => {
  nats = await startNats();
});
after(() => nats?.stop());

/** What an agent said. */
interface Heard {
  readonly name: string;
  readonly ended: (string | undefined)[];
}

/** Starts agents, and ends them after `use`. */
async function withAgents<T>(count: number, use: (heard: readonly Heard[], agents: readonly Agent[]) => Promise<T>) {
  const heard: { name: string; readonly ended: (string | undefined)[] }[] = [];
  const agents: Agent[] = [];
  for (let index = 0; index < count; index++) {
    const one = { name: "", ended: [] as (string | undefined)[] };
    heard.push(one);
    const events = {
      ready: (name: string) => {
        one.name = name;
      },
      began: () => {},
      ended: (reason: string | undefined) => one.ended.push(reason),
    };
    agents.push(await startAgent({ url: nats.url }, events));
  }
  try {
    return await use(heard, agents);
  } finally {
    await Promise.all(agents.map((agent) => agent.close()));
  }
}

function planFor(url: string, bus: Partial<BusPlan>, change: PlanChange = {}): Plan {
  const client = { bus: { url: nats.url, waitMs: 5000, ...bus }, ...change.client };
  return makePlan({ ...change, client, target: { url, ...change.target } });
}

function start(plan: Plan, observer: RunObserver = {}): RunningPlan {
  return startPlan(plan, { openObserver: () => Promise.resolve(observer), check: () => Promise.resolve() });
}

const run = (plan: Plan, observer?: RunObserver): Promise<RunResult> => start(plan, observer).result;
const holdAt = (...values: number[]): Plan["load"] => ({
  ...{ kind: "concurrency", levels: { kind: "list", values }, search: "linear" },
});
const count = (requests: number) => ({ mode: { kind: "requests", count: requests } }) as const;
const forMs = (durationMs: number) => ({ mode: { kind: "duration", durationMs } }) as const;
async function until(isTrue: () => boolean): Promise<void> {
  while (!isTrue()) await sleepMs(10);
}
/** How long a response takes. */
const after5Ms = async (): Promise<undefined> => {
  await sleepMs(5);
  return undefined;
};

test(
  "the server gets each request once, at each level, whatever the number of agents and their threads",
  LIMIT,
  async () => {
    for (const [agentCount, workers] of [
      [1, 1],
      [2, 1],
      [2, 2],
    ] as const)
      await withAgents(agentCount, async (heard) => {
        await withServer({}, async (server) => {
          const change = { load: holdAt(1, 5), measurement: count(60), client: { workers } };
          const result = await run(planFor(server.url, { agentCount }, change));
          const { error, completedCount, failedCount, levels, hosts = [] } = result;
          assert.deepEqual([error, completedCount, failedCount, server.successCount], [undefined, 120, 0, 120]);
          assert.deepEqual(
            levels.map(({ level, window }) => [level, window.requestCount]),
            [1, 5].map((level) => [level, 60]),
          );
          assert.deepEqual(
            hosts.map(({ workerCount }) => workerCount),
            Array(agentCount).fill(workers),
          );
          assert.equal(
            hosts.reduce((sum, { completedCount: ofHost }) => sum + ofHost, 0),
            120,
          );
        });
        assert.deepEqual(
          heard.map(({ ended }) => ended),
          Array(agentCount).fill([undefined]),
        );
      });
  },
);

test("the arrivals of a rate are those of one sender, on one clock", LIMIT, async () => {
  await withAgents(2, () =>
    withServer({}, async (server) => {
      const load: Plan["load"] = {
        ...{ kind: "request-rate", levels: { kind: "list", values: [200] }, search: "linear" },
        ...{ distribution: "constant", seed: 1 },
      };
      const times: number[] = [];
      const observer: RunObserver = {
        onBatch: ({ intendedSendNs }, rows) => times.push(...intendedSendNs.subarray(0, rows)),
      };
      const change: PlanChange = { load, measurement: count(100), client: { callMode: "async" } };
      const { error } = await run(planFor(server.url, { agentCount: 2 }, change), observer);
      assert.deepEqual([error, server.successCount], [undefined, 100]);
      times.sort((a, b) => a - b);
      const gaps = times.slice(1).map((time, index) => Math.round((time - (times[index] ?? 0)) / 1e3));
      assert.deepEqual(gaps, Array(99).fill(5000));
    }),
  );
});

test("a level by time lasts as long as it should, and what is in flight is what was asked", LIMIT, async () => {
  await withAgents(2, () =>
    withServer({ onInfer: after5Ms }, async (server) => {
      const change = { load: holdAt(6), measurement: forMs(1000) };
      const { error, levels, hosts = [] } = await run(planFor(server.url, { agentCount: 2 }, change));
      assert.equal(error, undefined);
      const window = levels[0]?.window;
      assert.ok(window !== undefined);
      // However late the agents handled the message to begin; their clocks are known within an error.
      const clockErrorMs = Math.max(...hosts.map((host) => host.clockErrorNs)) / 1e6;
      const durationMs = (window.endNs - window.startNs) / 1e6;
      assert.ok(
        durationMs > 1000 - 2 * clockErrorMs - 1,
        `${durationMs} ms, ${clockErrorMs} ms, ${levels[0]?.outcome}`,
      );
      assert.ok(window.requestCount <= server.successCount, `${window.requestCount} of ${server.successCount}`);
      // By Little's law: never more in flight than were asked for.
      assert.ok(window.inFlightSumNs / window.durationNs < 6.1, `${window.inFlightSumNs / window.durationNs}`);
      // The time line has the same requests, each in flight for as long.
      const { timeline = [] } = levels[0] ?? {};
      const timedCount = timeline.reduce((sum, { requestCount }) => sum + requestCount, 0);
      assert.equal(timedCount, window.requestCount);
      const timedNs = timeline.reduce((sum, one) => sum + one.meanOutstanding * (one.endNs - one.startNs), 0);
      assert.ok(Math.abs(timedNs / window.inFlightSumNs - 1) < 1e-6, `${timedNs} of ${window.inFlightSumNs}`);
      // As the server saw it.
      assert.ok(server.maxOutstanding <= 6, `${server.maxOutstanding}`);
    }),
  );
});

test("an input file goes to the agents, and is removed after the run", LIMIT, async () => {
  const folder = mkdtempSync(join(tmpdir(), "rampart-files-"));
  const file = join(folder, "data.json");
  const row = (value: number) => ({ INPUT0: Array(16).fill(value), INPUT1: Array(16).fill(1) });
  writeFileSync(file, JSON.stringify({ data: [row(7), row(8)] }));
  const kept = (): string[] =>
    readdirSync("/dev/shm").filter((name) => name.startsWith(`rampart-agent-${process.pid}-`));
  const before = kept();
  try {
    await withAgents(2, () =>
      withServer({}, async (server) => {
        // The agents have the conductor's copy, whatever has this path here afterwards.
        const onInfer = (): undefined => void writeFileSync(file, "not JSON any more");
        onInfer();
        writeFileSync(file, JSON.stringify({ data: [row(7), row(8)] }));
        const inputs: Plan["inputs"] = { kind: "json", files: [file] };
        const { error, completedCount } = await run(
          planFor(server.url, { agentCount: 2 }, { inputs, measurement: count(20) }),
        );
        assert.deepEqual([error, completedCount, server.successCount], [undefined, 20, 20]);
      }),
    );
    assert.deepEqual(kept(), before);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test("an interrupt ends the run with what was measured, and the agents are free again", LIMIT, async () => {
  await withAgents(2, (heard) =>
    withServer({ onInfer: after5Ms }, async (server) => {
      const began = Promise.withResolvers<void>();
      const change = { load: holdAt(4), measurement: forMs(60_000) };
      const running = start(planFor(server.url, { agentCount: 2 }, change), { onWindowStart: () => began.resolve() });
      await began.promise;
      await server.until(() => server.successCount >= 40);
      running.interrupt();
      const { isInterrupted, levels, error } = await running.result;
      assert.deepEqual([isInterrupted, error, levels[0]?.outcome], [true, undefined, "partial"]);
      assert.ok((levels[0]?.window.requestCount ?? 0) > 0);
      await until(() => heard.every(({ ended }) => ended.length === 1));
      const again = await run(planFor(server.url, { agentCount: 2 }, { measurement: count(10) }));
      assert.deepEqual([again.error, again.completedCount], [undefined, 10]);
    }),
  );
});

test("an agent that is lost during the run ends it, by name, with what was measured until then", LIMIT, async () => {
  await withAgents(2, (heard, agents) =>
    withServer({ onInfer: after5Ms }, async (server) => {
      const began = Promise.withResolvers<void>();
      const change = { load: holdAt(4), measurement: forMs(60_000) };
      const { result } = start(planFor(server.url, { agentCount: 2 }, change), {
        onWindowStart: () => began.resolve(),
      });
      await began.promise;
      const beforeCount = server.successCount;
      await server.until(() => server.successCount > beforeCount + 40);
      await agents[1]?.close();
      const { error, levels, hosts = [], completedCount } = await result;
      assert.ok(error instanceof RunError, String(error));
      assert.equal(error.message, `the agent ${heard[1]?.name} is lost, and with it 50 % of the load: it was stopped`);
      // What was measured until then is there, and is no result.
      assert.deepEqual(
        levels.map(({ outcome }) => outcome),
        ["partial"],
      );
      assert.ok((levels[0]?.window.requestCount ?? 0) > 0);
      assert.ok(completedCount <= server.successCount, `${completedCount} of ${server.successCount}`);
      assert.equal(hosts.find(({ lost }) => lost !== undefined)?.name, heard[1]?.name);
      assert.equal(error.code, "unreachable");
      await until(() => heard.every(({ ended }) => ended.length === 1));
    }),
  );
});

test("a run whose only agent is lost has the levels before", LIMIT, async () => {
  await withAgents(1, (_, agents) =>
    withServer({ onInfer: after5Ms }, async (server) => {
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
    }),
  );
});

test("a run that may lose an agent continues with the others, and says what is missing", LIMIT, async () => {
  await withAgents(3, (heard, agents) =>
    withServer({ onInfer: after5Ms }, async (server) => {
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
      assert.equal(
        completedCount,
        ofAll.reduce((sum, count) => sum + count, 0),
      );
    }),
  );
});

test("a bus that is away for a second changes no count", LIMIT, async () => {
  const ours = await startNats();
  const events = { ready: () => {}, began: () => {}, ended: () => {} };
  const agents = [await startAgent({ url: ours.url }, events), await startAgent({ url: ours.url }, events)];
  try {
    await withServer({ onInfer: after5Ms }, async (server) => {
      const change = { load: holdAt(4), measurement: count(1500) };
      const result = run(planFor(server.url, { url: ours.url, agentCount: 2 }, change));
      await server.until(() => server.successCount >= 100);
      await ours.kill();
      await sleepMs(1000);
      await ours.restart();
      const { error, completedCount, levels } = await result;
      assert.deepEqual([error, completedCount, server.successCount], [undefined, 1500, 1500]);
      assert.equal(levels[0]?.window.requestCount, 1500);
    });
  } finally {
    await Promise.all(agents.map((agent) => agent.close()));
    await ours.stop();
  }
});

test("too few agents are one error that says who refused and why", LIMIT, async () => {
  await withServer({}, async (server) => {
    const none = run(planFor(server.url, { agentCount: 2, waitMs: 300 }));
    await assert.rejects(none, (error) => {
      assert.ok(error instanceof RunError);
      assert.equal(error.message, "2 agents are needed, and 0 came within 0.3 s");
      return true;
    });
    // One of another version, as such a one would reply.
    const bus = await openNatsBus({ url: nats.url }, "old");
    const info = { id: "old", name: "elsewhere/1", version: "0.0.1", isBusy: false };
    bus.subscribe(FIND_SUBJECT, (_, reply) => bus.publish(reply, info));
    bus.subscribe(claimSubject("old"), (claim, reply) => {
      const { version } = claim as { version: string };
      bus.publish(reply, { isTaken: false, reason: `it is Rampart 0.0.1, and the run is of Rampart ${version}` });
    });
    await assert.rejects(
      run(planFor(server.url, { agentCount: 1, waitMs: 500 })),
      /elsewhere\/1: it is Rampart 0\.0\.1, and the run is of Rampart \d/,
    );
    await bus.close();
    // One that takes part in another run.
    await withAgents(1, async (heard) => {
      const running = start(planFor(server.url, {}, { load: holdAt(1), measurement: forMs(60_000) }));
      await server.until(() => server.successCount > 0);
      await assert.rejects(
        run(planFor(server.url, { waitMs: 500 })),
        new RegExp(`${heard[0]?.name}: it takes part in another run`),
      );
      running.interrupt();
      await running.result;
    });
    assert.equal(server.requests.length > 0, true);
  });
});

test("an agent that is found first waits for those that come much later", LIMIT, async () => {
  await withAgents(1, async (heard) => {
    await withServer({}, async (server) => {
      const plan = planFor(server.url, { agentCount: 2, waitMs: 20_000 }, { measurement: count(20) });
      const result = run(plan);
      // Longer than the silence after which an agent gives its conductor up.
      await sleepMs(5000);
      await withAgents(1, async () => {
        const { error, completedCount, hosts = [] } = await result;
        assert.deepEqual([error, completedCount, server.successCount, hosts.length], [undefined, 20, 20, 2]);
      });
    });
    assert.deepEqual(heard[0]?.ended, [undefined]);
  });
});

test("what agents cannot do is refused by name", LIMIT, async () => {
  const plan = planFor("localhost:1", {}, { target: { sharedMemory: "system" } });
  await assert.rejects(run(plan), (error) => {
    assert.ok(error instanceof UserError);
    assert.deepEqual(
      error.problems.map(({ message, hint }) => [message, hint]),
      [["several workers cannot share the regions of shared memory", "Send without agents."]],
    );
    return true;
  });
});

test("an agent does not wait where everybody is let in", LIMIT, async () => {
  const open = await startNats({ login: "nobody-asked" });
  const events = { ready: () => {}, began: () => {}, ended: () => {} };
  await assert.rejects(startAgent({ url: `nats://127.0.0.1:${open.port}` }, events), /the bus lets everybody in/);
  await open.stop();
});
