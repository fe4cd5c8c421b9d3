import assert from "node:assert/strict";
import { test } from "node:test";
import { loadClient, traceSends } from "../../../src/run/open/create-client.ts";
import type { LoadClient } from "../../../src/transport/client.ts";
import { GrpcJsCallClient } from "../../../src/transport/general/grpc-js-call-client.ts";
import { GrpcJsClient } from "../../../src/transport/general/grpc-js-client.ts";
import { UndiciClient } from "../../../src/transport/general/undici-client.ts";
import { GrpcCallClient } from "../../../src/transport/grpc/call-client.ts";
import { GrpcStreamClient } from "../../../src/transport/grpc/stream-client.ts";
import { GrpcUnaryClient } from "../../../src/transport/grpc/unary-client.ts";
import { Http1Client } from "../../../src/transport/http1/client.ts";
import type { WireRequest } from "../../../src/transport/request.ts";
import { endpointAt } from "../../transport/drive.ts";
import { FakeClient } from "../send/fake-client.ts";

const readStreamed = (() => {}) as never;
const options = {
  laneCount: 1,
  stallTimeoutNs: 1e9,
  maxResponseBytes: 1e6,
  keepBodies: false,
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

test("traced requests are shown as they are sent, with their stamp in its place", async () => {
  const client = new FakeClient(() => {});
  await client.reserve(1);
  const shown: string[] = [];
  traceSends(client, ({ payload }) => shown.push(new TextDecoder().decode(payload)));
  const payload = new TextEncoder().encode("id=00 x");
  const request: WireRequest = {
    path: "/",
    method: "POST",
    headers: [],
    payload,
    stampPlace: { offset: 3, length: 2, idDigits: 2 },
  };
  client.send(0, request, new TextEncoder().encode("17"));
  client.answer(0);
  client.send(0, request, undefined);
  assert.deepEqual(shown, ["id=17 x", "id=00 x"]);
  assert.equal(new TextDecoder().decode(payload), "id=00 x", "the request itself stays as it is");
  assert.equal(client.sent.length, 2);
});
