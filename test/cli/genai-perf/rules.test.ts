import assert from "node:assert/strict";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import type { Stimulus } from "../../../src/cli/genai-perf/loads.ts";
import { sweepValues } from "../../../src/cli/genai-perf/options/sweeps.ts";
import { toProfilePlan } from "../../../src/cli/genai-perf/plan/to-plan.ts";
import { read, readBad, readGood } from "./read.ts";

const M = ["profile", "-m", "tiny"];
const SCHEDULE = [...M, "--fixed-schedule", "--input-file", `payload:${fileURLToPath(import.meta.url)}`];
const CHAT = [...M, "--endpoint-type", "chat"];

const SESSIONS = ["--num-sessions", "2", "--endpoint-type", "chat"] as const;

test("the load: sessions take precedence, then the given load, else one request at a time", () => {
  for (const [args, stimulus] of [
    [[], { kind: "concurrency", value: 1 }],
    [["--concurrency", "4"], { kind: "concurrency", value: 4 }],
    [["--request-rate", "2.5"], { kind: "request_rate", value: 2.5 }],
    [["--concurrency", "4", "--session-concurrency", "2", ...SESSIONS], { kind: "session_concurrency", value: 2 }],
    [["--fixed-schedule", "--input-file", `payload:${import.meta.filename}`], { kind: "fixed_schedule" }],
    [["--fixed-schedule", "false"], { kind: "concurrency", value: 1 }],
  ] as const satisfies readonly (readonly [readonly string[], Stimulus])[])
    assert.deepEqual(readGood(...M, ...args).asked.get("perf_analyzer.stimulus"), stimulus);
});

test("the measurement: a number of requests or a window, whichever is given last", () => {
  const measured = (...args: string[]): unknown[] => {
    const { asked } = readGood(...M, ...args);
    return [asked.get("perf_analyzer.measurement.mode"), asked.get("perf_analyzer.measurement.num")];
  };
  assert.deepEqual(measured(), ["request_count", null]);
  assert.deepEqual(measured("-p", "500"), ["interval", 500]);
});

test("extra inputs are typed, merged in order, and null without a value", () => {
  const { asked } = readGood(
    ...CHAT,
    ...[
      "temperature:0.7",
      '{"top_p":0.9,"stop":["x"]}',
      "ignore_eos:true",
      "n:3",
      "presence_penalty:-0.5",
      "seed:-3",
      "min_p:1e-3",
      "suffix:-x",
      "id:007x",
      "flag",
      "url:http://h",
    ].flatMap((value) => ["--extra-inputs", value]),
  );
  assert.deepEqual(asked.get("input.extra"), {
    temperature: 0.7,
    top_p: 0.9,
    stop: ["x"],
    ignore_eos: true,
    n: 3,
    presence_penalty: -0.5,
    seed: -3,
    min_p: 0.001,
    suffix: "-x",
    id: "007x",
    flag: null,
    url: "http://h",
  });
  assert.deepEqual(readBad(...CHAT, "--extra-inputs", "a:1", "--extra-inputs", "a:2"), [
    "Input name already exists in request_inputs dictionary: a",
  ]);
  assert.equal(readBad(...CHAT, "--extra-inputs", "{bad}").length, 1);
  assert.equal(readBad(...CHAT, "--extra-inputs", "a:").length, 1);
});

test("goodput takes pairs and rejects anything else", () => {
  const { asked, warnings } = readGood(...CHAT, "--goodput", "request_latency:300", "time_to_first_tokn:1.5");
  assert.deepEqual(asked.get("input.goodput"), { request_latency: 300, time_to_first_tokn: 1.5 });
  assert.match(warnings.join(), /did you mean time_to_first_token\?/);
  assert.equal(readBad(...CHAT, "--goodput", "request_latency").length, 1);
  assert.equal(readBad(...CHAT, "--goodput", "request_latency:-1").length, 1);
});

test("sweeps: a list, a range that doubles, a range with a step, the type's default", () => {
  for (const [args, type, values] of [
    [["input_sequence_length", "--sweep-list", "20,60"], "input_sequence_length", [20, 60]],
    [["concurrency", "--sweep-range", "1:8"], "concurrency", [1, 2, 4, 8]],
    [["request_rate", "--sweep-range", "5:15:5"], "request_rate", [5, 10, 15]],
    [["request_rate", "--sweep-list", "0.5,2"], "request_rate", [0.5, 2]],
    [["batch_size"], "runtime_batch_size", [1, 2, 4, 8, 16, 32, 64, 128]],
    [["concurrency", "--sweep-list", "3", "--sweep-range", "1:8"], "concurrency", [3]],
  ] as const) {
    const { asked } = readGood("analyze", "-m", "a", "--endpoint-type", "embeddings", "--sweep-type", ...args);
    const [sweep] = asked.get("analyze");
    assert.ok(sweep !== undefined && sweep.type === type);
    assert.deepEqual(sweepValues(sweep), values);
  }
});

