import assert from "node:assert/strict";
import { after, describe, test } from "node:test";
import { joinBytesElements } from "../../../src/service/json-tensors.ts";
import type { Tensor, TensorSpec } from "../../../src/service/tensor.ts";
import { readStatistics } from "../../../src/service/triton/front.ts";
import { createGrpcCodec } from "../../../src/service/triton/grpc-codec.ts";
import { grpcApi } from "../../../src/service/triton/grpc-front-end.ts";
import { httpApi } from "../../../src/service/triton/http-api.ts";
import { createHttpCodec, type HttpCodecOptions } from "../../../src/service/triton/http-codec.ts";
import { readModel } from "../../../src/service/triton/model.ts";
import { ControlClient } from "../../../src/transport/control-client.ts";
import { GrpcUnaryClient } from "../../../src/transport/grpc/unary-client.ts";
import { Http1Client } from "../../../src/transport/http1/client.ts";
import { hex, utf8 } from "../../transport/bytes.ts";
import { Driver, endpointAt } from "../../transport/drive.ts";
import { openTriton } from "../../transport/live-servers.ts";

/** Every datatype through a real Triton, in every format, and its responses about models. */

const triton = await openTriton();
after(() => triton.stop());

const http = new ControlClient(5e9, (options) => new Http1Client(endpointAt(triton.httpPort), options));
const grpc = new ControlClient(5e9, (options) => new GrpcUnaryClient(endpointAt(triton.grpcPort), options));
after(() => {
  http.close();
  grpc.close();
});

async function askModel(protocol: "http" | "grpc", name: string): Promise<ReturnType<typeof readModel>> {
  const [api, control] = protocol === "http" ? [httpApi, http] : [grpcApi, grpc];
  const [metadata, config] = [api.metadata({ name, version: "" }), api.config({ name, version: "" })];
  const [meta, conf] = await Promise.all([control.call(metadata.request), control.call(config.request)]);
  return readModel(metadata.read(meta), config.read(conf), "");
}

/** Six elements of each type: the smallest, the largest, and what is between. */
const CONTENTS: Readonly<Record<string, string>> = {
  BOOL: "00 01 01 00 00 01",
  UINT8: "00 01 7f 80 fe ff",
  UINT16: "0000 0100 ff7f 0080 feff ffff",
  UINT32: "00000000 01000000 ffffff7f 00000080 feffffff ffffffff",
  UINT64: "0000000000000000 0100000000000000 ffffffffffff1f00 0000000000000001 feffffffffffff7f ffffffffffffff7f",
  INT8: "80 81 ff 00 01 7f",
  INT16: "0080 0180 ffff 0000 0100 ff7f",
  INT32: "00000080 01000080 ffffffff 00000000 01000000 ffffff7f",
  INT64: "0100000000e0ffff ffffffffffffffff 0000000000000000 0100000000000000 ffffffffffff1f00 0000000001000000",
  FP16: "0000 003c 00bc ff7b 0100 0080",
  FP32: "00000000 0000803f 000080bf ffff7f7f 01000000 cdcccc3d",
  FP64: "0000000000000000 000000000000f03f 000000000000f0bf ffffffffffffef7f 0100000000000000 9a9999999999b93f",
};

function tensorFor({ name, datatype, shape }: TensorSpec): Tensor {
  const texts = ["", "a", "späße", "x".repeat(300), '"quoted\\"', "line\nbreak"].map((text) => utf8(text));
  const bytes = datatype === "BYTES" ? joinBytesElements(texts) : hex(CONTENTS[datatype] ?? "");
  return { name, datatype, shape, bytes };
}

const model = await askModel("http", "alltypes");

function checkEcho(outputs: ReadonlyMap<string, Tensor>, sent: readonly Tensor[]): void {
  for (const tensor of sent) {
    const output = outputs.get(tensor.name.replace("IN_", "OUT_"));
    assert.deepEqual(output?.bytes, tensor.bytes, tensor.name);
    assert.deepEqual(output?.shape, tensor.shape);
    assert.equal(output?.datatype, tensor.datatype);
  }
}

