// Runs on: deno, node, executable; alone: it uses names of shared memory.
import assert from "node:assert/strict";
import { closeSync, existsSync, openSync, readdirSync, readFileSync, rmSync, writeFileSync, writeSync } from "node:fs";
import { createServer, type ServerHttp2Stream } from "node:http2";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { createGrpcServer } from "../../src/mock/grpc-server.ts";
import { MockModel } from "../../src/mock/model.ts";
import { decodeMessage, encodeMessage, type ProtoObject } from "../../src/service/protobuf/message.ts";
import { CUDA_REGION, INFER_REQUEST, INFER_RESPONSE, NAMED_REQUEST } from "../../src/service/triton/messages.ts";
import { type RunningProcess, startRampart } from "../cli/rampart-process.ts";
import { casesHere } from "../few-cases.ts";
import { makeFolder } from "../make-folder.ts";
import { PLAIN_MOCK } from "../run/grpc-recorder.ts";
import { KserveServer, type SeenInfer, type SeenRegion, withServer } from "../run/kserve-server.ts";
import { type FakeCudart, makeFakeCudart } from "../servers/fake-cudart.ts";
import { listen } from "../servers/listen.ts";
import { LIMIT } from "../time-limit.ts";
import { runRampart } from "./command.ts";
import { openTriton, type TritonAddresses } from "./servers.ts";

/** Tensors in memory shared with a real Triton, and in a GPU's memory as a library made for the test has it. */

const FLAGS = ["perf_analyzer", "-m", "simple", "--shared-memory"];

const folder = makeFolder();
let validFile: string;
let wrongFile: string;
before(() => {
  validFile = join(folder, "valid.json");
  wrongFile = join(folder, "wrong.json");
  writeData(validFile, 0);
  writeData(wrongFile, 1);
});

/** Steps whose sums and differences all differ, as the model `simple` gives them. */
function writeData(file: string, mistake: number): void {
  const fill = (value: number): number[] => new Array<number>(16).fill(value);
  const steps = [10, 20, 30, 40, 50];
  writeFileSync(
    file,
    JSON.stringify({
      data: steps.map((step) => ({ INPUT0: fill(step), INPUT1: fill(1) })),
      validation_data: steps.map((step) => ({ OUTPUT0: fill(step + 1), OUTPUT1: fill(step - 1 + mistake) })),
    }),
  );
}

/** What is in shared memory besides Triton's own, and besides that of processes that still run, such as other tests. */
function listSharedMemory(): string[] {
  const isRunning = (name: string): boolean => existsSync(`/proc/${name.slice(name.lastIndexOf("_") + 1)}`);
  return readdirSync("/dev/shm").filter((name) => /^(IN|OUT)PUT/.test(name) && !isRunning(name));
}