test("sweeps that make no sense are refused", () => {
  for (const [args, message] of [
    [[], "no parameter to vary is given"],
    [["--sweep-type", "concurrency", "--sweep-list", "1,x"], "'x' is not an int"],
    [["--sweep-type", "concurrency", "--sweep-list", "0"], "Values in -sweep-list must be positive"],
    [
      ["--sweep-type", "concurrency", "--sweep-range", "4"],
      "The format of '--sweep-range' must be min:max or min:max:step.",
    ],
    [["--sweep-type", "concurrency", "--sweep-range", "1:4:0"], "--sweep-range step value must be positive"],
    [["--sweep-type", "concurrency", "--sweep-range", "1:a"], "--sweep-range max value must be an int."],
  ] as const)
    assert.deepEqual(readBad("analyze", "-m", "a", ...args), [message]);
});

test("sweeps that contradict other settings are refused", () => {
  const analyze = (type: string, ...args: string[]): string[] =>
    readBad("analyze", "-m", "a", "--endpoint-type", "chat", "--sweep-type", type, ...args);
  const file = ["--input-file", "synthetic:queries"];
  assert.deepEqual(analyze("input_sequence_length", ...file), []);
  for (const [messages, pattern] of [
    [analyze("batch_size"), /requests of type chat hold one prompt/],
    [analyze("concurrency", "--request-count", "100"), /less than concurrency, which the sweep takes up to 1024/],
    [analyze("request_rate", "--sweep-list", "3,20", "--request-count", "10"), /less than request rate.* up to 20/],
    [
      analyze("num_dataset_entries", "--input-file", "payload:/dev/null"),
      /num_dataset_entries counts synthetic prompts/,
    ],
    [analyze("input_sequence_length", "--seq-dist", "256,128:100"), /both set the length/],
    [analyze("num_dataset_entries", "--search-limits", "request_latency:3"), /a search needs a load/],
    [analyze("concurrency", "--search-limits", "request_throughput:3"), /request_throughput cannot be limited/],
    [analyze("concurrency", "--search-limits", "request_latency.p98:3"), /p98 is not a statistic/],
    [analyze("concurrency", "--search-limits", "time_to_first_token:3"), /needs streamed responses/],
    [analyze("concurrency", "--search-limits", "image_latency:3"), /type chat have no image_latency/],
  ] as const) {
    assert.equal(messages.length, 1, messages.join());
    assert.match(messages[0] ?? "", pattern);
  }
  assert.match(readBad("process-export-files", "-d", ".", "--enable-checkpointing")[0] ?? "", /nothing to keep/);
});

test("settings that a sweep overrides are reported", () => {
  const sweep = ["--endpoint-type", "chat", "--sweep-type", "concurrency", "--checkpoint-dir", "x"];
  const { warnings } = readGood("analyze", "-m", "a", "--request-rate", "5", ...sweep);
  assert.deepEqual(warnings.length, 2);
  assert.match(warnings[0] ?? "", /concurrency replaces the load/);
  assert.match(warnings[1] ?? "", /--checkpoint-dir has no effect/);
});

test("invalid ranges and conflicts between settings are reported together, with exit code 1", () => {
  const result = read(
    "profile",
    ...["--endpoint-type", "chat", "--backend", "vllm", "-s", "1000", "--output-tokens-stddev", "3"],
    ...["--profile-export-file", "a/b.json", "--tokenizer-trust-remote-code", "--num-sessions", "-1"],
  );
  assert.ok(result.kind === "config");
  assert.deepEqual(
    result.problems.map(({ path }) => path),
    [
      ...["-s", "--num-sessions", "-m", "--backend", "--tokenizer-trust-remote-code", "--output-tokens-stddev"],
      "--profile-export-file",
    ],
  );
});

const ENGINE = [...M, "--endpoint-type", "tensorrtllm_engine"];
const REPOSITORY = ["--model-repository", "m"];

