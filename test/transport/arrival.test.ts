import assert from "node:assert/strict";
import { test } from "node:test";
import { nowNs, sleepMs } from "../../src/runtime/clock.ts";
import { arrivalNs, forgetArrivals } from "../../src/transport/arrival.ts";
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

const SMALL = 100;
const nextTurn = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 5));

test("small reads of a turn have the time of its first, those of the next one another", async () => {
  await nextTurn();
  assert.deepEqual(
    [arrivalNs(1000, 900, SMALL), arrivalNs(1700, 0, SMALL), arrivalNs(1900, 1000, SMALL)],
    [1000, 1000, 1000],
  );
  await nextTurn();
  assert.equal(arrivalNs(2500, 0, SMALL), 2500);
});

test("what answers a request of this turn, what is large and what follows a border has not arrived before; times never go back", async () => {
  await nextTurn();
  arrivalNs(1000, 0, SMALL);
  assert.deepEqual([arrivalNs(1300, 1200, SMALL), arrivalNs(1400, 0, SMALL)], [1300, 1300]);
  assert.deepEqual([arrivalNs(1500, 0, 1 << 20), arrivalNs(1600, 0, SMALL)], [1500, 1500]);
  forgetArrivals();
  assert.deepEqual([arrivalNs(1700, 0, SMALL), arrivalNs(1800, 0, SMALL)], [1700, 1700]);
});

test("what a turn reads after as many as the system names at a time has not arrived with the first", async () => {
  await nextTurn();
  const times = Array.from({ length: 2500 }, (_, index) => arrivalNs(1000 + index, 0, SMALL));
  assert.deepEqual([times[0], times[999], times[1000], times[1999], times[2499]], [1000, 1000, 2000, 2000, 3000]);
});
