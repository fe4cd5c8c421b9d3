import assert from "node:assert/strict";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, test } from "node:test";
import type { RunJson } from "../../src/report/schema/report-schema.ts";
import { makeFolder } from "../make-folder.ts";
import { installTool } from "../servers/install-tool.ts";
import { startNats } from "../servers/nats.ts";
import { type NetworkHost, withNetwork } from "../servers/network.ts";
import { startStub } from "../servers/stub.ts";
import { LIMIT } from "../time-limit.ts";
import { AgentProcess } from "./agent-process.ts";
import { runRampart } from "./command.ts";

/**
 * Hosts in network namespaces: conductor, two agents, and a host with the bus and the server. The line of one agent takes 20 ms on average, more there
 * than back, and loses packets. Needs root, see servers/network.ts.
 */

const FAR = { outMs: 30, inMs: 10, jitterMs: 4, lossRatio: 0.01 };
/** Half of the shortest round trip over that line. */
const LEAST_ERROR_MS = (FAR.outMs + FAR.inMs - 2 * FAR.jitterMs) / 2;
/** Runtimes know the system's time at their start to a millisecond. */
const ORIGIN_ERROR_MS = 2;
const SHIFT_SEC = 90;

let folder: string;
beforeEach(() => {
  folder = makeFolder();
});

interface Measured {
  readonly report: RunJson;
  /** Start of each request, and the first end of one, in nanoseconds since the first start, on the conductor's clock. */
  readonly startsNs: readonly number[];
  readonly firstEndNs: number;
  /** Requests that the server got, and the nanoseconds from the first to the last. */
  readonly arrivedCount: number;
  readonly arrivedNs: number;
}

/** Measures with two agents. @param farEnv more environment of the far one */
async function measure(load: string, farEnv: Readonly<Record<string, string>> = {}): Promise<Measured> {
  let measured: Measured | undefined;
  const { far, near } = await withNetwork({ centre: {}, conductor: {}, near: {}, far: FAR }, async (hosts) => {
    const stub = await startStub({ on: hosts.centre });
    const nats = await startNats({ on: hosts.centre });
    const agents = [
      new AgentProcess({ folder, busUrl: nats.url, enter: hosts.near.enter }),
      new AgentProcess({ folder, busUrl: nats.url, enter: hosts.far.enter, env: farEnv }),
    ];
    try {
      await Promise.all(agents.map((agent) => agent.says("waiting for runs")));
      const text = `import { defineScenario, errorRate, ${load.slice(0, load.indexOf("("))}, triton } from "rampart";
export default defineScenario({
  name: "hosts",
  target: triton("${hosts.centre.address}:${stub.httpPort}", { model: "simple" }),
  load: ${load},
  assert: [errorRate().is(0)],
});
`;
      writeFileSync(join(folder, "load.ts"), text);
      const report = await conduct(hosts.conductor, nats.url, agents);
      const { http, firstNs, lastNs } = await stub.counter();
      measured = { ...report, arrivedCount: http, arrivedNs: Number(lastNs - firstNs) };
      assert.deepEqual(await Promise.all(agents.map((agent) => agent.end("SIGINT"))), [0, 0]);
    } finally {
      await Promise.all([...agents.map((agent) => agent.end("SIGKILL")), nats.stop(), stub.stop()]);
      for (const { name } of agents) removeShared(name);
    }
  });
  assert.ok(far.carried > 500 && far.lost > 0, `the line loses packets: ${JSON.stringify(far)}`);
  assert.ok(near.carried > 500, JSON.stringify(near));
  return measured as Measured;
}

/** libfaketime leaves its shared memory. @param name of an agent, HOST/PID */
function removeShared(name: string): void {
  const pid = name.slice(name.lastIndexOf("/") + 1);
  for (const file of [`faketime_shm_${pid}`, `sem.faketime_sem_${pid}`])
    rmSync(join("/dev/shm", file), { force: true });
}

