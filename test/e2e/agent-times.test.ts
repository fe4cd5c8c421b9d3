import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import type { RunJson } from "../../src/report/schema/report-schema.ts";
import { makeFolder } from "../make-folder.ts";
import { startLlmStub } from "../servers/llm-stub.ts";
import { startNats } from "../servers/nats.ts";
import { LIMIT } from "../time-limit.ts";
import { withAgentProcesses } from "./agent-process.ts";
import { runRampart } from "./command.ts";

/** Times of day of requests that agents send, against the arrivals that the server's system noted. */

/** Runtimes know the system's time at their start to a millisecond. */
const ORIGIN_ERROR_MS = 3;
/** From the write of a request to its arrival takes less for at least one of many. */
const MOST_LEAST_MS = 8;
const REQUESTS = 100;

test("requests of agents have their times of day on the conductor's clock in all files", LIMIT, async () => {
  const folder = makeFolder();
  const stub = await startLlmStub({ tokens: 1 });
  const nats = await startNats();
  try {
    await stub.reset(true);
    await withAgentProcesses({ count: 2, folder, busUrl: nats.url }, async () => {
      const text = `import { defineScenario, input, openai, rate } from "rampart";
export default defineScenario({
  name: "times",
  target: openai("127.0.0.1:${stub.port}", { model: "m" }),
  load: rate(100, { requests: ${REQUESTS} }),
  inputs: input.prompts({ isl: 8, osl: 1 }),
  onRecord: ({ sentAtMs }) => console.error(\`SENT \${sentAtMs}\`),
});
`;
      writeFileSync(join(folder, "times.ts"), text);
      const files = ["--json", "report.json", "--records", "records.jsonl", "--profile-export-file", "export.json"];
      const args = ["run", "times.ts", "--bus", nats.url, "--agents", "2", ...files];
      const { code, stderr } = await runRampart(args, { cwd: folder });
      assert.equal(code, 0, stderr);
      const { startMs } = await stub.counter();
      const arrivalsMs = (await stub.log()).map(({ receivedNs }) => startMs + receivedNs / 1e6);
      const { hosts, startedAt } = JSON.parse(read(folder, "report.json")) as RunJson;
      const errorMs = ORIGIN_ERROR_MS + Math.max(...(hosts ?? []).map(({ clockErrorMs }) => clockErrorMs));
      for (const [name, sentMs] of [
        ["records", numbersOf(read(folder, "records.jsonl"), /"request_start_ns":(\d+)/g, 1e6)],
        ["profile export", numbersOf(read(folder, "export.json"), /"timestamp":(\d+)/g, 1e6)],
        ["onRecord", numbersOf(stderr, /SENT ([\d.]+)/g, 1)],
      ] as const) {
        const leastMs = leastDelay(sentMs, arrivalsMs);
        const message = `${name}: ${leastMs} ms from the send to the arrival, of clocks known to ${errorMs} ms`;
        assert.ok(leastMs >= -errorMs && leastMs < MOST_LEAST_MS + errorMs, message);
        assert.ok(Date.parse(startedAt) <= Math.min(...sentMs), `${startedAt} and ${Math.min(...sentMs)}`);
      }
    });
  } finally {
    await Promise.all([nats.stop(), stub.stop()]);
  }
});

const read = (folder: string, name: string): string => readFileSync(join(folder, name), "utf8");

/** Returns the times of all requests in a text, in milliseconds. */
function numbersOf(text: string, pattern: RegExp, perMs: number): number[] {
  return [...text.matchAll(pattern)].map(([, digits]) => Number(digits) / perMs);
}

/** Returns the shortest time from the send of a request to its arrival, in milliseconds. */
function leastDelay(sentMs: readonly number[], arrivalsMs: readonly number[]): number {
  assert.deepEqual([sentMs.length, arrivalsMs.length], [REQUESTS, REQUESTS]);
  const arrived = arrivalsMs.toSorted((a, b) => a - b);
  return Math.min(...sentMs.toSorted((a, b) => a - b).map((atMs, index) => (arrived[index] as number) - atMs));
}
