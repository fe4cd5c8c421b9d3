import assert from "node:assert/strict";
import { once } from "node:events";
import { request as httpRequest, type IncomingMessage } from "node:http";
import { after, describe, test } from "node:test";
import { createLatency, parseLatency } from "../../src/mock/latency.ts";
import { MockError, MockModel } from "../../src/mock/model.ts";
import { LOOPBACK, startMock } from "../../src/mock/server.ts";
import { DEFAULT_MOCK } from "../../src/plan/mock.ts";
import type { ClientOptions, LoadClient } from "../../src/transport/client.ts";
import { GrpcJsClient } from "../../src/transport/general/grpc-js-client.ts";
import { UndiciClient } from "../../src/transport/general/undici-client.ts";
import { GrpcStreamClient } from "../../src/transport/grpc/stream-client.ts";
import { GrpcUnaryClient } from "../../src/transport/grpc/unary-client.ts";
import { Http1Client } from "../../src/transport/http1/client.ts";
import type { Endpoint } from "../../src/transport/request.ts";
import { Driver, endpointAt, getRequest, openDriver } from "../transport/drive.ts";
import { grpcCodec, httpCodec, readStreamed, simpleModel, simpleTensors, toInt32 } from "../transport/simple-model.ts";

const quick = await startMock(DEFAULT_MOCK, LOOPBACK);
const padded = await startMock({ ...DEFAULT_MOCK, responseBytes: 100_000 }, LOOPBACK);
const failing = await startMock({ ...DEFAULT_MOCK, errorRatio: 1 }, LOOPBACK);
after(() => Promise.all([quick.stop(), padded.stop(), failing.stop()]));

type Create = (endpoint: Endpoint) => (options: ClientOptions) => LoadClient;
const CLIENTS: readonly (readonly [name: string, wire: "http" | "grpc" | "grpc-stream", create: Create])[] = [
  ["own HTTP", "http", (endpoint) => (options) => new Http1Client(endpoint, options)],
  ["undici", "http", (endpoint) => (options) => new UndiciClient(endpoint, options)],
  ["own gRPC", "grpc", (endpoint) => (options) => new GrpcUnaryClient(endpoint, options)],
  ["own gRPC stream", "grpc-stream", (endpoint) => (options) => new GrpcStreamClient(endpoint, options, readStreamed)],
  ["grpc-js", "grpc", (endpoint) => (options) => new GrpcJsClient(endpoint, options, undefined)],
  ["grpc-js stream", "grpc-stream", (endpoint) => (options) => new GrpcJsClient(endpoint, options, readStreamed)],
];

for (const [name, wire, create] of CLIENTS) {
  describe(`mock, asked by ${name}`, () => {
    const codecFor = (outputs = simpleModel.outputs): ReturnType<typeof httpCodec> =>
      wire === "http"
        ? httpCodec({ ...simpleModel, outputs })
        : grpcCodec(wire === "grpc-stream", { ...simpleModel, outputs });
    const ask = async (server: typeof quick, codec: ReturnType<typeof codecFor>): ReturnType<Driver["request"]> => {
      using driver = await openDriver(create(endpointAt(wire === "http" ? server.httpPort : server.grpcPort)));
      return await driver.request(0, codec.encode(simpleTensors(5), 4), "0042");
    };

    test("answers with sum and difference, and the request's id", async () => {
      const codec = codecFor();
      const { failure, body, jsonBytes } = await ask(quick, codec);
      assert.equal(failure, undefined);
      const { id, outputs } = codec.decode(body, jsonBytes);
      assert.equal(id, "0042");
      assert.deepEqual(
        toInt32(outputs.get("OUTPUT0")?.bytes),
        Array.from({ length: 16 }, (_, index) => index + 5),
      );
      assert.deepEqual(
        toInt32(outputs.get("OUTPUT1")?.bytes),
        Array.from({ length: 16 }, (_, index) => index - 5),
      );
    });

    test("adds as many bytes as planned", async () => {
      const spec = {
        name: "PADDING",
        datatype: "UINT8",
        shape: [100_000],
        isOptional: false,
        isShapeTensor: false,
      } as const;
      const codec = codecFor([...simpleModel.outputs, spec]);
      const { failure, body, jsonBytes } = await ask(padded, codec);
      assert.equal(failure, undefined);
      assert.equal(codec.decode(body, jsonBytes).outputs.get("PADDING")?.bytes.length, 100_000);
    });

    test("fails as planned, in words", async () => {
      const codec = codecFor();
      const { failure, body } = await ask(failing, codec);
      assert.ok(failure !== undefined);
      assert.equal(codec.explain(failure, body).message, "planned failure");
    });
  });
}

