import assert from "node:assert/strict";
import { test } from "node:test";
import { RunError, UserError } from "../../../../src/plan/problem.ts";
import { type AgentInfo, claimSubject, FIND_SUBJECT } from "../../../../src/run/fleet/bus/agent-messages.ts";
import { openNatsBus } from "../../../../src/run/fleet/bus/nats-bus.ts";
import { openAgents } from "../../../../src/run/fleet/bus/open-agents.ts";
import { RunAgent } from "../../../../src/run/fleet/bus/run-agent.ts";
import { openTcpHub } from "../../../../src/run/fleet/bus/tcp-bus.ts";
import { RunSignal } from "../../../../src/run/interrupt.ts";
import { sleepMs } from "../../../../src/runtime/clock.ts";
import { VERSION } from "../../../../src/runtime/this-program.ts";
import { LIMIT } from "../../../time-limit.ts";
import { KserveServer, withServer } from "../../kserve-server.ts";
import { count, forMs, holdAt, nats, planFor, run, start, useNats, withAgents } from "./with-agents.ts";

useNats();

/** Which agents take part in a run. */

test("too few agents are one error that says who refused and why", LIMIT, async () => {
  await using server = await new KserveServer({}).start();
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
    run(planFor(server.url, { agentCount: 1, waitMs: 2000 })),
    /elsewhere\/1: it is Rampart 0\.0\.1, and the run is of Rampart \d/,
  );
  await bus.close();
  // One that takes part in another run.
  await withAgents(1, async (heard) => {
    const running = start(planFor(server.url, {}, { load: holdAt(1), measurement: forMs(60_000) }));
    await server.until(() => server.successCount > 0);
    await assert.rejects(
      run(planFor(server.url, { waitMs: 2000 })),
      new RegExp(`${heard[0]?.name}: it takes part in another run`),
    );
    running.interrupt();
    await running.result;
  });
  assert.equal(server.requests.length > 0, true);
});

test("processes of a launch that do not join are not agents that one can start", LIMIT, async () => {
  const hub = await openTcpHub();
  try {
    const bus = { url: `tcp://${hub.token}@127.0.0.1:${hub.port}`, agentCount: 2, waitMs: 200 };
    await assert.rejects(openAgents(bus, { workers: 1, signal: new RunSignal() }), (error) => {
      assert.ok(error instanceof RunError);
      assert.deepEqual([error.code, typeof error.hint], ["unreachable", "string"]);
      assert.match(`${error.message} ${error.hint}`, /2 processes .* 0 .* launcher/);
      return true;
    });
  } finally {
    hub.close();
  }
});

test("an interrupt ends the wait for agents as an interrupt", LIMIT, async () => {
  const running = start(planFor("127.0.0.1:1", { agentCount: 2, waitMs: 60_000 }));
  await sleepMs(500);
  running.interrupt();
  await assert.rejects(running.result, (error) => error instanceof RunError && error.code === "interrupted");
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

test("an agent takes part whose reply comes late, because its host is busy", LIMIT, async () => {
  const bus = await openNatsBus({ url: nats.url }, "slow");
  let askedCount = 0;
  bus.subscribe(FIND_SUBJECT, (_, reply) =>
    bus.publish(reply, { id: "slow", name: "slow/1", version: VERSION, isBusy: askedCount > 0 }),
  );
  bus.subscribe(claimSubject("slow"), async (_, reply) => {
    askedCount++;
    await sleepMs(2500);
    bus.publish(reply, { isTaken: true });
  });
  try {
    const agents = await openAgents({ url: nats.url, waitMs: 10_000 }, { workers: 1, signal: new RunSignal() });
    assert.deepEqual([agents.count, askedCount], [1, 1]);
    await agents.close();
  } finally {
    await bus.close();
  }
});

test(
  "of two runs that each have some of the agents, one leaves its agents to the other, and has them afterwards",
  LIMIT,
  async () => {
    await withAgents(2, async (heard) => {
      const bus = await openNatsBus({ url: nats.url }, "another conductor");
      const infos = new Map<string, AgentInfo>();
      bus.subscribe("infos", (info) => infos.set((info as AgentInfo).id, info as AgentInfo));
      const ask = (): void => bus.publish(FIND_SUBJECT, {}, "infos");
      const findUntil = async (isFound: () => boolean): Promise<void> => {
        for (; !isFound(); await sleepMs(20)) ask();
      };
      // Before the id of any run.
      const claim = { runId: "!", version: VERSION };
      const take = async (id: string): Promise<RunAgent> => {
        const replied = Promise.withResolvers<unknown>();
        bus.subscribe(`reply.${id}`, replied.resolve);
        bus.publish(claimSubject(id), claim, `reply.${id}`);
        assert.deepEqual(await replied.promise, { isTaken: true });
        return new RunAgent(bus, claim.runId, { id, name: id }, 2);
      };
      await findUntil(() => infos.size === 2);
      const [first = "", second = ""] = infos.keys();
      const taken = [await take(first)];
      const other = openAgents(
        { url: nats.url, agentCount: 2, waitMs: 30_000 },
        { workers: 1, signal: new RunSignal() },
      );
      await findUntil(() => infos.get(second)?.isBusy === true);
      await findUntil(() => infos.get(second)?.isBusy === false);
      taken.push(await take(second));
      await Promise.all(taken.map((agent) => agent.close()));
      const agents = await other;
      assert.equal(agents.count, 2);
      await agents.close();
      await bus.close();
      // The run of the other conductor, and what was left to it.
      assert.deepEqual(heard.map(({ ended }) => ended.length).sort(), [2, 3]);
    });
  },
);

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
