import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { parseCommand } from "../../src/cli/genai-perf/options/parse.ts";
import { toProfilePlan } from "../../src/cli/genai-perf/plan/to-plan.ts";
import { headersOf } from "../../src/cli/genai-perf/plan/to-target.ts";
import { applyPoint, axesOf } from "../../src/cli/genai-perf/points.ts";
import { readSettings as readGenaiSettings } from "../../src/cli/genai-perf/read-settings.ts";
import { parseOptions } from "../../src/cli/perf-analyzer/options/table.ts";
import { readSettings } from "../../src/cli/perf-analyzer/settings.ts";
import { toPlan as toPerfAnalyzerPlan } from "../../src/cli/perf-analyzer/to-plan.ts";
import { toPromptSettings } from "../../src/inputs/prompts/prompt-dataset.ts";
import type { PromptSettings } from "../../src/inputs/prompts/settings.ts";
import { LIMITS } from "../../src/measure/tokens/goodput.ts";
import { isTimeMetric, nameOfMetric, type TokenMetric } from "../../src/measure/tokens/metrics.ts";
import type { Plan } from "../../src/plan/plan.ts";
import { UserError } from "../../src/plan/problem.ts";
import { msToNs } from "../../src/plan/units.ts";
import { goodput } from "../../src/scenario/assertions.ts";
import { defineScenario, type ScenarioDefinition } from "../../src/scenario/define.ts";
import { dir, json, random, zero } from "../../src/scenario/inputs.ts";
import { hold, periodic, ramp, steps } from "../../src/scenario/loads/concurrency.ts";
import { intervals, rate, rateSteps } from "../../src/scenario/loads/rates.ts";
import { fixedSchedule, type ScheduleOptions, trace } from "../../src/scenario/loads/schedules.ts";
import { sessions } from "../../src/scenario/loads/sessions.ts";
import { type PromptOptions, payloads, prompts } from "../../src/scenario/prompts.ts";
import { embedded } from "../../src/scenario/targets/embedded.ts";
import { grpc as anyGrpc } from "../../src/scenario/targets/grpc.ts";
import { openai } from "../../src/scenario/targets/llm.ts";
import { tfserving } from "../../src/scenario/targets/tfserving.ts";
import { triton } from "../../src/scenario/targets/triton.ts";
import { tritonInProcess } from "../../src/scenario/targets/triton-in-process.ts";
import { toPlan } from "../../src/scenario/to-plan.ts";
import { isOfScenario, MODES, type Mode } from "./counterparts.ts";

/**
 * A command line of a compatible mode and the scenario that says the same have the same part of the plan. The counterparts of all options are
 * in option-coverage.test.ts; here are those that end in the plan.
 */

/** Any existing file. */
const FILE = import.meta.filename;
const grpc = { protocol: "grpc", model: "m" } as const;
const at = "localhost:8001";
const simple = { name: "m", target: triton("localhost:8000", { model: "m" }), load: hold(1) } as const;
const over = (target: ScenarioDefinition["target"]) => ({ ...simple, target }) as unknown as ScenarioDefinition;
const under = (load: ScenarioDefinition["load"], rest: object = {}) =>
  ({ ...simple, load, ...rest }) as ScenarioDefinition;

