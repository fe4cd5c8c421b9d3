// Runs on: bun, deno, node.
import assert from "node:assert/strict";
import { createServer } from "node:http";
import { test } from "node:test";
import { KserveServer } from "../run/kserve-server.ts";
import { closing, listen } from "../servers/listen.ts";
import { LIMIT } from "../time-limit.ts";
import { createFolder, startRampart } from "./rampart-process.ts";
import { scenarioText } from "./scenario-files.ts";

/** Signals end runs whose requests are never answered, with a partial report. */

const NEVER = new Promise<undefined>(() => {});
const SIGNALS = [
  ["SIGHUP", 1],
  ["SIGINT", 2],
  ["SIGTERM", 15],
] as const;

for (const [signal, number] of SIGNALS) {
  test(`perf_analyzer names ${signal}, reports what was measured and exits with 99`, LIMIT, async () => {
    await using server = await new KserveServer({ onInfer: ({ index }) => (index < 20 ? undefined : NEVER) }).start();
    const running = startRampart(["perf_analyzer", "-m", "simple", "-u", server.url, "--request-count", "100"]);
    await server.until(() => server.infers.length === 21);
    running.interrupt(signal);
    const { code, out, err } = await running.result;
    assert.equal(code, 99, out + err);
    assert.match(out, new RegExp(`^Interrupt signal \\(${number}\\) received\\.$`, "m"));
    assert.match(out, /^ {4}Request count: 20$/m);
    assert.match(err, /^rampart: interrupted; the results above are partial\.$/m);
  });
}

test("a scenario interrupted before its first request exits with 130 and a message", LIMIT, async () => {
  const { promise: asked, resolve } = Promise.withResolvers<void>();
  using server = closing(createServer(() => resolve()));
  const url = `127.0.0.1:${await listen(server)}`;
  using folder = createFolder({ "x.ts": scenarioText({ target: `triton("${url}", { model: "simple" })` }) });
  const running = startRampart(["run", "x.ts"], { cwd: folder.path });
  await asked;
  running.interrupt("SIGTERM");
  const { code, out, err } = await running.result;
  assert.equal(code, 130, out + err);
  assert.match(err, /^rampart: interrupted before the first request\. Nothing was measured/m);
});
