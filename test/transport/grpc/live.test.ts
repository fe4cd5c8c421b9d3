import assert from "node:assert/strict";
import { createServer, type ServerHttp2Stream } from "node:http2";
import { after, describe, test } from "node:test";
import type { ClientOptions, LoadClient } from "../../../src/transport/client.ts";
import { GrpcJsClient } from "../../../src/transport/general/grpc-js-client.ts";
import { GrpcStreamClient } from "../../../src/transport/grpc/stream-client.ts";
import { GrpcUnaryClient } from "../../../src/transport/grpc/unary-client.ts";
import type { Endpoint } from "../../../src/transport/request.ts";
import { startNginx } from "../../servers/nginx.ts";
import { LIMIT } from "../../time-limit.ts";
import { latin1 } from "../bytes.ts";
import { endpointAt, openDriver, postRequest } from "../drive.ts";
import { grpcMessage } from "../http2/write-frames.ts";
import { identityCase } from "../identity-models.ts";
import { openStub, openTriton } from "../live-servers.ts";
import { grpcCodec, readStreamed, simpleModel, simpleTensors, toInt32 } from "../simple-model.ts";

/** Both gRPC clients against Triton's gRPC (C++), grpc-go, nginx's HTTP/2 and Node's. */

const [triton, stub] = await Promise.all([openTriton(), openStub()]);
const nginx = await startNginx({
  httpUpstream: `127.0.0.1:${triton.httpPort}`,
  grpcUpstream: `127.0.0.1:${triton.grpcPort}`,
});
after(async () => {
  await Promise.all([nginx.stop(), stub.stop(), triton.stop()]);
});

type Create = (endpoint: Endpoint) => (options: ClientOptions) => LoadClient;
const ownUnary: Create = (endpoint) => (options) => new GrpcUnaryClient(endpoint, options);
const ownStream: Create = (endpoint) => (options) => new GrpcStreamClient(endpoint, options, readStreamed);
const jsUnary: Create = (endpoint) => (options) => new GrpcJsClient(endpoint, options, undefined);
const jsStream: Create = (endpoint) => (options) => new GrpcJsClient(endpoint, options, readStreamed);

const MIB = 1024 * 1024;

for (const [name, create, isStreaming] of [
  ["own", ownUnary, false],
  ["own streaming", ownStream, true],
  ["grpc-js", jsUnary, false],
  ["grpc-js streaming", jsStream, true],
] as const) {
  const isOwn = name.startsWith("own");
  const codec = grpcCodec(isStreaming);
  const request = codec.encode(simpleTensors(3), 4);

  describe(`${name} gRPC client`, () => {
    for (const [server, port] of [
      ["Triton", triton.grpcPort],
      ["grpc-go", stub.grpcPort],
    ] as const) {
      test(`${server}: 60 inferences over four lanes`, async () => {
        using driver = await openDriver(create(endpointAt(port)), 4, { lanes: { laneCount: 4 } });
        for (let round = 10; round < 25; round++) {
          const ids = [0, 1, 2, 3].map((slot) => `${round}0${slot}`);
          const outcomes = await Promise.all(ids.map((id, slot) => driver.request(slot, request, id)));
          for (const [slot, { failure, body }] of outcomes.entries()) {
            assert.equal(failure, undefined);
            const response = codec.decode(body, 0);
            assert.equal(response.id, ids[slot]);
            if (server === "Triton") assert.equal(toInt32(response.outputs.get("OUTPUT1")?.bytes)[15], 12);
          }
        }
        assert.equal(driver.doneCount, 60);
        assert.equal(driver.client.connectionCount, 1);
      });
    }

    test("Triton: an unknown model's error in its own words", async () => {
      const other = grpcCodec(isStreaming, { ...simpleModel, name: "none" });
      using driver = await openDriver(create(endpointAt(triton.grpcPort)), 1);
      const { failure } = await driver.request(0, other.encode(simpleTensors(), 4), "0001");
      assert.match(failure?.message ?? "", /unknown model: 'none' is not found/);
      assert.equal(failure?.kind, isStreaming ? "model" : "grpc");
      assert.equal((await driver.request(0, request, "0002")).failure, undefined);
    });

    // Each way above 64 KiB, where frames and windows begin to matter, and above 16 MiB, where every limit has been met.
    for (const [model, size] of [
      ["identity_bytes", 70_000],
      ["identity_fp32", isOwn ? 17 * MIB : MIB],
    ] as const) {
      test(`Triton: ${model} gives ${size} bytes back as they were`, LIMIT, async () => {
        const { info, tensor } = identityCase(model, size);
        const identity = grpcCodec(isStreaming, info);
        using driver = await openDriver(create(endpointAt(triton.grpcPort)), 1, { stallTimeoutNs: 20e9 });
        const { failure, body } = await driver.request(0, identity.encode([tensor], 3), "042");
        assert.equal(failure, undefined);
        const { id, outputs } = identity.decode(body, 0);
        assert.equal(id, "042");
        assert.deepEqual(outputs.get("OUTPUT0")?.shape, tensor.shape);
        assert.equal(Buffer.compare(outputs.get("OUTPUT0")?.bytes ?? new Uint8Array(0), tensor.bytes), 0);
      });
    }
  });
}

