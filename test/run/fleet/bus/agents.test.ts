// Runs on: bun, deno, node.
import assert from "node:assert/strict";
import { appendFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import type { Plan } from "../../../../src/plan/plan.ts";
import { RunError } from "../../../../src/plan/problem.ts";
import { sum } from "../../../../src/plan/units.ts";
import type { RunObserver } from "../../../../src/result/observer.ts";
import { startAgent } from "../../../../src/run/fleet/bus/agent.ts";
import type { SentPiece } from "../../../../src/run/fleet/bus/agent-messages.ts";
import { openNatsBus } from "../../../../src/run/fleet/bus/nats-bus.ts";
import { sleepMs } from "../../../../src/runtime/clock.ts";
import { defineScenario } from "../../../../src/scenario/define.ts";
import { hold } from "../../../../src/scenario/loads/concurrency.ts";
import { prompts } from "../../../../src/scenario/prompts.ts";
import { openai } from "../../../../src/scenario/targets/llm.ts";
import { toPlan } from "../../../../src/scenario/to-plan.ts";
import { makeFolder } from "../../../make-folder.ts";
import type { PlanChange } from "../../../plan/make-plan.ts";
import { rateLoad } from "../../../plan/make-plan.ts";
import { startNats } from "../../../servers/nats.ts";
import { startOpenAiStub } from "../../../servers/openai-stub.ts";
import { LIMIT } from "../../../time-limit.ts";
import { TINY } from "../../../tokenize/tiny.ts";
import { KserveServer, withServer } from "../../kserve-server.ts";
import {
  after5Ms,
  count,
  forMs,
  holdAt,
  nats,
  planFor,
  run,
  start,
  until,
  useNats,
  withAgents,
} from "./with-agents.ts";

useNats();

/** Whole runs whose load is sent by agents on a real NATS server, against a server that counts. */

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
          assert.equal(sum(hosts.map(({ completedCount: ofHost }) => ofHost)), 120);
        });
        assert.deepEqual(
          heard.map(({ ended }) => ended),
          Array(agentCount).fill([undefined]),
        );
      });
  },
);

test("the arrivals of a rate are those of one sender, on one clock", LIMIT, async () => {
  await withAgents(2, async () => {
    await using server = await new KserveServer({}).start();
    const load: Plan["load"] = rateLoad([200]);
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
  });
});

test("a level by time lasts as long as it should, and what is in flight is what was asked", LIMIT, async () => {
  await withAgents(2, async () => {
    await using server = await new KserveServer({ onInfer: after5Ms }).start();
    const change = { load: holdAt(6), measurement: forMs(4000) };
    const { error, levels, hosts = [] } = await run(planFor(server.url, { agentCount: 2 }, change));
    assert.equal(error, undefined);
    const window = levels[0]?.window;
    assert.ok(window !== undefined);
    // However late the agents handled the message to begin; their clocks are known within an error.
    const clockErrorMs = Math.max(...hosts.map((host) => host.clockErrorNs)) / 1e6;
    const durationMs = (window.endNs - window.startNs) / 1e6;
    assert.ok(durationMs > 4000 - 2 * clockErrorMs - 1, `${durationMs} ms, ${clockErrorMs} ms, ${levels[0]?.outcome}`);
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
  });
});

test(
  "tokens of a level by time are those of its requests, also where single requests are followed",
  LIMIT,
  async () => {
    const server = await startOpenAiStub();
    try {
      await withAgents(2, async () => {
        const target = openai(`127.0.0.1:${server.port}`, { model: "m", tokenizer: TINY, streaming: true });
        const inputs = prompts({ isl: 12, osl: 5, count: 4 });
        const made = toPlan(defineScenario({ name: "x", target, load: hold(4, { for: "500 ms" }), inputs }), "/");
        const plan = { ...made, client: { ...made.client, bus: { url: nats.url, waitMs: 60_000, agentCount: 2 } } };
        for (const observer of [{}, { onTokens: () => {} }]) {
          const { error, levels } = await run(plan, observer);
          assert.equal(error, undefined);
          assert.equal(levels[0]?.window.tokens?.count, levels[0]?.window.requestCount);
        }
      });
    } finally {
      await server.stop();
    }
  },
);