type Part = (plan: Plan) => unknown;
const target: Part = (plan) => plan.target;
const load: Part = (plan) => plan.load;
const mode: Part = ({ measurement }) => measurement.mode;
const measurement: Part = (plan) => plan.measurement;
/** Only scenarios read tags from files of inputs, and take what perf_analyzer refuses there. */
const inputs: Part = (plan) => ({
  ...plan.inputs,
  ...{ readsTags: undefined, refusesLoadFields: undefined, refusesShortFloats: undefined },
});
/** For HTTP the address says whether TLS is used; a scenario's plan says it again. */
const httpsTarget: Part = ({ target: own }) => ({
  ...own,
  ...("tls" in own ? { tls: { ...own.tls, isEnabled: undefined } } : {}),
});
/** Scenarios send messages in order, and their paths start at a folder. */
const messages: Part = ({ inputs: { kind, ...rest } }) => ({
  kind,
  files: "messageFiles" in rest && rest.messageFiles,
});
const client: Part = ({ client: { maxLanes: _, callMode: __, ...rest } }) => rest;
const telemetry: Part = (plan) => plan.telemetry;
/** GenAI-Perf mode has all windows as one. */
const tokens: Part = (plan) => ({
  ...plan.measurement.tokens,
  keepsAllWindows: undefined,
  keepsBunchedRates: undefined,
  joinsTexts: undefined,
  omitsToolCalls: undefined,
});
const sequences: Part = (plan) => plan.sequences;
const cancellation: Part = (plan) => plan.cancellation;
const failures: Part = (plan) => plan.failures;

