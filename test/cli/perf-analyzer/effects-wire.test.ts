import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { ResponseTooLargeError } from "../../../src/transport/failure.ts";
import { makeFolder } from "../../make-folder.ts";
import { startGrpcRecorder } from "../../run/grpc-recorder.ts";
import { type KserveOptions, KserveServer, type SeenInfer, withServer } from "../../run/kserve-server.ts";
import { LIMIT } from "../../time-limit.ts";
import { runCommand } from "./run-command.ts";

/** What flags do to the bytes that reach a server. Their names say which flags. */

/** Sends requests with the flags to a server of its own and returns what it was sent. */
async function sentWith(flags: readonly string[], options: KserveOptions = {}, count = 1): Promise<SeenInfer[]> {
  await using server = await new KserveServer(options).start();
  const args = ["-m", server.model, "-u", server.url, "--request-count", String(count), ...flags];
  const { code, err } = await runCommand(args);
  assert.equal(code, 0, err);
  assert.equal(server.infers.length, count);
  return [...server.infers];
}

const TEXT_MODEL: KserveOptions = {
  inputs: [{ name: "TEXT", datatype: "BYTES", dims: [2] }],
  outputs: [{ name: "OUT", datatype: "INT32", dims: [1] }],
};

/** BYTES elements of a request with one input. */
function textsOf(infer: SeenInfer | undefined): string[] {
  const bytes = infer?.binary ?? new Uint8Array(0);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const texts: string[] = [];
  for (let offset = 0; offset < bytes.length; ) {
    const size = view.getUint32(offset, true);
    texts.push(new TextDecoder().decode(bytes.subarray(offset + 4, offset + 4 + size)));
    offset += 4 + size;
  }
  return texts;
}

test("-m names the model in every path", LIMIT, async () => {
  await using server = await new KserveServer({ model: "my_model" }).start();
  const { code } = await runCommand(["-m", "my_model", "-u", server.url, "--request-count", "1"]);
  assert.equal(code, 0);
  assert.equal(server.infers[0]?.path, "/v2/models/my_model/infer");
  const questions = server.requests.filter(({ path }) => path !== "/v2").map(({ path }) => path);
  assert.ok(questions.every((path) => path.startsWith("/v2/models/my_model")));
});

test("--source-address is where connections come from, also those of queries", {
  ...LIMIT,
  skip: process.platform !== "linux",
}, async () => {
  const two = ["--source-address", "127.0.0.2", "--source-address", "127.0.0.3"];
  await using server = await new KserveServer({}).start();
  const args = ["-m", "simple", "-u", server.url, "--request-count", "8", "--concurrency-range", "4", ...two];
  const { code, err } = await runCommand(args);
  assert.equal(code, 0, err);
  assert.deepEqual([...new Set(server.requests.map(({ from }) => from))].sort(), ["127.0.0.2", "127.0.0.3"]);
});

test("-x asks for a version; without it the server chooses", LIMIT, async () => {
  const [versioned] = await sentWith(["-x", "3"]);
  assert.equal(versioned?.path, "/v2/models/simple/versions/3/infer");
  const [free] = await sentWith([]);
  assert.equal(free?.path, "/v2/models/simple/infer");
});

test("-b sets the number of items per request", LIMIT, async () => {
  const [single] = await sentWith([]);
  assert.deepEqual(single?.json.inputs[0]?.shape, [1, 16]);
  const [batch] = await sentWith(["-b", "4"]);
  assert.deepEqual(
    batch?.json.inputs.map(({ shape }) => shape),
    [
      [4, 16],
      [4, 16],
    ],
  );
  assert.equal(batch?.binary.length, 2 * 4 * 16 * 4);
});

