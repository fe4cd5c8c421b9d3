import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { ResponseTooLargeError } from "../../../src/transport/failure.ts";
import { GrpcUnaryClient } from "../../../src/transport/grpc/unary-client.ts";
import { hex, join, latin1 } from "../bytes.ts";
import { Driver, endpointAt, postRequest } from "../drive.ts";
import type { ScriptedConnection } from "../http2/scripted-server.ts";
import {
  END_HEADERS,
  END_STREAM,
  frame,
  GRPC_HEADERS,
  GRPC_OK,
  grpcAnswer,
  grpcMessage,
  headers,
  settings,
  TYPE,
  words,
} from "../http2/write-frames.ts";
import { startRawServer } from "../raw-server.ts";
import { CLOSED, COMPRESSED, NO_MESSAGE, NO_STATUS, NO_TRAILERS, resetWith } from "./failures.ts";
import { scriptedClient } from "./scripted-client.ts";

/** What servers may do to a call, and what the client then says. */

const REQUEST = postRequest("/test.Service/Call", latin1("question"));
const RESPONSE = grpcMessage(latin1("answer"));

const withClient = scriptedClient((endpoint, options) => new GrpcUnaryClient(endpoint, options));

async function answerAll(connection: ScriptedConnection, from = 1): Promise<void> {
  for (let streamId = from; ; streamId += 2) {
    await connection.request(streamId);
    connection.write(grpcAnswer(streamId, latin1("answer")));
  }
}

interface FaultCase {
  readonly name: string;
  readonly answer: Uint8Array;
  readonly kind: string;
  readonly message: RegExp | string;
  readonly status?: number;
  /** The connection is of no more use; otherwise the next call must go over the same one. */
  readonly breaks?: true;
}

const trailersOnly = (list: readonly (readonly [string, string])[]): Uint8Array =>
  headers(1, [...GRPC_HEADERS, ...list], END_STREAM);

