import assert from "node:assert/strict";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { before, beforeEach, test } from "node:test";
import { fileURLToPath } from "node:url";
import { makeFolder } from "../make-folder.ts";
import { installTriton, readInstallation } from "../servers/triton-install.ts";
import { TINY } from "../tokenize/tiny.ts";
import { type Outcome, runRampart } from "./command.ts";

/**
 * genai-perf's endpoint type tensorrtllm_engine, on a model with the inputs and outputs of TensorRT-LLM's engine in Triton in process. The
 * model writes what it received and sent.
 */

const root = join(import.meta.dirname, "..", "..");
const MODELS = fileURLToPath(new URL("../servers/engine-models", import.meta.url));
const OTHER_MODELS = fileURLToPath(new URL("../servers/triton-models", import.meta.url));
/** In that tokenizer's files: `<|eos|>`, `<|im_start|>` and `<|im_end|>`. */
const IDS = { end: 1, messageStart: 2, messageEnd: 3 };

let folder: string;
let directory: string;
let env: Readonly<Record<string, string>>;

before(async () => {
  const installed = readInstallation(await installTriton());
  directory = join(installed.backends, "..");
  env = { ...installed.env, PATH: `${installed.env["PATH"]}:${join(root, "node_modules/.bin")}` };
});
beforeEach(() => {
  folder = makeFolder();
});

/** What the model received and sent for one request. */
interface Logged {
  readonly input_ids: readonly number[];
  readonly request_output_len: readonly [number];
  readonly min_length: readonly number[] | null;
  readonly end_id: readonly number[] | null;
  readonly temperature: readonly number[] | null;
  readonly streaming: readonly boolean[] | null;
  readonly sent: readonly number[];
}

type Ids = readonly number[] | number | "";

interface Exported {
  readonly timestamp: number;
  readonly request_inputs: { readonly input_ids: Ids; readonly request_output_len: number };
  readonly response_timestamps: readonly number[];
  readonly response_outputs: readonly { readonly output_ids: Ids }[];
}

type Statistics = Readonly<Record<"avg" | "min" | "max", number>>;

interface Ran extends Outcome {
  readonly logged: readonly Logged[];
  readonly artifacts: string;
  readonly report: Readonly<Record<string, Statistics>>;
  readonly requests: readonly Exported[];
}

/** Runs genai-perf on the model; a flag after `--` replaces one given here. */
async function measure(
  before: readonly string[],
  after: readonly string[] = [],
  command = "profile",
): Promise<Outcome> {
  const common = ["-m", "tensorrt_llm", "--endpoint-type", "tensorrtllm_engine", "--tokenizer", TINY];
  const places = ["--triton-server-directory", directory, "--model-repository", MODELS];
  const args = [...common, "--artifact-dir", join(folder, "artifacts"), ...before, "--", ...places, ...after];
  return runRampart(["genai-perf", command, ...args], { env: { ...env, ENGINE_LOG: join(folder, "log") } });
}

function readLog(): Logged[] {
  const lines = readFileSync(join(folder, "log"), "utf8").trim().split("\n");
  return lines.map((line) => JSON.parse(line) as Logged);
}

/** Runs a profile, which must succeed, and reads its files. */
async function profile(before: readonly string[], after: readonly string[] = []): Promise<Ran> {
  const outcome = await measure(before, after);
  assert.equal(outcome.code, 0, outcome.stderr);
  const [artifacts = ""] = readdirSync(join(folder, "artifacts"));
  const read = (name: string): unknown =>
    JSON.parse(readFileSync(join(folder, "artifacts", artifacts, name), "utf8")) as unknown;
  const exported = read("profile_export.json") as {
    service_kind: string;
    experiments: readonly { requests: readonly Exported[] }[];
  };
  assert.equal(exported.service_kind, "triton_c_api");
  const report = read("profile_export_genai_perf.json") as Ran["report"];
  return { ...outcome, logged: readLog(), artifacts, report, requests: exported.experiments[0]?.requests ?? [] };
}

function toList(ids: Ids): readonly number[] {
  if (ids === "") return [];
  return typeof ids === "number" ? [ids] : ids;
}

function idsOf({ response_outputs: outputs }: Exported): number[] {
  return outputs.flatMap(({ output_ids: ids }) => toList(ids));
}

/** Sorts requests, which end in another order than they were sent. */
function sorted<T>(items: readonly T[]): string[] {
  return items.map((item) => JSON.stringify(item)).sort();
}