describe("system memory with a real Triton", () => {
  let triton: TritonAddresses;
  let earlier: string[];
  before(async () => {
    triton = await openTriton();
    earlier = listSharedMemory();
  });
  after(() => triton.stop());

  async function checkNothingIsLeft(): Promise<void> {
    assert.deepEqual(listSharedMemory(), earlier);
    const response = await fetch(`http://${triton.http}/v2/systemsharedmemory/status`);
    assert.deepEqual(await response.json(), []);
  }

  const ways = [
    { name: "http", flags: [] },
    { name: "http, asynchronous", flags: ["--async"] },
    { name: "http, at a rate", flags: ["--request-rate-range", "300"] },
    { name: "http, a batch", flags: ["-b", "4"] },
    { name: "grpc", flags: ["-i", "grpc"] },
    { name: "grpc, asynchronous", flags: ["-i", "grpc", "--async"] },
    { name: "grpc, streaming", flags: ["-i", "grpc", "--streaming"] },
    { name: "undici", flags: ["--client", "undici"] },
    { name: "grpc-js", flags: ["-i", "grpc", "--client", "grpc-js"] },
  ] as const;
  for (const { name, flags } of casesHere(ways, ["http", "grpc, streaming"])) {
    test(`outputs are right, and wrong ones are noticed (${name})`, LIMIT, async () => {
      const url = flags.includes("grpc" as never) ? triton.grpc : triton.http;
      const load = flags.includes("--request-rate-range" as never) ? [] : ["--concurrency-range", "8"];
      const args = [...FLAGS, "system", "-u", url, "--request-count", "300", ...load, ...flags];
      const right = await runRampart([...args, "--input-data", validFile]);
      assert.equal(right.code, 0, right.stderr);
      assert.match(right.stdout, /Request count: 300/);
      const wrong = await runRampart([...args, "--input-data", wrongFile]);
      assert.equal(wrong.code, 99);
      assert.match(wrong.stderr, /: OUTPUT1 differs at byte 0/);
      await checkNothingIsLeft();
    });
  }

  test("an output that does not fit is the server's error", LIMIT, async () => {
    const size = ["--output-shared-memory-size", "16", "--shape", "INPUT0:4"];
    const args = ["perf_analyzer", "-m", "identity_bytes", "--shared-memory", "system", ...size];
    const { code, stderr } = await runRampart([...args, "-u", triton.http, "--request-count", "3"]);
    assert.equal(code, 99);
    assert.match(stderr, /'OUTPUT0' \(16 bytes\) should be at least 528 bytes to hold the results/);
    await checkNothingIsLeft();
  });

  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
    test(`nothing is left after ${signal}`, LIMIT, async () => {
      const args = [...FLAGS, "system", "-u", triton.http, "--concurrency-range", "2", "-p", "30000"];
      let isSignalled = false;
      let during: string[] = [];
      const { code } = await runRampart(args, {
        onStdout: (text, kill) => {
          if (isSignalled || !text.includes("Request concurrency")) return;
          isSignalled = true;
          during = listSharedMemory();
          kill(signal);
        },
      });
      assert.equal(during.length - earlier.length, 4);
      assert.equal(code, 99);
      await checkNothingIsLeft();
    });
  }

  test("a sequence's requests name the regions of their stream and step", LIMIT, async () => {
    const file = join(folder, "sequences.json");
    const step = (value: number): object => ({ INPUT: [value] });
    writeFileSync(
      file,
      JSON.stringify({
        data: [
          [step(1), step(2), step(3)],
          [step(10), step(20)],
        ],
      }),
    );
    const args = ["perf_analyzer", "-m", "simple_sequence", "-u", triton.http, "--shared-memory", "system", "-v", "-v"];
    const outcome = await runRampart([...args, "--input-data", file, "--request-count", "40"]);
    assert.equal(outcome.code, 0, outcome.stderr);
    const regions = new Map<number, string[]>();
    for (const [, text = ""] of outcome.stdout.matchAll(/^inference request: (.*)$/gm)) {
      const { parameters, inputs } = JSON.parse(text) as {
        parameters: { sequence_id: number };
        inputs: { parameters: { shared_memory_region: string } }[];
      };
      const seen = regions.get(parameters.sequence_id) ?? [];
      regions.set(parameters.sequence_id, [...seen, inputs[0]?.parameters.shared_memory_region ?? ""]);
    }
    const whole = new Set([...regions.values()].slice(0, -1).map((names) => names.join(" ")));
    assert.deepEqual([...whole].sort(), ["INPUT_0_0 INPUT_0_1 INPUT_0_2", "INPUT_1_0 INPUT_1_1"]);
    await checkNothingIsLeft();
  });

  test("a decoupled model shares memory, but its outputs cannot be validated there", LIMIT, async () => {
    const file = join(folder, "decoupled.json");
    const data = [{ IN: { content: [1, 2, 3], shape: [3] }, DELAY: { content: [1, 1, 1], shape: [3] }, WAIT: [0] }];
    const args = ["perf_analyzer", "-m", "repeat_int32", "-i", "grpc", "--streaming", "-u", triton.grpc];
    const run = (validation: object): ReturnType<typeof runRampart> => {
      writeFileSync(file, JSON.stringify({ data, ...validation }));
      return runRampart([...args, "--shared-memory", "system", "--input-data", file, "--request-count", "5"]);
    };
    const plain = await run({});
    assert.equal(plain.code, 0, plain.stderr);
    assert.match(plain.stdout, /Request count: 5\n/);
    const validated = await run({ validation_data: [{ OUT: [1], IDX: [0] }] });
    assert.equal(validated.code, 99);
    assert.match(validated.stderr, /outputs of decoupled models cannot be validated in shared memory/);
    await checkNothingIsLeft();
  });

  test("a scenario shares memory as well", LIMIT, async () => {
    const file = join(folder, "shared.ts");
    const target = `triton("${triton.grpc}", { protocol: "grpc", model: "simple", sharedMemory: "system", outputSharedMemoryBytes: 64 })`;
    writeFileSync(
      file,
      `import { defineScenario, errorRate, hold, input, triton } from "rampart";
export default defineScenario({ name: "shared", target: ${target}, inputs: input.json("${validFile}"), load: hold(4, { requests: 200 }), assert: [errorRate().is(0)] });
`,
    );
    const { code, stdout, stderr } = await runRampart(["run", file]);
    assert.equal(code, 0, stdout + stderr);
    assert.match(stdout, / 200 requests$/m);
    await checkNothingIsLeft();
  });
});

