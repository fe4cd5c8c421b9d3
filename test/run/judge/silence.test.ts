import assert from "node:assert/strict";
import { createServer, type Server } from "node:http";
import { type AddressInfo, createServer as createTcpServer, type Server as TcpServer } from "node:net";
import { test } from "node:test";
import { RunSignal } from "../../../src/run/interrupt.ts";
import { watchSilence } from "../../../src/run/judge/silence.ts";
import { defineScenario } from "../../../src/scenario/define.ts";
import { hold } from "../../../src/scenario/loads/concurrency.ts";
import { http } from "../../../src/scenario/targets/http.ts";
import { toPlan } from "../../../src/scenario/to-plan.ts";
import { LIMIT } from "../../time-limit.ts";

/** A server that accepts connections and answers nothing ends the run; a slow one does not. */

const STALL_TIMEOUT_MS = 600;

/** Watches a run with one request in flight. @param ended number of requests that are answered @param onSlowServer of the run's observer */
async function watch(
  server: Server | TcpServer,
  ended: number,
  done: (signal: RunSignal) => Promise<void>,
  { stallTimeoutMs = STALL_TIMEOUT_MS, onSlowServer = (_url: string): void => {} } = {},
) {
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  const url = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  const given = toPlan(defineScenario({ name: "x", target: http(url), load: hold(1) }), "/");
  const plan = { ...given, client: { ...given.client, stallTimeoutMs } };
  const signal = new RunSignal();
  const progress = () => ({ answeredCount: ended, outstanding: 1 });
  const unwatch = watchSilence(plan, { signal, observer: { onSlowServer }, progress });
  try {
    await done(signal);
  } finally {
    unwatch();
    server.close();
  }
}

const silentServer = (): TcpServer => createTcpServer((socket) => socket.on("error", () => {}).resume());

test("a server without any answer ends the run", LIMIT, () =>
  watch(silentServer(), 0, async (signal) => {
    await signal.failed;
    assert.equal(signal.error?.code, "unreachable");
    assert.match(
      signal.error?.message ?? "",
      /^127\.0\.0\.1:\d+ accepts connections, but has answered nothing within 300 ms$/,
    );
  }),
);

test("a run is not ended by a server that may work on its only request, and says that it waits", LIMIT, async () => {
  const slow = Promise.withResolvers<string>();
  const done = async (signal: RunSignal) => {
    assert.match(await slow.promise, /^127\.0\.0\.1:\d+$/);
    assert.equal(signal.error, undefined);
  };
  await watch(silentServer(), 0, done, { stallTimeoutMs: 600_000, onSlowServer: slow.resolve });
});

test("a slow server that answers other requests is waited for", LIMIT, async () => {
  let asked = 0;
  const twice = Promise.withResolvers<void>();
  const slow = createServer((_request, response) => {
    response.end();
    if (++asked === 2) twice.resolve();
  });
  await watch(slow, 0, async (signal) => {
    await twice.promise;
    assert.equal(signal.error, undefined);
  });
});

test("a server that has answered is not asked", LIMIT, async () => {
  let accepted = 0;
  const server = silentServer().on("connection", () => accepted++);
  await watch(server, 1, async (signal) => {
    await new Promise((resolve) => setTimeout(resolve, 2 * STALL_TIMEOUT_MS));
    assert.deepEqual([signal.error, accepted], [undefined, 0]);
  });
});
