import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { ClientOptions } from "../../../src/transport/client.ts";
import { Http1Client } from "../../../src/transport/http1/client.ts";
import { USER_AGENT } from "../../../src/transport/user-agent.ts";
import { inPieces, join, latin1, pattern, toText } from "../bytes.ts";
import { Driver, endpointAt, getRequest, openDriver, postRequest } from "../drive.ts";
import { type RawConnection, type RawServer, startRawServer } from "../raw-server.ts";
import { requestsIn } from "./requests-in.ts";

/** Our HTTP/1.1 client against a server whose every byte is scripted. */

const OK = latin1("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");

interface Fixture {
  readonly server: RawServer;
  readonly driver: Driver;
}

/** @param response called with each request in turn, over all connections */
async function withClient(
  answer: (connection: RawConnection, index: number) => void | Promise<void>,
  use: (fixture: Fixture) => Promise<void>,
  options: Partial<ClientOptions> = {},
): Promise<void> {
  let total = 0;
  await using server = await startRawServer(async (connection) => {
    for (let answered = 0; ; answered++) {
      await connection.until(({ bytes }) => requestsIn(bytes).length > answered);
      await answer(connection, total++);
    }
  });
  using driver = new Driver((given) => new Http1Client(endpointAt(server.port), given), options);
  await use({ server, driver });
}

