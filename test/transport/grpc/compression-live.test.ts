import assert from "node:assert/strict";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { after, describe, test } from "node:test";
import type { ClientOptions, LoadClient } from "../../../src/transport/client.ts";
import { GrpcJsClient } from "../../../src/transport/general/grpc-js-client.ts";
import { GrpcStreamClient } from "../../../src/transport/grpc/stream-client.ts";
import { GrpcUnaryClient } from "../../../src/transport/grpc/unary-client.ts";
import type { Endpoint } from "../../../src/transport/request.ts";
import { startTriton } from "../../servers/triton.ts";
import { endpointAt, openDriver } from "../drive.ts";
import { identityCase } from "../identity-models.ts";
import { openStub } from "../live-servers.ts";
import { grpcCodec, readStreamed, simpleTensors, toInt32 } from "../simple-model.ts";

/** Compression against a Triton (C++) that compresses its responses, and grpc-go, which answers in the encoding of the request. */

const [triton, stub] = await Promise.all([
  startTriton({ only: ["simple", "identity_fp32"], flags: ["--grpc-infer-response-compression-level", "high"] }),
  openStub(),
]);
after(async () => {
  await Promise.all([stub.stop(), triton.stop()]);
});

const SIZE = 300_000;

type Create = (endpoint: Endpoint) => (options: ClientOptions) => LoadClient;

/** A relay that counts the bytes each way: they tell what was compressed. */
async function startRelay(
  port: number,
): Promise<{ port: number; sent: () => number; received: () => number; stop(): void }> {
  let sent = 0;
  let received = 0;
  const sockets: Socket[] = [];
  const server = createServer((near) => {
    const far = connect(port, "127.0.0.1");
    sockets.push(near, far);
    near.on("data", (bytes) => {
      sent += bytes.length;
      far.write(bytes);
    });
    far.on("data", (bytes) => {
      received += bytes.length;
      near.write(bytes);
    });
    for (const socket of [near, far]) socket.on("error", () => {});
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const stop = (): void => {
    server.close();
    for (const socket of sockets) socket.destroy();
  };
  return { port: (server.address() as AddressInfo).port, sent: () => sent, received: () => received, stop };
}

for (const [name, create, isStreaming] of [
  ["own", (endpoint) => (options) => new GrpcUnaryClient(endpoint, options), false],
  ["own streaming", (endpoint) => (options) => new GrpcStreamClient(endpoint, options, readStreamed), true],
  ["grpc-js", (endpoint) => (options) => new GrpcJsClient(endpoint, options, undefined), false],
  ["grpc-js streaming", (endpoint) => (options) => new GrpcJsClient(endpoint, options, readStreamed), true],
] as readonly (readonly [string, Create, boolean])[]) {
  describe(`${name} gRPC client`, () => {
    for (const compression of [undefined, "gzip", "deflate"] as const) {
      for (const [server, port] of [
        ["Triton", triton.grpcPort],
        ["grpc-go", stub.grpcPort],
      ] as const) {
        test(`${server} understands requests with compression ${compression ?? "none"}, and is understood`, async () => {
          const codec = grpcCodec(isStreaming);
          const encoded = codec.encode(simpleTensors(3), 4);
          using driver = await openDriver(create(endpointAt(port, { compression })));
          for (const id of ["0001", "1234", "9999"]) {
            const { failure, body } = await driver.request(0, encoded, id);
            assert.equal(failure, undefined);
            const response = codec.decode(body, 0);
            assert.equal(response.id, id);
            if (server === "Triton") assert.equal(toInt32(response.outputs.get("OUTPUT1")?.bytes)[15], 12);
          }
        });
      }

      test(`Triton gives 300,000 bytes back, compressed, with compression ${compression ?? "none"}`, async () => {
        const { info, tensor } = identityCase("identity_fp32", SIZE);
        const identity = grpcCodec(isStreaming, info);
        const relay = await startRelay(triton.grpcPort);
        try {
          {
            using driver = await openDriver(create(endpointAt(relay.port, { compression })));
            const { failure, body } = await driver.request(0, identity.encode([tensor], 3), "042");
            assert.equal(failure, undefined);
            const { id, outputs } = identity.decode(body, 0);
            assert.equal(id, "042");
            assert.equal(Buffer.compare(outputs.get("OUTPUT0")?.bytes ?? new Uint8Array(0), tensor.bytes), 0);
          }
          assert.equal(relay.sent() < 0.95 * SIZE, compression !== undefined, `${relay.sent()} bytes sent`);
          assert.ok(relay.received() > 0 && relay.received() < 0.95 * SIZE, `${relay.received()} bytes received`);
        } finally {
          relay.stop();
        }
      });
    }
  });
}
