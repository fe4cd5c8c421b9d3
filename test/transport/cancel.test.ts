import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { ClientOptions, LoadClient } from "../../src/transport/client.ts";
import type { Failure } from "../../src/transport/failure.ts";
import { GrpcJsCallClient } from "../../src/transport/general/grpc-js-call-client.ts";
import { GrpcJsClient } from "../../src/transport/general/grpc-js-client.ts";
import { UndiciClient } from "../../src/transport/general/undici-client.ts";
import { GrpcCallClient } from "../../src/transport/grpc/call-client.ts";
import { GrpcStreamClient } from "../../src/transport/grpc/stream-client.ts";
import { GrpcUnaryClient } from "../../src/transport/grpc/unary-client.ts";
import { Http1Client } from "../../src/transport/http1/client.ts";
import type { Endpoint } from "../../src/transport/request.ts";
import { LIMIT } from "../time-limit.ts";
import { until } from "../until.ts";
import { join, latin1, toText } from "./bytes.ts";
import { Driver, endpointAt, postRequest } from "./drive.ts";
import { requestsIn } from "./http1/requests-in.ts";
import { type ScriptedConnection, startScripted } from "./http2/scripted-server.ts";
import { frame, GRPC_HEADERS, grpcAnswer, grpcMessage, headers, TYPE } from "./http2/write-frames.ts";
import { type RawConnection, startRawServer } from "./raw-server.ts";
import { readStreamed } from "./simple-model.ts";

/** Requests that are given up, with every client: what the server sees, and that the slot goes on. */

