// Runs on: bun, deno, node.
import assert from "node:assert/strict";
import { test } from "node:test";
import { nowNs, sleepMs } from "../../src/runtime/clock.ts";
import { Http1Client } from "../../src/transport/http1/client.ts";
import { latin1 } from "./bytes.ts";
import { endpointAt, postRequest } from "./drive.ts";
import { startRawServer } from "./raw-server.ts";

const SLOTS = 64;
/** What handling a response takes in this client. */
const HANDLING_NS = 1e6;
const REQUEST = postRequest("/", latin1("{}"));
const RESPONSE = latin1("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}");

test("responses that arrive together end together, however long each is handled, and none before it was sent", async () => {
  const server = await startRawServer(() => Promise.resolve());
  const ends: number[] = [];
  const ended = Promise.withResolvers<void>();
  const client = new Http1Client(endpointAt(server.port), {
    ...{ responses: { keepBodies: true }, stallTimeoutNs: 60e9, maxResponseBytes: 64e6, lanes: { laneCount: SLOTS } },
    onDone: ({ endNs, sendEndNs, failure }) => {
      assert.equal(failure, undefined);
      assert.ok(endNs >= sendEndNs);
      ends.push(endNs);
      const untilNs = nowNs() + HANDLING_NS;
      while (nowNs() < untilNs);
      if (ends.length === SLOTS) ended.resolve();
    },
  });
  try {
    await client.reserve(SLOTS);
    for (let slot = 0; slot < SLOTS; slot++) client.send(slot, REQUEST, undefined);
    client.flush();
    while (server.connections.length < SLOTS) await sleepMs(1);
    await Promise.all(server.connections.map((one) => one.until(({ bytes }) => bytes.length > 0)));
    const writtenNs = nowNs();
    for (const connection of server.connections) connection.write(RESPONSE);
    await ended.promise;
    const [first, last] = [Math.min(...ends), Math.max(...ends)];
    assert.ok(first >= writtenNs, `${writtenNs - first} ns before the server wrote`);
    assert.ok(last - first < (SLOTS * HANDLING_NS) / 4, `${(last - first) / 1e6} ms apart`);
  } finally {
    client.close();
    await server.stop();
  }
});
