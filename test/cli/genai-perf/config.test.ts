import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { Asked } from "../../../src/cli/genai-perf/options/asked.ts";
import { ALL_OPTIONS, DEFAULTS } from "../../../src/cli/genai-perf/options/subcommands.ts";
import { toInputConfig } from "../../../src/cli/genai-perf/plan/to-input-config.ts";
import { toProfilePlan } from "../../../src/cli/genai-perf/plan/to-plan.ts";
import { formatTemplate, writeTemplate } from "../../../src/cli/genai-perf/template.ts";
import { word } from "../../../src/plan/messages.ts";
import { formatPythonJson } from "../../../src/report/genai-perf/python-format.ts";
import { makeFolder, writeIn } from "../../make-folder.ts";
import { golden, read, readBad, readGood, readYaml } from "./read.ts";

const folder = makeFolder();

function file(name: string, text: string): string {
  return writeIn(folder, name, text);
}

const CONFIG = `model_names: [tiny]
endpoint:
  type: chat
  streaming: true
  url: http://localhost:8101
perf_analyzer:
  stimulus:
    concurrency: 2
  measurement:
    mode: request_count
    num: 10
input:
  num_dataset_entries: 5
  random_seed: 42
  synthetic_tokens: {mean: 50, stddev: 5}
  output_tokens: {mean: 10}
tokenizer:
  name: tok
`;

test("the plain template is the original's, byte by byte", () => {
  assert.equal(formatTemplate(false), golden("template.txt"));
});

for (const isVerbose of [false, true])
  test(`a template with only the model filled in gives the defaults, verbose ${isVerbose}`, () => {
    const text = formatTemplate(isVerbose).replace("model_names: ", "model_names: tiny");
    const path = file(`template-${isVerbose}.yaml`, text);
    const { asked, warnings } = readGood("config", "-f", path);
    assert.deepEqual(asked.values, new Map([...DEFAULTS, ["model_names", ["tiny"]]]));
    assert.deepEqual(warnings, []);
  });

