import assert from "node:assert/strict";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { makeFolder, writeIn } from "../make-folder.ts";
import { startTfServing, type TfServing } from "../servers/tfserving.ts";
import { runRampart, runWithReport } from "./command.ts";

/** TensorFlow Serving over its official messages: every data type and way of input, counts that equal the server's, and failures. */

let server: TfServing;
const folder = makeFolder();
before(async () => {
  server = await startTfServing();
});
after(() => server?.stop());

const SIMPLE = ["--shape", "INPUT0:1,16", "--shape", "INPUT1:1,16"];
/** Three windows are always stable within 999 %: this suite is about counts. */
const WINDOWS = ["-p", "150", "-s", "1000000", "-r", "20"];

function flagsOf(model: string, flags: readonly string[]): string[] {
  const kind = ["--service-kind", "tfserving", "-i", "grpc", "-u", `127.0.0.1:${server.port}`];
  return ["perf_analyzer", "-m", model, ...kind, ...flags];
}

/** Writes an input file and returns its path. */
function write(name: string, content: object): string {
  return writeIn(folder, name, JSON.stringify(content));
}

describe("counts equal the server's:", () => {
  for (const [name, model, flags, count] of [
    ["one at a time", "simple", [...SIMPLE, "--request-count", "200"], 200],
    ["8 in flight", "simple", [...SIMPLE, "--request-count", "200", "--concurrency-range", "8"], 200],
    ["batches", "simple", ["-b", "4", "--request-count", "60"], 60],
    ["a warm-up", "simple", ["-b", "2", "--warmup-request-count", "10", "--request-count", "40"], 50],
    ["a rate", "simple", ["-b", "2", "--request-rate-range", "200", ...WINDOWS], undefined],
    ["levels", "simple", ["-b", "2", "--concurrency-range", "1:2", ...WINDOWS], undefined],
    ["gzip", "text", ["--shape", "text:40", "--grpc-compression-algorithm", "gzip", "--request-count", "20"], 20],
    ["grpc-js", "simple", ["-b", "2", "--client", "grpc-js", "--request-count", "40"], 40],
    ["every data type, random", "alltypes_content", ["-b", "2", "--request-count", "20"], 20],
    ["every data type, zero", "alltypes", ["-b", "2", "--input-data", "zero", "--request-count", "20"], 20],
    [
      "a signature and a label",
      "half_plus_two",
      ["--model-signature-name", "plus_three", "-x", "canary", "--shape", "x:2", "--request-count", "10"],
      10,
    ],
    ["a version", "half_plus_two", ["-x", "1", "--shape", "x:2", "--request-count", "10"], 10],
    ["an input of any rank", "any_rank", ["--shape", "x:2,3,4", "--request-count", "10"], 10],
    [
      "a signature without the usual name",
      "named_only",
      ["--model-signature-name", "first", "--shape", "x:1,4", "--request-count", "10"],
      10,
    ],
  ] as const)
    test(name, async () => {
      const earlier = await server.counts(model);
      const { code, report, stderr } = await runWithReport(flagsOf(model, flags));
      assert.equal(code, 0, stderr);
      const { ok, failed } = await server.counts(model);
      if (count !== undefined) assert.equal(report.requests.sent, count);
      assert.deepEqual([ok - earlier.ok, failed - earlier.failed], [report.requests.completed, report.requests.failed]);
    });
});

const VALUES = {
  BOOL: [true, false, true, false, true, false],
  UINT8: [0, 1, 2, 3, 4, 255],
  INT8: [-128, -1, 0, 1, 2, 127],
  UINT16: [0, 1, 2, 3, 4, 65535],
  INT16: [-32768, -1, 0, 1, 2, 32767],
  UINT32: [0, 1, 2, 3, 4, 4294967295],
  INT32: [-2147483648, -1, 0, 1, 2, 2147483647],
  UINT64: [0, 1, 2, 3, 4, 2 ** 53],
  INT64: [-(2 ** 53), -1, 0, 1, 2, 5],
  FLOAT: [-1.5, 0, 0.25, 1, 2, 3.5],
  DOUBLE: [-1.1, 0, 0.1, 1e300, 2, 3],
  STRING: ["a", "", "ccc", "é", "e", "f"],
};
/** Half floats have no JSON form in input files: 0.5, 1, 2, 3, 4, 5 as bytes. */
const HALF = Buffer.from(new Uint8Array(new Uint16Array([0x3800, 0x3c00, 0x4000, 0x4200, 0x4400, 0x4500]).buffer));
const HALF_ENTRY = { b64: HALF.toString("base64"), shape: [1, 2, 3] };

