import assert from "node:assert/strict";
import { test } from "node:test";
import { DEFAULT_TLS } from "../../src/plan/tls.ts";
import type { RunObserver } from "../../src/result/observer.ts";
import type { RunResult } from "../../src/result/run-result.ts";
import { RunSignal } from "../../src/run/interrupt.ts";
import { openScrapes } from "../../src/run/scrapes.ts";
import { openMetricsSource } from "../../src/run/server-metrics.ts";
import { ResponseTooLargeError } from "../../src/transport/failure.ts";
import { findDeadPort } from "../golden/dead-port.ts";
import { startMetricsStub } from "../servers/metrics-stub.ts";
import { LIMIT } from "../time-limit.ts";
import { latin1 } from "../transport/bytes.ts";
import { startRawServer } from "../transport/raw-server.ts";

/** Runs a level while the pages are read. Gives the result, and what the user was told. */
async function runAround(urls: readonly string[], isAsked: boolean) {
  const told: string[] = [];
  const levels: number[] = [];
  const observer: RunObserver = {
    onWarning: (warning) => told.push(warning.kind === "metrics-unreachable" ? warning.url : warning.kind),
    onLevelStart: (_unit, level) => levels.push(level),
  };
  const scrapes = openScrapes({ urls, intervalMs: 10_000, isAsked }, observer, new RunSignal());
  const { scrape } = await scrapes.around(async (running) => {
    running.onLevelStart?.("concurrency", 1, true);
    running.onLevelStart?.("concurrency", 2, false);
    running.onLevelStart?.("concurrency", 3, false);
    return {} as RunResult;
  });
  assert.deepEqual(levels, [1, 2, 3], "the run's own observer is told of every level");
  return { scrape, told };
}

test("pages are read around a run, and their change is in the result", LIMIT, async () => {
  await using stub = await startMetricsStub({ text: (scrape) => `# TYPE done counter\ndone ${10 * scrape}\n` });
  const { scrape, told } = await runAround([stub.url], true);
  assert.deepEqual(told, []);
  const [endpoint] = scrape?.endpoints ?? [];
  assert.equal(endpoint?.url, stub.url);
  assert.ok(stub.scrapes.length >= 3, `${stub.scrapes.length} readings: to look, at the start and at the end`);
  assert.deepEqual(
    endpoint?.families.map(({ name }) => name),
    ["done"],
  );
});

test("a missing page is reported when it was requested, and does not affect the others", LIMIT, async () => {
  await using stub = await startMetricsStub();
  const dead = `127.0.0.1:${await findDeadPort()}/metrics`;
  const asked = await runAround([dead, stub.url], true);
  assert.deepEqual(asked.told, [dead]);
  assert.deepEqual(
    asked.scrape?.endpoints.map(({ url }) => url),
    [dead, stub.url],
  );
  assert.deepEqual(await runAround([dead], false), { scrape: undefined, told: [] });
});

test("a run that fails keeps its error", LIMIT, async () => {
  await using stub = await startMetricsStub();
  const scrapes = openScrapes({ urls: [stub.url], intervalMs: 10_000, isAsked: true }, {}, new RunSignal());
  await assert.rejects(
    scrapes.around(() => Promise.reject(new Error("no run"))),
    /^Error: no run$/,
  );
});

const { message: MESSAGE } = new ResponseTooLargeError(16 * 1024 * 1024);

for (const [name, head, piece] of [
  ["a page announced as longer", "Content-Length: 300000000\r\n\r\n", ""],
  ["a page without end", "Connection: close\r\n\r\n", `up{a="${"x".repeat(1000)}"} 1\n`.repeat(1000)],
] as const)
  test(`${name} is rejected with the reason`, LIMIT, async () => {
    const server = await startRawServer(async (connection) => {
      await connection.until(({ bytes }) => bytes.length > 0);
      const { socket } = connection;
      const bytes = latin1(piece);
      const more = (): void => {
        if (!socket.destroyed && bytes.length > 0) socket.write(bytes, more);
      };
      socket.write(latin1(`HTTP/1.1 200 OK\r\n${head}`), more);
    });
    const source = openMetricsSource(new URL(`http://127.0.0.1:${server.port}/metrics`), DEFAULT_TLS, 30e9);
    try {
      await assert.rejects(source.fetch(), { message: MESSAGE });
    } finally {
      source.close();
      await server.stop();
    }
  });