test("Ctrl-C while regions are registered leaves nothing either", LIMIT, async () => {
  const earlier = listSharedMemory();
  let running: RunningProcess | undefined;
  const onRegion = (verb: string, name: string): Promise<undefined> | undefined => {
    if (verb !== "register" || !name.startsWith("INPUT1")) return undefined;
    running?.interrupt();
    return new Promise(() => {});
  };
  await withServer({ onRegion }, async (server) => {
    running = startRampart([...FLAGS, "system", "-u", server.url]);
    const { code } = await running.result;
    assert.notEqual(code, 0);
    assert.equal(server.infers.length, 0);
    assert.equal(server.seenRegions.length, 3);
    assert.equal(server.regions.size, 0);
  });
  assert.deepEqual(listSharedMemory(), earlier);
});

describe("a GPU's memory", () => {
  let cudart: FakeCudart;
  before(() => {
    cudart = makeFakeCudart();
  });
  after(() => cudart.remove());

  /** The sum and the difference, from and into the memory that the handles stand for. */
  function compute(handleOf: (region: string) => Uint8Array, json: SeenInfer["json"]): undefined {
    const read = (index: number): Int32Array => {
      const region = json.inputs[index]?.parameters?.shared_memory_region ?? "";
      return new Int32Array(new Uint8Array(readFileSync(cudart.fileOf(handleOf(region)))).buffer);
    };
    const [a, b] = [read(0), read(1)];
    for (const [index, sign] of [1, -1].entries()) {
      const { shared_memory_region = "", shared_memory_offset = 0 } = json.outputs?.[index]?.parameters ?? {};
      const result = new Uint8Array(a.map((value, at) => value + sign * (b[at] as number)).buffer);
      const file = openSync(cudart.fileOf(handleOf(shared_memory_region)), "r+");
      writeSync(file, result, 0, result.length, shared_memory_offset);
      closeSync(file);
    }
  }

  const CALLS_OF_A_REGION = (index: number, size: number, written: number): string[] => [
    "cudaSetDevice 0",
    `cudaMalloc ${size}`,
    `cudaMemset memory-${index} 0 ${size}`,
    `cudaIpcGetMemHandle memory-${index}`,
    ...(written === 0 ? [] : [`cudaMemcpy memory-${index}+0 ${written} 1`]),
  ];

  test(
    "regions are created, filled, registered by their handles over HTTP, unregistered and freed",
    LIMIT,
    async () => {
      await using server = await new KserveServer({}).start();
      const args = [...FLAGS, "cuda", "-u", server.url, "--request-count", "4"];
      const { code, stderr } = await runRampart(args, { env: cudart.env });
      assert.equal(code, 0, stderr);
      const names = ["OUTPUT0", "OUTPUT1", "INPUT0_0_0", "INPUT1_0_0"];
      assert.deepEqual(
        server.seenRegions.map(({ kind, name, byte_size, device_id }) => ({ kind, name, byte_size, device_id })),
        names.map((name) => ({ kind: "cuda", name, byte_size: 64, device_id: 0 })),
      );
      for (const [index, region] of server.seenRegions.entries()) {
        const handle = handleIn(region);
        assert.equal(handle.length, 64);
        assert.equal(handle[63], 7);
        assert.match(cudart.fileOf(handle), new RegExp(`/memory-${index}$`));
      }
      assert.equal(server.regions.size, 0);
      assert.deepEqual(cudart.takeCalls(), [
        ...CALLS_OF_A_REGION(0, 64, 0),
        ...CALLS_OF_A_REGION(1, 64, 0),
        ...CALLS_OF_A_REGION(2, 64, 64),
        ...CALLS_OF_A_REGION(3, 64, 64),
        ...[0, 1, 2, 3].map((index) => `cudaFree memory-${index}`),
      ]);
      assert.deepEqual(cudart.memories(), []);
    },
  );

  test("inputs arrive in the memory, and each request's own outputs are fetched from it", LIMIT, async () => {
    const handles = new Map<string, Uint8Array>();
    const onInfer = ({ json }: SeenInfer): undefined => {
      for (const region of handlesOf) handles.set(region.name, handleIn(region));
      return compute((name) => handles.get(name) as Uint8Array, json);
    };
    let handlesOf: readonly SeenRegion[] = [];
    for (const [file, expectedCode] of [
      [validFile, 0],
      [wrongFile, 99],
    ] as const) {
      await using server = await new KserveServer({ onInfer }).start();
      handlesOf = server.seenRegions;
      const args = [...FLAGS, "cuda", "-u", server.url, "--request-count", "40", "--concurrency-range", "4"];
      const { code, stderr } = await runRampart([...args, "--input-data", file], { env: cudart.env });
      assert.equal(code, expectedCode, stderr);
      if (expectedCode === 99) assert.match(stderr, /: OUTPUT1 differs at byte 0/);
      const calls = cudart.takeCalls();
      if (expectedCode === 0) {
        const fetches = calls.filter((call) => /^cudaMemcpy memory-\d+\+\d+ 64 2$/.test(call));
        assert.equal(fetches.length, 80, "two outputs of 40 requests");
        assert.ok(new Set(fetches).size > 2, "from a place of its own for each request outstanding");
      }
      assert.deepEqual(cudart.memories(), []);
      assert.equal(server.regions.size, 0);
    }
  });

  test("handles are registered over gRPC as bytes", LIMIT, async () => {
    const server = await startGrpcServer();
    try {
      const args = [...FLAGS, "cuda", "-i", "grpc", "-u", server.url, "--request-count", "3"];
      const { code, stderr } = await runRampart(args, { env: cudart.env });
      assert.equal(code, 0, stderr);
      const registered = server.seen.filter(({ method }) => method === "CudaSharedMemoryRegister");
      assert.deepEqual(
        registered.map(({ message }) => {
          const { name, byte_size, device_id, raw_handle } = decodeMessage(CUDA_REGION, message);
          return {
            name,
            byte_size,
            device_id: device_id ?? 0,
            file: cudart
              .fileOf(raw_handle as Uint8Array)
              .split("/")
              .at(-1),
          };
        }),
        ["OUTPUT0", "OUTPUT1", "INPUT0_0_0", "INPUT1_0_0"].map((name, index) => ({
          name,
          byte_size: 64,
          device_id: 0,
          file: `memory-${index}`,
        })),
      );
      const inputs = decodeMessage(
        INFER_REQUEST,
        server.seen.find(({ method }) => method === "ModelInfer")?.message as Uint8Array,
      );
      assert.deepEqual((inputs["inputs"] as ProtoObject[])[0]?.["parameters"], {
        shared_memory_region: { string_param: "INPUT0_0_0" },
        shared_memory_byte_size: { int64_param: 64 },
      });
      assert.equal(inputs["raw_input_contents"], undefined);
      const unregistered = server.seen.filter(({ method }) => method === "CudaSharedMemoryUnregister");
      assert.deepEqual(
        unregistered.map(({ message }) => decodeMessage(NAMED_REQUEST, message)["name"]),
        ["OUTPUT0", "OUTPUT1", "INPUT0_0_0", "INPUT1_0_0"],
      );
      cudart.takeCalls();
      assert.deepEqual(cudart.memories(), []);
    } finally {
      await server.stop();
    }
  });

  for (const [failing, message] of [
    ["cudaSetDevice", "unable to use GPU 0"],
    ["cudaMalloc", "unable to allocate memory of 64 bytes on gpu for output"],
    ["cudaMemset", "unable to clear the memory of OUTPUT0"],
    ["cudaIpcGetMemHandle", "unable to share the memory of OUTPUT0"],
    ["cudaMemcpy", "Failed to copy data to cuda shared memory for INPUT0_0_0"],
  ] as const) {
    test(`a failing ${failing} is reported with CUDA's message, and nothing is left`, LIMIT, async () => {
      await using server = await new KserveServer({}).start();
      const env = { ...cudart.env, FAKE_CUDA_FAILS: failing };
      const { code, stderr } = await runRampart([...FLAGS, "cuda", "-u", server.url], { env });
      assert.equal(code, 99);
      const reason = "CUDA driver version is insufficient for CUDA runtime version";
      assert.match(stderr, new RegExp(`^error: .*: ${message}: ${reason}\n`));
      assert.equal(server.regions.size, 0);
      assert.equal(server.infers.length, 0);
      cudart.takeCalls();
      assert.deepEqual(cudart.memories(), []);
    });
  }

  test("a library without a function that is needed is an error that names both", LIMIT, async () => {
    const other = makeFakeCudart("libcudart.so");
    try {
      // A library of this name that is no CUDA: this Node's own C library stands in.
      rmSync(join(other.env["LD_LIBRARY_PATH"] as string, "libcudart.so"));
      const path = join(other.env["LD_LIBRARY_PATH"] as string, "empty.c");
      writeFileSync(path, "int nothing;\n");
      const { execFileSync } = await import("node:child_process");
      execFileSync("gcc", ["-shared", "-fPIC", "-o", path.replace("empty.c", "libcudart.so"), path]);
      await using server = await new KserveServer({}).start();
      const { code, stderr } = await runRampart([...FLAGS, "cuda", "-u", server.url], { env: other.env });
      assert.equal(code, 99);
      assert.match(
        stderr,
        /^error: Unable to init infer data manager: .*the library libcudart\.so has no cudaSetDevice/,
      );
    } finally {
      other.remove();
    }
  });
});