const OF_PERF_ANALYZER: readonly (readonly [args: string, scenario: ScenarioDefinition, ...parts: Part[]])[] = [
  ["-x 2 -b 3", over(triton("localhost:8000", { model: "m", version: "2", batchSize: 3 })), target],
  ["-u h:9 -H a:b", over(triton("h:9", { model: "m", headers: { a: "b" } })), target],
  ["--shape IN:3,4", over(triton("localhost:8000", { model: "m", shapes: { IN: [3, 4] } })), target],
  [
    "--shared-memory system --output-shared-memory-size 77",
    over(triton("localhost:8000", { model: "m", sharedMemory: "system", outputSharedMemoryBytes: 77 })),
    target,
  ],
  [
    "--input-tensor-format json --output-tensor-format json",
    over(triton("localhost:8000", { model: "m", inputTensorFormat: "json", outputTensorFormat: "json" })),
    target,
  ],
  ["-i grpc", over(triton(at, grpc)), target],
  ["-i grpc --streaming", over(triton(at, { ...grpc, streaming: true })), target],
  ["-i grpc --grpc-compression-algorithm gzip", over(triton(at, { ...grpc, compression: "gzip" })), target],
  [
    "-i grpc --request-parameter a:5:int --request-parameter b:true:bool",
    over(triton(at, { ...grpc, parameters: { a: 5, b: true } })),
    target,
  ],
  [
    "--bls-composing-models a:2,b",
    over(triton("localhost:8000", { model: "m", composingModels: ["a:2", "b"] })),
    target,
  ],
  [
    `-i grpc --ssl-grpc-use-ssl --ssl-grpc-root-certifications-file ${FILE} --ssl-grpc-private-key-file ${FILE} --ssl-grpc-certificate-chain-file ${FILE}`,
    over(triton(at, { ...grpc, tls: { ca: FILE, key: FILE, cert: FILE } })),
    target,
  ],
  [
    `-u https://h:8443 --ssl-https-verify-peer 0 --ssl-https-verify-host 0 --ssl-https-ca-certificates-file ${FILE} --ssl-https-client-certificate-file ${FILE} --ssl-https-client-certificate-type PEM --ssl-https-private-key-file ${FILE} --ssl-https-private-key-type PEM`,
    over(
      triton("https://h:8443", {
        model: "m",
        tls: { ca: FILE, cert: FILE, certType: "PEM", key: FILE, keyType: "PEM", verify: false },
      }),
    ),
    httpsTarget,
  ],
  [
    `--service-kind dynamic_grpc -i grpc -u localhost:8001 -m a.B/C --grpc-method a.B/C --proto ${FILE} --proto-path / --input-data ${FILE}`,
    over(anyGrpc(at, { method: "a.B/C", proto: FILE, importPaths: ["/"], file: FILE })),
    target,
    messages,
  ],
  [
    `--service-kind openai --async --endpoint v1/x --input-data ${FILE}`,
    {
      name: "m",
      target: openai("localhost:8000", { model: "m", path: "v1/x", tokenizer: "none" }),
      load: hold(1),
      inputs: payloads(FILE),
    } as ScenarioDefinition,
    target,
    inputs,
  ],
  [
    "--service-kind tfserving -i grpc --model-signature-name s",
    over(tfserving("localhost:8500", { model: "m", signature: "s" })),
    target,
  ],
  [
    "--service-kind triton_c_api --triton-server-directory /t --model-repository /r",
    over(tritonInProcess({ model: "m", directory: "/t", modelRepository: "/r" })),
    target,
  ],
  ["--concurrency-range 1:9:4", under(ramp(1, 9, { step: 4 })), load, mode],
  ["-d -t 2 -c 8 -l 30 --concurrency-range 2:8", under(ramp(2, 8), { latencyLimit: "30 ms" }), load, measurement],
  ["-t 5", under(hold(5)), load],
  ["--request-rate-range 10:30:10", under(rateSteps([10, 20, 30])), mode],
  ["--request-rate-range 10", under(rate(10, { seed: 5489 })), load],
  [
    "--request-rate-range 10 --request-distribution poisson",
    under(rate(10, { distribution: "poisson", seed: 5489 })),
    load,
  ],
  [`--request-intervals ${FILE}`, under(intervals(FILE)), load],
  [`--fixed-schedule --input-data ${FILE}`, under(fixedSchedule(), { inputs: json(FILE) }), load, inputs, mode],
  [
    `--service-kind openai --endpoint v1/chat/completions --streaming --async --session-concurrency 3 --input-data ${FILE}`,
    {
      name: "m",
      target: openai("localhost:8000", { model: "m", tokenizer: "none", streaming: true, path: "v1/chat/completions" }),
      load: sessions(3),
      inputs: payloads(FILE),
    } as ScenarioDefinition,
    target,
    load,
    inputs,
    mode,
  ],
  [
    "-i grpc --streaming --periodic-concurrency-range 4:16:4 --request-period 3 --profile-export-file x.json",
    { ...over(triton(at, { ...grpc, streaming: true })), load: periodic(4, 16, { step: 4, responses: 3 }) },
    load,
  ],
  ["--request-count 50", under(hold(1, { requests: 50 })), mode],
  ["-p 700 -s 20 -r 5", under(hold(1), { stability: { window: "700 ms", within: "20 %", trials: 5 } }), mode],
  [
    "--measurement-mode count_windows --measurement-request-count 70",
    under(hold(1), { stability: { requests: 70 } }),
    mode,
  ],
  ["--percentile 95 -l 30", under(hold(1), { stability: { percentile: 95 }, latencyLimit: "30 ms" }), measurement],
  ["--warmup-request-count 9", under(hold(1), { warmupRequests: 9 }), measurement],
  [
    "--sequence-length 7 --sequence-length-variation 5 --sequence-id-range 3:9 --num-of-sequences 2 --serial-sequences --request-rate-range 5",
    under(rate(5), { sequences: { length: 7, variation: "5 %", ids: [3, 9], concurrent: 2, serial: true } }),
    sequences,
  ],
  [
    "--string-length 9 --string-data x",
    under(hold(1), { inputs: random({ stringLength: 9, stringData: "x" }) }),
    inputs,
  ],
  ["-z", under(hold(1), { inputs: zero() }), inputs],
  ["--input-data zero", under(hold(1), { inputs: zero() }), inputs],
  [`--input-data ${FILE}`, under(hold(1), { inputs: json(FILE) }), inputs],
  ["--data-directory /", under(hold(1), { inputs: dir("/") }), inputs],
  [
    "--collect-metrics --metrics-url h:8002/metrics --metrics-interval 500",
    under(hold(1), { metrics: { url: "h:8002/metrics", every: "500 ms" } }),
    // Of a scenario, the address must answer.
    ({ telemetry: { metrics } }) => ({ url: metrics?.url, intervalMs: metrics?.intervalMs }),
  ],
  [
    "--trace-file /f --trace-level TIMESTAMPS --trace-rate 5 --trace-count 8 --log-frequency 2",
    under(hold(1), { serverTrace: { file: "/f", levels: ["TIMESTAMPS"], oneIn: 5, count: 8, logFrequency: 2 } }),
    telemetry,
  ],
  [
    "--client undici --stall-timeout 7s --timeout 9s --max-response-bytes 1000 --source-address 10.0.0.5 --source-address ::1 --workers 2",
    under(hold(1), {
      client: "undici",
      stallTimeout: "7 s",
      timeout: "9 s",
      maxResponseBytes: 1000,
      sourceAddresses: ["10.0.0.5", "::1"],
      workers: 2,
    }),
    client,
  ],
  ["--workers auto", under(hold(1), { workers: "auto" }), client],
  ["--max-error-rate 20%", under(hold(1), { maxErrorRate: "20 %" }), failures],
];