/** Every type as inputs, or as the outputs that are expected. */
function allTypes(prefix: string, change: Readonly<Record<string, unknown>> = {}): object {
  const entries = Object.entries({ ...VALUES, ...change }).map(([type, content]) => [
    `${prefix}${type}`,
    { content, shape: [1, 2, 3] },
  ]);
  return { ...Object.fromEntries(entries), [`${prefix}HALF`]: HALF_ENTRY };
}

describe("validation", () => {
  for (const [model, more] of [
    ["alltypes", {}],
    ["alltypes_content", { BFLOAT16: HALF_ENTRY }],
  ] as const)
    test(`every data type of ${model} comes back as it was sent`, async () => {
      const inputs = { ...allTypes("IN_"), ...prefixed("IN_", more) };
      const outputs = { ...allTypes("OUT_"), ...prefixed("OUT_", more) };
      const file = write(`${model}.json`, { data: [inputs], validation_data: [outputs] });
      const { code, stderr } = await runRampart(flagsOf(model, ["--input-data", file, "--request-count", "4"]));
      assert.equal(code, 0, stderr);
    });

  for (const [type, content] of [
    ["INT64", [-(2 ** 53), -1, 0, 1, 2, 6]],
    ["STRING", ["a", "", "ccc", "e", "e", "f"]],
    ["BOOL", [true, false, true, false, true, true]],
  ] as const)
    test(`finds another ${type}`, async () => {
      const wrong = { data: [allTypes("IN_")], validation_data: [allTypes("OUT_", { [type]: content })] };
      const file = write(`wrong-${type}.json`, wrong);
      const { code, stderr } = await runRampart(flagsOf("alltypes", ["--input-data", file, "--request-count", "4"]));
      assert.equal(code, 99);
      assert.match(stderr, new RegExp(`OUT_${type}`));
    });
});

function prefixed(prefix: string, entries: object): object {
  return Object.fromEntries(Object.entries(entries).map(([name, value]) => [`${prefix}${name}`, value]));
}

describe("input data", () => {
  test("of several shapes is sent in turn, and its values are exported", async () => {
    const data = [{ x: { content: [1, 2, 3], shape: [3] } }, { x: { content: [8], shape: [1] } }];
    const file = write("shapes.json", { data });
    const path = join(folder, "shapes-export.json");
    const flags = ["--input-data", file, "--request-count", "2", "--profile-export-file", path];
    const { code, stderr } = await runRampart(flagsOf("half_plus_two", flags));
    assert.equal(code, 0, stderr);
    const exported = JSON.parse(readFileSync(path, "utf8")) as {
      service_kind: string;
      experiments: { requests: { request_inputs: object; response_outputs: object[] }[] }[];
    };
    assert.equal(exported.service_kind, "tfserving");
    assert.deepEqual(
      exported.experiments[0]?.requests.map(({ request_inputs, response_outputs }) => [
        request_inputs,
        ...response_outputs,
      ]),
      [
        [{ x: [1, 2, 3] }, { y: [2.5, 3, 3.5] }],
        [{ x: 8 }, { y: 6 }],
      ],
    );
  });

  test("of a directory is sent", async () => {
    const directory = join(folder, "directory");
    mkdirSync(directory);
    writeFileSync(join(directory, "x"), Buffer.from(new Float32Array([2, 4]).buffer));
    const flags = ["--input-data", directory, "--shape", "x:2", "--request-count", "3"];
    const { code, stderr } = await runRampart(flagsOf("half_plus_two", flags));
    assert.equal(code, 0, stderr);
  });

  test("of an input that does not exist is refused with those that do", async () => {
    const file = write("wrong-name.json", { data: [{ z: { content: [1], shape: [1] } }] });
    const earlier = await server.counts("half_plus_two");
    const { code, stderr } = await runRampart(flagsOf("half_plus_two", ["--input-data", file]));
    assert.equal(code, 99);
    assert.match(stderr, /'?z'?/);
    assert.match(stderr, /\bx\b/);
    assert.deepEqual(await server.counts("half_plus_two"), earlier);
  });
});

