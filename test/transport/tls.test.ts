import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, describe, test } from "node:test";
import { runtimeName } from "../../src/runtime/runtime.ts";
import type { TlsSettings } from "../../src/runtime/tls.ts";
import type { ClientOptions, LoadClient } from "../../src/transport/client.ts";
import { GrpcJsClient } from "../../src/transport/general/grpc-js-client.ts";
import { UndiciClient } from "../../src/transport/general/undici-client.ts";
import { GrpcStreamClient } from "../../src/transport/grpc/stream-client.ts";
import { GrpcUnaryClient } from "../../src/transport/grpc/unary-client.ts";
import { Http1Client } from "../../src/transport/http1/client.ts";
import type { Endpoint } from "../../src/transport/request.ts";
import { startStub } from "../servers/stub.ts";
import { makeCertificates } from "../servers/tls.ts";
import { latin1 } from "./bytes.ts";
import { Driver, endpointAt, type Outcome } from "./drive.ts";
import { startRawServer } from "./raw-server.ts";
import { grpcCodec, httpCodec, readStreamed, simpleTensors } from "./simple-model.ts";

/** All clients against Go's TLS, with and without client certificates. */

const certificates = await makeCertificates();
const { certFile, keyFile, caFile } = certificates;
const [open, strict] = await Promise.all([
  startStub({ tls: { certFile, keyFile } }),
  startStub({ tls: { certFile, keyFile, clientCaFile: caFile } }),
]);
after(async () => {
  await Promise.all([open.stop(), strict.stop(), certificates.remove()]);
});

const pem = (file: string): string => readFileSync(file, "utf8");
const trusting = { caPem: pem(caFile), verifyPeer: true, verifyHost: true };
const ownIdentity = { certPem: pem(certificates.clientCertFile), keyPem: pem(certificates.clientKeyFile) };
const strangersIdentity = {
  certPem: pem(certificates.otherClientCertFile),
  keyPem: pem(certificates.otherClientKeyFile),
};

interface ClientCase {
  readonly name: string;
  readonly create: (endpoint: Endpoint) => (options: ClientOptions) => LoadClient;
  readonly wire: "http" | "grpc" | "grpc-stream";
}

const CLIENTS: readonly ClientCase[] = [
  { name: "own HTTP", create: (endpoint) => (options) => new Http1Client(endpoint, options), wire: "http" },
  { name: "own gRPC", create: (endpoint) => (options) => new GrpcUnaryClient(endpoint, options), wire: "grpc" },
  {
    name: "own gRPC stream",
    create: (endpoint) => (options) => new GrpcStreamClient(endpoint, options, readStreamed),
    wire: "grpc-stream",
  },
  { name: "undici", create: (endpoint) => (options) => new UndiciClient(endpoint, options), wire: "http" },
  { name: "grpc-js", create: (endpoint) => (options) => new GrpcJsClient(endpoint, options, undefined), wire: "grpc" },
];

for (const { name, create, wire } of CLIENTS) {
  const codec = wire === "http" ? httpCodec() : grpcCodec(wire === "grpc-stream");
  const isOwn = name.startsWith("own");

  /** One inference; by name, since the certificate is for `localhost`. */
  async function ask(port: number, tls: Omit<TlsSettings, "alpn">): Promise<Outcome> {
    const endpoint = endpointAt(port, { tls: { ...tls, alpn: wire === "http" ? ["http/1.1"] : ["h2"] } });
    using driver = new Driver(create({ ...endpoint, host: "localhost" }), { stallTimeoutNs: 3e9 });
    await driver.client.reserve(1);
    return await driver.request(0, codec.encode(simpleTensors(), 4), "0007");
  }
  const portOf = (stub: typeof open): number => (wire === "http" ? stub.httpPort : stub.grpcPort);

  describe(`${name} over TLS`, () => {
    test("trusts the right authority", async () => {
      const { failure, body, jsonBytes } = await ask(portOf(open), trusting);
      assert.equal(failure, undefined);
      assert.equal(codec.decode(body, jsonBytes).id, "0007");
    });

    for (const [authority, caPem] of [
      ["another authority", pem(certificates.otherCaFile)],
      ["the system's authorities", undefined],
    ] as const) {
      test(`refuses the server when it trusts ${authority}`, async () => {
        const { failure } = await ask(portOf(open), { caPem, verifyPeer: true, verifyHost: true });
        assert.ok(failure !== undefined);
        if (isOwn) assert.equal(failure.kind, "tls");
        assert.match(failure.message, /certificate|issuer|signed/i);
      });
    }

    test("accepts any server when it does not verify", async () => {
      const { failure } = await ask(portOf(open), { verifyPeer: false, verifyHost: false });
      assert.equal(failure, undefined);
    });

    test("shows its certificate to a server that wants one", async () => {
      assert.equal((await ask(portOf(strict), { ...trusting, ...ownIdentity })).failure, undefined);
    });

    for (const [whose, identity] of [
      ["none", {}],
      ["a stranger's", strangersIdentity],
    ] as const) {
      test(`is refused by such a server when its certificate is ${whose}`, async () => {
        const { failure } = await ask(portOf(strict), { ...trusting, ...identity });
        assert.ok(failure !== undefined, "the server answered");
        assert.notEqual(failure.message, "");
      });
    }

    if (isOwn) {
      test("fails clearly when the server speaks no TLS", async () => {
        const server = await startRawServer((connection) =>
          connection.write(latin1("HTTP/1.1 400 Bad Request\r\n\r\n")),
        );
        const { failure } = await ask(server.port, trusting);
        assert.equal(failure?.kind, "tls", `${runtimeName}: ${failure?.kind} ${failure?.message}`);
        await server.stop();
      });
    }

    // grpc-js knows no other name than the one that is connected to.
    if (name !== "grpc-js") {
      test("rejects a certificate for another name, and reports its names", async () => {
        const { failure } = await ask(portOf(open), { ...trusting, serverName: "elsewhere.example" });
        assert.equal(failure?.kind, "tls", `${failure?.kind} ${failure?.message}`);
        assert.match(
          failure?.message ?? "",
          /^the server's certificate is for localhost\b.*, not for elsewhere\.example$/,
        );
      });
    }
  });
}