const chat = (options: object = {}) =>
  openai("localhost:8000", { model: "m", tokenizer: "o200k_base", ...options }) as ScenarioDefinition["target"];
const talking = (rest: object = {}, options: object = {}) =>
  ({ name: "m", target: chat(options), load: hold(1), inputs: prompts(), ...rest }) as ScenarioDefinition;

const OF_GENAI_PERF: readonly (readonly [args: string, scenario: ScenarioDefinition, ...parts: Part[]])[] = [
  ["--streaming", talking({}, { streaming: true }), target],
  [
    "--url h:9",
    { ...talking(), target: openai("h:9", { model: "m", tokenizer: "o200k_base" }) } as ScenarioDefinition,
    target,
  ],
  ["--model n", talking({ target: openai("localhost:8000", { model: "n", tokenizer: "o200k_base" }) }), target],
  [
    "--source-address 10.0.0.5 --source-address ::1",
    talking({ sourceAddresses: ["10.0.0.5", "::1"] }),
    (plan: Plan) => plan.client.sourceAddresses,
  ],
  ["-H a:b", talking({}, { headers: { a: "b" } }), target],
  [
    "--more-urls h:9 h:10",
    talking({ target: openai(["localhost:8000", "h:9", "h:10"], { model: "m", tokenizer: "o200k_base" }) }),
    target,
  ],
  [
    "--streaming --session-concurrency 2 --num-sessions 3",
    talking({ load: sessions(2), inputs: prompts({ sessions: { count: 3, turns: 1 } }) }, { streaming: true }),
    target,
    load,
    mode,
  ],
  ["--concurrency 7 --concurrency-ramp-duration 9", talking({ load: hold(7, { rampUp: "9 s" }) }), load],
  [
    "--request-rate 3 --request-rate-ramp-duration 9 --concurrency-limit 5",
    talking({ load: rate(3, { rampUp: "9 s", concurrencyLimit: 5 }) }),
    load,
  ],
  [
    "--request-rate 3 --request-rate-mode gamma --vllm-burstiness 2",
    talking({ load: rate(3, { distribution: "gamma", smoothness: 2 }) }),
    load,
  ],
  [
    "--benchmark-duration 20 --benchmark-grace-period 0 --warmup-duration 4",
    talking({ load: hold(1, { for: "20 s" }), warmupFor: "4 s" }),
    measuredFor,
  ],
  [
    `--input-file payload:${FILE} --fixed-schedule --fixed-schedule-auto-offset --fixed-schedule-end-offset 9000 --fixed-schedule-speed 2`,
    replaying({ to: "9 s", startsAtFirst: true, speed: 2 }),
    load,
  ],
  [
    `--input-file payload:${FILE} --fixed-schedule --fixed-schedule-start-offset 3000`,
    replaying({ from: "3 s" }),
    load,
  ],
  [
    `--endpoint-type dynamic_grpc --grpc-method a.B/C --url h:9 -m a.B/C --input-file ${FILE}`,
    over(anyGrpc("h:9", { method: "a.B/C", file: FILE })),
    target,
  ],
  [
    "--tokenizer gpt2 --tokenizer-revision r2 --streaming --osl 9",
    talking({ inputs: prompts({ osl: 9 }) }, { tokenizer: "gpt2", tokenizerRevision: "r2", streaming: true }),
    tokens,
  ],
  ["--endpoint v2/x", talking({}, { path: "v2/x" }), target],
  ["--concurrency 7", talking({ load: hold(7) }), load],
  ["--concurrency 7 --num-requests 30", talking({ load: hold(7, { requests: 30 }) }), load, mode],
  ["--request-rate 3", talking({ load: rate(3) }), load],
  ["--request-rate 3 --request-rate-mode poisson", talking({ load: rate(3, { distribution: "poisson" }) }), load],
  ["-p 3000 --stability-percentage 30", talking({ stability: { window: "3 s", within: "30 %" } }), mode],
  [
    "--num-requests 9 --num-warmup-requests 5",
    talking({ load: hold(1, { requests: 9 }), warmupRequests: 5 }),
    measurementOf,
  ],
  [
    "--request-timeout-seconds 9 --stall-timeout 8s --max-response-bytes 1000 --workers 2",
    talking({ timeout: "9 s", stallTimeout: "8 s", maxResponseBytes: 1000, workers: 2 }),
    client,
  ],
  [
    "--request-cancellation-rate 10 --request-cancellation-delay 2",
    talking({ cancel: { share: "10 %", after: "2 s" } }),
    cancellation,
  ],
  ["--failed-request-threshold 0.3", talking({ maxErrorRate: "30 %" }), failures],
  ["--max-error-rate 30%", talking({ maxErrorRate: "30 %" }), failures],
  ["--timeout 9s", talking({ timeout: "9 s" }), client],
];

