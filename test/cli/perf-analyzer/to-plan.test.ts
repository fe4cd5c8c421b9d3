import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { asksZeros, isPathsOnly, pathsOf } from "../../../src/cli/perf-analyzer/input-data.ts";
import { parseOptions } from "../../../src/cli/perf-analyzer/options/table.ts";
import { readSettings, type Settings } from "../../../src/cli/perf-analyzer/settings.ts";
import { type PlanFromFlags, toPlan } from "../../../src/cli/perf-analyzer/to-plan.ts";
import { word } from "../../../src/plan/messages.ts";
import { DEFAULT_SEQUENCES } from "../../../src/plan/sequences.ts";
import { NO_TELEMETRY } from "../../../src/plan/telemetry.ts";
import { DEFAULT_TLS } from "../../../src/plan/tls.ts";
import { checkPlan } from "../../../src/registry/check-plan.ts";

/** What values mean, and what plan comes of them. */

function read(flags: string): { settings: Settings; warnings: readonly string[]; built: PlanFromFlags } {
  const { settings, problems, warnings } = readSettings(
    parseOptions(["-m", "simple", ...flags.split(" ").filter(Boolean)]),
  );
  assert.deepEqual(problems, []);
  const built = toPlan(settings);
  assert.deepEqual(built.problems, []);
  checkPlan(built.plan);
  return { settings, warnings, built };
}

test("TLS flags without effect are reported", () => {
  const told = (flags: string): readonly string[] => read(flags).built.warnings;
  const file = fileURLToPath(import.meta.url);
  assert.deepEqual(told("--ssl-grpc-use-ssl -i grpc"), []);
  assert.deepEqual(told("--ssl-https-verify-peer 0 -u https://host"), []);
  assert.match(told("--ssl-grpc-use-ssl").join(), /--ssl-grpc flags have no effect without -i grpc/);
  assert.match(told(`-i grpc --ssl-grpc-private-key-file ${file}`).join(), /without -i grpc and --ssl-grpc-use-ssl/);
  assert.match(told("--ssl-https-verify-peer 0").join(), /--ssl-https flags have no effect without an https/);
  assert.match(told("--ssl-https-verify-peer 0 -i grpc -u https://host").join(), /--ssl-https flags/);
});

test("--ssl-grpc-use-ssl takes the bool that perf_analyzer's help names", () => {
  const usesTls = (flags: string): boolean | undefined => {
    const { built, warnings } = read(`-i grpc ${flags}`);
    assert.deepEqual([warnings, built.warnings], [[], []]);
    return "tls" in built.plan.target ? built.plan.target.tls.isEnabled : undefined;
  };
  for (const flags of ["--ssl-grpc-use-ssl", "--ssl-grpc-use-ssl true", "--ssl-grpc-use-ssl=true", "--ssl-grpc-u true"])
    assert.equal(usesTls(flags), true, flags);
  for (const flags of [
    "",
    "--ssl-grpc-use-ssl false",
    "--ssl-grpc-use-ssl=false",
    "--ssl-grpc-use-ssl --ssl-grpc-u=false",
  ])
    assert.equal(usesTls(flags), false, flags);
  for (const flags of ["--ssl-grpc-use-ssl=no", "--ssl-grpc-use-ssl="]) {
    const { problems } = readSettings(parseOptions(["-m", "simple", ...flags.split(" ")]));
    assert.match(
      word(problems[0]?.message ?? ""),
      /Failed to parse --ssl-grpc-use-ssl\. The value must be either true or false/,
    );
  }
});

/** Options that perf_analyzer 2.60 ignores with service kinds that do not have what they are about. */
const OF_SOME_KINDS = {
  endpoint: ["--endpoint v1/x"],
  library: ["--model-repository /m", "--triton-server-directory /t"],
  method: ["--grpc-method a.B/C"],
  sequences: [
    "--sequence-length 3",
    "--sequence-length-variation 5",
    "--sequence-id-range 4:900",
    "--num-of-sequences 3",
    "--serial-sequences",
  ],
  signatures: ["--model-signature-name s"],
  tensors: ["--shape A:1", "--string-length 4", "--string-data a"],
  triton: [
    "--bls-composing-models a",
    "--input-tensor-format json",
    "--output-tensor-format json",
    "--trace-file f",
    "--trace-level TIMESTAMPS",
    "--trace-rate 5",
    "--trace-count 6",
    "--log-frequency 7",
  ],
  versions: ["-x 3"],
};

