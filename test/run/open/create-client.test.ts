import assert from "node:assert/strict";
import { test } from "node:test";
import { loadClient } from "../../../src/run/open/create-client.ts";
import type { LoadClient } from "../../../src/transport/client.ts";
import { GrpcJsCallClient } from "../../../src/transport/general/grpc-js-call-client.ts";
import { GrpcJsClient } from "../../../src/transport/general/grpc-js-client.ts";
import { UndiciClient } from "../../../src/transport/general/undici-client.ts";
import { GrpcCallClient } from "../../../src/transport/grpc/call-client.ts";
import { GrpcStreamClient } from "../../../src/transport/grpc/stream-client.ts";
import { GrpcUnaryClient } from "../../../src/transport/grpc/unary-client.ts";
import { Http1Client } from "../../../src/transport/http1/client.ts";
import { stampedPayload, type WireRequest } from "../../../src/transport/request.ts";
import { startAnsweringServer } from "../../servers/answering-server.ts";
import { Driver, endpointAt } from "../../transport/drive.ts";

const readStreamed = (() => {}) as never;
const options = {
  lanes: { laneCount: 1 },
  stallTimeoutNs: 1e9,
  maxResponseBytes: 1e6,
  responses: { keepBodies: false },
  onDone: () => {},
};

const CASES = [
  ["own", "http", false, Http1Client],
  ["own", "grpc", false, GrpcUnaryClient],
  ["own", "grpc-stream", true, GrpcStreamClient],
  ["undici", "http", false, UndiciClient],
  ["own", "grpc-call", false, GrpcCallClient],
  ["grpc-js", "grpc", false, GrpcJsClient],
  ["grpc-js", "grpc-call", false, GrpcJsCallClient],
] as const;
for (const [kind, wire, streams, Client] of CASES)
  test(`${kind} over ${wire} is ${Client.name}`, async () => {
    const create = await loadClient(kind, wire, endpointAt(9), streams ? readStreamed : undefined);
    const client = create(options);
    assert.ok((client as LoadClient) instanceof Client, client.constructor.name);
    client.close();
  });

for (const kind of ["own", "undici"] as const)
  test(`${kind} over HTTP shows requests as they are sent, with their stamp in its place`, async () => {
    using server = await startAnsweringServer((response) => void response.end("{}"));
    const shown: string[] = [];
    const onRequest = (request: WireRequest, stamp: Uint8Array | undefined): void => {
      shown.push(new TextDecoder().decode(stampedPayload(request, stamp)));
    };
    using driver = new Driver(await loadClient(kind, "http", endpointAt(Number(new URL(server.url).port))), {
      onRequest,
    });
    await driver.client.reserve(1);
    const payload = new TextEncoder().encode("id=00 x");
    const stampPlace = { offset: 3, length: 2, idDigits: 2 };
    const request: WireRequest = { path: "/", method: "POST", headers: [], payload, stampPlace };
    await driver.request(0, request, "17");
    await driver.request(0, request);
    assert.deepEqual(shown, ["id=17 x", "id=00 x"]);
    assert.deepEqual(
      server.received.map(({ text }) => text),
      shown,
    );
    assert.equal(new TextDecoder().decode(payload), "id=00 x", "the request itself stays as it is");
  });