describe("every datatype through Triton", () => {
  test("the model is described alike over HTTP and gRPC", async () => {
    assert.equal(model.inputs.length, 13);
    assert.deepEqual(await askModel("grpc", "alltypes"), model);
    for (const name of ["simple", "simple_cache", "optional_in", "repeat_int32", "simple_sequence", "ensemble_two"])
      assert.deepEqual(await askModel("grpc", name), await askModel("http", name), name);
  });

  for (const [inputFormat, outputFormat] of [
    ["binary", "binary"],
    ["json", "binary"],
    ["binary", "json"],
    ["json", "json"],
  ] as const) {
    // FP16 has no JSON form in the protocol.
    const isJson = inputFormat === "json" || outputFormat === "json";
    test(`HTTP: ${inputFormat} in, ${outputFormat} out${isJson ? ", FP16 left binary" : ""}`, async () => {
      const formats: HttpCodecOptions = { inputFormat, outputFormat };
      const inputs = model.inputs.map(tensorFor);
      const driver = new Driver((options) => new Http1Client(endpointAt(triton.httpPort), options));
      await driver.client.reserve(1);
      const halves = createHttpCodec(model, { inputFormat: "binary", outputFormat: "binary" });
      const all = await driver.request(0, halves.encode(inputs, 0));
      checkEcho(halves.decode(all.body, all.jsonBytes).outputs, inputs);
      if (isJson) {
        const codec = createHttpCodec(
          { ...model, outputs: model.outputs.filter(({ datatype }) => datatype !== "FP16") },
          { ...formats, inputFormat: "binary" },
        );
        const { failure, body, jsonBytes } = await driver.request(0, codec.encode(inputs, 0));
        assert.equal(failure, undefined, codec.explain(failure ?? { kind: "http", message: "" }, body).message);
        const { outputs } = codec.decode(body, jsonBytes);
        checkEcho(
          outputs,
          inputs.filter(({ datatype }) => datatype !== "FP16"),
        );
      }
      driver.close();
    });
  }

  test("HTTP: all types that JSON has, as JSON input", async () => {
    const driver = new Driver((options) => new Http1Client(endpointAt(triton.httpPort), options));
    await driver.client.reserve(1);
    for (const [name, datatype, elements] of [
      ["identity_fp32", "FP32", hex(CONTENTS["FP32"] ?? "")],
      ["identity_bytes", "BYTES", joinBytesElements(["", "späße", '"\\'].map((text) => utf8(text)))],
    ] as const) {
      const described = await askModel("http", name);
      const count = datatype === "FP32" ? 6 : 3;
      const tensor: Tensor = { name: "INPUT0", datatype, shape: [1, count], bytes: elements };
      for (const outputFormat of ["binary", "json"] as const) {
        const codec = createHttpCodec(described, { inputFormat: "json", outputFormat });
        const { failure, body, jsonBytes } = await driver.request(0, codec.encode([tensor], 2), "07");
        assert.equal(failure, undefined);
        const response = codec.decode(body, jsonBytes);
        assert.equal(response.id, "07");
        assert.deepEqual(response.outputs.get("OUTPUT0")?.bytes, elements);
      }
    }
    driver.close();
  });

  test("HTTP: a type that JSON does not have is refused before anything is sent", () => {
    const codec = createHttpCodec(model, { inputFormat: "json", outputFormat: "json" });
    assert.throws(() => codec.encode(model.inputs.map(tensorFor), 0), /datatype 'FP16' is not supported with JSON/);
  });

  test("gRPC", async () => {
    const codec = createGrpcCodec(model, { isStreaming: false });
    const inputs = model.inputs.map(tensorFor);
    const driver = new Driver((options) => new GrpcUnaryClient(endpointAt(triton.grpcPort), options));
    await driver.client.reserve(1);
    const request = codec.encode(inputs, 3);
    assert.match(codec.describe(request), /^model_name: "alltypes"\nid: "000"\n/);
    const { failure, body } = await driver.request(0, request, "123");
    assert.equal(failure, undefined);
    const response = codec.decode(body, 0);
    assert.equal(response.id, "123");
    checkEcho(response.outputs, inputs);
    driver.close();
  });
});

describe("Triton's description of itself", () => {
  for (const [protocol, api, control] of [
    ["HTTP", httpApi, http],
    ["gRPC", grpcApi, grpc],
  ] as const) {
    test(`${protocol}: server, index and statistics`, async () => {
      const server = api.server();
      assert.equal((server.read(await control.call(server.request)) as { name: string }).name, "triton");
      const index = api.index();
      const { models } = index.read(await control.call(index.request)) as { models: { name: string }[] };
      assert.ok(models.some(({ name }) => name === "alltypes"));
      const statistics = api.statistics({ name: "alltypes", version: "" });
      const [counters] = readStatistics(statistics.read(await control.call(statistics.request)));
      assert.equal(counters?.name, "alltypes");
      assert.ok((counters?.successCount ?? 0) >= 0 && (counters?.computeInferNs ?? -1) >= 0);
    });

    test(`${protocol}: an unknown model is an error with the server's words`, async () => {
      const { request } = api.metadata({ name: "none", version: "" });
      await assert.rejects(control.call(request), (error) => error instanceof Error && error.name === "ControlError");
    });
  }
});