test(
  "--input-data zero sends zeros, a file its data in turn, a directory its files, nothing the usual random bytes",
  LIMIT,
  async () => {
    const [random] = await sentWith([]);
    assert.deepEqual([...(random?.binary.subarray(0, 8) ?? [])], [0x67, 0xc6, 0x69, 0x73, 0x51, 0xff, 0x4a, 0xec]);
    const [zero] = await sentWith(["--input-data", "zero"]);
    assert.ok(zero?.binary.length === 128 && zero.binary.every((byte) => byte === 0));
    const folder = makeFolder();
    const entry = (value: number): object => ({
      INPUT0: new Array(16).fill(value),
      INPUT1: new Array(16).fill(value),
    });
    const first = join(folder, "first.json");
    const second = join(folder, "second.json");
    writeFileSync(first, JSON.stringify({ data: [entry(1), entry(2)] }));
    writeFileSync(second, JSON.stringify({ data: [entry(3)] }));
    const infers = await sentWith(["--input-data", first, "--input-data", second], {}, 4);
    assert.deepEqual(
      infers.map(({ binary }) => binary[0]),
      [1, 2, 3, 1],
    );
    const directory = join(folder, "data");
    mkdirSync(directory);
    writeFileSync(join(directory, "INPUT0"), new Uint8Array(64).fill(7));
    writeFileSync(join(directory, "INPUT1"), new Uint8Array(64).fill(9));
    const [fromDirectory] = await sentWith(["--input-data", directory]);
    assert.deepEqual([fromDirectory?.binary[0], fromDirectory?.binary[64]], [7, 9]);
  },
);

test("the measurement starts with the first data, whatever the warm-up sent", LIMIT, async () => {
  await using server = await new KserveServer({}).start();
  const folder = makeFolder();
  const file = join(folder, "data.json");
  const entry = (value: number): object => ({ INPUT0: new Array(16).fill(value), INPUT1: new Array(16).fill(0) });
  writeFileSync(file, JSON.stringify({ data: [entry(1), entry(2), entry(3)] }));
  const counts = ["--warmup-request-count", "2", "--request-count", "4"];
  assert.equal((await runCommand(["-m", "simple", "-u", server.url, "--input-data", file, ...counts])).code, 0);
  assert.deepEqual(
    server.infers.map(({ binary }) => binary[0]),
    [1, 2, 1, 2, 3, 1],
  );
});

test("-z sends zeros, --data-directory a directory's files", LIMIT, async () => {
  const [zero] = await sentWith(["-z"]);
  assert.ok(zero?.binary.length === 128 && zero.binary.every((byte) => byte === 0));
  const folder = makeFolder();
  writeFileSync(join(folder, "INPUT0"), new Uint8Array(64).fill(7));
  writeFileSync(join(folder, "INPUT1"), new Uint8Array(64).fill(9));
  const [infer] = await sentWith(["--data-directory", folder]);
  assert.deepEqual([infer?.binary[0], infer?.binary[64]], [7, 9]);
});

test("--shape sets the size of a variable input", LIMIT, async () => {
  const model: KserveOptions = {
    inputs: [{ name: "IN", datatype: "FP32", dims: [-1, -1] }],
    outputs: [{ name: "OUT", datatype: "FP32", dims: [-1] }],
  };
  const [infer] = await sentWith(["--shape", "IN:3,5"], model);
  assert.deepEqual(infer?.json.inputs[0]?.shape, [1, 3, 5]);
  assert.equal(infer?.binary.length, 60);
});

test("--string-length sets the length of random strings", LIMIT, async () => {
  const [usual] = await sentWith([], TEXT_MODEL);
  assert.deepEqual(
    textsOf(usual).map((text) => text.length),
    [128, 128],
  );
  const [short] = await sentWith(["--string-length", "5"], TEXT_MODEL);
  assert.deepEqual(
    textsOf(short).map((text) => text.length),
    [5, 5],
  );
});

test("--string-data is sent as every string", LIMIT, async () => {
  const [infer] = await sentWith(["--string-data", "grüße"], TEXT_MODEL);
  assert.deepEqual(textsOf(infer), ["grüße", "grüße"]);
});

test("--input-tensor-format json writes tensors into the JSON", LIMIT, async () => {
  const [infer] = await sentWith(["--input-tensor-format", "json", "--input-data", "zero"]);
  assert.equal(infer?.headers["content-type"], "application/json");
  assert.equal(infer?.binary.length, 0);
  assert.deepEqual(infer?.json.inputs[0]?.data, new Array(16).fill(0));
  const [binary] = await sentWith(["--input-tensor-format", "binary"]);
  assert.equal(binary?.headers["content-type"], "application/octet-stream");
  assert.equal(binary?.json.inputs[0]?.parameters?.binary_data_size, 64);
});