/** Sweeps of a load, and the loads with the same levels. */
const SWEEPS: readonly (readonly [args: string, load: ScenarioDefinition["load"]])[] = [
  ["--sweep-type concurrency --sweep-range 1:8", steps([1, 2, 4, 8])],
  ["--sweep-type concurrency --sweep-list 3,5,4", steps([3, 5, 4])],
  ["--sweep-type request_rate --sweep-range 16:64", rateSteps([16, 32, 64])],
];

/** Options that have a counterpart in scenarios and no part of the plan to compare, each with the reason in a sentence. */
const NOT_IN_THE_PLAN: Readonly<Record<Mode["name"], Readonly<Record<string, string>>>> = {
  perf_analyzer: {
    "--binary-search":
      "The original takes the mean of a window for true; findMax decides by confidence intervals, with another search.",
  },
  "genai-perf": {
    "--search-limits":
      "The analysis lets whole runs vote on a point; findMax decides by confidence intervals, with another search.",
    "--server-metrics-urls":
      "GenAI-Perf mode scrapes all metrics of a page at GenAI-Perf's interval; a scenario has the interval it names.",
    "--api-key-env": "The plan of the flag has the header with the key, that of a scenario the name of the variable.",
    "--output-tokens-mean-deterministic":
      "It belongs to requests to Triton; those to an OpenAI server take extra: { min_tokens }.",
    "perf_analyzer.stimulus":
      "It is what files of options write for --concurrency, --request-rate and the other loads.",
    "perf_analyzer.measurement.mode": "It is what files of options write for -p and --num-requests.",
    "perf_analyzer.measurement.num": "It is what files of options write for the values of -p and --num-requests.",
  },
};

const GOODPUT: readonly (readonly [args: string, assertion: object])[] = [
  [
    "-g time_to_first_token:200 output_token_throughput_per_user:30",
    goodput({ timeToFirstToken: "200 ms", outputTokensPerSecPerUser: 30 }).atLeast(1),
  ],
];

/** Scenarios have no grace period. */
function measuredFor({ measurement: { mode: own, warmupMs } }: Plan): unknown {
  return { own: { ...own, graceMs: undefined }, warmupMs };
}

function replaying(options: ScheduleOptions): ScenarioDefinition {
  return { name: "m", target: chat(), load: trace(FILE, options) } as ScenarioDefinition;
}