describe("options without effect are ignored with a note, and leave the plan as it is, with", () => {
  const file = fileURLToPath(import.meta.url);
  for (const [kind, needed, without] of [
    ["triton", "", "endpoint library method signatures"],
    ["triton", "-i grpc", "endpoint library method signatures"],
    [
      "openai",
      `--endpoint v1/x --async --input-data ${file}`,
      "library method sequences signatures tensors triton versions",
    ],
    ["torchserve", `--input-data ${file}`, "endpoint library method sequences signatures tensors triton"],
    [
      "dynamic_grpc",
      `--grpc-method a.B/C --input-data ${file}`,
      "endpoint library sequences signatures tensors triton versions",
    ],
    ["tfserving", "-i grpc", "endpoint library method sequences triton"],
    ["triton_c_api", "--model-repository /m", "endpoint method signatures"],
  ] as const)
    test(`${kind} ${needed.replace(file, "FILE")}`, () => {
      const plain = `--service-kind ${kind} ${needed}`;
      const flags = without.split(" ").flatMap((feature) => OF_SOME_KINDS[feature as keyof typeof OF_SOME_KINDS]);
      const { built } = read(`${plain} ${flags.join(" ")}`);
      const notes = flags.map((flag) => `rampart: ${flag.split(" ")[0]} has no effect with --service-kind ${kind}.`);
      assert.deepEqual([...built.warnings].sort(), notes.sort());
      assert.deepEqual(built.plan, read(plain).built.plan);
    });
});

test("signatures of TensorFlow Serving are not ignored", () => {
  const { built } = read("--model-signature-name s --service-kind tfserving -i grpc");
  assert.deepEqual(built.warnings, []);
  assert.equal("signatureName" in built.plan.target && built.plan.target.signatureName, "s");
});

test("without flags the plan is perf_analyzer's default", () => {
  const { built } = read("");
  assert.deepEqual(built.plan, {
    version: 1,
    name: "simple",
    target: {
      kind: "triton",
      url: "localhost:8000",
      protocol: "http",
      model: "simple",
      modelVersion: "",
      batchSize: 1,
      isStreaming: false,
      inputTensorFormat: "binary",
      outputTensorFormat: "binary",
      headers: [],
      shapes: {},
      sharedMemory: "none",
      outputSharedMemoryBytes: 102_400,
      parameters: {},
      compression: "none",
      composingModels: [],
      tls: DEFAULT_TLS,
    },
    load: { kind: "concurrency", levels: { kind: "list", values: [1] }, search: "linear" },
    sequences: DEFAULT_SEQUENCES,
    inputs: { kind: "random", stringLength: 128, stringData: "" },
    measurement: {
      mode: { kind: "time-windows", windowMs: 5000, stabilityPct: 10, maxTrials: 10 },
      warmupRequests: 0,
      percentile: null,
      latencyLimitMs: null,
    },
    client: { kind: "own", callMode: "auto", maxLanes: 16, stallTimeoutMs: 60_000, isMpi: false },
    failures: { maxRatio: 0 },
    telemetry: NO_TELEMETRY,
    assertions: [],
    outputs: {
      style: "perf_analyzer",
      verbosity: 0,
      files: {},
      isVerboseCsv: false,
    },
    behaviour: {
      queriesThroughBuiltInClient: true,
      startsEarly: true,
      waitsForSilentServer: true,
      skipsRunCounters: true,
      needsCounters: true,
      measuresLevelsOnce: true,
      measuresFromNothing: true,
      countsCutSequences: true,
      usesWholeHost: true,
      waitsForServer: true,
      acceptsOtherOutputs: true,
      sendsMisfits: true,
    },
  });
  assert.deepEqual(built.warnings, []);
});

/** Numbers as C reads them: the beginning of the text counts, and the user is told what was read. */
const prefixes: readonly (readonly [flags: string, key: (settings: Settings) => unknown, value: unknown])[] = [
  ["-p 1.5", ({ measurement }) => measurement.mode.windowMs, 1],
  ["-p 2x", ({ measurement }) => measurement.mode.windowMs, 2],
  ["-r 3e2", ({ measurement }) => measurement.mode.maxTrials, 3],
  ["-s 7.5%", ({ measurement }) => measurement.mode.stabilityPct, 7.5],
  ["-s 1e1", ({ measurement }) => measurement.mode.stabilityPct, 10],
  ["--percentile 99.9", ({ measurement }) => measurement.percentile, 99],
  ["--request-count 25req", ({ requestCount }) => requestCount, 25],
];