describe("own HTTP/1.1 client", () => {
  test("sends head and body as encoded once, and again with the same bytes on the same connection", async () => {
    await withClient(
      (connection) => connection.write(OK),
      async ({ server, driver }) => {
        await driver.client.reserve(1);
        const request = postRequest("/infer", latin1("payload"), { headers: [["Content-Type", "text/plain"]] });
        for (let i = 0; i < 3; i++) assert.equal(toText((await driver.request(0, request)).body), "ok");
        const once = `POST /infer HTTP/1.1\r\nHost: 127.0.0.1:${server.port}\r\nUser-Agent: ${USER_AGENT}\r\nAccept: */*\r\nContent-Type: text/plain\r\nContent-Length: 7\r\n\r\npayload`;
        assert.deepEqual(server.received.map(toText), [once + once + once]);
        assert.equal(driver.client.connectionCount, 1);
        assert.equal(driver.doneCount, 3);
      },
    );
  });

  test("writes each sending's id into its place and leaves the shared encoding as it was", async () => {
    await withClient(
      (connection) => connection.write(OK),
      async ({ server, driver }) => {
        await driver.client.reserve(2);
        const request = postRequest("/infer", latin1('{"id":"0000"}'), {
          stampPlace: { offset: 7, length: 4, idDigits: 4 },
        });
        await Promise.all([driver.request(0, request, "0001"), driver.request(1, request, "0002")]);
        await driver.request(0, request, "0003");
        await driver.request(1, request);
        const bodies = server.received.flatMap((bytes) => requestsIn(bytes)).map(({ body }) => toText(body));
        assert.deepEqual(
          bodies.sort(),
          ["0000", "0001", "0002", "0003"].map((id) => `{"id":"${id}"}`),
        );
      },
    );
  });

  test("sends endpoint headers, path prefix and no length with GET", async () => {
    const server = await startRawServer(async (connection) => {
      await connection.until(({ bytes }) => toText(bytes).endsWith("\r\n\r\n"));
      connection.write(OK);
    });
    const endpoint = endpointAt(server.port, {
      authority: "model:8000",
      pathPrefix: "/triton",
      headers: [["X-Key", "1"]],
    });
    const driver = await openDriver((options) => new Http1Client(endpoint, options));
    assert.equal((await driver.request(0, getRequest("/v2"))).failure, undefined);
    assert.match(
      toText(server.received[0] as Uint8Array),
      /^GET \/triton\/v2 HTTP\/1\.1\r\nHost: model:8000\r\nUser-Agent: [^\r]+\r\nAccept: \*\/\*\r\nX-Key: 1\r\n\r\n$/,
    );
    driver.close();
    await server.stop();
  });

  const body = pattern(300_000);
  const chunks = inPieces(body, 70_000).map((piece) =>
    join(latin1(`${piece.length.toString(16)}\r\n`), piece, latin1("\r\n")),
  );
  const whole: Readonly<Record<string, Uint8Array>> = {
    "a counted body": join(latin1(`HTTP/1.1 200 OK\r\nContent-Length: ${body.length}\r\n\r\n`), body),
    "a chunked body": join(
      latin1("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"),
      ...chunks,
      latin1("0\r\n\r\n"),
    ),
  };
  for (const [name, response] of Object.entries(whole)) {
    test(`reads ${name} of 300,000 bytes that arrives in pieces`, async () => {
      await withClient(
        (connection) => connection.writeApart(inPieces(response, 33_333)),
        async ({ driver }) => {
          await driver.client.reserve(1);
          for (let i = 0; i < 2; i++) assert.deepEqual((await driver.request(0, getRequest("/"))).body, body);
          assert.equal(driver.client.connectionCount, 1);
        },
      );
    });
  }

  test("reads a response that arrives byte by byte", async () => {
    await withClient(
      (connection) => connection.writeApart(inPieces(OK, 1)),
      async ({ driver }) => {
        await driver.client.reserve(1);
        const { body: read, failure, times } = await driver.request(0, getRequest("/"));
        assert.equal(failure, undefined);
        assert.equal(toText(read), "ok");
        const [sendStart, sendEnd, firstByte, end] = times;
        assert.ok(sendStart <= sendEnd && sendEnd <= firstByte && firstByte < end);
      },
    );
  });

  test("skips 1xx responses, on their own and together with the final one", async () => {
    const early = latin1("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: <x>\r\n\r\n");
    await withClient(
      (connection, index) => (index === 0 ? connection.writeApart([early, OK]) : connection.write(join(early, OK))),
      async ({ driver }) => {
        await driver.client.reserve(1);
        for (let i = 0; i < 2; i++) assert.equal(toText((await driver.request(0, getRequest("/"))).body), "ok");
        assert.equal(driver.client.connectionCount, 1);
      },
    );
  });

  test("reconnects after Connection: close, and after a body that lasts until the close", async () => {
    await withClient(
      (connection, index) => {
        if (index === 0) connection.write(latin1("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 1\r\n\r\na"));
        else connection.write(latin1("HTTP/1.1 200 OK\r\n\r\nb"));
        connection.end();
      },
      async ({ driver }) => {
        await driver.client.reserve(1);
        assert.equal(toText((await driver.request(0, getRequest("/"))).body), "a");
        assert.equal(toText((await driver.request(0, getRequest("/"))).body), "b");
        assert.equal(toText((await driver.request(0, getRequest("/"))).body), "b");
        assert.equal(driver.client.connectionCount, 3);
        assert.equal(driver.client.received?.statusCounts[200], 3);
      },
    );
  });

  test("counts the bytes and the statuses of what it receives", async () => {
    const missing = latin1("HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n");
    await withClient(
      (connection, index) => connection.write(index === 2 ? missing : OK),
      async ({ driver }) => {
        await driver.client.reserve(1);
        for (let i = 0; i < 4; i++) await driver.request(0, getRequest("/"));
        const { bytes, statusCounts } = driver.client.received ?? assert.fail("nothing was counted");
        assert.equal(bytes, 3 * OK.length + missing.length);
        assert.deepEqual(
          [...statusCounts.entries()].filter(([, count]) => count > 0),
          [
            [200, 3],
            [404, 1],
          ],
        );
      },
    );
  });

  test("reconnects when the server closed an idle connection", async () => {
    await withClient(
      (connection) => connection.write(OK),
      async ({ driver, server }) => {
        await driver.client.reserve(1);
        await driver.request(0, getRequest("/"));
        server.connections[0]?.end();
        await server.connections[0]?.closed();
        assert.equal((await driver.request(0, getRequest("/"))).failure, undefined);
        assert.equal(driver.client.connectionCount, 2);
      },
    );
  });

  test("drops a connection on which unexpected bytes arrived", async () => {
    await withClient(
      (connection) => connection.write(OK),
      async ({ driver, server }) => {
        await driver.client.reserve(1);
        await driver.request(0, getRequest("/"));
        server.connections[0]?.write(OK);
        await server.connections[0]?.closed();
        assert.equal((await driver.request(0, getRequest("/"))).failure, undefined);
        assert.equal(driver.client.connectionCount, 2);
      },
    );
  });

  test("keeps an error's body for its explanation even when bodies are not kept", async () => {
    await withClient(
      (connection) => connection.write(latin1("HTTP/1.1 400 Bad Request\r\nContent-Length: 9\r\n\r\nbad shape")),
      async ({ driver }) => {
        await driver.client.reserve(1);
        const { failure, body: text } = await driver.request(0, getRequest("/"));
        assert.deepEqual(failure, { kind: "http", status: 400, message: "HTTP status 400" });
        assert.equal(toText(text), "bad shape");
        assert.equal(driver.client.connectionCount, 1);
      },
      { responses: { keepBodies: false } },
    );
  });

  test("keeps no body of a success when bodies are not kept", async () => {
    await withClient(
      (connection) => connection.write(OK),
      async ({ driver }) => {
        await driver.client.reserve(1);
        assert.equal((await driver.request(0, getRequest("/"))).body.length, 0);
      },
      { responses: { keepBodies: false } },
    );
  });

  test("reports sent and received heads on request", async () => {
    const told: string[] = [];
    await withClient(
      (connection) => connection.write(OK),
      async ({ driver }) => {
        await driver.client.reserve(1);
        await driver.request(0, postRequest("/x", latin1("secret")));
        assert.match(told[0] ?? "", /^> POST \/x HTTP\/1\.1\r\n[\s\S]*\r\n\r\n$/);
        assert.equal(told[1], "< HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n");
      },
      { onWire: (direction, head) => told.push(`${direction} ${head}`) },
    );
  });

  test("fails active requests with aborted when closed, each once", async () => {
    const server = await startRawServer(() => {});
    const driver = new Driver((options) => new Http1Client(endpointAt(server.port), options));
    await driver.client.reserve(3);
    const outcomes = [0, 1, 2].map((slot) => driver.request(slot, getRequest("/")));
    driver.close();
    driver.close();
    for (const { failure } of await Promise.all(outcomes)) assert.equal(failure?.kind, "aborted");
    assert.equal(driver.doneCount, 3);
    await server.stop();
  });

  test("a slot works again from inside its own completion", async () => {
    let left = 20;
    let finish = (): void => {};
    const finished = new Promise<void>((resolve) => {
      finish = resolve;
    });
    await withClient(
      (connection) => connection.write(OK),
      async ({ server }) => {
        const client: Http1Client = new Http1Client(endpointAt(server.port), {
          responses: { keepBodies: false },
          stallTimeoutNs: 4e9,
          maxResponseBytes: 1e6,
          lanes: { laneCount: 1 },
          onDone: ({ slot }) => (--left === 0 ? finish() : client.send(slot, getRequest("/"), undefined)),
        });
        await client.reserve(1);
        client.send(0, getRequest("/"), undefined);
        await finished;
        assert.equal(client.connectionCount, 1);
        client.close();
      },
    );
  });
});