function measurementOf({ measurement: { mode: own, warmupRequests } }: Plan): unknown {
  return { own, warmupRequests };
}

const PROMPTS: readonly (readonly [args: string, prompts: PromptOptions, endpoint?: string])[] = [
  ["--isl 90 --synthetic-input-tokens-stddev 8", { isl: { mean: 90, stddev: 8 } }],
  ["--osl 20 --output-tokens-stddev 3", { osl: { mean: 20, stddev: 3 } }],
  ["--num-prompts 12 --random-seed 4", { count: 12, seed: 4 }],
  ["--num-prefix-prompts 3 --prefix-prompt-length 40", { prefix: { count: 3, tokens: 40 } }],
  ["--shared-system-prompt-length 30", { systemTokens: 30 }],
  [
    "--seq-dist 10,5:40;20,8:60",
    {
      lengths: [
        { isl: 10, osl: 5, share: "40 %" },
        { isl: 20, osl: 8, share: "60 %" },
      ],
    },
  ],
  [
    "--num-sessions 3 --session-concurrency 2 --session-turns-mean 4 --session-turns-stddev 1 --session-turn-delay-mean 50 --session-turn-delay-stddev 7",
    { sessions: { count: 3, turns: { mean: 4, stddev: 1 }, delay: { mean: "50 ms", stddev: "7 ms" } } },
  ],
  [
    "--endpoint-type multimodal --image-width-mean 64 --image-width-stddev 2 --image-height-mean 32 --image-height-stddev 3 --image-format png --batch-size-image 4",
    { images: { width: { mean: 64, stddev: 2 }, height: { mean: 32, stddev: 3 }, format: "png", count: 4 } },
    "multimodal",
  ],
  [
    "--endpoint-type multimodal --audio-length-mean 3 --audio-length-stddev 0.5 --audio-format mp3 --audio-depths 16 24 --audio-sample-rates 16 44.1 --audio-num-channels 2 --batch-size-audio 2",
    {
      audio: {
        length: { mean: "3 s", stddev: "500 ms" },
        format: "mp3",
        depthsBits: [16, 24],
        sampleRatesHz: [16_000, 44_100],
        channels: 2,
        count: 2,
      },
    },
    "multimodal",
  ],
  ["--endpoint-type embeddings -b 5", { batch: 5 }, "embeddings"],
  [`--input-file ${FILE}`, { file: FILE }],
  [`--input-file ${FILE} --custom-dataset-type payload`, { file: FILE, fileFormat: "mooncake" }],
  [
    `--input-file payload:${FILE} --session-concurrency 2 --session-delay-ratio 0.5`,
    { file: FILE, fileFormat: "mooncake", delayFactor: 0.5 },
  ],
  [`--input-file conversations:${FILE}`, { file: FILE, fileFormat: "conversations" }],
  [
    `--input-file ${FILE} --custom-dataset-type sharegpt --session-concurrency 2 --session-delay-ratio 0.25`,
    { file: FILE, fileFormat: "conversations", delayFactor: 0.25 },
  ],
  ["--extra-inputs temperature:0 --extra-inputs top_k:5", { extra: { temperature: 0, top_k: 5 } }],
  ["--no-server-usage", { usage: false }],
];

/** Each side keeps more of its media than what is made of them, such as how its option was written. */
function withMedia({ images, audio, ...rest }: Omit<PromptSettings, "isRanking">): object {
  return {
    ...rest,
    images: images && { widthPx: images.widthPx, heightPx: images.heightPx, format: images.format },
    audio: audio && {
      lengthS: audio.lengthS,
      format: audio.format,
      depthsBits: audio.depthsBits,
      sampleRatesHz: audio.sampleRatesHz,
      channelCount: audio.channelCount,
    },
  };
}

function planOfFlags(args: string): Plan {
  const { settings, problems } = readSettings(parseOptions(["-m", "m", ...args.split(" ")]));
  const { plan, problems: together } = toPerfAnalyzerPlan(settings);
  assert.deepEqual([...problems, ...together], []);
  return plan;
}

