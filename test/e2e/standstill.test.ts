import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { setTimeout as sleepMs } from "node:timers/promises";
import type { RunJson } from "../../src/report/schema/report-schema.ts";
import { makeFolder, writeIn } from "../make-folder.ts";
import { KserveServer } from "../run/kserve-server.ts";
import { type Nats, startNats } from "../servers/nats.ts";
import { LIMIT } from "../time-limit.ts";
import { type AgentProcess, withAgentProcesses } from "./agent-process.ts";
import { type Outcome, runRampart } from "./command.ts";

/** Processes of a fleet that stand still. What the server got, and when, is the truth. */

const folder = makeFolder();
let nats: Nats;
before(async () => {
  nats = await startNats();
});
after(() => nats?.stop());

interface Started {
  readonly ended: Promise<Outcome>;
  readonly signal: (name: NodeJS.Signals) => void;
  report(): RunJson;
}

/** Starts a run, and waits until the server has some requests, or until requests are measured. */
async function start(server: KserveServer, load: string, ...options: readonly string[]): Promise<Started> {
  const name = load.slice(0, load.indexOf("("));
  const text = `import { defineScenario, ${name}, triton } from "rampart";
export default defineScenario({
  name: "standstill",
  target: triton("${server.url}", { model: "simple" }),
  load: ${load},
  warmupFor: "500 ms",
  onRecord: ({ level }) => console.error(level?.isWarmup === false ? "MEASURED" : "BEFORE"),
});
`;
  const file = writeIn(folder, "standstill.ts", text);
  const path = join(folder, "report.json");
  let signal: Started["signal"] = () => {};
  const measured = Promise.withResolvers<void>();
  const ended = runRampart(["run", file, "--bus", nats.url, "--json", path, ...options], {
    cwd: folder,
    onStart: (kill) => {
      signal = kill;
    },
    onStderr: (printed) => {
      if (printed.split("MEASURED").length > 20) measured.resolve();
    },
  });
  await Promise.race([measured.promise, ended]);
  return { ended, signal, report: () => JSON.parse(readFileSync(path, "utf8")) as RunJson };
}

const withAgents = (count: number, use: (agents: readonly AgentProcess[]) => Promise<void>): Promise<void> =>
  withAgentProcesses({ count, folder, busUrl: nats.url }, use);

/** Stops processes for a time. Returns the number of requests that the server got until they continued. */
async function stopFor(
  server: KserveServer,
  timeMs: number,
  signals: readonly ((name: "SIGSTOP" | "SIGCONT") => void)[],
): Promise<number> {
  for (const signal of signals) signal("SIGSTOP");
  await sleepMs(timeMs);
  const { length } = server.infers;
  for (const signal of signals) signal("SIGCONT");
  return length;
}

for (const stillSec of [6])
  test(
    `a fleet that stands still for ${stillSec} s over the end of a schedule sends nothing of it afterwards`,
    LIMIT,
    async () => {
      await withAgents(2, async (agents) => {
        await using server = await new KserveServer({}).start();
        const { ended, signal, report } = await start(server, 'rate(100, { for: "3 s" })', "--agents", "2");
        const signals = agents.map((agent) => (name: "SIGSTOP" | "SIGCONT") => agent.signal(name));
        const countThen = await stopFor(server, stillSec * 1000, [signal, ...signals]);
        const { code, stdout, stderr } = await ended;
        // The load was not sent as the scenario asks for.
        assert.equal(code, 66, `${stdout}\n${stderr}`);
        const { requests, levels, hosts = [] } = report();
        const sentByHosts = hosts.reduce((sum, host) => sum + host.sent, 0);
        const recordCount = stderr.match(/^(MEASURED|BEFORE)$/gm)?.length;
        // What was due after the end is not sent, and each request of the server is counted once.
        assert.deepEqual(
          [server.infers.length, requests.sent, requests.completed, requests.failed, sentByHosts, recordCount],
          [countThen, countThen, countThen, 0, countThen, countThen],
        );
        const { sent = 0, unsent = 0 } = levels[0] ?? {};
        // The window begins and ends between two requests of each agent.
        assert.ok(Math.abs(sent + unsent - 300) <= 2, `${sent} sent, ${unsent} not`);
      });
    },
  );

for (const load of ['rate(100, { for: "60 s" })', 'hold(4, { for: "60 s" })'])
  test(`an agent that runs again after its run has ended sends nothing more: ${load}`, LIMIT, async () => {
    await withAgents(2, async ([still]) => {
      await using server = await new KserveServer({ onInfer: () => sleepMs(10, undefined) }).start();
      const { ended } = await start(server, load, "--agents", "2");
      still?.signal("SIGSTOP");
      const { code, stderr } = await ended;
      assert.equal(code, 69, stderr);
      const countThen = await stopFor(server, 3000, []);
      still?.signal("SIGCONT");
      await still?.says("the run was cancelled: its conductor is gone");
      assert.equal(server.infers.length, countThen);
    });
  });