test("the verbose template explains every key, in words of files", () => {
  const text = formatTemplate(true);
  const comments = text.replaceAll(/\n *# /g, " ");
  for (const { key, help, isCommented } of ALL_OPTIONS) {
    if (key === undefined) continue;
    assert.match(text, new RegExp(`^ +(# +)?${key.split(".").at(-1)}:`, "m"), key);
    const start = help.split("--")[0] as string;
    if (isCommented !== true) assert.ok(comments.includes(start.trim()), key);
  }
  for (const line of text.split("\n")) assert.ok(line.length <= 110, line);
  assert.doesNotMatch(text, /--[a-z]/);
});

test("a template is written once", () => {
  const path = join(folder, "new.yaml");
  writeTemplate(path, false);
  assert.equal(readFileSync(path, "utf8"), golden("template.txt"));
  assert.throws(() => writeTemplate(path, true), /already exists\. Please specify a different filename/);
  assert.equal(readFileSync(path, "utf8"), golden("template.txt"));
});

test("a file sets the same settings as flags", () => {
  const fromFile = readGood("config", "-f", file("cfg.yaml", CONFIG)).asked.values;
  const fromFlags = readGood(
    "profile",
    ...["-m", "tiny", "--endpoint-type", "chat", "--streaming", "-u", "http://localhost:8101", "--concurrency", "2"],
    ...["--request-count", "10", "--num-prompts", "5", "--random-seed", "42", "--isl", "50", "--tokenizer", "tok"],
    ...["--synthetic-input-tokens-stddev", "5", "--osl", "10"],
  ).asked.values;
  assert.deepEqual(fromFile, fromFlags);
});

test("every option of a file is read", () => {
  const builder = readYaml(`
model_name: a, b
analyze:
  request_rate: {start: 5, stop: 15, step: 5}
  input_sequence_length: [20, 60]
endpoint: {model_selection_strategy: RANDOM, backend: vllm, custom: /x, server_metrics_url: "http://a:1/metrics, http://b:2/metrics", streaming: yes}
perf_analyzer: {path: /pa, verbose: on, stimulus: fixed_schedule, stability_percentage: 12.5, measurement: {mode: interval, num: 500}}
input:
  extra: {temperature: 0.5, stop: [x]}
  goodput: {request_latency: 300}
  header: ["A: b", "C: d"]
  file: synthetic:queries,passages
  audio: {length: {mean: 1.5, stddev: 0.5}, depths: "16, 32", sample_rates: [16, 44.1], num_channels: 2, format: MP3}
  image: {width: {mean: 64}, height: {mean: 32, stddev: 2}, format: jpeg}
  output_tokens: {mean: 5, deterministic: true, stddev: 1}
  prefix_prompt: {num: 2, length: 30}
  sessions: {num: 3, turns: {mean: 2, stddev: 1}, turn_delay: {mean: 100, stddev: 5, ratio: 0.5}}
output: {artifact_directory: out, checkpoint_directory: cp, profile_export_file: x.json, generate_plots: true, enable_checkpointing: true}
tokenizer: {name: t, revision: r, trust_remote_code: false}
process: {input_path: in}
rampart: {request_rate_distribution: gamma, plot_formats: "svg, html", search_limits: {request_latency: 9}}
`);
  assert.deepEqual(builder.problems, []);
  const asked = new Asked(builder);
  assert.deepEqual(asked.get("analyze"), [
    { kind: "list", type: "request_rate", values: [5, 10, 15] },
    { kind: "list", type: "input_sequence_length", values: [20, 60] },
  ]);
  assert.deepEqual(
    {
      endpoint: asked.endpoint,
      path: asked.get("endpoint.custom"),
      executable: asked.get("perf_analyzer.path"),
      load: asked.get("perf_analyzer.stimulus"),
      measured: [asked.get("perf_analyzer.measurement.mode"), asked.get("perf_analyzer.measurement.num")],
      stabilityPct: asked.get("perf_analyzer.stability_percentage"),
      extra: asked.get("input.extra"),
      headers: asked.get("input.header"),
      tokenizer: asked.get("tokenizer.name"),
      folders: [asked.get("output.artifact_directory"), asked.get("output.checkpoint_directory")],
      export: asked.get("output.profile_export_file"),
      isKept: asked.get("output.enable_checkpointing"),
      merged: asked.get("process.input_path"),
      searchLimits: asked.get("rampart.search_limits"),
    },
    {
      endpoint: { type: "kserve", backend: "vllm" },
      path: "/x",
      executable: "/pa",
      load: { kind: "fixed_schedule" },
      measured: ["interval", 500],
      stabilityPct: 12.5,
      extra: { temperature: 0.5, stop: ["x"] },
      headers: ["A: b", "C: d"],
      tokenizer: "t",
      folders: ["out", "cp"],
      export: "x.json",
      isKept: true,
      merged: "in",
      searchLimits: { request_latency: 9 },
    },
  );
  const { requests, telemetry, outputs, measurement } = toProfilePlan(asked, "f", []);
  assert.deepEqual(telemetry.scrapes?.urls, ["http://a:1/metrics", "http://b:2/metrics"]);
  assert.deepEqual(
    [outputs.verbosity, outputs.files.plots, outputs.genaiPerf?.goodput, outputs.genaiPerf?.plotFormats],
    [1, "f/plots", { request_latency: 300 }, ["svg", "html"]],
  );
  assert.deepEqual([measurement.tokens?.revision, measurement.tokens?.wantsGaps], ["r", true]);
  const { layout, givenSource, prompts } = requests;
  assert.deepEqual(
    { layout, givenSource, prompts },
    {
      givenSource: "synthetic:queries,passages",
      layout: { models: ["a", "b"], modelSelection: "random", seed: 0, isStreaming: true, hasExactOutput: true },
      prompts: {
        audio: {
          lengthS: { mean: 1.5, stddev: 0.5 },
          format: "mp3",
          depthsBits: [16, 32],
          sampleRatesHz: [16_000, 44_100],
          channelCount: 2,
        },
        images: {
          widthPx: { mean: 64, stddev: 0 },
          heightPx: { mean: 32, stddev: 2 },
          format: "jpeg",
        },
        audioPerRequest: 1,
        imagesPerRequest: 1,
        textsPerRequest: 1,
        entryCount: 100,
        prefix: { count: 2, tokens: 30 },
        osl: { mean: 5, stddev: 1 },
        isl: { mean: 550, stddev: 0 },
        sessions: { count: 3, turns: { mean: 2, stddev: 1 }, delayMs: { mean: 100, stddev: 5 } },
        delayRatio: 0.5,
        source: { kind: "synthetic", names: ["queries", "passages"] },
        seed: 0,
        isRanking: false,
      },
    },
  );
});

test("errors name line, column and the nearest key, all of them together", () => {
  const { problems } = readYaml(`model_names: tiny
endpont: {}
endpoint:
  typ: chat
  streaming: maybe
perf_analyzer:
  stimulus: {concurency: 3}
  stability_percentage: 1000
  measurement: {mode: requests}
input:
  num_dataset_entries: 0
  synthetic_tokens:
    mean: 5.5
  audio: 7
  goodput: {request_latency: fast}
analyze:
  speed: {start: 1}
  concurrency: {start: 4, stop: 2}
`);
  assert.deepEqual(
    problems.map(({ path, message, hint }) => `${path} ${message} / ${hint}`),
    [
      "cfg.yaml:2:1 User Config: endpont is not a valid top-level parameter / Did you mean endpoint?",
      "cfg.yaml:4:3 User Config: typ is not a valid endpoint parameter / Did you mean type?",
      "cfg.yaml:5:14 User Config: streaming must be true or false / Give true or false.",
      "cfg.yaml:7:13 User Config: concurency not in list of choices: ['concurrency', 'request_rate', 'session_concurrency', 'fixed_schedule'] / Did you mean concurrency?",
      "cfg.yaml:8:25 User Config: 1000 exceeds upper bounds ({'lower': 1, 'upper': 999}) / Give 999 or less.",
      "cfg.yaml:9:23 User Config: requests not in list of choices: ['request_count', 'interval'] / Give one of request_count, interval.",
      "cfg.yaml:11:24 User Config: 0 exceeds lower bounds ({'lower': 1}) / Give 1 or more.",
      "cfg.yaml:13:11 User Config: mean must be a whole number / Give a whole number.",
      "cfg.yaml:14:10 User Config: audio must hold keys with values / Its keys: batch_size, length, format, depths, sample_rates, num_channels.",
      "cfg.yaml:15:12 User Config: goodput must be metrics with limits, such as {request_latency: 300} / Give metrics with limits, such as {request_latency: 300}.",
      "cfg.yaml:17:3 User Config: speed is not a valid analyze parameter / Use one of batch_size, runtime_batch_size, concurrency, num_dataset_entries, input_sequence_length, request_rate.",
      "cfg.yaml:18:3 --sweep-range max must be greater than min / Write 2:4, or give a list.",
    ],
  );
});

test("sweeps of a file have a limit of points together", () => {
  const { problems } = readYaml(`model_names: tiny
endpoint: {type: chat}
analyze:
  concurrency: {start: 1, stop: 1000, step: 1}
  request_rate: {start: 1, stop: 1000, step: 1}
`);
  assert.deepEqual(
    problems.map(({ path, message, hint }) => `${path} ${message} / ${hint}`),
    ["cfg.yaml:4:3 the sweep has 1000000 points / Give fewer values: at most 10000 points together."],
  );
});

test("keys of Rampart's own outputs set the same as their flags", () => {
  const own = `rampart:
  watch_port: 0
  otlp: host:4318
  html: page.html
  junit: junit.xml
  markdown: summary.md
  records: records.jsonl
`;
  const flags = "--watch-port 0 --otlp host:4318 --html page.html --junit junit.xml --markdown summary.md";
  const read = [
    readGood("config", "-f", file("own.yaml", `${CONFIG}${own}`)),
    readGood("profile", "-m", "tiny", ...flags.split(" "), "--records", "records.jsonl"),
  ];
  for (const { asked } of read) {
    const { watchPort, otlpUrl, files } = toProfilePlan(asked, "f", []).outputs;
    const { html, junit, markdown, records } = files;
    assert.deepEqual(
      [watchPort, otlpUrl, html, junit, markdown, records],
      [0, "http://host:4318/v1/metrics", "page.html", "junit.xml", "summary.md", "records.jsonl"],
    );
  }
  const wrong = readBad(
    "config",
    "-f",
    file("wrong.yaml", `${CONFIG}${own.replace("watch_port: 0", "watch_port: 70000")}`),
  );
  assert.match(wrong.join(), /^User Config: 70000 exceeds upper bounds/);
  const bad = readGood("config", "-f", file("bad.yaml", `${CONFIG}${own.replace("host:4318", "ftp://host")}`)).asked;
  assert.throws(() => toProfilePlan(bad, "f", []), /ftp:\/\/host|OTLP|http/);
});

test("a page, JUnit and Markdown are files of one run, and files of their own", () => {
  const flags = ["--html", "page.html", "--junit", "page.html", "--markdown", join(folder, "none", "x.md")];
  const profile = readBad("profile", "-m", "tiny", ...flags).join("\n");
  assert.match(profile, /^.*page\.html.*--html/m);
  assert.match(profile, /x\.md cannot be written/);
  const sweep = readBad("analyze", "-m", "tiny", "--html", "page.html", "--junit", "junit.xml").join("\n");
  for (const flag of ["--html", "--junit"])
    assert.match(sweep, new RegExp(`${flag} is the file of one run, and a sweep has many runs`));
});

test("invalid YAML and missing files are reported with their position", () => {
  assert.match(word(readYaml("a: [1, 2").problems[0]?.path ?? ""), /^cfg\.yaml:1:/);
  assert.match(word(readYaml("endpoint:\n  url: a\n  url: b\n").problems[0]?.path ?? ""), /^cfg\.yaml:3:3$/);
  assert.match(word(readYaml("- a\n").problems[0]?.message ?? ""), /must hold keys/);
  assert.deepEqual(readYaml("").problems, []);
  assert.match(readBad("config", "-f", join(folder, "none.yaml")).join(), /cannot be read/);
});

test("an empty value means not given, except for the model", () => {
  const { problems, values } = readYaml("model_names:\nendpoint:\n  url:\ninput:\n  audio:\n");
  assert.deepEqual(
    problems.map(({ path, message }) => `${path} ${message}`),
    ["cfg.yaml:1:13 User Config: model_names must be a string or list"],
  );
  assert.equal(values.get("endpoint.url"), "localhost:8001");
});

test("flags win over the file with --override-config, and are refused without it", () => {
  const path = file("override.yaml", `${CONFIG}  revision: v2\n`);
  const { asked } = readGood("config", "-f", path, "--override-config", "--concurrency", "1", "--isl", "7");
  assert.deepEqual(asked.get("perf_analyzer.stimulus"), { kind: "concurrency", value: 1 });
  assert.deepEqual(toProfilePlan(asked, "f", []).requests.prompts.isl, { mean: 7, stddev: 5 });
  assert.equal(asked.get("tokenizer.revision"), "v2");
  const refused = read("config", "-f", path, "--concurrency", "1");
  assert.ok(refused.kind === "config");
  assert.equal(refused.problems[0]?.path, "--concurrency");
  assert.match(String(refused.problems[0]?.message), /--override-config/);
  assert.equal(readGood("config", "-f", path, "-v").asked.get("-v"), true);
  const { asked: unchanged } = readGood("config", "-f", path, "--concurrency", "0");
  assert.deepEqual(unchanged.get("perf_analyzer.stimulus"), { kind: "concurrency", value: 2 });
});

test("windows without a length have 10 s, also in the JSON report", () => {
  const path = file("windows.yaml", "model_names: a\nperf_analyzer: {measurement: {mode: interval}}\n");
  const { asked } = readGood("config", "-f", path);
  const { perf_analyzer: exported } = toInputConfig(asked) as { perf_analyzer: { measurement: object } };
  assert.deepEqual(exported.measurement, { mode: "interval", num: 10_000 });
  const { mode } = toProfilePlan(asked, "f", []).measurement;
  assert.equal(mode.kind === "time-windows" && mode.windowMs, 10_000);
});

test("headers and extra inputs from flags replace the file's and add to each other", () => {
  const path = file("headers.yaml", "model_names: a\ninput: {header: ['A: 1'], extra: {a: 1}}\n");
  const override = ["config", "-f", path, "--override-config"];
  const { asked } = readGood(...override, "-H", "B: 2", "-H", "C: 3", "--extra-inputs", "b:2");
  assert.deepEqual(asked.get("input.header"), ["B: 2", "C: 3"]);
  assert.deepEqual(asked.get("input.extra"), { b: 2 });
});

test("a file becomes the subcommand that it asks for", () => {
  for (const [text, subcommand] of [
    ["model_names: a\n", "profile"],
    ["model_names: a\nanalyze: {concurrency: {start: 1, stop: 4}}\n", "analyze"],
    [`process: {input_path: ${folder}}\n`, "process-export-files"],
  ] as const)
    assert.equal(readGood("config", "-f", file("sub.yaml", text)).asked.subcommand, subcommand);
});

/** The text that the exported JSON has. */
function inputConfigOf(...args: string[]): string {
  const { asked } = readGood(...args);
  return `${formatPythonJson({ input_config: toInputConfig(asked) })}\n`;
}

const SMALL = ["-m", "tiny", "--tokenizer", "tok", "--random-seed", "42", "--url", "http://localhost:8101"];
const TOKENS = [
  "--num-dataset-entries",
  "10",
  "--synthetic-input-tokens-mean",
  "50",
  "--output-tokens-mean",
  "10",
  "--streaming",
];

test("the exported configuration is the original's, byte by byte", () => {
  const chat = ["--endpoint-type", "chat"];
  for (const [name, args] of [
    [
      "chat",
      [
        ...["profile", ...SMALL, ...chat, ...TOKENS, "--isl", "100", "--synthetic-input-tokens-stddev", "10"],
        ...["--osl", "20", "--output-tokens-stddev", "2", "--concurrency", "2", "--request-count", "20"],
        ...["--warmup-request-count", "2"],
      ],
    ],
    [
      "rate",
      [
        "profile",
        ...SMALL,
        "--endpoint-type",
        "completions",
        ...TOKENS,
        "--request-rate",
        "20",
        "--request-count",
        "40",
      ],
    ],
    [
      "prefix",
      [
        ...["profile", ...SMALL, ...chat, ...TOKENS, "--concurrency", "1", "--request-count", "4"],
        ...["--num-prefix-prompts", "2", "--prefix-prompt-length", "30"],
      ],
    ],
    ["config", ["config", "-f", file("cfg2.yaml", CONFIG)]],
  ] as const)
    assert.equal(inputConfigOf(...args), golden(`input-config-${name}.txt`), name);
});

test("payload files, sessions and floats are exported like in GenAI-Perf", () => {
  const path = file("sessions.jsonl", "{}\n");
  const args = ["profile", ...SMALL, "--endpoint-type", "chat", "--input-file", `payload:${path}`];
  const text = inputConfigOf(...args, "--session-concurrency", "2");
  assert.equal(text.replaceAll(path, "sessions.jsonl"), golden("input-config-sessions.txt"));
  const floats = inputConfigOf(
    "profile",
    "-m",
    "a",
    "-s",
    "50",
    "--endpoint-type",
    "multimodal",
    "--audio-length-mean",
    "1",
    "--audio-sample-rates",
    "16",
    "--goodput",
    "request_latency:3",
  );
  assert.match(floats, /"stability_percentage": 50\.0,/);
  assert.match(floats, /"sample_rates": \[\s*16\.0\s*\]/);
  assert.match(floats, /"request_latency": 3\.0/);
});

test("secrets in headers are not exported", () => {
  const text = inputConfigOf(
    "profile",
    "-m",
    "a",
    "-H",
    "Authorization:Bearer abc",
    "-H",
    "X-Api-Key: def",
    "-H",
    "X-Test:1",
  );
  assert.doesNotMatch(text, /abc|def"/);
  assert.match(text, /"X-Test:1"/);
});