test("--output-tensor-format json asks for outputs as JSON", LIMIT, async () => {
  const asked = async (flags: readonly string[]): Promise<unknown[]> =>
    (await sentWith(flags))[0]?.json.outputs?.map(({ parameters }) => parameters?.binary_data) ?? [];
  assert.deepEqual(await asked(["--output-tensor-format", "json"]), [false, false]);
  assert.deepEqual(await asked([]), [true, true]);
});

test("-u sets the server, optionally with a scheme and a path", LIMIT, async () => {
  await using server = await new KserveServer({}).start();
  for (const url of [server.url, `http://${server.url}`]) {
    assert.equal((await runCommand(["-m", "simple", "-u", url, "--request-count", "1"])).code, 0);
  }
  assert.equal(server.infers.length, 2);
  const behindProxy = await runCommand(["-m", "simple", "-u", `http://${server.url}/proxy`, "--request-count", "1"]);
  assert.equal(behindProxy.code, 99);
  assert.ok(server.requests.some(({ path }) => path === "/proxy/v2/models/simple"));
});

test("-H adds headers to every request, and metadata with gRPC", LIMIT, async () => {
  // The last of two with the same name is sent, like in perf_analyzer.
  const headers = ["-H", "X-One: 0", "-H", "X-One: 1", "-H", "Authorization:Bearer a:b"];
  await withServer({}, async (server) => {
    assert.equal((await runCommand(["-m", "simple", "-u", server.url, "--request-count", "1", ...headers])).code, 0);
    for (const request of server.requests) {
      assert.equal(request.headers["x-one"], "1");
      assert.equal(request.headers["authorization"], "Bearer a:b");
    }
  });
  await using recorder = await startGrpcRecorder();
  const args = ["-m", "simple", "-i", "grpc", "-u", recorder.url, "--request-count", "1", ...headers];
  assert.equal((await runCommand(args)).code, 0);
  assert.ok(recorder.calls.length > 0);
  for (const call of recorder.calls) assert.equal(call.headers["x-one"], "1");
});

test("-i grpc speaks gRPC, in either case of letters", LIMIT, async () => {
  for (const protocol of ["grpc", "gRPC"]) {
    await using recorder = await startGrpcRecorder();
    const { code, err } = await runCommand([
      "-m",
      "simple",
      "-i",
      protocol,
      "-u",
      recorder.url,
      "--request-count",
      "3",
    ]);
    assert.equal(code, 0, err);
    const unary = recorder.calls.filter(({ path }) => path === "/inference.GRPCInferenceService/ModelInfer");
    assert.equal(unary.length, 3);
    assert.equal(recorder.infers().length, 3);
  }
});

test("--streaming sends all requests of a lane over one gRPC stream", LIMIT, async () => {
  await using recorder = await startGrpcRecorder();
  const args = ["-m", "simple", "-i", "grpc", "--streaming", "-u", recorder.url, "--request-count", "4"];
  const { code, err } = await runCommand(args);
  assert.equal(code, 0, err);
  const paths = recorder.calls.map(({ path }) => path.split("/").pop());
  assert.equal(paths.filter((path) => path === "ModelStreamInfer").length, 1);
  assert.ok(!paths.includes("ModelInfer"));
  const ids = recorder.infers().map((infer) => infer["id"]);
  assert.deepEqual(ids, ["0", "1", "2", "3"]);
});

test("--request-parameter goes with every request over gRPC", LIMIT, async () => {
  for (const more of [[], ["--streaming"]]) {
    await using recorder = await startGrpcRecorder();
    const parameters = ["max_tokens:256:int", "low:-5:int", "s:abc:string", "b:true:bool", "d:1.5:double", "u:7:uint"];
    const args = ["-m", "simple", "-i", "grpc", "-u", recorder.url, "--request-count", "2", ...more];
    const { code, err } = await runCommand([...args, ...parameters.flatMap((text) => ["--request-parameter", text])]);
    assert.equal(code, 0, err);
    assert.equal(recorder.infers().length, 2);
    for (const infer of recorder.infers())
      assert.deepEqual(infer["parameters"], {
        triton_enable_empty_final_response: { bool_param: true },
        max_tokens: { int64_param: 256 },
        low: { int64_param: -5 },
        s: { string_param: "abc" },
        b: { bool_param: true },
        d: { double_param: 1.5 },
        u: { int64_param: 7 },
      });
  }
});

