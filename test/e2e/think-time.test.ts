import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { makeFolder, writeIn } from "../make-folder.ts";
import { KserveServer, takeMs } from "../run/kserve-server.ts";
import { LIMIT } from "../time-limit.ts";
import { runRampart, runWithReport } from "./command.ts";

/** Think time, beside a server that sees when each user's requests come. */

const LATENCY_MS = 20;
const THINK_MS = 250;

const folder = makeFolder();
let server: KserveServer;
before(async () => {
  server = await new KserveServer({ onInfer: () => takeMs(LATENCY_MS) }).start();
});
after(() => server.stop());

function writeScenario(name: string, load: string): string {
  const text = `import { defineScenario, hold, ramp, steps, triton, warmup } from "rampart";
export default defineScenario({ name: "${name}", target: triton("127.0.0.1:${server.port}", { model: "simple" }), load: ${load} });
`;
  return writeIn(folder, `${name}.ts`, text);
}

interface Level {
  readonly level: number;
  readonly inFlight: { readonly mean: number };
  readonly durationSec: number;
  readonly completed: number;
}

const CASES: readonly (readonly [name: string, load: string, users: number, args: readonly string[]])[] = [
  ["held", `hold(4, { thinkTime: "${THINK_MS} ms", for: "2 s" })`, 4, []],
  ["in two threads", `hold(4, { thinkTime: "${THINK_MS} ms", for: "2 s" })`, 4, ["--workers", "2"]],
  ["level by level", `steps([2, 4], { thinkTime: "${THINK_MS} ms", for: "1 s" })`, 4, []],
  ["in phases", `[warmup("500 ms", hold(1)), hold(4, { thinkTime: "${THINK_MS} ms", for: "2 s" })]`, 4, []],
  ["with a number of requests", `hold(4, { thinkTime: "${THINK_MS} ms", requests: 20 })`, 4, []],
];

describe("think time", () => {
  for (const [name, load, users, args] of CASES)
    test(`is between a response and the same user's next request: ${name}`, LIMIT, async () => {
      const from = server.infers.length;
      const { code, report, stdout } = await runWithReport([
        "run",
        writeScenario(name.replaceAll(" ", "-"), load),
        ...args,
      ]);
      assert.equal(code, 0, stdout);
      const byUser = Map.groupBy(server.infers.slice(from), ({ port }) => port);
      assert.equal(byUser.size, users);
      const thinking = [...byUser.values()].flatMap((requests) =>
        requests.slice(1).map(({ arrivedMs }, at) => arrivedMs - (requests[at]?.arrivedMs ?? 0) - LATENCY_MS),
      );
      // The first user of the phases begins without it.
      const isShort = thinking.filter((ms) => ms < THINK_MS - 2);
      assert.ok(name === "in phases" || isShort.length === 0, `${isShort.join(", ")} ms`);
      assert.ok(thinking.filter((ms) => ms >= THINK_MS - 2).length >= users);
      // A user has a request in flight for 20 of 270 ms.
      const level = report.levels.at(-1) as unknown as Level;
      assert.equal(level.level, users);
      assert.ok(level.inFlight.mean < users / 4, String(level.inFlight.mean));
    });

  test("users who begin together do not send together", LIMIT, async () => {
    const from = server.infers.length;
    const file = writeScenario("spread", `hold(20, { thinkTime: "1 s", requests: 20 })`);
    assert.equal((await runRampart(["run", file])).code, 0);
    const arrived = server.infers.slice(from).map(({ arrivedMs }) => arrivedMs);
    assert.ok(Math.max(...arrived) - Math.min(...arrived) > 500);
  });

  test("can be drawn from a normal distribution", LIMIT, async () => {
    const from = server.infers.length;
    const file = writeScenario("drawn", `hold(1, { thinkTime: { mean: "200 ms", stddev: "100 ms" }, requests: 12 })`);
    assert.equal((await runRampart(["run", file])).code, 0);
    const arrived = server.infers.slice(from).map(({ arrivedMs }) => arrivedMs);
    const gapsMs = arrived.slice(1).map((ms, at) => ms - (arrived[at] ?? 0) - LATENCY_MS);
    assert.ok(Math.min(...gapsMs) < THINK_MS - 100, gapsMs.join(", "));
  });

  test("the time to begin is in the estimate", LIMIT, async () => {
    const file = writeScenario("estimate", `hold(2, { thinkTime: "3 s", for: "2 s" })`);
    const { stdout } = await runRampart(["run", file, "--dry-run"]);
    assert.equal(
      (JSON.parse(stdout) as { readonly expectedTime: { readonly mostMs: number } }).expectedTime.mostMs,
      5000,
    );
  });

  test("must be longer than 0", LIMIT, async () => {
    const { code, stderr } = await runRampart([
      "run",
      writeScenario("none", `hold(2, { thinkTime: { mean: "0 s", stddev: "1 s" } })`),
    ]);
    assert.equal(code, 64);
    assert.match(stderr, /load\.thinkTime\.mean: must be longer than 0/);
  });
});
