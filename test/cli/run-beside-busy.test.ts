import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import type { MetricsJson } from "../../src/report/schema/metrics.ts";
import { spreadIn } from "../report/json-metrics.ts";
import { startTruth, type TruthServer } from "../servers/truth.ts";
import { LIMIT } from "../time-limit.ts";
import { createFolder, rampartCommand, startProcess } from "./rampart-process.ts";
import { scenarioText } from "./scenario-files.ts";

/** What a run says of its own lag while busy processes have its core, beside a server that knows its own times. */

const CAN_PIN = spawnSync("taskset", ["-c", "0", "true"]).status === 0;
const PINNED = { ...LIMIT, skip: CAN_PIN ? false : "needs taskset" };
const ON_CORE = ["taskset", "-c", "0"];

interface ClientJson {
  readonly cpuRatio: number;
  readonly coreWaitRatio: number;
  readonly loopLagMeanMs: number;
  readonly lagWarning: string | null;
  readonly lagBias?: readonly { readonly biasMs: number }[];
}

interface LevelJson {
  readonly client: ClientJson;
  readonly metrics: MetricsJson;
  readonly durationSec: number;
}

/** Starts two processes that keep the core busy. Returns what ends them. */
function keepBusy(): () => void {
  const [program = "", ...args] = [...ON_CORE, "sh", "-c", "while :; do :; done"];
  const loops = [1, 2].map(() => spawn(program, args));
  return () => {
    for (const loop of loops) loop.kill("SIGKILL");
  };
}

/** Runs a load on the core of the busy processes, which are there while it is sent. */
async function run(
  server: TruthServer,
  load: string,
): Promise<{ readonly level: LevelJson | undefined; readonly text: string }> {
  const text = scenarioText({ load, target: `api.http("${server.url}/")` });
  using folder = createFolder({ "x.ts": text });
  const command = [...ON_CORE, ...rampartCommand(), "run", "x.ts", "--json", "r.json"];
  const running = startProcess(command, { cwd: folder.path });
  await running.waitFor(/measuring/);
  const stopBusy = keepBusy();
  const { code, out, err } = await running.result.finally(stopBusy);
  // Where even more is busy, the load cannot be sent, and the run says so.
  assert.ok(code === 0 || code === 66, out + err);
  const { levels } = JSON.parse(readFileSync(join(folder.path, "r.json"), "utf8")) as { levels: readonly LevelJson[] };
  assert.ok(levels.length === 1 || code === 66, out + err);
  return { level: levels[0], text: out + err };
}

/** Names of times, which a statement about the client does not have. */
const CLAIM = /latency|too long|arrived|first token|bias/;

for (const [latencyMs, load] of [
  [0, 'hold(3, { for: "1200 ms" })'],
  [20, 'hold(32, { for: "1200 ms" })'],
  [5, 'rate(100, { for: "1200 ms" })'],
] as const)
  test(`${load} at ${latencyMs} ms claims no more lag than is outside of the server`, PINNED, async (t) => {
    await using server = await startTruth(latencyMs);
    const { level, text } = await run(server, load);
    // Of a load that could not be sent at all nothing is claimed.
    if (level === undefined) return;
    const log = await server.log();
    const ownMs = log.reduce((sum, one) => sum + one.answeredMs - one.arrivedMs, 0) / log.length;
    const averageUs = spreadIn(level, "latencyUs")?.mean ?? 0;
    const outsideMs = averageUs / 1e3 - ownMs;
    const { client } = level;
    t.diagnostic(`${outsideMs.toFixed(3)} ms outside of ${ownMs.toFixed(3)} ms; ${client.lagWarning}`);
    for (const { biasMs } of client.lagBias ?? []) assert.ok(biasMs <= outsideMs, `${biasMs} of ${outsideMs} ms`);
    if (client.lagWarning === null) {
      // Without a word, the mean may be wrong by 5 %, and by what the client does even when it has its core.
      const share = client.cpuRatio + client.coreWaitRatio;
      assert.ok(share < 0.05 || client.loopLagMeanMs * 1e3 <= 0.05 * averageUs + 100, `${share}`);
      return;
    }
    assert.doesNotMatch(client.lagWarning, CLAIM);
    assert.match(client.lagWarning, /; stop other processes, /);
    assert.match(text, /[Tt]he client (waited for a core|woke up about|took) /);
    const said = /waited for a core (\d+) %/.exec(client.lagWarning)?.[1];
    if (said !== undefined) assert.equal(Number(said), Math.round(client.coreWaitRatio * 100));
  });