test("--async numbers its requests by lane", LIMIT, async () => {
  const infers = await sentWith(["--async", "--concurrency-range", "2"], {}, 6);
  const ids = infers.map(({ json }) => BigInt(json.id ?? ""));
  const byLane = [0n, 1n].map((lane) => ids.filter((id) => id >> 48n === lane).map((id) => id & 0xffffn));
  assert.equal(byLane.flat().length, 6);
  for (const numbers of byLane)
    assert.deepEqual(
      numbers,
      numbers.map((_, index) => BigInt(index)),
    );
  assert.ok((byLane[0]?.length ?? 0) > 0 && (byLane[1]?.length ?? 0) > 0);
});

test("--sync sends requests without a number, as without flags", LIMIT, async () => {
  for (const flags of [["--sync"], []]) {
    const infers = await sentWith(flags, {}, 2);
    assert.deepEqual(
      infers.map(({ json }) => json.id),
      ["", ""],
    );
  }
});

test("--client selects the library that sends the requests", LIMIT, async () => {
  const agents = new Set<string>();
  for (const client of ["own", "undici"]) {
    const [infer] = await sentWith(["--client", client]);
    agents.add(JSON.stringify(Object.keys(infer?.headers ?? {}).sort()));
    assert.equal(infer?.binary.length, 128, client);
  }
  assert.equal(agents.size, 2, "the two clients send the same headers, so the test cannot tell them apart");
  await using recorder = await startGrpcRecorder();
  const args = ["-m", "simple", "-i", "grpc", "--client", "grpc-js", "-u", recorder.url, "--request-count", "2"];
  assert.equal((await runCommand(args)).code, 0);
  assert.match(String(recorder.calls[0]?.headers["user-agent"]), /grpc-node-js/);
  assert.equal(recorder.infers().length, 2);
});

test("--max-response-bytes fails requests whose responses are longer", LIMIT, async () => {
  for (const client of ["own", "undici"])
    await withServer({}, async (server) => {
      const args = ["-m", server.model, "-u", server.url, "--request-count", "1", "--client", client];
      const { code, err } = await runCommand([...args, "--max-response-bytes", "20"]);
      assert.deepEqual([code, server.infers.length], [99, 0]);
      assert.ok(err.includes(new ResponseTooLargeError(20).message), err);
      assert.equal((await runCommand([...args, "--max-response-bytes", "20000"])).code, 0);
    });
});

/** What the flag of compression does to the bytes that reach a server. Its name says which. */

test("--grpc-compression-algorithm compresses only inference requests, and is reported", async () => {
  for (const algorithm of ["gzip", "deflate", "none"]) {
    for (const more of [[], ["--async"], ["--streaming"], ["--client", "grpc-js"]]) {
      await using recorder = await startGrpcRecorder();
      // Zeroes compress well; random bytes would go as they are.
      const args = ["-m", "simple", "-i", "grpc", "-u", recorder.url, "--request-count", "3", "--input-data", "zero"];
      const { code, err } = await runCommand([...args, "--grpc-compression-algorithm", algorithm, ...more]);
      assert.equal(code, 0, err);
      assert.equal(recorder.infers().length, 3);
      for (const { path, headers, flags } of recorder.calls) {
        const isInference = path.endsWith("Infer");
        const isCompressed = isInference && algorithm !== "none";
        if (isCompressed || !more.includes("grpc-js"))
          assert.equal(headers["grpc-encoding"], isCompressed ? algorithm : undefined);
        assert.ok(flags.length > 0 && flags.every((flag) => flag === (isCompressed ? 1 : 0)), `${path} ${flags}`);
        assert.match(String(headers["grpc-accept-encoding"]), /^identity, ?deflate, ?gzip$|^identity,gzip,deflate$/);
      }
      const raw = recorder.infers().map((infer) => infer["raw_input_contents"] as Uint8Array[]);
      for (const tensors of raw)
        assert.deepEqual(
          tensors.map(({ length }) => length),
          [64, 64],
        );
    }
  }
});