function handleIn({ raw_handle }: SeenRegion): Uint8Array {
  return new Uint8Array(Buffer.from(raw_handle?.b64 ?? "", "base64"));
}

interface GrpcServer {
  readonly url: string;
  readonly seen: { readonly method: string; readonly message: Uint8Array }[];
  stop(): Promise<void>;
}

/** The mock over gRPC, which here shares memory too: it writes the calls down and answers inferences without data. */
async function startGrpcServer(): Promise<GrpcServer> {
  const inner = createGrpcServer(new MockModel(PLAIN_MOCK));
  const server = createServer();
  const seen: GrpcServer["seen"] = [];
  const tensor = { datatype: "INT32", shape: [1, 16] };
  const response = { model_name: "simple", outputs: ["OUTPUT0", "OUTPUT1"].map((name) => ({ name, ...tensor })) };
  server.on("stream", (stream: ServerHttp2Stream, headers) => {
    const method = String(headers[":path"]).split("/").at(-1) as string;
    if (!method.includes("SharedMemory") && method !== "ModelInfer") {
      inner.emit("stream", stream, headers);
      return;
    }
    const pieces: Buffer[] = [];
    stream.on("data", (piece: Buffer) => pieces.push(piece));
    stream.on("end", () => {
      seen.push({ method, message: new Uint8Array(Buffer.concat(pieces).subarray(5)) });
      const answer = method === "ModelInfer" ? encodeMessage(INFER_RESPONSE, response) : new Uint8Array(0);
      const prefix = Buffer.alloc(5);
      prefix.writeUInt32BE(answer.length, 1);
      stream.respond({ ":status": 200, "content-type": "application/grpc" }, { waitForTrailers: true });
      stream.on("wantTrailers", () => stream.sendTrailers({ "grpc-status": "0" }));
      stream.end(Buffer.concat([prefix, answer]));
    });
  });
  return {
    url: `127.0.0.1:${await listen(server)}`,
    seen,
    stop: () => new Promise((resolve) => server.close(() => resolve())),
  };
}