interface FailureCase {
  readonly name: string;
  readonly answer: (connection: RawConnection) => void;
  readonly kind: string;
  readonly message: RegExp;
}

const FAILURES: readonly FailureCase[] = [
  {
    name: "a close before any byte",
    answer: (connection) => connection.end(),
    kind: "closed",
    message: /^server closed the connection before any byte of the response$/,
  },
  {
    name: "a close within the head",
    answer: (connection) => {
      connection.write(latin1("HTTP/1.1 200 O"));
      connection.end();
    },
    kind: "closed",
    message: /\bwithin the response head$/,
  },
  {
    name: "a close within the body",
    answer: (connection) => {
      connection.write(latin1("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc"));
      connection.end();
    },
    kind: "closed",
    message: /\bbody \(7 bytes missing\)$/,
  },
  {
    name: "a close after 1xx alone",
    answer: (connection) => {
      connection.write(latin1("HTTP/1.1 100 Continue\r\n\r\n"));
      connection.end();
    },
    kind: "closed",
    message: /^server closed the connection within the response$/,
  },
  {
    name: "bytes that are no HTTP",
    answer: (connection) => connection.write(latin1("hello, who is there?\r\n")),
    kind: "protocol",
    message: /does not start with HTTP\/1: "hello/,
  },
  {
    name: "a second response to one request",
    answer: (connection) => connection.write(join(OK, OK)),
    kind: "protocol",
    message: /^a second response to one request$/,
  },
  {
    name: "half a second response",
    answer: (connection) => connection.write(join(OK, latin1("HTTP/1.1 2"))),
    kind: "protocol",
    message: /^bytes after the end of the response$/,
  },
  {
    name: "status 503",
    answer: (connection) => connection.write(latin1("HTTP/1.1 503 Busy\r\nContent-Length: 0\r\n\r\n")),
    kind: "http",
    message: /^HTTP status 503$/,
  },
  {
    name: "a redirect",
    answer: (connection) => connection.write(latin1("HTTP/1.1 302 Found\r\nLocation: /\r\nContent-Length: 0\r\n\r\n")),
    kind: "http",
    message: /^unexpected HTTP status 302, redirected to \/$/,
  },
  { name: "silence", answer: () => {}, kind: "stalled", message: /^no byte received for / },
  {
    name: "silence within the body",
    answer: (connection) => connection.write(latin1("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc")),
    kind: "stalled",
    message: /^no byte received for /,
  },
];

describe("own HTTP/1.1 client counts once and continues after", () => {
  for (const { name, answer, kind, message } of FAILURES) {
    test(name, async () => {
      await withClient(
        (connection, index) => (index === 0 ? answer(connection) : connection.write(OK)),
        async ({ driver }) => {
          await driver.client.reserve(1);
          const { failure, times } = await driver.request(0, getRequest("/"));
          assert.equal(failure?.kind, kind);
          assert.match(failure?.message ?? "", message);
          assert.ok(times[3] >= times[0]);
          assert.equal((await driver.request(0, getRequest("/"))).failure, undefined);
          assert.equal(driver.doneCount, 2);
        },
        { stallTimeoutNs: 0.3e9 },
      );
    });
  }

  test("a refused connection", async () => {
    const server = await startRawServer(() => {});
    await server.stop();
    const driver = new Driver((options) => new Http1Client(endpointAt(server.port), options));
    await driver.client.reserve(2);
    for (const slot of [0, 1]) {
      const { failure } = await driver.request(slot, getRequest("/"));
      assert.deepEqual(failure, { kind: "connect", message: "Connection refused" });
    }
    driver.close();
  });

  test("an unknown host", async () => {
    const endpoint = endpointAt(80, { host: "no-such-host.invalid" });
    const driver = await openDriver((options) => new Http1Client(endpoint, options));
    const { failure } = await driver.request(0, getRequest("/"));
    assert.deepEqual(failure, { kind: "connect", message: "Unknown host" });
    driver.close();
  });
});
