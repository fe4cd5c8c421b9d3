import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { setTimeout as sleepMs } from "node:timers/promises";
import type { OpenSocket, SocketHandlers } from "../../../src/runtime/socket.ts";
import { forgetArrivals } from "../../../src/transport/arrival.ts";
import type { Call } from "../../../src/transport/call.ts";
import type { ClientOptions, LoadClient } from "../../../src/transport/client.ts";
import { UndiciClient } from "../../../src/transport/general/undici-client.ts";
import { Http1Client } from "../../../src/transport/http1/client.ts";
import type { ServerReuse } from "../../../src/transport/http1/connection-reuse.ts";
import { LIMIT } from "../../time-limit.ts";
import { latin1 } from "../bytes.ts";
import { endpointAt, openDriver, postRequest } from "../drive.ts";
import { type RawConnection, type RawServer, startRawServer } from "../raw-server.ts";
import { requestsIn } from "./requests-in.ts";

/** Whether our HTTP/1.1 client sends another request over a connection, and what it does about one that is lost. */

const REQUEST = postRequest("/v1/chat/completions", latin1("{}"));

const STREAM = latin1(
  "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n9\r\ndata: a\n\n\r\n0\r\n\r\n",
);
const WHOLE = latin1("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}");
const KINDS = [
  ["streams", STREAM],
  ["whole responses", WHOLE],
] as const;

/** What a server does with its n-th request, counted over all connections from 1. */
type Answer = (connection: RawConnection, n: number, server: RawServer) => void;

interface Course {
  /** Kind of failure of each request, or "ok". */
  readonly ends: readonly string[];
  /** Requests that the server received whole. */
  readonly receivedCount: number;
  readonly connectionCount: number;
  readonly resendCount: number;
}

/** Sends requests one after the other over one slot. @param idleMs time between the first and the second */
async function runCourse(
  count: number,
  answer: Answer,
  create: (typeof CLIENTS)[number][1] = (port, options) => new Http1Client(endpointAt(port), options),
  idleMs = 0,
): Promise<Course> {
  let receivedCount = 0;
  await using server = await startRawServer(async (connection) => {
    for (let seen = 0; ; ) {
      await connection.until(({ bytes }) => requestsIn(bytes).length > seen);
      seen++;
      answer(connection, ++receivedCount, server);
    }
  });
  using driver = await openDriver((given) => create(server.port, given));
  const ends: string[] = [];
  for (let i = 0; i < count; i++) {
    if (i === 1) await sleepMs(idleMs);
    ends.push((await driver.request(0, REQUEST)).failure?.kind ?? "ok");
  }
  const { connectionCount, resendCount } = driver.client;
  return { ends, receivedCount, connectionCount, resendCount };
}

/** What the test does to the socket of {@link runScript}. Times pass only here. */
interface ScriptedSocket {
  open(): void;
  /** Sends a request. */
  send(): void;
  /** Answers, and sends the next request. @param idleMs time until then. Default: 0 */
  answer(bytes: Uint8Array, idleMs?: number): void;
  answerAfter(ms: number, bytes: Uint8Array): void;
  /** @param error absent: in an orderly way */
  closeAfter(ms: number, error?: Error): void;
}

const RESET = Object.assign(new Error("read ECONNRESET"), { code: "ECONNRESET" });