const FAULTS: readonly FaultCase[] = [
  {
    name: "trailers only with a percent-encoded message",
    answer: trailersOnly([
      ["grpc-status", "5"],
      ["grpc-message", "no model %27x%27: 100%25 %C3%A9"],
    ]),
    kind: "grpc",
    message: /^no model 'x': 100% é$/,
    status: 5,
  },
  {
    name: "trailers only without a message",
    answer: trailersOnly([["grpc-status", "14"]]),
    kind: "grpc",
    message: /^UNAVAILABLE$/,
    status: 14,
  },
  {
    name: "an unknown gRPC status",
    answer: trailersOnly([["grpc-status", "77"]]),
    kind: "grpc",
    message: /^77$/,
    status: 77,
  },
  {
    name: "a gRPC status that is no number",
    answer: trailersOnly([["grpc-status", "fine"]]),
    kind: "protocol",
    message: /^bad grpc-status "fine"$/,
  },
  {
    name: "a status after a message",
    answer: join(
      headers(1, GRPC_HEADERS),
      frame(TYPE.data, 0, 1, RESPONSE),
      headers(1, [["grpc-status", "13"]], END_STREAM),
    ),
    kind: "grpc",
    message: /^INTERNAL$/,
    status: 13,
  },
  {
    name: "status OK without a message",
    answer: trailersOnly([["grpc-status", "0"]]),
    ...NO_MESSAGE,
  },
  {
    name: "two messages",
    answer: join(
      headers(1, GRPC_HEADERS),
      frame(TYPE.data, 0, 1, join(RESPONSE, RESPONSE)),
      headers(1, GRPC_OK, END_STREAM),
    ),
    kind: "protocol",
    message: /^several messages in response to a unary call$/,
  },
  {
    name: "messages without an end",
    answer: join(headers(1, GRPC_HEADERS), frame(TYPE.data, 0, 1, join(RESPONSE, RESPONSE))),
    kind: "protocol",
    message: /^several messages in response to a unary call$/,
  },
  {
    name: "half a message",
    answer: join(
      headers(1, GRPC_HEADERS),
      frame(TYPE.data, 0, 1, RESPONSE.slice(0, 8)),
      headers(1, GRPC_OK, END_STREAM),
    ),
    kind: "protocol",
    message: /^the response ended inside/,
  },
  {
    name: "no trailers",
    answer: join(headers(1, GRPC_HEADERS), frame(TYPE.data, END_STREAM, 1, RESPONSE)),
    ...NO_TRAILERS,
  },
  {
    name: "trailers without a status",
    answer: join(headers(1, GRPC_HEADERS), frame(TYPE.data, 0, 1, RESPONSE), headers(1, [["x", "y"]], END_STREAM)),
    ...NO_STATUS,
  },
  {
    name: "an HTTP error without a body",
    answer: headers(1, [[":status", "503"]], END_STREAM),
    kind: "http",
    message: /^HTTP status 503 instead of a gRPC response$/,
    status: 503,
  },
  {
    name: "an HTTP error with a body that is not a message",
    answer: join(headers(1, [[":status", "502"]]), frame(TYPE.data, END_STREAM, 1, new Uint8Array(3))),
    kind: "http",
    message: /^HTTP status 502/,
    status: 502,
  },
  {
    name: "a page of a proxy",
    answer: join(headers(1, [[":status", "503"]]), frame(TYPE.data, END_STREAM, 1, latin1("<h1>busy</h1>"))),
    kind: "http",
    message: /^HTTP status 503 instead of a gRPC response$/,
    status: 503,
  },
  {
    name: "a compressed message",
    answer: join(headers(1, GRPC_HEADERS), frame(TYPE.data, 0, 1, grpcMessage(latin1("zip"), 1))),
    ...COMPRESSED,
  },
  {
    name: "a message flag that does not exist",
    answer: join(headers(1, GRPC_HEADERS), frame(TYPE.data, 0, 1, grpcMessage(latin1("zip"), 9))),
    kind: "protocol",
    message: /^bad gRPC message flag 9$/,
  },
  {
    name: "a message of 4 GiB",
    answer: join(headers(1, GRPC_HEADERS), frame(TYPE.data, 0, 1, hex("00 ffffffff"))),
    kind: "limit",
    message: new RegExp(`^${new ResponseTooLargeError(64_000_000).message}$`),
  },
  {
    name: "a reset stream",
    answer: frame(TYPE.rstStream, 0, 1, words(2)),
    ...resetWith("INTERNAL_ERROR"),
  },
  {
    name: "a stream reset within its message",
    answer: join(
      headers(1, GRPC_HEADERS),
      frame(TYPE.data, 0, 1, RESPONSE.slice(0, 6)),
      frame(TYPE.rstStream, 0, 1, words(11)),
    ),
    ...resetWith("ENHANCE_YOUR_CALM"),
  },
  { name: "silence", answer: new Uint8Array(0), kind: "stalled", message: /^no byte received for / },
  {
    name: "silence after the headers",
    answer: headers(1, GRPC_HEADERS),
    kind: "stalled",
    message: /^no byte received for /,
  },
  // From here on the connection itself is broken.
  {
    name: "a frame too large",
    answer: hex("004001 00 00 00000001"),
    kind: "protocol",
    message: /^frame of 16385 bytes/,
    breaks: true,
  },
  {
    name: "DATA on a stream never opened",
    answer: frame(TYPE.data, 0, 7, RESPONSE),
    kind: "protocol",
    message: /^DATA frame on stream 7, which was never opened$/,
    breaks: true,
  },
  {
    name: "HEADERS on an even stream",
    answer: headers(2, GRPC_HEADERS),
    kind: "protocol",
    message: /^HEADERS frame on stream 2, which was never opened$/,
    breaks: true,
  },
  {
    name: "DATA on stream 0",
    answer: frame(TYPE.data, 0, 0, RESPONSE),
    kind: "protocol",
    message: /^DATA frame on stream 0/,
    breaks: true,
  },
  {
    name: "a push",
    answer: frame(TYPE.pushPromise, END_HEADERS, 1, words(2)),
    kind: "protocol",
    message: /^server pushed although push is disabled$/,
    breaks: true,
  },
  {
    name: "a PING of 7 bytes",
    answer: frame(TYPE.ping, 0, 0, new Uint8Array(7)),
    kind: "protocol",
    message: /^PING of 7 bytes$/,
    breaks: true,
  },
  {
    name: "a WINDOW_UPDATE of nothing",
    answer: frame(TYPE.windowUpdate, 0, 1, words(0)),
    kind: "protocol",
    message: /^WINDOW_UPDATE of 0$/,
    breaks: true,
  },
  {
    name: "a connection window that overflows",
    answer: frame(TYPE.windowUpdate, 0, 0, words(0x7fffffff)),
    kind: "protocol",
    message: /^connection window overflows$/,
    breaks: true,
  },
  {
    name: "a stream's window that overflows",
    answer: frame(TYPE.windowUpdate, 0, 1, words(0x7fffffff)),
    kind: "protocol",
    message: /^window of stream 1 overflows$/,
    breaks: true,
  },
  {
    name: "an initial window above 2 GiB",
    answer: settings({ 4: 0x80000000 }),
    kind: "protocol",
    message: /^bad SETTINGS_INITIAL_WINDOW_SIZE 2147483648$/,
    breaks: true,
  },
  {
    name: "a frame size below 16 KiB",
    answer: settings({ 5: 100 }),
    kind: "protocol",
    message: /^bad SETTINGS_MAX_FRAME_SIZE 100$/,
    breaks: true,
  },
  {
    name: "a header index out of nowhere",
    answer: frame(TYPE.headers, END_HEADERS, 1, hex("fe")),
    kind: "protocol",
    message: /^header index 126 /,
    breaks: true,
  },
  {
    name: "a broken RST_STREAM",
    answer: frame(TYPE.rstStream, 0, 1, new Uint8Array(3)),
    kind: "protocol",
    message: /^frame of 3 bytes where 4 are due$/,
    breaks: true,
  },
  {
    name: "padding that is too long",
    answer: frame(TYPE.data, 8, 1, hex("09 00")),
    kind: "protocol",
    message: /^frame padding is too long$/,
    breaks: true,
  },
];

