// Runs on: bun, deno, node; alone: it uses names of shared memory.
import assert from "node:assert/strict";
import {
  closeSync,
  existsSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { runtimeName } from "../../../src/runtime/runtime.ts";
import { QUICK_WINDOWS, readProfile, runCommand, startCommand } from "../../cli/perf-analyzer/run-command.ts";
import { makeFolder, writeIn } from "../../make-folder.ts";
import { type KserveOptions, KserveServer, type SeenInfer, takeMs, withServer } from "../../run/kserve-server.ts";
import { LIMIT } from "../../time-limit.ts";

/** What the flags of shared memory do. Their names say which flags. */

const INT32_16 = { datatype: "INT32", dims: [16] };

/** Names that no other test has, whatever runs beside this one. */
function namesFor(test: string): { A: string; B: string; SUM: string } {
  const own = `${test}-${runtimeName}-${process.pid}`;
  return { A: `A-${own}`, B: `B-${own}`, SUM: `SUM-${own}` };
}

/** Adds two tensors of INT32[16] in the memory that the request names. */
function addInMemory({ json }: SeenInfer): undefined {
  const read = (index: number): Int32Array => {
    const { parameters } = json.inputs[index] as SeenInfer["json"]["inputs"][number];
    const bytes = readFileSync(join("/dev/shm", parameters?.shared_memory_region ?? ""));
    return new Int32Array(new Uint8Array(bytes).buffer);
  };
  const [a, b] = [read(0), read(1)];
  writeOutput(json, new Uint8Array(a.map((value, index) => value + (b[index] as number)).buffer));
}

/** Writes an output where the request wants it. */
function writeOutput(json: SeenInfer["json"], bytes: Uint8Array): undefined {
  const { shared_memory_region = "", shared_memory_offset = 0 } = json.outputs?.[0]?.parameters ?? {};
  const file = openSync(join("/dev/shm", shared_memory_region), "r+");
  writeSync(file, bytes, 0, bytes.length, shared_memory_offset);
  closeSync(file);
}

function adder(names: { A: string; B: string; SUM: string }, more: Partial<KserveOptions> = {}): KserveOptions {
  return {
    inputs: [names.A, names.B].map((name) => ({ name, ...INT32_16 })),
    outputs: [{ name: names.SUM, ...INT32_16 }],
    onInfer: addInMemory,
    ...more,
  };
}

function leftovers(names: object): string[] {
  const parts = Object.values(names) as string[];
  return readdirSync("/dev/shm").filter((file) => parts.some((part) => file.includes(part)));
}

/** Steps whose sums all differ, and what they must be. */
function writeSums(file: string, names: { A: string; B: string; SUM: string }, mistake = 0): void {
  const steps = [10, 20, 30, 40];
  const fill = (value: number): number[] => new Array<number>(16).fill(value);
  writeFileSync(
    file,
    JSON.stringify({
      data: steps.map((step) => ({ [names.A]: fill(step), [names.B]: fill(1) })),
      validation_data: steps.map((step) => ({ [names.SUM]: fill(step + 1 + mistake) })),
    }),
  );
}

test(
  "--shared-memory system puts tensors into memory shared with the server, and requests name their places",
  LIMIT,
  async () => {
    const names = namesFor("put");
    const key = (name: string): string => `/${name}`;
    await withServer(adder(names), async (server) => {
      const { code, err } = await runCommand([
        "-m",
        "simple",
        "-u",
        server.url,
        "-b",
        "2",
        "--shared-memory",
        "system",
        "--request-count",
        "5",
      ]);
      assert.equal(code, 0, err);
      const regions = [names.SUM, `${names.A}_0_0`, `${names.B}_0_0`];
      assert.deepEqual(
        server.seenRegions,
        regions.map((name) => ({ kind: "system", name, key: key(name), offset: 0, byte_size: 128 })),
      );
      assert.equal(server.infers.length, 5);
      for (const { json, binary, body, headers } of server.infers) {
        assert.equal(binary.length, 0);
        assert.equal(headers["inference-header-content-length"], String(body.length));
        const at = (region: string): object => ({ shared_memory_region: region, shared_memory_byte_size: 128 });
        assert.deepEqual(json, {
          id: "",
          inputs: [names.A, names.B].map((name) => ({
            name,
            datatype: "INT32",
            shape: [2, 16],
            parameters: at(`${name}_0_0`),
          })),
          outputs: [{ name: names.SUM, parameters: at(names.SUM) }],
        });
      }
      assert.equal(server.regions.size, 0, "all are unregistered");
      const questions = server.requests.map(({ path }) => path).filter((path) => !path.endsWith("/infer"));
      assert.deepEqual(questions.slice(2, 7), [
        ...regions.map((name) => `/v2/systemsharedmemory/region/${name}/register`),
        "/v2",
        "/v2/models/simple/stats",
      ]);
    });
    assert.deepEqual(leftovers(names), []);
  },
);

for (const load of [
  ["--concurrency-range", "4"],
  ["--async", "--concurrency-range", "8", "--max-threads", "2"],
  ["--request-rate-range", "200"],
  ["--async", "--request-rate-range", "200"],
]) {
  test(`validation reads each request's own outputs from shared memory (${load.join(" ")})`, LIMIT, async () => {
    const names = namesFor(load.join("").replaceAll(/\W/g, ""));
    // Responses overtake each other, so that a shared place would hold another request's sum.
    const onInfer = async (request: SeenInfer): Promise<undefined> => {
      addInMemory(request);
      await takeMs((request.index % 3) * 4);
    };
    const folder = makeFolder();
    const file = join(folder, "sums.json");
    writeSums(file, names);
    await withServer(adder(names, { onInfer }), async (server) => {
      const args = ["-m", "simple", "-u", server.url, "--shared-memory", "system", "--input-data", file];
      const { code, err } = await runCommand([...args, "--request-count", "200", ...load]);
      assert.equal(code, 0, err);
      assert.equal(server.infers.length, 200);
      assert.ok(server.maxOutstanding > 1);
      const offsets = new Set(server.infers.map(({ json }) => json.outputs?.[0]?.parameters?.shared_memory_offset));
      assert.ok(offsets.size > 1, "each request outstanding has a place of its own");
    });
    writeSums(file, names, 1);
    await withServer(adder(names, { onInfer }), async (server) => {
      const args = ["-m", "simple", "-u", server.url, "--shared-memory", "system", "--input-data", file];
      const { code, err } = await runCommand([...args, "--request-count", "200", ...load]);
      assert.equal(code, 99);
      assert.match(err, /: SUM-\S+ differs at byte 0/);
      assert.equal(server.regions.size, 0);
    });
    assert.deepEqual(leftovers(names), []);
  });
}

test("more requests outstanding than there are places for outputs end the run", LIMIT, async () => {
  const names = namesFor("many");
  const folder = makeFolder();
  const file = join(folder, "sums.json");
  writeSums(file, names);
  await withServer(adder(names), async (server) => {
    server.hold();
    const args = ["-m", "simple", "-u", server.url, "--shared-memory", "system", "--input-data", file];
    const { code, err } = await runCommand([...args, "--async", "--request-rate-range", "1000"]);
    assert.equal(code, 99);
    assert.match(err, /^error: more than 256 requests are in flight, and each needs its own place for outputs/m);
    assert.equal(server.maxOutstanding, 256);
    server.release();
  });
  assert.deepEqual(leftovers(names), []);
});

test("outputs of type BYTES are read from shared memory as long as they are", LIMIT, async () => {
  const names = namesFor("bytes");
  const element = Buffer.from("\u0003\0\0\0sum");
  const onInfer = ({ json }: SeenInfer): undefined => writeOutput(json, element);
  const folder = makeFolder();
  const file = join(folder, "data.json");
  const outputs = [{ name: names.SUM, datatype: "BYTES", dims: [1] }];
  for (const [expected, code] of [
    ["sum", 0],
    ["sums", 99],
  ] as const) {
    const data = [{ [names.A]: new Array<number>(16).fill(1), [names.B]: new Array<number>(16).fill(1) }];
    writeFileSync(file, JSON.stringify({ data, validation_data: [{ [names.SUM]: [expected] }] }));
    await using server = await new KserveServer(adder(names, { outputs, onInfer })).start();
    const args = ["-m", "simple", "-u", server.url, "--shared-memory", "system", "--input-data", file];
    const result = await runCommand([...args, "--request-count", "8", "--concurrency-range", "2"]);
    assert.equal(result.code, code, result.err);
    if (code === 99) assert.match(result.err, /: SUM-\S+ has 7 bytes, expected 8/);
  }
});

test("--output-shared-memory-size is the memory for one item of an output whose size varies", LIMIT, async () => {
  const names = namesFor("size");
  const outputs = [
    { name: names.SUM, datatype: "BYTES", dims: [1] },
    { name: `${names.SUM}-2`, datatype: "INT32", dims: [-1] },
    { name: `${names.SUM}-3`, ...INT32_16 },
  ];
  const sizesWith = async (...flags: string[]): Promise<number[]> => {
    await using server = await new KserveServer(adder(names, { outputs, onInfer: () => undefined })).start();
    const args = ["-m", "simple", "-u", server.url, "--shared-memory", "system", "--request-count", "2", "-b", "2"];
    const { code, err } = await runCommand([...args, ...flags]);
    assert.equal(code, 0, err);
    const outputRegions = server.seenRegions.filter(({ name }) => name.startsWith("SUM"));
    assert.deepEqual(
      server.infers[0]?.json.outputs?.map(({ parameters }) => parameters?.shared_memory_byte_size),
      outputRegions.map(({ byte_size }) => byte_size),
    );
    return await outputRegions.map(({ byte_size }) => byte_size);
  };
  assert.deepEqual(await sizesWith(), [204_800, 204_800, 128]);
  assert.deepEqual(await sizesWith("--output-shared-memory-size", "1000"), [2000, 2000, 128]);
  await using server = await new KserveServer(adder(names, { outputs, onInfer: () => undefined })).start();
  const args = ["-m", "simple", "-u", server.url, "--shared-memory", "system", "--output-shared-memory-size", "0"];
  const { code, err } = await runCommand([...args, "--request-count", "2"]);
  assert.equal(code, 99);
  assert.match(err, /^error: .*: unable to allocate .* 0 bytes for output/);
  assert.equal(server.regions.size, 0);
});

test("invalid values are rejected in perf_analyzer's words", LIMIT, async () => {
  for (const [flag, value, message] of [
    [
      "--shared-memory",
      "gpu",
      "Failed to parse --shared-memory. Unsupported type provided: 'gpu'. The available options are 'system', 'cuda', or 'none'.",
    ],
    [
      "--output-shared-memory-size",
      "-1",
      "Failed to parse --output-shared-memory-size. The value must be >= 0. (got '-1')",
    ],
    ["--output-shared-memory-size", "abc", "Failed to parse --output-shared-memory-size. Invalid value provided: abc"],
  ] as const) {
    const { code, err } = await runCommand(["-m", "simple", flag, value]);
    assert.equal(code, 99);
    assert.ok(err.includes(`Error: ${message}\n`), err);
  }
});

test("the profile export of a run with shared memory has empty tensors, like perf_analyzer's", LIMIT, async () => {
  const names = namesFor("export");
  const folder = makeFolder();
  const file = join(folder, "export.json");
  await withServer(adder(names), async (server) => {
    const args = ["-m", "simple", "-u", server.url, "--shared-memory", "system", "--request-count", "3"];
    const { code, err } = await runCommand([...args, "--profile-export-file", file]);
    assert.equal(code, 0, err);
  });
  const [experiment] = readProfile(file).experiments;
  assert.equal(experiment?.requests.length, 3);
  for (const { request_inputs, response_outputs } of experiment?.requests ?? []) {
    assert.deepEqual(request_inputs, { [names.A]: "", [names.B]: "" });
    assert.deepEqual(response_outputs, [{ [names.SUM]: "" }]);
  }
});

test("regions of others are left alone: names that are taken are avoided", LIMIT, async () => {
  const names = namesFor("taken");
  const own = `_${process.pid}`;
  // As a file of another process, and as a region at the server.
  const foreign = join("/dev/shm", `${names.B}_0_0`);
  writeFileSync(foreign, "theirs");
  try {
    for (const registered of ["", names.SUM]) {
      await withServer(adder(names), async (server) => {
        const theirs = { kind: "system", name: registered, key: "/theirs", byte_size: 4 } as const;
        if (registered !== "") {
          rmSync(foreign, { force: true });
          server.regions.set(registered, theirs);
        }
        const args = ["-m", "simple", "-u", server.url, "--shared-memory", "system", "--request-count", "3"];
        const { code, err } = await runCommand(args);
        assert.equal(code, 0, err);
        assert.match(err, /^rampart: the shared memory region \S+ exists already.* end in _\d+\.$/m);
        assert.ok(err.includes(`region ${registered === "" ? `${names.B}_0_0` : names.SUM} exists`), err);
        assert.deepEqual([...server.regions.values()], registered === "" ? [] : [theirs]);
        assert.equal(server.infers[0]?.json.inputs[0]?.parameters?.shared_memory_region, `${names.A}_0_0${own}`);
      });
      if (registered === "") assert.equal(readFileSync(foreign, "utf8"), "theirs");
    }
  } finally {
    rmSync(foreign, { force: true });
  }
  assert.deepEqual(leftovers(names), []);
});

test("nothing is left behind after Ctrl-C, after an error, and when the server is gone or silent", LIMIT, async () => {
  const names = namesFor("left");
  const flags = ["-m", "simple", "--shared-memory", "system", "--concurrency-range", "2", "-p", "20000"];
  await withServer(adder(names), async (server) => {
    const running = startCommand([...flags, "-u", server.url]);
    await server.until(() => server.infers.length > 10);
    assert.equal(leftovers(names).length, 3);
    running.interrupt();
    assert.equal((await running.result).code, 99);
    assert.equal(server.regions.size, 0);
    assert.deepEqual(leftovers(names), []);
  });
  const failsLate = ({ index }: SeenInfer): string | undefined => (index > 5 ? "broken" : undefined);
  await withServer(adder(names, { onInfer: failsLate }), async (server) => {
    const { code, err } = await runCommand([...flags, "-u", server.url]);
    assert.equal(code, 99);
    assert.match(err, /had error: broken/);
    assert.equal(server.regions.size, 0);
    assert.deepEqual(leftovers(names), []);
  });
  await withServer(adder(names), async (server) => {
    const running = startCommand([...flags, "-u", server.url]);
    await server.until(() => server.infers.length > 10);
    await server.stop();
    assert.equal((await running.result).code, 99);
    assert.deepEqual(leftovers(names), []);
  });
  const silent = (verb: string): Promise<undefined> | undefined =>
    verb === "unregister" ? new Promise(() => {}) : undefined;
  await using server = await new KserveServer(adder(names, { onRegion: silent })).start();
  const { code, err } = await runCommand([...QUICK_WINDOWS, ...flags.slice(0, 6), "-u", server.url]);
  assert.equal(code, 0, err);
  assert.match(
    err,
    /^rampart: the server may still have shared memory of this run: it did not answer the request to unregister/m,
  );
  assert.deepEqual(leftovers(names), []);
});

test(
  "a server that refuses a region ends the run with its words, and what was registered is taken back",
  LIMIT,
  async () => {
    const names = namesFor("refused");
    const onRegion = (verb: string, name: string): string | undefined =>
      verb === "register" && name.startsWith("B") ? "Unable to open shared memory region" : undefined;
    await withServer(adder(names, { onRegion }), async (server) => {
      const { code, err } = await runCommand(["-m", "simple", "-u", server.url, "--shared-memory", "system"]);
      assert.equal(code, 99);
      assert.match(err, /^error: .*: failed to get shared memory region 'B-\S+' registered: Unable to open/);
      assert.match(err, /needs a server on this machine/);
      assert.equal(server.seenRegions.length, 2);
      assert.equal(server.regions.size, 0);
    });
    assert.deepEqual(leftovers(names), []);
  },
);

test("an optional input without data has no region", LIMIT, async () => {
  const names = namesFor("optional");
  const inputs = [
    { name: names.A, ...INT32_16 },
    { name: names.B, ...INT32_16, isOptional: true },
  ];
  const folder = makeFolder();
  const file = writeIn(folder, "data.json", JSON.stringify({ data: [{ [names.A]: new Array<number>(16).fill(1) }] }));
  await using server = await new KserveServer(adder(names, { inputs, onInfer: () => undefined })).start();
  const args = ["-m", "simple", "-u", server.url, "--shared-memory", "system", "--input-data", file];
  const { code, err } = await runCommand([...args, "--request-count", "2"]);
  assert.equal(code, 0, err);
  assert.deepEqual(
    server.seenRegions.map(({ name }) => name),
    [names.SUM, `${names.A}_0_0`],
  );
  assert.equal(server.infers[0]?.json.inputs.length, 1);
});

test("--shared-memory cuda without CUDA's library is an error that names it", LIMIT, async () => {
  // Where there is one, the library made for the test of it is not meant.
  if (existsSync("/usr/local/cuda/lib64/libcudart.so")) return;
  const names = namesFor("nocuda");
  await using server = await new KserveServer(adder(names)).start();
  const { code, err } = await runCommand(["-m", "simple", "-u", server.url, "--shared-memory", "cuda"]);
  assert.equal(code, 99);
  assert.match(
    err,
    /^error: Unable to init infer data manager: Cannot open CUDA runtime library: could not open libcudart\.so/,
  );
  assert.match(err, /LD_LIBRARY_PATH/);
  assert.equal(server.seenRegions.length, 0);
  assert.equal(server.infers.length, 0);
});

test("a region that a request still uses is unregistered as soon as it can be", LIMIT, async () => {
  const names = namesFor("use");
  let asked = 0;
  const onRegion = (verb: string, name: string): string | undefined =>
    verb === "unregister" && ++asked <= 5
      ? `Cannot unregister shared memory region '${name}', it is currently in use.`
      : undefined;
  await using server = await new KserveServer(adder(names, { onRegion })).start();
  const args = ["-m", "simple", "-u", server.url, "--shared-memory", "system", "--request-count", "2"];
  const { code, err } = await runCommand(args);
  assert.equal(code, 0, err);
  assert.equal(asked, 8);
  assert.equal(server.regions.size, 0);
  assert.doesNotMatch(err, /unregistered/);
});

test("other users cannot access regions, unless the server runs as another user", LIMIT, async () => {
  const refusal = "failed to register shared memory region: Unable to open shared memory region";
  for (const { needed, mode, warning } of [
    { needed: 0, mode: 0o600, warning: false },
    { needed: 0o060, mode: 0o660, warning: true },
    { needed: 0o006, mode: 0o666, warning: true },
  ]) {
    const names = namesFor(`mode${needed}`);
    const modeOf = (name: string): number => statSync(join("/dev/shm", name)).mode & 0o777;
    const modes: number[] = [];
    const onRegion = (verb: string, name: string): string | undefined =>
      verb === "register" && (modeOf(name) & needed) !== needed ? refusal : undefined;
    const onInfer = (request: SeenInfer): undefined => {
      modes.push(...Object.values(names).map((name) => modeOf(leftovers({ name })[0] as string)));
      return addInMemory(request);
    };
    await withServer(adder(names, { onRegion, onInfer }), async ({ url }) => {
      const { code, err } = await runCommand(`-m simple -u ${url} --shared-memory system --request-count 1`.split(" "));
      assert.equal(code, 0, err);
      assert.equal(/the server runs as another user/.test(err), warning, err);
    });
    assert.ok(modes.length > 0 && modes.every((one) => one === mode), `${modes.map((one) => one.toString(8))}`);
    assert.deepEqual(leftovers(names), []);
  }
});