test("mock: health and unknown paths", async () => {
  const driver = new Driver((options) => new Http1Client(endpointAt(quick.httpPort), options));
  await driver.client.reserve(1);
  for (const path of ["/v2/health/live", "/v2/health/ready", "/v2/models/simple/ready", "/v2"])
    assert.equal((await driver.request(0, getRequest(path))).failure, undefined, path);
  for (const path of ["/nowhere", "/v2/models/other", "/v2/models/simple/versions/9"])
    assert.equal((await driver.request(0, getRequest(path))).failure?.kind, "http", path);
  driver.close();
});

test("mock: a body of more than 256 MiB is refused", async () => {
  const piece = Buffer.alloc(1024 * 1024);
  const request = httpRequest({ port: quick.httpPort, host: "127.0.0.1", method: "POST", path: "/v1/completions" });
  const answered = once(request, "response") as Promise<[IncomingMessage]>;
  for (let sent = 0; sent < 257; sent++) if (!request.write(piece)) await once(request, "drain");
  request.end();
  const [response] = await answered;
  response.resume();
  assert.equal(response.statusCode, 413);
});

test("mock: a taken port is a user's error that names the flag", async () => {
  await assert.rejects(startMock(DEFAULT_MOCK, { ...LOOPBACK, httpPort: quick.httpPort }), /cannot listen on/);
});

describe("mock model", () => {
  const inputs = new Map(simpleTensors().map(({ name, bytes }) => [name, bytes]));

  test("fails the planned share of requests, the same ones each time, and counts", async () => {
    const outcomes = await Promise.all(
      [1, 2].map(async () => {
        const model = new MockModel({ ...DEFAULT_MOCK, errorRatio: 0.25 });
        const failed: boolean[] = [];
        for (let i = 0; i < 400; i++)
          failed.push(
            await model.infer(inputs).then(
              () => false,
              (error: unknown) => error instanceof MockError,
            ),
          );
        const [stats] = (model.statistics as { model_stats: { inference_stats: Record<string, { count: number }> }[] })
          .model_stats;
        assert.equal(stats?.inference_stats["fail"]?.count, failed.filter(Boolean).length);
        assert.equal(stats?.inference_stats["success"]?.count, failed.filter((is) => !is).length);
        return failed;
      }),
    );
    assert.deepEqual(outcomes[0], outcomes[1]);
    const share = (outcomes[0] ?? []).filter(Boolean).length / 400;
    assert.ok(share > 0.17 && share < 0.33, String(share));
  });

  for (const [name, given, message] of [
    ["a missing input", new Map([...inputs].slice(0, 1)), /expected 2 inputs but got 1/],
    [
      "an input of the wrong size",
      new Map([...inputs, ["INPUT1", new Uint8Array(60)]]),
      /must hold 64 bytes per batch item/,
    ],
    [
      "a batch too large",
      new Map([...inputs].map(([key]) => [key, new Uint8Array(64 * 9)])),
      /batch-size must be <= 8/,
    ],
  ] as const) {
    test(`refuses ${name}`, async () => {
      await assert.rejects(new MockModel(DEFAULT_MOCK).infer(given), message);
    });
  }
});

describe("mock latency", () => {
  /** Evenly spread numbers in [0, 1). */
  function spread(): () => number {
    let at = 0;
    return () => {
      at = (at + 0.6180339887498949) % 1;
      return at;
    };
  }
  const draw = (text: string, count = 5000): number[] => {
    const next = createLatency(parseLatency(text) as NonNullable<ReturnType<typeof parseLatency>>, spread());
    return Array.from({ length: count }, next);
  };
  const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;

  test("constant is the same each time", () => {
    assert.deepEqual(new Set(draw("5ms", 10)), new Set([5]));
    assert.deepEqual(draw("0.5 s", 1), [500]);
    assert.deepEqual(draw("250us", 1), [0.25]);
  });

  test("uniform stays within its bounds and has their mean", () => {
    const values = draw("uniform:2ms:10ms");
    assert.ok(Math.min(...values) >= 2 && Math.max(...values) < 10);
    assert.ok(Math.abs(mean(values) - 6) < 0.1);
  });

  test("exponential has its mean, and its median below it", () => {
    const values = draw("exponential:8ms").sort((a, b) => a - b);
    assert.ok(Math.abs(mean(values) - 8) < 0.2);
    assert.ok(Math.abs((values[2500] ?? 0) - 8 * Math.LN2) < 0.2);
  });

  test("normal is never negative", () => {
    const values = draw("normal:1ms:5ms");
    assert.ok(Math.min(...values) === 0 && Math.max(...values) > 5);
  });

  for (const text of [
    "",
    "x",
    "-1",
    "11min",
    "uniform:1ms",
    "normal:1ms:2ms:3ms",
    "poisson:5ms",
    "uniform:a:b",
    "uniform:9ms:1ms",
    "constant:1ms:2ms",
  ]) {
    test(`${JSON.stringify(text)} is refused as a latency`, () => {
      assert.equal(parseLatency(text), undefined);
    });
  }
});