test("streams of ids: counts are the model's and Triton's, times are those of the responses", async () => {
  const load = ["--concurrency", "2", "--request-count", "12", "--streaming"];
  const lengths = ["--synthetic-input-tokens-mean", "9", "--output-tokens-mean", "7", "--output-tokens-stddev", "3"];
  const extra = ["--extra-inputs", "set_end_id:true", "--extra-inputs", "temperature:0.5"];
  const ran = await profile([...load, ...lengths, ...extra, "--output-tokens-mean-deterministic"], ["-v"]);
  const { stdout, logged, artifacts, report, requests } = ran;
  assert.equal(artifacts, "tensorrt_llm-tensorrtllm_engine-concurrency2");
  assert.match(stdout, / {4}Inference count: 12\n[\s\S]* {4}Successful request count: 12\n/);
  assert.equal(report["request_count"]?.avg, 12);
  assert.deepEqual(
    sorted(requests.map((one) => [toList(one.request_inputs.input_ids), idsOf(one)])),
    sorted(logged.map(({ input_ids, sent }) => [input_ids, sent])),
  );
  for (const { input_ids, request_output_len: asked, min_length, ...others } of logged) {
    assert.deepEqual([input_ids.length, others.sent.length, min_length], [9, asked[0], asked]);
    assert.deepEqual([others.end_id, others.temperature, others.streaming], [[IDS.end], [0.5], [true]]);
  }
  const sentCounts = logged.map(({ sent }) => sent.length);
  assert.ok(new Set(sentCounts).size > 1, `${sentCounts}`);
  const { output_sequence_length: outputs, input_sequence_length: inputs, inter_token_latency: gaps } = report;
  const sum = sentCounts.reduce((all, count) => all + count, 0);
  assert.deepEqual([outputs?.min, outputs?.max], [Math.min(...sentCounts), Math.max(...sentCounts)]);
  assert.ok(Math.abs((outputs?.avg ?? 0) - sum / 12) < 1e-9);
  assert.deepEqual([inputs?.min, inputs?.max], [9, 9]);
  const firstMs = requests.map((one) => ((one.response_timestamps[0] ?? 0) - one.timestamp) / 1e6);
  // Doubles keep times since 1970 to a quarter of a microsecond.
  assert.ok(Math.abs((report["time_to_first_token"]?.min ?? 0) - Math.min(...firstMs)) < 0.002, `${firstMs}`);
  assert.ok((report["time_to_first_token"]?.min ?? 0) >= 10, "the model waits 10 ms before its first id");
  assert.ok((gaps?.min ?? 0) > 0);
});

test("without --streaming a response is one response; a payload file gives lengths, the tokenizer its chat template", async () => {
  const file = join(folder, "in.jsonl");
  const lines = [
    { text: "the first prompt", output_length: 4 },
    { text: "and another one", output_length: 11, temperature: 0.25 },
  ];
  writeFileSync(file, lines.map((line) => JSON.stringify(line)).join("\n"));
  const load = ["--concurrency", "1", "--request-count", "4", "--input-file", `payload:${file}`];
  const { stdout, stderr, logged, report, requests } = await profile([
    ...load,
    ...["--extra-inputs", "apply_chat_template:true"],
  ]);
  assert.deepEqual(
    logged.map(({ sent, temperature, streaming }) => [sent.length, temperature, streaming]),
    [
      [4, null, null],
      [11, [0.25], null],
      [4, null, null],
      [11, [0.25], null],
    ],
  );
  for (const { input_ids: ids } of logged) {
    assert.equal(ids[0], IDS.messageStart);
    assert.ok(ids.includes(IDS.messageEnd));
  }
  for (const one of requests) assert.equal(one.response_outputs.filter(({ output_ids: ids }) => ids !== "").length, 1);
  assert.deepEqual([report["output_sequence_length"]?.min, report["output_sequence_length"]?.max], [4, 11]);
  assert.doesNotMatch(stdout, /First Token/);
  assert.doesNotMatch(stderr, /came together/);
});

test("--periodic-concurrency-range after -- sends groups, each after some responses of the one before", async () => {
  const periodic = ["--periodic-concurrency-range", "1:5:2", "--request-period", "3"];
  const { artifacts, report, requests, logged } = await profile(["--streaming", "--osl", "12"], periodic);
  assert.equal(artifacts, "tensorrt_llm-tensorrtllm_engine-periodic_concurrency");
  assert.deepEqual([report["request_count"]?.avg, requests.length, logged.length], [5, 5, 5]);
  const [first, ...others] = requests.toSorted((a, b) => a.timestamp - b.timestamp);
  const thirdNs = first?.response_timestamps[2] ?? Number.NaN;
  for (const { timestamp } of others) assert.ok(timestamp >= thirdNs, `${timestamp} before ${thirdNs}`);
});

test("a sweep starts the library for each point, and its exports are merged", async () => {
  const sweep = ["--sweep-type", "concurrency", "--sweep-list", "1,2", "--request-count", "4", "--osl", "3"];
  const swept = await measure([...sweep, "--streaming"], [], "analyze");
  assert.equal(swept.code, 0, swept.stderr);
  assert.deepEqual(
    readLog().map(({ sent }) => sent.length),
    Array(8).fill(3),
  );
  const merged = await runRampart([
    "genai-perf",
    "process-export-files",
    "-d",
    join(folder, "artifacts"),
    "--artifact-dir",
    join(folder, "merged"),
  ]);
  assert.equal(merged.code, 0, merged.stderr);
  assert.match(merged.stdout, /Output Sequence Length \(tokens\) │ +3\.00 /);
});

test("inputs that the model lacks are named once; nothing is sent", async () => {
  const count = ["--request-count", "3"];
  const unknown = await measure([...count, "--extra-inputs", "top_k:5"]);
  assert.equal(unknown.code, 1);
  assert.match(unknown.stderr, /data\[0\]\.top_k: .*'top_k' is not found/);
  assert.equal(unknown.stderr.match(/^Error: /gm)?.length, 1, unknown.stderr);
  const other = await measure([...count, "-m", "simple"], ["--model-repository", OTHER_MODELS]);
  assert.equal(other.code, 1);
  assert.match(
    other.stderr,
    /^Error: -m: the model has no input input_ids: the endpoint type tensorrtllm_engine sends/m,
  );
  assert.match(other.stderr, /The model has INPUT0, INPUT1\. Measure it with rampart perf_analyzer/);
  assert.equal(other.stderr.match(/^Error: /gm)?.length, 1, other.stderr);
});
