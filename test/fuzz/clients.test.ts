// Runs on: bun, deno, node.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import fc from "fast-check";
import type { ClientOptions, LoadClient } from "../../src/transport/client.ts";
import { FAILURE_KINDS } from "../../src/transport/failure.ts";
import { GrpcJsCallClient } from "../../src/transport/general/grpc-js-call-client.ts";
import { GrpcJsClient } from "../../src/transport/general/grpc-js-client.ts";
import { UndiciClient } from "../../src/transport/general/undici-client.ts";
import { GrpcCallClient } from "../../src/transport/grpc/call-client.ts";
import { GrpcStreamClient } from "../../src/transport/grpc/stream-client.ts";
import { GrpcUnaryClient } from "../../src/transport/grpc/unary-client.ts";
import { Http1Client } from "../../src/transport/http1/client.ts";
import type { Endpoint, WireRequest } from "../../src/transport/request.ts";
import { LIMIT } from "../time-limit.ts";
import { join, latin1 } from "../transport/bytes.ts";
import { Driver, endpointAt, postRequest } from "../transport/drive.ts";
import {
  END_STREAM,
  frame,
  GRPC_HEADERS,
  grpcAnswer,
  grpcMessage,
  headers,
  settings,
  TYPE,
} from "../transport/http2/write-frames.ts";
import { type RawConnection, startRawServer } from "../transport/raw-server.ts";
import { readStreamed } from "../transport/simple-model.ts";
import { fewerRuns, type Mutation, mutate, mutations } from "./bounds.ts";

/** Servers that send garbage, half responses and nothing: every client reports every request exactly once, and never hangs. */

/** What the server does with a connection once a request has arrived. */
interface Behaviour {
  readonly answer: "garbage" | "changed" | "none";
  readonly garbage: Uint8Array;
  readonly changes: readonly Mutation[];
  readonly ending: "close" | "reset" | "stay";
}

const behaviour: fc.Arbitrary<Behaviour> = fc.record({
  answer: fc.constantFrom("garbage", "changed", "changed", "none"),
  garbage: fc.uint8Array({ maxLength: 200 }),
  changes: mutations(),
  // Staying silent costs the stall timeout: seldom enough.
  ending: fc.constantFrom("close", "close", "reset", "stay"),
});

const REQUEST = postRequest("/test/Call", latin1("id=0000"), { stampPlace: { offset: 3, length: 4, idDigits: 4 } });
const CALL: WireRequest = {
  ...postRequest("/test/Call", new Uint8Array(0)),
  messages: [latin1("one"), latin1("two"), latin1("three")],
  pacing: "after-response",
};
const HTTP_ANSWER = latin1("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nX: y\r\n\r\n5\r\nhello\r\n0\r\n\r\n");
const STREAMED = grpcMessage(join(new Uint8Array([0x12, 6, 0x1a, 4]), latin1("0001")));
const UNARY_ANSWER = join(settings({ 3: 100 }), grpcAnswer(1, latin1("answer")));
const STREAM_ANSWER = join(
  settings({ 3: 100 }),
  headers(1, GRPC_HEADERS),
  frame(TYPE.data, 0, 1, STREAMED),
  headers(1, [["grpc-status", "0"]], END_STREAM),
);

const CALL_ANSWER = join(
  settings({ 3: 100 }),
  headers(1, GRPC_HEADERS),
  frame(TYPE.data, 0, 1, join(STREAMED, STREAMED)),
  frame(TYPE.data, 0, 1, STREAMED),
  headers(1, [["grpc-status", "0"]], END_STREAM),
);

type Create = (endpoint: Endpoint) => (options: ClientOptions) => LoadClient;
const CLIENTS: readonly (readonly [name: string, create: Create, answer: Uint8Array, request?: WireRequest])[] = [
  ["own HTTP", (endpoint) => (options) => new Http1Client(endpoint, options), HTTP_ANSWER],
  ["undici", (endpoint) => (options) => new UndiciClient(endpoint, options), HTTP_ANSWER],
  ["own gRPC", (endpoint) => (options) => new GrpcUnaryClient(endpoint, options), UNARY_ANSWER],
  ["own gRPC stream", (endpoint) => (options) => new GrpcStreamClient(endpoint, options, readStreamed), STREAM_ANSWER],
  ["own gRPC calls", (endpoint) => (options) => new GrpcCallClient(endpoint, options), CALL_ANSWER, CALL],
  ["grpc-js", (endpoint) => (options) => new GrpcJsClient(endpoint, options, undefined), UNARY_ANSWER],
  ["grpc-js stream", (endpoint) => (options) => new GrpcJsClient(endpoint, options, readStreamed), STREAM_ANSWER],
  ["grpc-js calls", (endpoint) => (options) => new GrpcJsCallClient(endpoint, options), CALL_ANSWER, CALL],
];

async function misbehave(connection: RawConnection, behaviour: Behaviour, valid: Uint8Array): Promise<void> {
  await connection.until(({ bytes }) => bytes.length > 0);
  if (behaviour.answer === "garbage") connection.write(behaviour.garbage);
  else if (behaviour.answer === "changed") connection.write(mutate(valid, behaviour.changes));
  if (behaviour.ending === "close") connection.end();
  else if (behaviour.ending === "reset") connection.socket.resetAndDestroy?.();
}

describe("fuzz: clients and servers gone mad", () => {
  for (const [name, create, valid, request = REQUEST] of CLIENTS) {
    const isOwn = name.startsWith("own");

    test(`${name}: each request is reported once`, LIMIT, async () => {
      await fc.assert(
        fc.asyncProperty(fc.array(behaviour, { minLength: 1, maxLength: 3 }), async (behaviours) => {
          const server = await startRawServer((connection) =>
            misbehave(connection, behaviours[connection.index % behaviours.length] as Behaviour, valid),
          );
          const driver = new Driver(create(endpointAt(server.port)), { stallTimeoutNs: 0.15e9 });
          try {
            // A connection may fail before the first request: then reserve must come back all the same.
            await driver.client.reserve(2);
            for (let round = 0; round < 2; round++) {
              const outcomes = await Promise.all([0, 1].map((slot) => driver.request(slot, request, `000${slot + 1}`)));
              for (const { failure } of outcomes) {
                if (failure === undefined) continue;
                assert.ok(FAILURE_KINDS.includes(failure.kind));
                assert.ok(failure.message.length > 0);
              }
            }
            assert.equal(driver.doneCount, 4);
          } finally {
            driver.close();
            await server.stop();
          }
          assert.equal(driver.doneCount, 4);
        }),
        fewerRuns(isOwn ? 50 : 120),
      );
    });
  }
});
