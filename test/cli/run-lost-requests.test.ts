import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createServer, type Socket } from "node:net";
import { join } from "node:path";
import { test } from "node:test";
import { LIMIT } from "../time-limit.ts";
import { createFolder } from "./rampart-process.ts";
import { runInFolder } from "./run-in-folder.ts";
import { scenarioText } from "./scenario-files.ts";

/** What a run says of requests that its server loses, beside the server's own log. */

const WHOLE = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
/** Without its last byte. */
const CUT = WHOLE.slice(0, -1);
const EVERY = 5;
const REQUESTS = 200;
/** Name of the function here that a scenario in this process calls. */
const SEEN = "noteInRunLostRequests";
/** The server responds for this time after the first measured request, however long the warm-up takes. */
const RESPONDING_MS = 3500;

interface Log {
  receivedCount: number;
  /** From a cut response to the next request, in milliseconds. */
  readonly gapsMs: number[];
}

/** Starts a server. @param answer the response to the request of this number, from 1; undefined: none */
async function serve(answer: (number: number) => string | undefined): Promise<{ url: string; log: Log; stop(): void }> {
  const log: Log = { receivedCount: 0, gapsMs: [] };
  const sockets = new Set<Socket>();
  let cutMs: number | undefined;
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.setNoDelay(true);
    socket.on("error", () => {});
    socket.on("data", () => {
      if (cutMs !== undefined) log.gapsMs.push(performance.now() - cutMs);
      cutMs = undefined;
      const response = answer(++log.receivedCount);
      if (response === CUT) {
        cutMs = performance.now();
        socket.end(response);
      } else if (response !== undefined) socket.write(response);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as { port: number };
  const stop = (): void => {
    for (const socket of sockets) socket.destroy();
    server.close();
  };
  return { url: `http://127.0.0.1:${port}/`, log, stop };
}

interface JsonReport {
  readonly requests: { readonly sent: number; readonly completed: number; readonly failed: number };
  readonly verdict: { readonly name: string; readonly reasons: readonly { readonly text: string }[] };
}

const readReport = (folder: string): JsonReport => JSON.parse(readFileSync(join(folder, "r.json"), "utf8"));

test("the next request follows a lost one at once, and each is counted", LIMIT, async () => {
  const { url, log, stop } = await serve((number) => (number % EVERY === 0 ? CUT : WHOLE));
  try {
    using folder = createFolder({});
    await runInFolder(folder.path, ["http", url, "-n", String(REQUESTS), "-c", "1", "--json", "r.json"]);
    const failed = REQUESTS / EVERY;
    const { requests } = readReport(folder.path);
    assert.deepEqual({ ...requests }, { ...requests, sent: REQUESTS, completed: REQUESTS - failed, failed });
    assert.equal(log.receivedCount, REQUESTS);
    // A wait is 20 ms and more each time, and a busy machine is not late each time.
    assert.ok(Math.min(...log.gapsMs) < 15, log.gapsMs.join());
  } finally {
    stop();
  }
});

test("an error rate does not pass when the server stopped to respond", LIMIT, async () => {
  let answeredCount = 0;
  const { url, log, stop } = await serve(() => {
    if (performance.now() - measuredMs > RESPONDING_MS) return undefined;
    answeredCount++;
    return WHOLE;
  });
  let measuredMs = Number.POSITIVE_INFINITY;
  const note = (): void => {
    measuredMs = Math.min(measuredMs, performance.now());
  };
  Object.assign(globalThis, { [SEEN]: note });
  const scenario = scenarioText({
    target: `api.http("${url}")`,
    load: 'hold(2, { for: "5 s" })',
    assert: '[errorRate().is(0), errorRate().below("50 %")]',
    onRecord: `({ level }) => { if (level?.isWarmup === false) globalThis.${SEEN}(); }`,
  });
  try {
    using folder = createFolder({ "x.ts": scenario });
    const { code, text } = await runInFolder(folder.path, ["run", "x.ts", "--json", "r.json"]);
    const { requests, verdict } = readReport(folder.path);
    assert.equal(log.receivedCount, answeredCount + 2, text);
    assert.deepEqual([requests.sent, requests.completed, requests.failed], [log.receivedCount, answeredCount, 0]);
    assert.deepEqual([code, verdict.name], [66, "unresolved"], text);
    assert.match(verdict.reasons[0]?.text ?? "", /^error rate = 0 %: 0 of .*; 2 requests /);
    assert.equal(verdict.reasons.length, 1);
  } finally {
    stop();
  }
});