for (const [flags, key, value] of prefixes) {
  test(`the beginning of a number counts: ${flags}`, () => {
    const { settings, problems, warnings } = readSettings(parseOptions(flags.split(" ")));
    const [flag, text = ""] = flags.split(" ");
    assert.deepEqual(problems, []);
    assert.equal(key(settings), value);
    assert.equal(warnings.length, Number(text) === value ? 0 : 1);
    for (const warning of warnings) assert.ok(warning.includes(`${text} is read as ${value}.`), `${flag}: ${warning}`);
  });
}

test("numbers are read in base ten: 0x10 is 0", () => {
  const { problems } = readSettings(parseOptions(["-b", "0x10"]));
  assert.match(word(problems[0]?.message ?? ""), /The value must be > 0/);
});

test("white space and a sign before a number are C's too", () => {
  const { settings, problems } = readSettings(parseOptions(["-b", " +4", "-p", "\t250"]));
  assert.deepEqual(problems, []);
  assert.deepEqual([settings.target.batchSize, settings.measurement.mode.windowMs], [4, 250]);
});

test("the last of repeated flags counts, lists grow", () => {
  const { settings } = read("-b 1 -b 2 -p 100 -p 200 -H a:1 -H b:2 --shape X:1 --shape Y:2 --shape X:3");
  assert.deepEqual([settings.target.batchSize, settings.measurement.mode.windowMs], [2, 200]);
  assert.deepEqual(settings.target.headers, [
    ["a", "1"],
    ["b", "2"],
  ]);
  assert.deepEqual(settings.target.shapes, { X: [3], Y: [2] });
});

test("a shape's name ends at its last colon", () => {
  assert.deepEqual(read("--shape scope:input:2,3").settings.target.shapes, { "scope:input": [2, 3] });
});

test("-v counts to two", () => {
  for (const [flags, verbosity] of [
    ["-v", 1],
    ["-v -v", 2],
    ["-vv", 2],
    ["-v -v -v", 2],
  ] as const)
    assert.equal(read(flags).built.plan.outputs.verbosity, verbosity);
});

test("arguments that are not flags are ignored with a warning", () => {
  const { warnings } = read("extra -b 2");
  assert.equal(warnings.length, 1);
  assert.match(warnings[0] ?? "", /^'extra' is ignored/);
});

const levels: readonly (readonly [flags: string, levels: unknown])[] = [
  ["--concurrency-range 4", { kind: "list", values: [4] }],
  ["--concurrency-range 4:1", { kind: "list", values: [4] }],
  ["--concurrency-range 1:4", { kind: "range", start: 1, end: 4, step: 1 }],
  ["--concurrency-range 1:9:4", { kind: "range", start: 1, end: 9, step: 4 }],
  ["--concurrency-range 2:0:3 -l 5 --async", { kind: "range", start: 2, end: null, step: 3 }],
  ["--concurrency-range 2:0:3 -l 5", { kind: "range", start: 2, end: 16, step: 3, isThreadLimited: true }],
  ["--concurrency-range 2:0 -l 5 --max-threads 8", { kind: "range", start: 2, end: 8, step: 1, isThreadLimited: true }],
  ["--request-rate-range 10.5", { kind: "list", values: [10.5] }],
  ["--request-rate-range 10:20:2.5", { kind: "range", start: 10, end: 20, step: 2.5 }],
  ["--request-rate-range 10:0 -l 5", { kind: "range", start: 10, end: null, step: 1 }],
];

for (const [flags, expected] of levels) {
  test(`levels of ${flags}`, () => {
    const { load } = read(flags).built.plan;
    assert.deepEqual("levels" in load ? load.levels : undefined, expected);
  });
}

const lanes: readonly (readonly [flags: string, maxLanes: number | null, callMode: string])[] = [
  ["--concurrency-range 8", 16, "auto"],
  ["--concurrency-range 8 --sync", null, "sync"],
  ["--concurrency-range 8 --max-threads 2", 2, "auto"],
  ["--concurrency-range 8 --async", 16, "async"],
  ["--concurrency-range 1:32 --async", 32, "async"],
  ["--concurrency-range 1:32 --async --max-threads 5", 5, "async"],
  ["--request-rate-range 8", 4, "auto"],
  ["--request-rate-range 8 --max-threads 3 --async", 3, "async"],
  ["-i grpc --streaming", 16, "async"],
];

