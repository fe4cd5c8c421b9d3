import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createServer, type Socket } from "node:net";
import { test } from "node:test";
import { LOOPBACK, startMock } from "../../../src/mock/server.ts";
import { DEFAULT_MOCK } from "../../../src/plan/mock.ts";
import { identifyServer } from "../../../src/run/open/identify-server.ts";
import { findDeadPort } from "../../golden/dead-port.ts";
import { startAnsweringServer } from "../../servers/answering-server.ts";
import { startGrpcAnsweringServer } from "../../servers/grpc-answering-server.ts";
import { listen } from "../../servers/listen.ts";
import { makeCertificates } from "../../servers/tls.ts";
import { LIMIT } from "../../time-limit.ts";
import { latin1 } from "../../transport/bytes.ts";
import { startRawServer } from "../../transport/raw-server.ts";

const identify = (port: number) => identifyServer({ host: "127.0.0.1", port, isSecure: false });

const kserve = (description: string, protocol = "http", path = "/v2") => ({
  kind: "triton",
  api: "kserve",
  protocol,
  path,
  description,
});
const openai = (description: string) => ({
  kind: "openai",
  api: "openai",
  protocol: "http",
  path: "/v1/models",
  description,
});
const NAMED = '{"name":"triton","version":"2.51.0","extensions":[]}';

for (const [name, responses, found] of [
  ["a Triton", { "/v2": NAMED }, [kserve("Triton 2.51.0 (KServe v2)")]],
  ["a KServe server without a name", { "/v2": '{"extensions":[]}' }, [kserve("a KServe v2 server")]],
  [
    "a KServe server with an unprintable name",
    { "/v2": '{"name":"\\u001b[2J","version":"1","extensions":[]}' },
    [kserve("1 (KServe v2)")],
  ],
  [
    "an OpenAI server",
    { "/v1/models": '{"object":"list","data":[{"id":"m","owned_by":"vllm"}]}' },
    [openai("an OpenAI-compatible server (models owned by vllm)")],
  ],
  [
    "a server of both",
    { "/v2": '{"name": "x", "extensions": []}', "/v1/models": '{"object": "list"}' },
    [kserve("x (KServe v2)"), openai("an OpenAI-compatible server")],
  ],
  ["another HTTP server", {}, []],
] as const)
  test(`${name} is recognised by its responses`, LIMIT, async () => {
    using server = await startAnsweringServer((response, index) => {
      const text = (responses as Readonly<Record<string, string>>)[server.received[index]?.path ?? ""];
      response.writeHead(text === undefined ? 404 : 200).end(text ?? "no");
    });
    assert.deepEqual(await identify(Number(new URL(server.url).port)), { speaks: "http", found });
    for (const { headers } of server.received) assert.equal(headers.authorization, undefined);
  });

test("a gRPC server is recognised by its responses to calls", LIMIT, async () => {
  await using mock = await startMock(DEFAULT_MOCK, LOOPBACK);
  const { speaks, found } = await identify(mock.grpcPort);
  assert.equal(speaks, "grpc");
  assert.deepEqual(
    found.map(({ kind, protocol }) => [kind, protocol]),
    [["triton", "grpc"]],
  );
  assert.match(found[0]?.description ?? "", /^rampart.* \(KServe v2\)$/);
});

test("a TensorFlow Serving server is recognised beside KServe", LIMIT, async () => {
  using server = await startGrpcAnsweringServer({ GetModelMetadata: () => 3 });
  const { found } = await identify(Number(server.url.split(":")[1]));
  const description = "a TensorFlow Serving server";
  const path = "/tensorflow.serving.PredictionService/GetModelMetadata";
  assert.deepEqual(found, [{ kind: "tfserving", api: "tfserving", protocol: "grpc", path, description }]);
});

test("a gRPC server behind TLS is recognised without a check of its certificate", LIMIT, async () => {
  const certificates = await makeCertificates();
  const tls = { key: readFileSync(certificates.keyFile), cert: readFileSync(certificates.certFile) };
  const metadata = latin1("\n\x06triton\x12\x062.51.0");
  const server = await startGrpcAnsweringServer({ ServerMetadata: () => [metadata] }, tls);
  try {
    const place = { host: "127.0.0.1", port: Number(server.url.split(":")[1]) };
    assert.equal((await identifyServer({ ...place, isSecure: false })).speaks, "tls");
    const { speaks, found } = await identifyServer({ ...place, isSecure: true });
    assert.deepEqual(
      [speaks, found],
      ["grpc", [kserve("Triton 2.51.0 (KServe v2)", "grpc", "/inference.GRPCInferenceService/ServerMetadata")]],
    );
  } finally {
    server.close();
    await certificates.remove();
  }
});

const FIRST_BYTES = [
  ["settings of HTTP/2", Uint8Array.of(0, 0, 0, 4, 0, 0, 0, 0, 0), "grpc"],
  ["an alert of TLS", Uint8Array.of(0x15, 3, 1, 0, 2, 2, 70), "tls"],
  [
    "a hint at HTTPS",
    latin1("HTTP/1.1 400 Bad Request\r\n\r\nClient sent an HTTP request to an HTTPS server.\n"),
    "tls",
  ],
  ["bytes of another protocol", latin1("SSH-2.0-x\r\n"), "other"],
] as const;
for (const [name, bytes, speaks] of FIRST_BYTES)
  test(`${name} is ${speaks}`, LIMIT, async () => {
    await using server = await startRawServer(async (connection) => {
      await connection.until((seen) => seen.bytes.length > 0);
      connection.write(bytes);
      connection.end();
    });
    assert.deepEqual(await identify(server.port), { speaks, found: [] });
  });

test("a port without a listener is nothing", LIMIT, async () => {
  assert.deepEqual(await identify(await findDeadPort()), { speaks: "nothing", found: [] });
});

test("a greeting of another protocol ends the wait, though the connection stays open", LIMIT, async () => {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket.on("error", () => {}));
    socket.write("SSH-2.0-x\r\n");
  });
  const port = await listen(server);
  assert.deepEqual(await identify(port), { speaks: "other", found: [] });
  for (const socket of sockets) socket.destroy();
  server.close();
});

test("a silent server is not waited for", LIMIT, async () => {
  const server = createServer();
  const port = await listen(server);
  assert.deepEqual(await identifyServer({ host: "127.0.0.1", port, isSecure: true }), { speaks: "nothing", found: [] });
  server.close();
});