/** Sends requests over a socket and a clock that the script moves. */
function runScript(script: (socket: ScriptedSocket) => void) {
  const { now } = performance;
  let timeMs = 1000;
  performance.now = () => timeMs;
  const opened: SocketHandlers[] = [];
  let written = 0;
  const open: OpenSocket = (_target, handlers) => {
    opened.push(handlers);
    return { write: () => ++written > 0, close: () => {}, pendingBytes: 0 };
  };
  const ends: string[] = [];
  let last: Call | undefined;
  const options: ClientOptions = {
    ...{ responses: { keepBodies: false }, stallTimeoutNs: 60e9, maxResponseBytes: 1e6, lanes: { laneCount: 1 } },
    onDone: (call) => {
      last = call;
      ends.push(call.failure?.kind ?? "ok");
    },
  };
  const client = new Http1Client({ ...endpointAt(1), open }, options);
  // The server has shown that it keeps connections, so that no request waits for a close.
  (client as unknown as { context: { reuse: ServerReuse } }).context.reuse.isProven = true;
  try {
    void client.reserve(1);
    opened[0]?.onOpen();
    forgetArrivals();
    client.send(0, REQUEST, undefined);
    script({
      open: () => opened.at(-1)?.onOpen(),
      send: () => client.send(0, REQUEST, undefined),
      answer: (bytes, idleMs = 0) => {
        opened.at(-1)?.onData(bytes);
        timeMs += idleMs;
        client.send(0, REQUEST, undefined);
      },
      answerAfter: (ms, bytes) => {
        timeMs += ms;
        opened.at(-1)?.onData(bytes);
      },
      closeAfter: (ms, error) => {
        timeMs += ms;
        opened.at(-1)?.onClose(error);
      },
    });
    const { sendStartNs = 0, endNs = 0, isResent } = last ?? {};
    const { connectionCount, received } = client;
    const unasked = received.unaskedCount === 0 ? {} : { unaskedCount: received.unaskedCount };
    return { ends, latencyMs: (endNs - sendStartNs) / 1e6, isResent, connectionCount, written, ...unasked };
  } finally {
    client.close();
    performance.now = now;
  }
}

/** Real times here become this much shorter to the client: a close on a busy machine, seen late, is still within 10 ms. */
const SLOWNESS = 100;

/** Runs a course while the clock goes slowly. */
async function slowly(run: () => Promise<Course>): Promise<Course> {
  const { now } = performance;
  const startMs = performance.now();
  performance.now = () => startMs + (now.call(performance) - startMs) / SLOWNESS;
  try {
    return await run();
  } finally {
    performance.now = now;
  }
}

/** Answers and closes in one go, so that the close has arrived before the client can have sent anything. */
function answerAndClose({ socket }: RawConnection, bytes: Uint8Array): void {
  socket.write(bytes);
  socket.end();
  socket.destroySoon();
}

const ok = (count: number): string[] => Array<string>(count).fill("ok");

/** Clients that both follow the rule. */
const CLIENTS: readonly (readonly [name: string, create: (port: number, options: ClientOptions) => LoadClient])[] = [
  ["own client", (port, options) => new Http1Client(endpointAt(port), options)],
  ["general client", (port, options) => new UndiciClient(endpointAt(port), options)],
];

/** Longer than any close that still belongs to the keep-alive. */
const LATE_MS = 60;

/** What a server does instead of answering the fifth request, and what becomes of the request. */
const ENDINGS: readonly (readonly [name: string, end: (connection: RawConnection) => void])[] = [
  ["closes long after it read the request", (connection) => void setTimeout(() => connection.end(), LATE_MS)],
  ["resets the connection", ({ socket }) => void socket.resetAndDestroy()],
  [
    "closes within the response",
    (connection) => {
      connection.write(WHOLE.subarray(0, 20));
      connection.end();
    },
  ],
];

