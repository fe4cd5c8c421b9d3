// Runs on: bun, deno, node.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { setTimeout as wait } from "node:timers/promises";
import { startAnsweringServer } from "../servers/answering-server.ts";
import { LIMIT } from "../time-limit.ts";
import { createFolder, startRampart } from "./rampart-process.ts";

/** A client that was stopped for longer than `--timeout`, as by a suspended host: what the server answered meanwhile lies in its sockets. */

const USERS = 4;
const REQUESTS = 6 * USERS;
const ANSWER_MS = 200;
const STOP_MS = 4500;

describe("requests that were in flight when the client was stopped", () => {
  const bodies = [
    ["short responses", 100],
    ["responses that no socket holds", 8 * 1024 * 1024],
  ] as const;
  for (const [name, bytes] of bodies)
    test(`did not time out: ${name}`, LIMIT, async () => {
      const body = Buffer.alloc(bytes, "x");
      const { promise: areSent, resolve } = Promise.withResolvers<void>();
      using server = await startAnsweringServer((response, index) => {
        if (index === 2 * USERS) resolve();
        setTimeout(() => response.end(body), ANSWER_MS);
      });
      using folder = createFolder({});
      const load = ["-c", String(USERS), "-n", String(REQUESTS), "--timeout", "3s"];
      const running = startRampart(["http", server.url, ...load, "--json", "report.json"], { cwd: folder.path });
      await areSent;
      running.interrupt("SIGSTOP");
      await wait(STOP_MS);
      running.interrupt("SIGCONT");
      const { code, out, err } = await running.result;
      assert.equal(code, 0, out + err);
      const { requests } = JSON.parse(readFileSync(join(folder.path, "report.json"), "utf8"));
      assert.deepEqual([requests.completed, requests.failed], [REQUESTS, 0], out + err);
    });
});

test("a client that was stopped does not blame the server for the gap", LIMIT, async () => {
  const { promise: areSent, resolve } = Promise.withResolvers<void>();
  using server = await startAnsweringServer((response, index) => {
    if (index === 200) resolve();
    setTimeout(() => response.end("x"), 10);
  });
  using folder = createFolder({});
  const running = startRampart(["http", server.url, "-c", String(USERS), "-n", "400"], { cwd: folder.path });
  await areSent;
  running.interrupt("SIGSTOP");
  await wait(STOP_MS);
  running.interrupt("SIGCONT");
  const { out, err } = await running.result;
  assert.match(
    out,
    /Nothing completed from [^!]*The\s+client\s+itself\s+did\s+not\s+run\s+for\s+([4-9]|\d\d)/,
    out + err,
  );
  assert.doesNotMatch(out, /server's/);
});