describe("own gRPC client and nginx's HTTP/2", () => {
  test("45 calls through 3 concurrent streams and a GOAWAY after every 10 requests", async () => {
    const codec = grpcCodec(false);
    const request = codec.encode(simpleTensors(), 4);
    using driver = await openDriver(ownUnary(endpointAt(nginx.grpcPort)), 5);
    for (let round = 10; round < 19; round++) {
      const ids = [0, 1, 2, 3, 4].map((slot) => `${round}0${slot}`);
      const outcomes = await Promise.all(ids.map((id, slot) => driver.request(slot, request, id)));
      for (const [slot, { failure, body }] of outcomes.entries()) {
        assert.equal(failure, undefined);
        assert.equal(codec.decode(body, 0).id, ids[slot]);
      }
    }
    assert.equal(driver.doneCount, 45);
    assert.ok(driver.client.connectionCount >= 4, `${driver.client.connectionCount} connections`);
  });

  test("1 MiB each way through a proxy with small windows", async () => {
    const { info, tensor } = identityCase("identity_bytes", MIB);
    const codec = grpcCodec(false, info);
    using driver = await openDriver(ownUnary(endpointAt(nginx.grpcPort)), 1);
    const { failure, body } = await driver.request(0, codec.encode([tensor], 0));
    assert.equal(failure, undefined);
    assert.equal(Buffer.compare(codec.decode(body, 0).outputs.get("OUTPUT0")?.bytes ?? latin1(""), tensor.bytes), 0);
  });
});

describe("own gRPC client's headers, read by Node's HPACK (nghttp2)", () => {
  for (const headerTableSize of [0, 128, 4096, 65_536]) {
    test(`a header table of ${headerTableSize} bytes`, async () => {
      const seen: (string | undefined)[] = [];
      const server = createServer({ settings: { headerTableSize } });
      server.on("stream", (stream, headers) => {
        seen.push(`${String(headers[":path"])} ${String(headers["x-key"])}`);
        answer(stream);
      });
      await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
      const { port } = server.address() as { port: number };
      const endpoint = endpointAt(port, { headers: [["X-Key", "é~ü"]] });
      {
        using driver = await openDriver(ownUnary(endpoint), 1);
        for (const path of ["/a/A", "/a/A", "/a/B", "/a/A", "/a/A"]) {
          const { failure, body } = await driver.request(0, postRequest(path, latin1("q")));
          assert.equal(failure, undefined);
          assert.deepEqual(body, latin1("a"));
        }
        assert.equal(driver.client.connectionCount, 1);
      }
      server.close();
      assert.deepEqual(
        seen.map((text) => text?.split(" ")[0]),
        ["/a/A", "/a/A", "/a/B", "/a/A", "/a/A"],
      );
      assert.equal(new Set(seen.map((text) => text?.split(" ")[1])).size, 1);
    });
  }
});

function answer(stream: ServerHttp2Stream): void {
  stream.on("error", () => {});
  stream.resume();
  stream.respond({ ":status": 200, "content-type": "application/grpc" }, { waitForTrailers: true });
  stream.on("wantTrailers", () => stream.sendTrailers({ "grpc-status": "0" }));
  stream.end(grpcMessage(latin1("a")));
}