describe("reuse of HTTP/1.1 connections", () => {
  for (const [client, create] of CLIENTS) {
    for (const [name, end] of ENDINGS)
      test(`${client}: a server that ${name} fails the request`, LIMIT, async () => {
        const answer: Answer = (connection, n) => (n === 5 ? end(connection) : connection.write(WHOLE));
        const course = await runCourse(20, answer, create);
        const ends = [...ok(4), "closed", ...ok(15)];
        assert.deepEqual(course, { ends, receivedCount: 20, connectionCount: 2, resendCount: 0 });
      });

    test(`${client}: requests whose kept connection is closed at once are sent again, once each`, LIMIT, async () => {
      const count = 60;
      const answer: Answer = (connection, n) => (n % 5 === 0 ? connection.end() : connection.write(WHOLE));
      const { ends, receivedCount, resendCount } = await slowly(() => runCourse(count, answer, create));
      assert.deepEqual([ends, receivedCount], [ok(count), count + resendCount]);
      assert.equal(resendCount, Math.floor(receivedCount / 5));
    });

    test(
      `${client}: a server that closes every connection instead of answering fails all requests`,
      LIMIT,
      async () => {
        const course = await runCourse(5, (connection) => connection.end(), create);
        const ends = Array<string>(5).fill("closed");
        assert.deepEqual(course, { ends, receivedCount: 5, connectionCount: 5, resendCount: 0 });
      },
    );

    test(`${client}: a server that closes and then refuses connections fails the request`, LIMIT, async () => {
      const answer: Answer = (connection, n, server) => {
        if (n < 5) connection.write(WHOLE);
        else {
          void server.stop();
        }
      };
      const { ends, receivedCount } = await runCourse(6, answer, create);
      assert.deepEqual([ends.slice(0, 4), receivedCount, ends[5]], [ok(4), 5, "connect"]);
      // On a busy machine the close may be seen too late for another attempt.
      assert.ok(ends[4] === "connect" || ends[4] === "closed", ends[4]);
    });
  }

  for (const [client, create] of CLIENTS)
    test(`${client}: a request whose idle connection is reset is sent again`, LIMIT, async () => {
      const answer: Answer = ({ socket }, n) => (n === 2 ? void socket.resetAndDestroy() : void socket.write(WHOLE));
      const course = await runCourse(3, answer, create, 1010);
      assert.deepEqual(course, { ends: ok(3), receivedCount: 4, connectionCount: 2, resendCount: 1 });
    });

  test("a close within 10 ms of the send, before any byte, costs no request, whose times run from the first send", () => {
    const course = runScript((socket) => {
      socket.answer(WHOLE);
      socket.closeAfter(9);
      socket.open();
      socket.answerAfter(5, WHOLE);
    });
    assert.deepEqual(course, { ends: ["ok", "ok"], latencyMs: 14, isResent: true, connectionCount: 2, written: 3 });
  });

  test("after an idle second so does a reset or close within 1 s, as of a busy server whose idle time is over", () => {
    const course = runScript((socket) => {
      socket.answer(WHOLE, 1001);
      socket.closeAfter(208, RESET);
      socket.open();
      socket.answerAfter(5, WHOLE);
    });
    assert.deepEqual(course, { ends: ["ok", "ok"], latencyMs: 213, isResent: true, connectionCount: 2, written: 3 });
    const lose = (idleMs: number, ms: number): object =>
      runScript((socket) => {
        socket.answer(WHOLE, idleMs);
        socket.closeAfter(ms, RESET);
      });
    const lost = { ends: ["ok", "closed"], isResent: false, connectionCount: 1, written: 2 };
    assert.deepEqual(lose(999, 1), { ...lost, latencyMs: 1 });
    assert.deepEqual(lose(1001, 1001), { ...lost, latencyMs: 1001 });
  });

  test("a close later than that, and a second one, are failures", () => {
    const late = runScript((socket) => {
      socket.answer(WHOLE);
      socket.closeAfter(11);
    });
    assert.deepEqual(late, { ends: ["ok", "closed"], latencyMs: 11, isResent: false, connectionCount: 1, written: 2 });
    const twice = runScript((socket) => {
      socket.answer(WHOLE);
      socket.closeAfter(1);
      socket.open();
      socket.closeAfter(1);
    });
    assert.deepEqual(twice, { ends: ["ok", "closed"], latencyMs: 2, isResent: true, connectionCount: 2, written: 3 });
  });

  test("after a close within a response, or after several, no request waits for another close", () => {
    const closes: readonly ((socket: ScriptedSocket) => void)[] = [
      (socket) => socket.answerAfter(0, WHOLE.subarray(0, -1)),
      (socket) => socket.answer(WHOLE),
    ];
    for (const [index, beforeClose] of closes.entries()) {
      const served = index + 1;
      const { ends, written } = runScript((socket) => {
        socket.answer(WHOLE);
        beforeClose(socket);
        socket.closeAfter(11);
        socket.send();
        socket.open();
        socket.answer(WHOLE);
      });
      // The last request has left when the client is closed.
      assert.deepEqual([ends, written], [[...ok(served), "closed", "ok", "aborted"], served + 3]);
    }
  });

  for (const [kind, bytes] of KINDS) {
    test(`${kind}: a server that keeps its connections gets one`, LIMIT, async () => {
      const course = await runCourse(20, (connection) => connection.write(bytes));
      assert.deepEqual(course, { ends: ok(20), receivedCount: 20, connectionCount: 1, resendCount: 0 });
    });

    test(
      `${kind}: a server that closes after every one without notice loses none, and receives none twice`,
      LIMIT,
      async () => {
        const { resendCount, ...course } = await runCourse(6, (connection) => answerAndClose(connection, bytes));
        assert.deepEqual(course, { ends: ok(6), receivedCount: 6, connectionCount: 6 });
        // On a busy machine a close may be seen late: what left before was refused, so the server received each request once.
        assert.ok(resendCount <= 5, String(resendCount));
      },
    );

    test(
      `${kind}: a request that came after the server had closed is sent again and counted, and the next connection is kept again`,
      LIMIT,
      async () => {
        const answer: Answer = (connection, n) => {
          if (n === 4) answerAndClose(connection, bytes);
          else connection.write(bytes);
        };
        const course = await slowly(() => runCourse(20, answer));
        assert.deepEqual(course, { ends: ok(20), receivedCount: 20, connectionCount: 2, resendCount: 1 });
      },
    );
  }

  test("a response that no request asked for costs its connection, is counted, and is no response to the next request", () => {
    const course = runScript((socket) => {
      socket.answerAfter(1, WHOLE);
      socket.answerAfter(1, STREAM);
      socket.send();
      socket.open();
      socket.answerAfter(5, WHOLE);
    });
    const times = { latencyMs: 5, isResent: false };
    assert.deepEqual(course, { ends: ["ok", "ok"], ...times, connectionCount: 2, written: 2, unaskedCount: 1 });
  });

  test("one lost connection changes nothing for the other slots", LIMIT, async () => {
    let receivedCount = 0;
    await using server = await startRawServer(async (connection) => {
      for (let seen = 0; ; ) {
        await connection.until(({ bytes }) => requestsIn(bytes).length > seen);
        seen++;
        if (++receivedCount === 26) connection.socket.resetAndDestroy();
        else connection.write(STREAM);
      }
    });
    using driver = await openDriver((given) => new Http1Client(endpointAt(server.port), given), 4);
    const ends: string[] = [];
    const send = async (slot: number): Promise<void> => {
      for (let i = 0; i < 25; i++) ends.push((await driver.request(slot, REQUEST)).failure?.kind ?? "ok");
    };
    await Promise.all([0, 1, 2, 3].map(send));
    assert.deepEqual([receivedCount, ends.filter((end) => end !== "ok")], [100, ["closed"]]);
    assert.deepEqual([driver.client.connectionCount, driver.client.resendCount], [5, 0]);
  });

  test("bytes that arrive before the request is sent are not a response to it", LIMIT, async () => {
    const answer = async (): Promise<readonly number[]> => {
      let receivedCount = 0;
      await using server = await startRawServer(async (connection) => {
        for (let seen = 0; ; ) {
          await connection.until(({ bytes }) => requestsIn(bytes).length > seen);
          seen++;
          receivedCount++;
          connection.write(WHOLE);
        }
      });
      using driver = await openDriver((given) => new Http1Client(endpointAt(server.port), given));
      await driver.request(0, REQUEST);
      const second = driver.request(0, REQUEST);
      server.connections[0]?.write(WHOLE);
      const { failure } = await second;
      const isAnswered = failure === undefined;
      return [receivedCount, driver.client.connectionCount, isAnswered ? 1 : 0];
    };
    // When this process stands still for the 3 ms that the second request is held, it leaves at once, and the bytes are a second response to it.
    let counts: readonly number[] = [];
    for (let attempt = 0; attempt < 20 && counts[1] !== 2; attempt++) counts = await answer();
    assert.deepEqual(counts, [2, 2, 1]);
  });
});