for (const [flags, maxLanes, callMode] of lanes) {
  test(`threads of ${flags}`, () => {
    const { client } = read(flags).built.plan;
    assert.deepEqual([client.maxLanes, client.callMode], [maxLanes, callMode]);
  });
}

test("a synchronous run warns about --max-threads and an open end", () => {
  assert.match(read("--max-threads 4").built.warnings.join(), /^WARNING: Overriding max_threads/);
  assert.match(
    read("--concurrency-range 1:0 -l 9").built.warnings.join(),
    /^WARNING: The maximum attainable concurrency/,
  );
  assert.deepEqual(read("--max-threads 4 --async").built.warnings, []);
});

const modes: readonly (readonly [flags: string, mode: object])[] = [
  ["-p 200 -s 5 -r 7", { kind: "time-windows", windowMs: 200, stabilityPct: 5, maxTrials: 7 }],
  [
    "--measurement-mode count_windows",
    { kind: "count-windows", requestsPerWindow: 50, stabilityPct: 10, maxTrials: 10 },
  ],
  ["--request-count 9", { kind: "requests", count: 9 }],
  ["--request-count 9 --measurement-mode count_windows", { kind: "requests", count: 9 }],
];

for (const [flags, mode] of modes) {
  test(`measurement of '${flags}'`, () => assert.deepEqual(read(flags).built.plan.measurement.mode, mode));
}

test("the port of -u follows from the protocol, headers lose the blanks before their value", () => {
  assert.equal(read("-i grpc").built.plan.target.protocol, "grpc");
  const { target } = read("-i GRPC -H a:b:c").built.plan;
  assert.ok(target.kind === "triton");
  assert.equal(target.url, "localhost:8001");
  assert.deepEqual(target.headers, [["a", "b:c"]]);
});

test("--input-data chooses the kind of data", () => {
  assert.equal(read("--input-data random").built.plan.inputs.kind, "random");
  assert.equal(read("--input-data zero").built.plan.inputs.kind, "zero");
  assert.deepEqual(read("--input-data .").built.plan.inputs, { kind: "directory", directory: "." });
  const file = fileURLToPath(import.meta.url);
  const { settings } = readSettings(parseOptions(["-m", "simple", "--input-data", file]));
  assert.deepEqual(toPlan(settings).plan.inputs, { kind: "json", files: [file], refusesShortFloats: true });
  // A directory is read alone; what is left out is told.
  const { plan, warnings } = toPlan({ ...settings, inputData: [".", file, ".."] });
  assert.deepEqual(plan.inputs, { kind: "directory", directory: "." });
  assert.deepEqual(
    warnings.map((line) => line.split(":")[1]),
    [` --input-data ${file} is ignored`, " --input-data .. is ignored"],
  );
});

test("a binary search has the ends that were given, of one level too", () => {
  const levelsOf = (flags: string): unknown => {
    const { load } = read(`${flags} -l 5`).built.plan;
    return "levels" in load ? load.levels : undefined;
  };
  for (const range of ["--request-rate-range", "--concurrency-range"]) {
    assert.deepEqual(levelsOf(`${range} 1:1 --binary-search`), { kind: "range", start: 1, end: 1, step: 1 });
    assert.deepEqual(levelsOf(`${range} 2:8:2 --binary-search`), { kind: "range", start: 2, end: 8, step: 2 });
  }
});

/** What the values of `--input-data` ask for. */

for (const [values, expected] of [
  [[], { zeros: false, paths: [], pathsOnly: false }],
  [["zero"], { zeros: true, paths: [], pathsOnly: false }],
  [["a.json", "zero", "b"], { zeros: true, paths: ["a.json", "b"], pathsOnly: false }],
  [["a.json"], { zeros: false, paths: ["a.json"], pathsOnly: true }],
] as const) {
  test(`--input-data ${values.join(" ") || "not given"} is read as ${JSON.stringify(expected)}`, () => {
    const read = { zeros: asksZeros(values), paths: pathsOf(values), pathsOnly: isPathsOnly(values) };
    assert.deepEqual(read, expected);
  });
}