describe("is refused before the first request:", () => {
  for (const [what, model, flags, ...parts] of [
    ["a model that does not exist", "nosuch", [], /Latest\(nosuch\)/, /no call that lists its models/],
    [
      "a version that does not exist",
      "half_plus_two",
      ["-x", "9"],
      /Specific\(half_plus_two, 9\)/,
      /versions 2, 1: give one in -x/,
    ],
    [
      "a label that does not exist",
      "half_plus_two",
      ["-x", "beta"],
      /label: beta/,
      /versions 2, 1/,
      /not a number is a label/,
    ],
    [
      "a signature that does not exist",
      "half_plus_two",
      ["--model-signature-name", "first"],
      /"first"/,
      /plus_three, serving_default/,
    ],
    ["batches of an unknown rank", "any_rank", ["-b", "2"], /'x' has an unknown rank/],
    ["shared memory", "simple", ["-b", "2", "--shared-memory", "system"], /does not support CreateSharedMemoryRegion/],
  ] as const)
    test(what, async () => {
      const earlier = await server.counts(model);
      const { code, stderr } = await runRampart(flagsOf(model, [...flags, "--request-count", "5"]));
      assert.equal(code, 99, stderr);
      for (const part of parts as readonly RegExp[]) assert.match(stderr, part);
      assert.deepEqual(await server.counts(model), earlier);
    });
});

/** Writes a scenario with a target and a load of 30 requests. */
function writeScenario(name: string, target: string): string {
  const text = `import { defineScenario, hold, tfserving } from "rampart";
export default defineScenario({
  name: "${name}",
  target: tfserving("127.0.0.1:${server.port}", ${target}),
  load: hold(3, { requests: 30 }),
});
`;
  return writeIn(folder, `${name}.ts`, text);
}

function runScenario(name: string, target: string): ReturnType<typeof runWithReport> {
  return runWithReport(["run", writeScenario(name, target)]);
}

describe("in scenarios", () => {
  test("failures are counted and explained, and the others are measured", async () => {
    const earlier = await server.counts("every_third");
    const { report } = await runScenario("thirds", '{ model: "every_third", shapes: { x: [1, 4] } }');
    assert.deepEqual([report.requests.completed, report.requests.failed], [20, 10]);
    const { ok, failed } = await server.counts("every_third");
    assert.deepEqual([ok - earlier.ok, failed - earlier.failed], [20, 10]);
    assert.deepEqual(
      report.failures.map(({ kind, count, example }) => [kind, count, /the third of three/.test(example)]),
      [["grpc", 10, true]],
    );
  });

  test("a good status with a bad tensor is a failure", async () => {
    const { report } = await runScenario("bad", '{ model: "broken", shapes: { x: [1, 4] } }');
    assert.deepEqual([report.requests.completed, report.requests.failed], [0, 30]);
    assert.match(report.failures[0]?.example ?? "", /'y' has 5 values, where shape \[1,4\] has 4/);
  });

  test("only the outputs that are asked for are sent", async () => {
    const target = '{ model: "simple", batchSize: 2, outputs: ["OUTPUT1"], version: "1" }';
    const { code, report, stderr } = await runScenario("outputs", target);
    assert.equal(code, 0, stderr);
    assert.equal(report.requests.completed, 30);
  });

  test("an output that does not exist is refused with those that do", async () => {
    const { code, stderr } = await runRampart([
      "run",
      writeScenario("no-output", '{ model: "simple", batchSize: 2, outputs: ["SUM"] }'),
    ]);
    assert.notEqual(code, 0);
    assert.match(stderr, /no output 'SUM'/);
    assert.match(stderr, /OUTPUT0, OUTPUT1/);
  });
});