function levelsOf({ load: planned }: Plan): readonly number[] {
  return "levels" in planned && planned.levels.kind === "list" ? planned.levels.values : [];
}

function askedOfGenai(args: string, subcommand = "profile") {
  const command = parseCommand([subcommand, "-m", "m", "--endpoint-type", "chat", ...args.split(" ")]);
  assert.equal(command.kind, "command", JSON.stringify(command));
  const result = readGenaiSettings(command as typeof command & { kind: "command" });
  assert.ok(result.kind === "settings", JSON.stringify(result));
  return result.asked;
}

/** Lists of one value and ranges of one value are the same levels. */
function normalize(part: unknown): unknown {
  return JSON.parse(
    JSON.stringify(part, (key, value: unknown) => {
      if (key !== "levels" || typeof value !== "object" || value === null) return value;
      const {
        kind,
        start,
        end,
        step = 1,
        values,
      } = value as { kind: string; start?: number; end?: number; step?: number; values?: number[] };
      if (kind !== "range" || start === undefined || typeof end !== "number") return { values };
      return {
        values: Array.from({ length: Math.floor((end - start) / step) + 1 }, (_, index) => start + index * step),
      };
    }),
  );
}

function same(given: Plan, scenario: ScenarioDefinition, parts: readonly Part[]): void {
  const own = toPlan(defineScenario(scenario as never), "/");
  for (const part of parts) assert.deepEqual(normalize(part(own)), normalize(part(given)));
}

/** Returns the options of a mode that command lines name, by their first names. */
function optionsIn({ options }: Mode, lines: readonly string[]): ReadonlySet<string> {
  const firstOf = new Map(options.flatMap((names) => names.map((name) => [name, names[0] ?? ""])));
  return new Set(lines.flatMap((line) => line.split(" ").flatMap((word) => firstOf.get(word) ?? [])));
}

describe("each option with a counterpart in scenarios is compared", () => {
  const [ofPerfAnalyzer, ofGenaiPerf] = MODES;
  const genaiLines = [...OF_GENAI_PERF, ...PROMPTS, ...SWEEPS, ...GOODPUT].map(([args]) => args);
  for (const [mode, lines] of [
    [ofPerfAnalyzer, OF_PERF_ANALYZER.map(([args]) => args)],
    [ofGenaiPerf, genaiLines],
  ] as const)
    test(`of ${mode.name}`, () => {
      const reasons = NOT_IN_THE_PLAN[mode.name] ?? {};
      const counterparts = mode.options
        .map(([first = ""]) => first)
        .filter((name) => isOfScenario(mode.table[name] ?? ""));
      const compared = optionsIn(mode, lines);
      const missing = [...new Set(counterparts)].filter((name) => !compared.has(name) && !(name in reasons));
      assert.deepEqual(missing, [], "give each a row, or a reason in NOT_IN_THE_PLAN");
      const idle = Object.keys(reasons).filter((name) => compared.has(name) || !counterparts.includes(name));
      assert.deepEqual(idle, [], "these need no reason");
      for (const reason of Object.values(reasons)) assert.match(reason, /^[A-Z].* .*\.$/);
    });
});