test("an input file goes to the agents, and is removed after the run", LIMIT, async () => {
  const folder = makeFolder();
  const file = join(folder, "data.json");
  const row = (value: number) => ({ INPUT0: Array(16).fill(value), INPUT1: Array(16).fill(1) });
  writeFileSync(file, JSON.stringify({ data: [row(7), row(8)] }));
  const kept = (): string[] =>
    readdirSync("/dev/shm").filter((name) => name.startsWith(`rampart-agent-${process.pid}-`));
  const before = kept();
  await withAgents(2, async () => {
    await using server = await new KserveServer({}).start();
    // The agents have the conductor's copy, whatever has this path here afterwards.
    const onInfer = (): undefined => void writeFileSync(file, "not JSON any more");
    onInfer();
    writeFileSync(file, JSON.stringify({ data: [row(7), row(8)] }));
    const inputs: Plan["inputs"] = { kind: "json", files: [file] };
    const { error, completedCount } = await run(
      planFor(server.url, { agentCount: 2 }, { inputs, measurement: count(20) }),
    );
    assert.deepEqual([error, completedCount, server.successCount], [undefined, 20, 20]);
  });
  assert.deepEqual(kept(), before);
});

test("a file goes over the bus once, for all agents", LIMIT, async () => {
  const folder = makeFolder();
  const file = join(folder, "data.json");
  const padding = 3_000_000;
  writeFileSync(file, JSON.stringify({ data: [{ INPUT0: Array(16).fill(7), INPUT1: Array(16).fill(1) }] }));
  appendFileSync(file, " ".repeat(padding));
  const watching = await openNatsBus({ url: nats.url }, "a watch");
  const bytes = { forAll: 0, forOne: 0 };
  watching.subscribe("rampart.*.run.*.files", (piece) => {
    bytes.forAll += (piece as SentPiece).bytes.length;
  });
  watching.subscribe("rampart.*.run.*.*.agent", (frame) => {
    bytes.forOne += (frame as [number, number, boolean, Uint8Array])[3].length;
  });
  try {
    await withAgents(3, async () => {
      await using server = await new KserveServer({}).start();
      const inputs: Plan["inputs"] = { kind: "json", files: [file] };
      const change = { inputs, measurement: count(20) };
      const { error, completedCount } = await run(planFor(server.url, { agentCount: 3 }, change));
      assert.deepEqual([error, completedCount], [undefined, 20]);
    });
    assert.ok(bytes.forAll > padding && bytes.forAll < 1.1 * padding, JSON.stringify(bytes));
    assert.ok(bytes.forOne < padding, JSON.stringify(bytes));
  } finally {
    await watching.close();
  }
});

test("an interrupt ends the run with what was measured, and the agents are free again", LIMIT, async () => {
  await withAgents(2, async (heard) => {
    await using server = await new KserveServer({ onInfer: after5Ms }).start();
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
  });
});

test("an agent that is lost during the run ends it, by name, with what was measured until then", LIMIT, async () => {
  await withAgents(2, async (heard, agents) => {
    await using server = await new KserveServer({ onInfer: after5Ms }).start();
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
  });
});

test("a bus that is away for a second changes no count", LIMIT, async () => {
  const ours = await startNats();
  const events = { ready: () => {}, began: () => {}, ended: () => {} };
  const agents = [await startAgent({ url: ours.url }, events), await startAgent({ url: ours.url }, events)];
  try {
    await using server = await new KserveServer({ onInfer: after5Ms }).start();
    const change = { load: holdAt(4), measurement: count(1500) };
    const result = run(planFor(server.url, { url: ours.url, agentCount: 2 }, change));
    await server.until(() => server.successCount >= 100);
    await ours.kill();
    await sleepMs(1000);
    await ours.restart();
    const { error, completedCount, levels } = await result;
    assert.deepEqual([error, completedCount, server.successCount], [undefined, 1500, 1500]);
    assert.equal(levels[0]?.window.requestCount, 1500);
  } finally {
    await Promise.all(agents.map((agent) => agent.close()));
    await ours.stop();
  }
});

test("an agent does not wait where everybody is let in", LIMIT, async () => {
  const open = await startNats({ login: "nobody-asked" });
  const events = { ready: () => {}, began: () => {}, ended: () => {} };
  await assert.rejects(startAgent({ url: `nats://127.0.0.1:${open.port}` }, events), /the bus lets everybody in/);
  await open.stop();
});
