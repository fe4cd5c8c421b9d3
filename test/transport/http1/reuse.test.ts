import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { Http1Client } from "../../../src/transport/http1/client.ts";
import { latin1 } from "../bytes.ts";
import { Driver, endpointAt, postRequest } from "../drive.ts";
import { type RawConnection, startRawServer } from "../raw-server.ts";
import { requestsIn } from "./requests-in.ts";

/** Whether our HTTP/1.1 client sends another request over a connection, and what it does about one that is lost. */

const REQUEST = postRequest("/v1/chat/completions", latin1("{}"));
const LIMIT = { timeout: 180_000 };

const STREAM = latin1(
  "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n9\r\ndata: a\n\n\r\n0\r\n\r\n",
);
const WHOLE = latin1("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}");
const KINDS = [
  ["streams", STREAM],
  ["whole responses", WHOLE],
] as const;

/** What a server does with its n-th request, counted over all connections from 1. */
type Answer = (connection: RawConnection, n: number) => void;

interface Course {
  /** Kind of failure of each request, or "ok". */
  readonly ends: readonly string[];
  /** Requests that the server received whole. */
  readonly receivedCount: number;
  readonly connectionCount: number;
  readonly resendCount: number;
}

/** Sends requests one after the other over one slot. */
async function runCourse(count: number, answer: Answer): Promise<Course> {
  let receivedCount = 0;
  const server = await startRawServer(async (connection) => {
    for (let seen = 0; ; ) {
      await connection.until(({ bytes }) => requestsIn(bytes).length > seen);
      seen++;
      answer(connection, ++receivedCount);
    }
  });
  const driver = new Driver((given) => new Http1Client(endpointAt(server.port), given));
  try {
    await driver.client.reserve(1);
    const ends: string[] = [];
    for (let i = 0; i < count; i++) ends.push((await driver.request(0, REQUEST)).failure?.kind ?? "ok");
    const { connectionCount, resendCount } = driver.client;
    return { ends, receivedCount, connectionCount, resendCount };
  } finally {
    driver.close();
    await server.stop();
  }
}

/** Answers and closes in one go, so that the close has arrived before the client can have sent anything. */
function answerAndClose({ socket }: RawConnection, bytes: Uint8Array): void {
  socket.write(bytes);
  socket.end();
  socket.destroySoon();
}

const ok = (count: number): string[] => Array<string>(count).fill("ok");

describe("reuse of HTTP/1.1 connections", () => {
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
      `${kind}: a request that the server read before it closed is a failure, and the next connection is kept again`,
      LIMIT,
      async () => {
        const course = await runCourse(20, (connection, n) => {
          if (n === 5) connection.end();
          else connection.write(bytes);
        });
        const ends = [...ok(4), "closed", ...ok(15)];
        assert.deepEqual(course, { ends, receivedCount: 20, connectionCount: 2, resendCount: 0 });
      },
    );

    test(
      `${kind}: a request that came after the server had closed is sent again and counted, and the next connection is kept again`,
      LIMIT,
      async () => {
        const course = await runCourse(20, (connection, n) => {
          if (n === 4) answerAndClose(connection, bytes);
          else connection.write(bytes);
        });
        assert.deepEqual(course, { ends: ok(20), receivedCount: 20, connectionCount: 2, resendCount: 1 });
      },
    );
  }

  test("one lost connection changes nothing for the other slots", LIMIT, async () => {
    let receivedCount = 0;
    const server = await startRawServer(async (connection) => {
      for (let seen = 0; ; ) {
        await connection.until(({ bytes }) => requestsIn(bytes).length > seen);
        seen++;
        if (++receivedCount === 26) connection.end();
        else connection.write(STREAM);
      }
    });
    const driver = new Driver((given) => new Http1Client(endpointAt(server.port), given));
    try {
      await driver.client.reserve(4);
      const ends: string[] = [];
      const send = async (slot: number): Promise<void> => {
        for (let i = 0; i < 25; i++) ends.push((await driver.request(slot, REQUEST)).failure?.kind ?? "ok");
      };
      await Promise.all([0, 1, 2, 3].map(send));
      assert.deepEqual([receivedCount, ends.filter((end) => end !== "ok")], [100, ["closed"]]);
      assert.deepEqual([driver.client.connectionCount, driver.client.resendCount], [5, 0]);
    } finally {
      driver.close();
      await server.stop();
    }
  });

  test("bytes that come before the request has left are no answer to it", LIMIT, async () => {
    let receivedCount = 0;
    const server = await startRawServer(async (connection) => {
      for (let seen = 0; ; ) {
        await connection.until(({ bytes }) => requestsIn(bytes).length > seen);
        seen++;
        receivedCount++;
        connection.write(WHOLE);
      }
    });
    const driver = new Driver((given) => new Http1Client(endpointAt(server.port), given));
    try {
      await driver.client.reserve(1);
      await driver.request(0, REQUEST);
      const second = driver.request(0, REQUEST);
      server.connections[0]?.write(WHOLE);
      assert.equal((await second).failure, undefined);
      assert.deepEqual([receivedCount, driver.client.connectionCount], [2, 2]);
    } finally {
      driver.close();
      await server.stop();
    }
  });
});