describe("fields of a scenario that only some servers or windows have", () => {
  const problemsOf = (scenario: object): string[] => {
    try {
      toPlan(defineScenario({ ...simple, ...scenario } as never), "/");
      return [];
    } catch (error) {
      assert.ok(error instanceof UserError, String(error));
      return error.problems.map(({ path, message }) => `${path}: ${message}`);
    }
  };
  const cases: readonly (readonly [name: string, scenario: object, problems: readonly RegExp[]])[] = [
    [
      "a window has a length or a number of requests",
      { stability: { window: "1 s", requests: 5 } },
      [/^stability\.requests: a window has a length or a number of requests, not both/],
    ],
    ["a number of requests is 1 or more", { stability: { requests: 0 } }, [/^stability\.requests: /]],
    [
      "only a Triton server has trace settings",
      { target: embedded(), serverTrace: { oneIn: 1 } },
      [/^serverTrace: the target is embedded\(…\), which has no trace settings/],
    ],
    [
      "all mistakes are found at once",
      { target: chat(), inputs: prompts(), serverTrace: {}, stability: { window: "1 s", requests: 5 } },
      [/^stability\.requests: /, /^serverTrace: has no setting/, /^serverTrace: the target is openai/],
    ],
    [
      "levels and counts are those of Triton",
      { serverTrace: { levels: ["ALL"], count: -2, oneIn: 0.5 } },
      [
        /^serverTrace\.levels\.0: must be OFF/,
        /^serverTrace\.oneIn: must be a whole/,
        /^serverTrace\.count: must be -1/,
      ],
    ],
  ];
  for (const [name, scenario, expected] of cases)
    test(name, () => {
      const problems = problemsOf(scenario);
      assert.equal(problems.length, expected.length, problems.join("\n"));
      for (const [index, pattern] of expected.entries()) assert.match(problems[index] ?? "", pattern);
    });
});

describe("a scenario has the plan of perf_analyzer's", () => {
  for (const [args, scenario, ...parts] of OF_PERF_ANALYZER)
    test(args.replaceAll(FILE, "FILE"), () => same(planOfFlags(args), scenario, parts));
});

describe("a scenario has the plan of genai-perf's", () => {
  for (const [args, scenario, ...parts] of OF_GENAI_PERF)
    test(args, () => {
      const asked = askedOfGenai(args);
      const headers = headersOf(asked, {});
      const plan = toProfilePlan(asked, "f", headers);
      same(plan, scenario, parts);
    });
  for (const [args, load] of SWEEPS)
    test(`analyze ${args}`, () => {
      const asked = askedOfGenai(args, "analyze");
      const [axis] = axesOf(asked.get("analyze"));
      const levels = (axis?.values ?? []).flatMap((value) => {
        const point = applyPoint(asked, [[axis?.name ?? "", value]]);
        const plan = toProfilePlan(point, "f", []);
        return levelsOf(plan);
      });
      assert.deepEqual(levels, levelsOf(toPlan(defineScenario(talking({ load }) as never), "/")));
    });
  for (const [args, assertion] of GOODPUT)
    test(`goodput of ${args}`, () => {
      const limits = Object.entries(askedOfGenai(args).get("input.goodput") ?? {}).map(([name, limit]) => {
        const metric = LIMITS.get(name)?.metric as TokenMetric;
        return [nameOfMetric(metric), isTimeMetric(metric) ? msToNs(limit) : limit];
      });
      const scenario = talking({ assert: [assertion] }, { streaming: true });
      const [first] = toPlan(defineScenario(scenario as never), "/").assertions;
      assert.deepEqual(first?.metric, { key: "goodput", limits: Object.fromEntries(limits) as object });
    });
  for (const [args, options, endpoint = "chat"] of PROMPTS)
    test(`prompts of ${args.replaceAll(FILE, "FILE")}`, () => {
      const asked = askedOfGenai(args);
      const inSessions = args.includes("--session-concurrency");
      const plan = toPlan(
        defineScenario(
          talking({
            inputs: prompts(options),
            load: inSessions ? sessions(2) : hold(1),
            target: chat({ tokenizer: "o200k_base", endpoint }),
          }) as never,
        ),
        "/",
      );
      assert.ok(plan.inputs.kind === "prompts");
      const { body, extraJson, prompts: made } = toProfilePlan(asked, "f", []).requests;
      const { isRanking: _, ...theirs } = made;
      const { isRanking: __, ...ours } = toPromptSettings(plan.inputs, inSessions ? "in-sessions" : "in-turn");
      assert.deepEqual(withMedia(ours), withMedia(theirs));
      assert.deepEqual(plan.inputs.extra, JSON.parse(extraJson));
      assert.equal(plan.inputs.isUsageLeftOut !== true, body.kind === "format" && body.asksUsage);
    });
});