test("single rules", () => {
  for (const [args, message] of [
    [
      [...M, "--output-tokens-mean-deterministic"],
      "User Config: If output tokens deterministic is set, mean must also be set",
    ],
    [
      [...M, "--endpoint-type", "rankings", "--generate-plots"],
      "User Config: generate_plots is not supported with the OutputFormat.RANKINGS output format",
    ],
    [
      [...M, "--server-metrics-url", "gpu:8002/metrics"],
      "Invalid scheme '' in URL: gpu:8002/metrics. Use 'http' or 'https'.",
    ],
    [
      [...M, "--server-metrics-url", "http://gpu/metrics"],
      "Port missing in URL: http://gpu/metrics. A port number is required (e.g., ':8002').",
    ],
    [
      [...M, "--server-metrics-url", "http://gpu:1/stats"],
      "Invalid URL path '/stats' in http://gpu:1/stats. The path must include '/metrics'.",
    ],
    [
      [...M, "--endpoint-type", "tensorrtllm_engine"],
      "the endpoint type tensorrtllm_engine needs --model-repository after --: it runs Triton's library by itself",
    ],
    [
      [...ENGINE, "-u", "x:1", "--", ...REPOSITORY],
      "-u cannot be used with the endpoint type tensorrtllm_engine, which has no network",
    ],
    [
      [...ENGINE, "-H", "a:b", "--", ...REPOSITORY],
      "--header cannot be used with the endpoint type tensorrtllm_engine, which has no network",
    ],
    [
      [...ENGINE, "--batch-size-text", "2", "--", ...REPOSITORY],
      "--batch-size-text: The --batch-size-text flag is not supported for tensorrtllm_engine.",
    ],
    [
      [...ENGINE, "--tokenizer", "none", "--", ...REPOSITORY],
      "requests of the endpoint type tensorrtllm_engine have the ids of tokens, which only a tokenizer can give",
    ],
    [[...M, "--fixed-schedule"], "a fixed schedule needs a payload file with a timestamp in each line"],
    [[...M, "--input-file", "payload:/does/not/exist"], "File not found: /does/not/exist"],
    [[...M, "--concurrency", "8", "--request-count", "4"], "--request-count can not be less than concurrency"],
    [[...M, "-H", "nocolon"], "a header needs a colon"],
    [[...M, "--concurrency", "-1"], "the load must be above 0"],
    [[...M, "--request-count", "-1"], "must be above 0"],
    [
      [...M, "--endpoint-type", "embeddings", "--streaming"],
      "The --streaming option is not supported for openai_embeddings.",
    ],
    [[...M, "--endpoint-type", "rankings", "--streaming"], "The --streaming option is not supported for rankings."],
    [[...M, "--endpoint-type", "nvclip", "--streaming"], "The --streaming option is not supported for nvclip."],
    [[...M, "--concurrency-limit", "3"], "--concurrency-limit needs --request-rate"],
    [
      [...M, "--request-rate", "5", "--request-rate-smoothness", "2"],
      "--request-rate-smoothness needs --request-rate-distribution gamma",
    ],
    [
      [...M, "--request-rate", "5", "--concurrency-ramp-duration", "2"],
      "--concurrency-ramp-duration needs --concurrency",
    ],
    [
      [...M, "--concurrency", "5", "--request-rate-ramp-duration", "2"],
      "--request-rate-ramp-duration needs --request-rate",
    ],
    [[...M, "--fixed-schedule-speed", "2"], "--fixed-schedule-speed needs --fixed-schedule"],
    [
      [...SCHEDULE, "--fixed-schedule-start-offset", "7", "--fixed-schedule-end-offset", "6"],
      "the schedule ends before it starts",
    ],
    [
      [...SCHEDULE, "--fixed-schedule-start-offset", "7", "--fixed-schedule-auto-offset"],
      "the schedule begins either with its first request or at --fixed-schedule-start-offset",
    ],
    [[...SCHEDULE, "--fixed-schedule-speed", "0"], "User Config: 0 exceeds lower bounds ({'lower': 0.001})"],
    [
      [...M, "--request-rate", "5", "--concurrency-limit", "0"],
      "User Config: 0 exceeds lower bounds ({'lower': 1, 'upper': 100000})",
    ],
    [[...M, "--benchmark-grace-period", "3"], "--benchmark-grace-period needs --benchmark-duration"],
    [
      ["process-export-files", "-d", "/does/not/exist"],
      "User Config: input path /does/not/exist is not a valid directory.",
    ],
  ] as const)
    assert.deepEqual(readBad(...args), [message], args.join(" "));
});

test("a schedule may begin and end at the same time, and each option has its meaning", () => {
  const moment = ["--fixed-schedule-start-offset", "7", "--fixed-schedule-end-offset", "7"];
  const { asked } = readGood(...SCHEDULE, ...moment, "--fixed-schedule-speed", "2.5");
  const part = { startMs: 7, endMs: 7, startsAtFirst: false, speedRatio: 2.5 };
  assert.deepEqual(toProfilePlan(asked, "f", []).load, { kind: "fixed-schedule", part });
});