const GIVEN_UP: Failure = { kind: "cancelled", message: "given up" };
const OK = latin1("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
const STARTED = latin1("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Length: 99\r\n\r\ndata: a\n\n");
const CANCEL = 8;
const REQUEST = postRequest("/test.Service/Call", latin1("id=0000"), {
  stampPlace: { offset: 3, length: 4, idDigits: 4 },
});

type Create = (endpoint: Endpoint, options: ClientOptions) => LoadClient;

const HTTP_CLIENTS: readonly (readonly [name: string, create: Create])[] = [
  ["own HTTP/1.1", (endpoint, options) => new Http1Client(endpoint, options)],
  ["undici", (endpoint, options) => new UndiciClient(endpoint, options)],
];

for (const [name, create] of HTTP_CLIENTS) {
  describe(`${name}: a cancelled request`, () => {
    for (const [when, begun] of [
      ["before any byte came", undefined],
      ["within its response", STARTED],
    ] as const) {
      test(
        `${when}: the server sees the end of its connection, and the slot continues on another one`,
        LIMIT,
        async () => {
          const first = Promise.withResolvers<RawConnection>();
          await using server = await startRawServer(async (connection) => {
            await connection.until(({ bytes }) => requestsIn(bytes).length > 0);
            if (connection.index > 0) connection.write(OK);
            else {
              if (begun !== undefined) connection.write(begun);
              first.resolve(connection);
            }
          });
          using driver = new Driver((options) => create(endpointAt(server.port), options));
          await driver.client.reserve(1);
          const given = driver.request(0, postRequest("/infer", latin1("one")));
          const connection = await first.promise;
          const call = driver.client.calls[0];
          if (begun !== undefined) await until(() => call?.firstByteNs !== 0);
          driver.client.cancel(0, GIVEN_UP);
          assert.deepEqual((await given).failure, GIVEN_UP);
          await connection.closed();
          const next = await driver.request(0, postRequest("/infer", latin1("two")));
          assert.deepEqual([next.failure, toText(next.body)], [undefined, "ok"]);
          driver.client.cancel(0, GIVEN_UP);
          assert.deepEqual([driver.doneCount, server.connections.length], [2, 2]);
        },
      );
    }
  });
}

test("a request that waits for its connection is reported as sent when it is", LIMIT, async () => {
  await using server = await startRawServer(async (connection) => {
    for (let count = 1; ; count++) {
      await connection.until(({ bytes }) => requestsIn(bytes).length >= count);
      connection.write(OK);
    }
  });
  const sent: boolean[] = [];
  const onSent: ClientOptions["onSent"] = ({ isActive, isSending }) => sent.push(isActive && !isSending);
  using driver = new Driver((options) => new Http1Client(endpointAt(server.port), options), { onSent });
  void driver.client.reserve(1);
  const answer = driver.request(0, postRequest("/infer", latin1("one")));
  assert.equal(driver.client.calls[0]?.isSending, true);
  await answer;
  assert.deepEqual(sent, [true]);
  // The second one waits to see whether the server keeps the connection, unless a busy machine has let that time pass already.
  const second = driver.request(0, postRequest("/infer", latin1("two")));
  const reports = driver.client.calls[0]?.isSending === true ? [true, true] : [true];
  await second;
  assert.deepEqual(sent, reports);
  const again = driver.request(0, postRequest("/infer", latin1("three")));
  assert.equal(driver.client.calls[0]?.isSending, false);
  await again;
  assert.deepEqual(sent, reports);
});

const unaryAnswer = (streamId: number): Uint8Array => grpcAnswer(streamId, latin1("answer"));

function streamAnswer(streamId: number, id: string): Uint8Array {
  const response = join(new Uint8Array([0x1a, id.length]), latin1(id));
  const message = grpcMessage(join(new Uint8Array([0x12, response.length]), response));
  return join(headers(streamId, GRPC_HEADERS), frame(TYPE.data, 0, streamId, message));
}

const GRPC_CLIENTS: readonly (readonly [
  name: string,
  create: Create,
  answer: (streamId: number, id: string) => Uint8Array,
])[] = [
  ["own unary", (endpoint, options) => new GrpcUnaryClient(endpoint, options), unaryAnswer],
  ["own stream", (endpoint, options) => new GrpcStreamClient(endpoint, options, readStreamed), streamAnswer],
  ["own calls", (endpoint, options) => new GrpcCallClient(endpoint, options), unaryAnswer],
  ["grpc-js", (endpoint, options) => new GrpcJsClient(endpoint, options, undefined), unaryAnswer],
  ["grpc-js calls", (endpoint, options) => new GrpcJsCallClient(endpoint, options), unaryAnswer],
  ["grpc-js stream", (endpoint, options) => new GrpcJsClient(endpoint, options, readStreamed), streamAnswer],
];

/** Waits until a stream has brought a request. */
async function hasRequest(connection: ScriptedConnection, streamId: number): Promise<void> {
  await connection.raw.until(() => connection.dataOf(streamId).length >= 12);
}

for (const [name, create, answer] of GRPC_CLIENTS) {
  test(
    `${name}: a cancelled request has its stream reset, and the slot keeps using the connection`,
    LIMIT,
    async () => {
      const resets: number[] = [];
      const asked = Promise.withResolvers<void>();
      await using server = await startScripted(async (connection) => {
        await hasRequest(connection, 1);
        asked.resolve();
        const { streamId, payload } = await connection.until(({ type }) => type === TYPE.rstStream);
        resets.push(streamId, payload[3] as number);
        await hasRequest(connection, 3);
        connection.write(answer(3, "0002"));
      });
      using driver = new Driver((options) => create(endpointAt(server.port), options));
      await driver.client.reserve(1);
      const given = driver.request(0, REQUEST, "0001");
      await asked.promise;
      driver.client.cancel(0, GIVEN_UP);
      assert.deepEqual((await given).failure, GIVEN_UP);
      assert.equal((await driver.request(0, REQUEST, "0002")).failure, undefined);
      assert.deepEqual(resets, [1, CANCEL]);
      assert.deepEqual([driver.doneCount, server.connections.length], [2, 1]);
    },
  );
}

for (const [name, create] of GRPC_CLIENTS.filter(([given]) => given.includes("stream"))) {
  test(`${name}: a stream with other requests stays open, and a late response is ignored`, LIMIT, async () => {
    const go = Promise.withResolvers<void>();
    await using server = await startScripted(async (connection) => {
      await connection.raw.until(() => connection.dataOf(1).length >= 24);
      await go.promise;
      connection.write(headers(1, GRPC_HEADERS), streamAnswer(1, "0001").slice(headers(1, GRPC_HEADERS).length));
      connection.write(streamAnswer(1, "0002").slice(headers(1, GRPC_HEADERS).length));
    });
    using driver = new Driver((options) => create(endpointAt(server.port), options));
    await driver.client.reserve(2);
    const given = driver.request(0, REQUEST, "0001");
    const other = driver.request(1, REQUEST, "0002");
    driver.client.cancel(0, GIVEN_UP);
    go.resolve();
    assert.deepEqual([(await given).failure, (await other).failure], [GIVEN_UP, undefined]);
    assert.equal(driver.doneCount, 2);
  });
}
