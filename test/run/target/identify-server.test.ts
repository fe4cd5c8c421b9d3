import assert from "node:assert/strict";
import { createServer } from "node:net";
import { test } from "node:test";
import { identifyServer } from "../../../src/run/target/identify-server.ts";
import { findDeadPort } from "../../golden/dead-port.ts";
import { startAnsweringServer } from "../../servers/answering-server.ts";
import { latin1 } from "../../transport/bytes.ts";
import { startRawServer } from "../../transport/raw-server.ts";

const LIMIT = { timeout: 30_000 };
const identify = (port: number) => identifyServer({ host: "127.0.0.1", port, isSecure: false });

for (const [name, answers, apis] of [
  ["a KServe server", { "/v2": '{"name":"x","extensions":[]}' }, ["kserve"]],
  ["an OpenAI server", { "/v1/models": '{"object":"list","data":[]}' }, ["openai"]],
  ["a server of both", { "/v2": '{"extensions": []}', "/v1/models": '{"object": "list"}' }, ["kserve", "openai"]],
  ["another HTTP server", {}, []],
] as const)
  test(`${name} is recognised by its answers`, LIMIT, async () => {
    const server = await startAnsweringServer((response, index) => {
      const text = (answers as Readonly<Record<string, string>>)[server.received[index]?.path ?? ""];
      response.writeHead(text === undefined ? 404 : 200).end(text ?? "no");
    });
    try {
      assert.deepEqual(await identify(Number(new URL(server.url).port)), { speaks: "http", apis });
      for (const { headers } of server.received) assert.equal(headers.authorization, undefined);
    } finally {
      server.close();
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
  ["bytes of another protocol", latin1("SSH-2.0-x\r\n"), "nothing"],
] as const;
for (const [name, bytes, speaks] of FIRST_BYTES)
  test(`${name} is ${speaks}`, LIMIT, async () => {
    const server = await startRawServer(async (connection) => {
      await connection.until((seen) => seen.bytes.length > 0);
      connection.write(bytes);
      connection.end();
    });
    try {
      assert.deepEqual(await identify(server.port), { speaks, apis: [] });
    } finally {
      await server.stop();
    }
  });

test("a port without a listener is nothing", LIMIT, async () => {
  assert.deepEqual(await identify(await findDeadPort()), { speaks: "nothing", apis: [] });
});

test("a silent server is not waited for", LIMIT, async () => {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as { port: number };
  assert.deepEqual(await identifyServer({ host: "127.0.0.1", port, isSecure: true }), { speaks: "nothing", apis: [] });
  server.close();
});