test("calls of a method need its name and a file of commands, and nothing that changes prompts", () => {
  const grpc = [...M, "--endpoint-type", "dynamic_grpc"];
  const file = ["--input-file", "package.json"];
  const method = ["--grpc-method", "a.B/C"];
  const needsFile = "the endpoint type dynamic_grpc needs a file or folder of commands";
  const onlyMessages = "calls of the endpoint type dynamic_grpc have only the messages that their command writes";
  for (const [args, messages] of [
    [grpc, ["the endpoint type dynamic_grpc needs --grpc-method", needsFile]],
    [
      [...grpc, ...file, "--grpc-method", "B"],
      ["the endpoint type dynamic_grpc needs a --grpc-method of the form package.Service/Method"],
    ],
    [[...grpc, ...method, "--input-file", "synthetic:a"], [needsFile]],
    [[...grpc, ...method, "--input-file", "payload:package.json"], [needsFile]],
    [[...grpc, ...method, ...file, "--input-format", "sharegpt"], [needsFile]],
    [
      [...grpc, ...method, ...file, "--extra-inputs", "a:1", "--num-prefix-prompts", "2", "--osl", "3"],
      [onlyMessages, onlyMessages, onlyMessages],
    ],
    [
      [...grpc, ...method, ...file, "--batch-size-text", "2"],
      ["--batch-size-text: The --batch-size-text flag is not supported for dynamic_grpc."],
    ],
    [[...grpc, ...method, ...file], []],
  ] as const)
    assert.deepEqual(readBad(...args), messages, args.join(" "));
});

test("warns of settings without effect", () => {
  for (const [args, warning] of [
    [
      ["--endpoint-type", "dynamic_grpc", "--grpc-method", "a.B/C", "--input-file", "package.json", "--streaming"],
      /no effect with dynamic_grpc: the method decides/,
    ],
    [["--session-turns-mean", "4"], /--session-turns-mean has no effect without --num-sessions/],
    [["--session-concurrency", "2", ...SESSIONS, "-p", "9"], /has no effect with --session-concurrency/],
    [["--prefix-prompt-length", "7"], /without --num-prefix-prompts/],
    [["--request-rate", "5", "--request-cancellation-rate", "9"], /several requests share a gRPC stream/],
    [["--isl", "9", "--sequence-distribution", "8,4:100"], /--isl has no effect beside --sequence-distribution/],
    [["--osl", "9", "--sequence-distribution", "8,4:100"], /--osl has no effect beside --sequence-distribution/],
    [["--benchmark-duration", "5", "-s", "9"], /-s has no effect beside --benchmark-duration/],
    [
      ["--endpoint-type", "chat", "-u", "http://h:1/v1/"],
      /requests go to http:\/\/h:1\/v1\/v1\/chat\/completions: leave \/v1 out/,
    ],
  ] as const)
    assert.match(readGood(...M, ...args).warnings.join(), warning);
});

test("0 means that a number is not given, where GenAI-Perf has another default", () => {
  const { asked: usual } = readGood(...M);
  const numbers = [
    ...["--concurrency", "--request-rate", "--session-concurrency", "--request-count", "-p", "-s", "--isl", "--osl"],
    ...["-b", "--batch-size-image", "--batch-size-audio", "--prefix-prompt-length", "--session-turns-mean"],
    "--session-delay-ratio",
  ];
  for (const name of numbers) {
    const { asked, warnings } = readGood(...M, name, "0");
    assert.deepEqual([...asked.values], [...usual.values], name);
    assert.ok(
      warnings.some((text) => text.startsWith(`${name} 0 has no effect: like in GenAI-Perf`)),
      name,
    );
  }
  for (const name of ["--random-seed", "--warmup-request-count", "--num-sessions", "--num-prefix-prompts"])
    assert.deepEqual(readGood(...M, name, "0").warnings, [], name);
  assert.equal(readBad(...M, "--osl", "0", "--output-tokens-stddev", "3").length, 1);
});

test("a base URL, and a length without a mix, are nothing to warn of", () => {
  const args = ["--endpoint-type", "chat", "-u", "http://h:1/api", "--isl", "9", "-s", "9"];
  assert.deepEqual(readGood(...M, ...args).warnings, []);
});

test("a list of values given as a range names the flag for lists", () => {
  const result = read("analyze", "-m", "a", "--sweep-type", "concurrency", "--sweep-range", "1,2");
  assert.match(JSON.stringify(result), /Write for example --sweep-range 1:8, or the values as --sweep-list 1,2\./);
});
