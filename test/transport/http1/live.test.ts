import assert from "node:assert/strict";
import { after, describe, test } from "node:test";
import { UndiciClient } from "../../../src/transport/general/undici-client.ts";
import { Http1Client } from "../../../src/transport/http1/client.ts";
import { startNginx } from "../../servers/nginx.ts";
import { LIMIT } from "../../time-limit.ts";
import { pattern, toText } from "../bytes.ts";
import { Driver, endpointAt, getRequest, openDriver, postRequest } from "../drive.ts";
import { identityCase } from "../identity-models.ts";
import { openStub, openTriton } from "../live-servers.ts";
import { httpCodec, simpleModel, simpleTensors, toInt32 } from "../simple-model.ts";

/** Both HTTP clients against Triton, nginx and a Go server. */

const [triton, stub] = await Promise.all([openTriton(), openStub()]);
const nginx = await startNginx({
  httpUpstream: `127.0.0.1:${triton.httpPort}`,
  grpcUpstream: `127.0.0.1:${stub.grpcPort}`,
});
after(async () => {
  await Promise.all([nginx.stop(), stub.stop(), triton.stop()]);
});

const MIB = 1024 * 1024;

for (const [name, Client] of [
  ["own", Http1Client],
  ["undici", UndiciClient],
] as const) {
  const open = (port: number, pathPrefix = ""): Promise<Driver> =>
    openDriver((options) => new Client(endpointAt(port, { pathPrefix }), options));

  describe(`${name} HTTP client and nginx`, () => {
    test("keep-alive: many responses of every framing over one connection", async () => {
      using driver = await open(nginx.httpPort);
      for (let round = 0; round < 5; round++) {
        const counted = await driver.request(0, getRequest("/length"));
        assert.equal(toText(counted.body), "sixteen bytes..\n");
        const chunked = await driver.request(0, getRequest("/chunked"));
        assert.equal(toText(chunked.body), "before sixteen bytes..\n after\n");
        const empty = await driver.request(0, getRequest("/empty"));
        assert.equal(empty.failure, undefined);
      }
      assert.equal(driver.client.connectionCount, 1);
    });

    test("Connection: close, at once and after two requests", async () => {
      using driver = await open(nginx.httpPort);
      for (let i = 0; i < 2; i++) {
        const { body, failure } = await driver.request(0, getRequest("/close"));
        assert.equal(failure, undefined);
        assert.equal(toText(body), "closed after this\n");
      }
      assert.equal(driver.client.connectionCount, 2);
      for (let i = 0; i < 4; i++) assert.equal((await driver.request(0, getRequest("/twice"))).failure, undefined);
      assert.equal(driver.client.connectionCount, 4);
    });

    test("statuses that are failures, over a connection that lives on", async () => {
      using driver = await open(nginx.httpPort);
      for (const [path, status] of [
        ["/moved", 301],
        ["/missing", 404],
      ] as const) {
        const { failure } = await driver.request(0, getRequest(path));
        assert.equal(failure?.kind, "http");
        assert.equal(failure?.status, status);
      }
      assert.equal((await driver.request(0, getRequest("/length"))).failure, undefined);
      assert.equal(driver.client.connectionCount, 1);
    });

    test("an inference through the proxy, which sends its response in pieces", async () => {
      const codec = httpCodec();
      using driver = await open(nginx.httpPort, "/behind");
      const { failure, body, jsonBytes } = await driver.request(0, codec.encode(simpleTensors(), 0));
      assert.equal(failure, undefined);
      assert.equal(toInt32(codec.decode(body, jsonBytes).outputs.get("OUTPUT0")?.bytes)[15], 16);
    });
  });

  describe(`${name} HTTP client and Triton`, () => {
    test("an error's own words arrive", async () => {
      using driver = await open(triton.httpPort);
      const codec = httpCodec({ ...simpleModel, name: "none" });
      const { failure, body } = await driver.request(0, codec.encode(simpleTensors(), 0));
      assert.equal(failure?.status, 404);
      assert.match(codec.explain(failure as NonNullable<typeof failure>, body).message, /unknown model: 'none'/);
    });

    test("a request that is not HTTP's fault: bad JSON is a failure, the connection lives on", async () => {
      using driver = await open(triton.httpPort);
      const { failure } = await driver.request(0, postRequest("/v2/models/simple/infer", pattern(100)));
      assert.equal(failure?.kind, "http");
      assert.equal((await driver.request(0, getRequest("/v2"))).failure, undefined);
      assert.equal(driver.client.connectionCount, 1);
    });

    for (const [model, size] of [
      ["identity_bytes", 1],
      ["identity_bytes", 100_000],
      ["identity_fp32", 17 * MIB],
    ] as const) {
      test(`${model} gives ${size} bytes back as they were`, LIMIT, async () => {
        const { info, tensor } = identityCase(model, size);
        const codec = httpCodec(info);
        using driver = await open(triton.httpPort);
        const { failure, body, jsonBytes } = await driver.request(0, codec.encode([tensor], 3), "042");
        assert.equal(failure, undefined);
        const { id, outputs } = codec.decode(body, jsonBytes);
        assert.equal(id, "042");
        const output = outputs.get("OUTPUT0");
        assert.deepEqual(output?.shape, tensor.shape);
        assert.equal(Buffer.compare(output?.bytes ?? new Uint8Array(0), tensor.bytes), 0);
      });
    }
  });

  test(`${name} HTTP client and the Go server: 20 inferences over two connections`, async () => {
    const codec = httpCodec();
    const driver = new Driver((options) => new Client(endpointAt(stub.httpPort), options));
    await driver.client.reserve(2);
    const request = codec.encode(simpleTensors(), 4);
    for (let i = 0; i < 10; i++) {
      const ids = [`10${10 + i}`, `20${10 + i}`];
      const outcomes = await Promise.all(ids.map((id, slot) => driver.request(slot, request, id)));
      for (const [slot, { failure, body, jsonBytes }] of outcomes.entries()) {
        assert.equal(failure, undefined);
        assert.equal(codec.decode(body, jsonBytes).id, ids[slot]);
      }
    }
    assert.equal(driver.client.connectionCount, 2);
    driver.close();
  });
}

test("own HTTP client: nginx asks for the body with 100, Triton responses", async () => {
  const codec = httpCodec();
  const request = codec.encode(simpleTensors(), 0);
  const heads: string[] = [];
  const driver = new Driver(
    (options) => new Http1Client(endpointAt(nginx.httpPort, { pathPrefix: "/behind" }), options),
    {
      onWire: (direction, head) => direction === "<" && heads.push(head),
    },
  );
  await driver.client.reserve(1);
  const expecting = { ...request, headers: [...request.headers, ["Expect", "100-continue"] as const] };
  for (let i = 0; i < 3; i++) {
    const { failure, body, jsonBytes } = await driver.request(0, expecting);
    assert.equal(failure, undefined);
    assert.equal(toInt32(codec.decode(body, jsonBytes).outputs.get("OUTPUT0")?.bytes)[1], 2);
  }
  assert.equal(driver.client.connectionCount, 1);
  assert.equal(heads.length, 3);
  driver.close();
});