describe("own gRPC client counts once and continues after", () => {
  for (const { name, answer, kind, message, status, breaks } of FAULTS) {
    test(name, async () => {
      await withClient(
        async (connection) => {
          if (connection.index > 0) return answerAll(connection);
          await connection.request(1);
          connection.write(answer);
          return answerAll(connection, 3);
        },
        async (driver) => {
          const { failure } = await driver.request(0, REQUEST);
          assert.equal(failure?.kind, kind);
          if (typeof message === "string") assert.equal(failure?.message, message);
          else assert.match(failure?.message ?? "", message);
          assert.equal(failure?.status, status);
          assert.equal((await driver.request(0, REQUEST)).failure, undefined);
          assert.equal(driver.doneCount, 2);
          assert.equal(driver.client.connectionCount, breaks === true ? 2 : 1);
        },
        { options: { stallTimeoutNs: 0.3e9 } },
      );
    });
  }

  test("a stalled call takes its stream back from the server", async () => {
    let reset: Promise<unknown> | undefined;
    await withClient(
      (connection) => {
        reset = connection.until(({ type, streamId }) => type === TYPE.rstStream && streamId === 1);
        return reset.then(() => {});
      },
      async (driver) => {
        assert.equal((await driver.request(0, REQUEST)).failure?.kind, "stalled");
        await reset;
      },
      { options: { stallTimeoutNs: 0.2e9 } },
    );
  });

  test("a response before the request was complete: the rest of the request is not sent", async () => {
    await withClient(
      async (connection) => {
        await connection.raw.until(() => connection.dataOf(1).length === 65_535);
        connection.write(headers(1, [...GRPC_HEADERS, ["grpc-status", "8"]], END_STREAM));
        await connection.until(({ type, streamId }) => type === TYPE.rstStream && streamId === 1);
        connection.write(frame(TYPE.windowUpdate, 0, 0, words(1_000_000)));
        return answerAll(connection, 3);
      },
      async (driver) => {
        const { failure } = await driver.request(0, postRequest("/m", new Uint8Array(100_000)));
        assert.equal(failure?.status, 8);
        assert.equal((await driver.request(0, REQUEST)).failure, undefined);
        assert.equal(driver.client.connectionCount, 1);
      },
    );
  });

  test("a close before the response, and one within it", async () => {
    await withClient(
      async (connection) => {
        if (connection.index === 2) return answerAll(connection);
        await connection.request(1);
        if (connection.index === 1)
          connection.write(headers(1, GRPC_HEADERS), frame(TYPE.data, 0, 1, RESPONSE.slice(0, 7)));
        connection.raw.end();
      },
      async (driver) => {
        for (let i = 0; i < 2; i++) assert.deepEqual((await driver.request(0, REQUEST)).failure, CLOSED);
        assert.equal((await driver.request(0, REQUEST)).failure, undefined);
        assert.equal(driver.client.connectionCount, 3);
      },
    );
  });

  test("an idle connection that the server closed is replaced", async () => {
    const seen: ScriptedConnection[] = [];
    await withClient(
      (connection) => {
        seen.push(connection);
        return answerAll(connection);
      },
      async (driver) => {
        await driver.request(0, REQUEST);
        seen[0]?.raw.end();
        await seen[0]?.raw.closed();
        assert.equal((await driver.request(0, REQUEST)).failure, undefined);
        assert.equal(driver.client.connectionCount, 2);
      },
    );
  });

  test("a refused connection", async () => {
    const server = await startRawServer(() => {});
    await server.stop();
    const driver = new Driver((options) => new GrpcUnaryClient(endpointAt(server.port), options));
    await driver.client.reserve(2);
    for (const slot of [0, 1])
      assert.deepEqual((await driver.request(slot, REQUEST)).failure, {
        kind: "connect",
        message: "Connection refused",
      });
    driver.close();
  });

  test("a server that accepts connections but never responds: reserving slots resolves, and calls stall", async () => {
    const server = await startRawServer(() => {});
    const driver = new Driver((options) => new GrpcUnaryClient(endpointAt(server.port), options), {
      stallTimeoutNs: 0.2e9,
    });
    await driver.client.reserve(1);
    assert.equal((await driver.request(0, REQUEST)).failure?.kind, "stalled");
    driver.close();
    await server.stop();
  });

  for (const [name, greeting, message] of [
    [
      "HTTP/1.1",
      latin1("HTTP/1.1 400 Bad Request\r\n\r\n"),
      /^server does not speak HTTP\/2, which gRPC needs: it answered "HTTP\/1\.1 400 Bad Request"$/,
    ],
    [
      "another first frame than SETTINGS",
      frame(TYPE.ping, 0, 0, new Uint8Array(8)),
      /^the server's first frame is not SETTINGS$/,
    ],
    ["a header block first", headers(1, GRPC_HEADERS), /^the server's first frame is not SETTINGS$/],
  ] as const) {
    test(`a server that begins with ${name}`, async () => {
      const server = await startRawServer(async (raw) => {
        // Not before the request is out, so that it is this connection that fails.
        await raw.until(({ bytes }) => Buffer.from(bytes).includes("question"));
        raw.write(greeting);
      });
      const driver = new Driver((options) => new GrpcUnaryClient(endpointAt(server.port), options));
      const ready = driver.client.reserve(1);
      const { failure } = await driver.request(0, REQUEST);
      assert.equal(failure?.kind, "protocol");
      assert.match(failure?.message ?? "", message);
      await ready;
      driver.close();
      await server.stop();
    });
  }
});

describe("own gRPC client and the limit of concurrent streams", () => {
  test("never has more streams open than the peer allows, and serves all calls in turn", async () => {
    let most = 0;
    await withClient(
      async (connection) => {
        for (let streamId = 1; ; streamId += 2) {
          await connection.request(streamId);
          most = Math.max(most, connection.opened.filter((id) => id >= streamId).length);
          connection.write(grpcAnswer(streamId, latin1("answer")));
        }
      },
      async (driver) => {
        for (let round = 0; round < 3; round++) {
          const outcomes = await Promise.all([0, 1, 2, 3, 4].map((slot) => driver.request(slot, REQUEST)));
          for (const { failure } of outcomes) assert.equal(failure, undefined);
        }
        assert.ok(most <= 2, `${most} streams at once`);
        assert.equal(driver.client.connectionCount, 1);
      },
      { greeting: settings({ 3: 2 }), slots: 5 },
    );
  });

  test("calls that are cancelled together free their streams for later calls, not for each other", async () => {
    const { promise: isFull, resolve } = Promise.withResolvers<void>();
    let opened: readonly number[] = [];
    await withClient(
      async (connection) => {
        await connection.request(1);
        await connection.request(3);
        resolve();
        await connection.request(5);
        opened = [...connection.opened];
        connection.write(grpcAnswer(5, latin1("answer")));
      },
      async (driver) => {
        const cancelled = [0, 1, 2, 3, 4].map((slot) => driver.request(slot, REQUEST));
        await isFull;
        assert.deepEqual(
          driver.client.calls.map(({ hasStream }) => hasStream),
          [true, true, false, false, false],
        );
        for (const { slot } of driver.client.calls)
          driver.client.cancel(slot, { kind: "cancelled", message: "enough" });
        for (const { failure } of await Promise.all(cancelled)) assert.equal(failure?.kind, "cancelled");
        assert.equal((await driver.request(0, REQUEST)).failure, undefined);
        assert.deepEqual(opened, [1, 3, 5]);
      },
      { greeting: settings({ 3: 2 }), slots: 5 },
    );
  });

  test("waits while the limit is 0, and continues when it is raised", async () => {
    await withClient(
      async (connection) => {
        await connection.until(({ type, flags }) => type === TYPE.settings && flags === 1);
        assert.deepEqual(connection.opened, []);
        connection.write(settings({ 3: 1 }));
        await answerAll(connection);
      },
      async (driver) => {
        const outcomes = await Promise.all([0, 1].map((slot) => driver.request(slot, REQUEST)));
        for (const { failure } of outcomes) assert.equal(failure, undefined);
      },
      { greeting: settings({ 3: 0 }), slots: 2 },
    );
  });

  test("calls that wait for room survive the connection they waited for", async () => {
    await withClient(
      async (connection) => {
        if (connection.index > 0) return answerAll(connection);
        await connection.request(1);
        connection.raw.end();
      },
      async (driver) => {
        const [first, ...others] = await Promise.all([0, 1, 2].map((slot) => driver.request(slot, REQUEST)));
        assert.equal(first?.failure?.kind, "closed");
        for (const { failure } of others) assert.equal(failure, undefined);
        assert.equal(driver.client.connectionCount, 2);
      },
      { greeting: settings({ 3: 1 }), slots: 3, options: { stallTimeoutNs: 10e9 } },
    );
  });
});

describe("own gRPC client resends only requests that were certainly not processed", () => {
  test("a refused stream", async () => {
    await withClient(
      async (connection) => {
        await connection.request(1);
        connection.write(frame(TYPE.rstStream, 0, 1, words(7)));
        return answerAll(connection, 3);
      },
      async (driver) => {
        assert.equal((await driver.request(0, REQUEST)).failure, undefined);
        assert.equal(driver.doneCount, 1);
        assert.equal(driver.client.connectionCount, 1);
      },
    );
  });

  test("a stream refused over and over fails in the end", async () => {
    await withClient(
      async (connection) => {
        for (let streamId = 1; ; streamId += 2) {
          await connection.request(streamId);
          connection.write(frame(TYPE.rstStream, 0, streamId, words(7)));
        }
      },
      async (driver) => {
        const { failure } = await driver.request(0, REQUEST);
        assert.deepEqual(failure, resetWith("REFUSED_STREAM"));
        assert.equal(driver.doneCount, 1);
      },
    );
  });

  test("streams above a GOAWAY's last one, over a new connection; the others are answered over the old one", async () => {
    const opened: number[][] = [];
    await withClient(
      async (connection) => {
        if (connection.index > 0) {
          opened[1] = connection.opened;
          return answerAll(connection);
        }
        await connection.request(5);
        connection.write(frame(TYPE.goaway, 0, 0, words(3, 0)));
        connection.write(grpcAnswer(3, latin1("answer")), grpcAnswer(1, latin1("answer")));
      },
      async (driver) => {
        const outcomes = await Promise.all([0, 1, 2].map((slot) => driver.request(slot, REQUEST)));
        for (const { failure, body } of outcomes) {
          assert.equal(failure, undefined);
          assert.deepEqual(body, latin1("answer"));
        }
        assert.equal(driver.doneCount, 3);
        assert.equal(driver.client.connectionCount, 2);
      },
      { slots: 3 },
    );
  });

  test("a graceful GOAWAY in two steps", async () => {
    await withClient(
      async (connection) => {
        if (connection.index > 0) return answerAll(connection);
        await connection.request(1);
        connection.write(frame(TYPE.goaway, 0, 0, words(0x7fffffff, 0)));
        connection.write(grpcAnswer(1, latin1("answer")), frame(TYPE.goaway, 0, 0, words(1, 0)));
        connection.raw.end();
      },
      async (driver) => {
        for (let i = 0; i < 3; i++) assert.equal((await driver.request(0, REQUEST)).failure, undefined);
        assert.equal(driver.client.connectionCount, 2);
      },
    );
  });

  test("a call that was processed and then lost is not sent again", async () => {
    let requests = 0;
    await withClient(
      async (connection) => {
        await connection.request(1);
        requests++;
        connection.write(frame(TYPE.goaway, 0, 0, join(words(1, 11), latin1("too_many_pings"))));
        connection.raw.end();
      },
      async (driver) => {
        assert.equal((await driver.request(0, REQUEST)).failure?.kind, "closed");
        assert.equal(requests, 1);
        assert.equal(driver.client.connectionCount, 1);
      },
    );
  });

  test("a server that goes away at once, every time, ends in a failure that gives its reason", async () => {
    await withClient(
      async (connection) => {
        await connection.request(1);
        connection.write(frame(TYPE.goaway, 0, 0, join(words(0, 11), latin1("too_many_pings"))));
      },
      async (driver) => {
        const { failure } = await driver.request(0, REQUEST);
        assert.equal(failure?.kind, "closed");
        assert.equal(failure?.message, "server is going away (ENHANCE_YOUR_CALM: too_many_pings)");
        assert.equal(driver.doneCount, 1);
        assert.deepEqual([driver.client.connectionCount, driver.client.resendCount], [3, 1]);
      },
    );
  });

  test("closing the client also ends a connection that was going away", async () => {
    const seen: ScriptedConnection[] = [];
    await withClient(
      async (connection) => {
        seen.push(connection);
        await connection.request(1);
        connection.write(frame(TYPE.goaway, 0, 0, words(0x7fffffff, 0)));
      },
      async (driver) => {
        const call = driver.request(0, REQUEST);
        await seen[0]?.request(1).catch(() => {});
        // The PING's response shows that the GOAWAY before it has been read.
        seen[0]?.write(frame(TYPE.ping, 0, 0, new Uint8Array(8)));
        await seen[0]?.until(({ type }) => type === TYPE.ping);
        driver.close();
        assert.equal((await call).failure?.kind, "aborted");
        await seen[0]?.raw.closed();
      },
    );
  });
});