/** Runs the scenario on the conductor's host. The hosts of its report are in the order of the agents. */
async function conduct(
  { enter }: NetworkHost,
  busUrl: string,
  agents: readonly AgentProcess[],
): Promise<Pick<Measured, "report" | "startsNs" | "firstEndNs">> {
  const [report, records] = [join(folder, "report.json"), join(folder, "records.jsonl")];
  const args = ["run", "load.ts", "--bus", busUrl, "--agents", "2", "--json", report, "--records", records];
  const { code, stdout, stderr } = await runRampart(args, { cwd: folder, enter });
  assert.equal(code, 0, `${stdout}\n${stderr}`);
  const lines = readFileSync(records, "utf8").trimEnd().split("\n");
  // Nanoseconds since 1970 do not fit a double.
  const sorted = (name: string): bigint[] =>
    lines.map((line) => BigInt(new RegExp(`"${name}": ?(\\d+)`).exec(line)?.[1] ?? 0)).sort((a, b) => Number(a - b));
  const starts = sorted("request_start_ns");
  const [first = 0n] = starts;
  const json = JSON.parse(readFileSync(report, "utf8")) as RunJson;
  const hosts = agents.map(({ name }) => json.hosts?.find((host) => host.name === name));
  return {
    report: { ...json, hosts: hosts.filter((host) => host !== undefined) },
    startsNs: starts.map((start) => Number(start - first)),
    firstEndNs: Number((sorted("request_end_ns")[0] ?? 0n) - first),
  };
}

/** The clock of each host is off by what is known, within the error that is stated. @param shiftMs of the far one */
function checkClocks({ report }: Measured, shiftMs: number): void {
  const errors = (report.hosts ?? []).map(({ clockOffsetMs = Number.NaN, clockErrorMs }, index) => {
    const wrongMs = Math.abs(clockOffsetMs - (index === 1 ? shiftMs : 0));
    assert.ok(wrongMs <= clockErrorMs + ORIGIN_ERROR_MS, `${index}: ${clockOffsetMs} ms, known to ${clockErrorMs} ms`);
    return clockErrorMs;
  });
  assert.equal(errors.length, 2);
  assert.ok((errors[1] as number) >= LEAST_ERROR_MS, `${errors}`);
}

test("agents on a near host and behind a line that loses packets send a load, each its share", LIMIT, async () => {
  const measured = await measure("hold(8, { requests: 400 })");
  const { report, arrivedCount, startsNs } = measured;
  assert.deepEqual([report.requests.completed, arrivedCount, startsNs.length], [400, 400, 400]);
  assert.deepEqual(
    report.hosts?.map(({ sent, failed }) => [sent, failed]),
    [
      [200, 0],
      [200, 0],
    ],
  );
  checkClocks(measured, 0);
});

test("a schedule is kept by a host whose clock is wrong, and the report says by how much it is", LIMIT, async () => {
  installTool("faketime");
  const env = {
    LD_PRELOAD: "/usr/$LIB/faketime/libfaketimeMT.so.1",
    FAKETIME: `+${SHIFT_SEC}`,
    // The system's time is wrong; the monotonic clock runs on.
    FAKETIME_DONT_FAKE_MONOTONIC: "1",
  };
  const measured = await measure("rate(200, { requests: 400 })", env);
  checkClocks(measured, SHIFT_SEC * 1000);
  const { report, arrivedCount, arrivedNs, startsNs, firstEndNs } = measured;
  assert.deepEqual([report.requests.completed, arrivedCount], [400, 400]);
  assert.deepEqual(
    report.hosts?.map(({ sent }) => sent),
    [200, 200],
  );
  // No request is sent before its time, on whichever host. On a busy machine the first one may be sent late, as each says of itself.
  const errorNs = Math.max(...(report.hosts ?? []).map(({ clockErrorMs }) => clockErrorMs)) * 1e6;
  const lateNs = (report.levels[0]?.sendDelayUs?.max ?? Number.NaN) * 1e3;
  for (const [index, startNs] of startsNs.entries())
    assert.ok(startNs >= index * 5e6 - 2 * errorNs - lateNs, `${index}: ${startNs}, ${lateNs} late`);
  // Nor by the clock that is wrong.
  const lastNs = startsNs.at(-1) as number;
  assert.ok(lastNs < (SHIFT_SEC / 2) * 1e9, `${lastNs}`);
  // The server has the first one before it ends, and the last one after its start.
  assert.ok(
    arrivedNs >= lastNs - firstEndNs - 2 * errorNs,
    `${arrivedNs} for ${lastNs}, the first ended at ${firstEndNs}`,
  );
});
