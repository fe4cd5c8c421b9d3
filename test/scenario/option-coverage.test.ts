import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { ALL_OPTIONS } from "../../src/cli/genai-perf/options/subcommands.ts";
import { OPTIONS } from "../../src/cli/perf-analyzer/options/table.ts";
import * as api from "../../src/index.ts";

/**
 * What an option of a compatible mode says can be said in a scenario. An entry names its counterpart, `BUILDER.FIELD`, `BUILDER` or
 * `run --FLAG` for a flag of `rampart run`; or gives a reason in a sentence why there is none.
 * option-plans.test.ts compares the plans of command lines and of their counterparts.
 */

const PERF_ANALYZER: Readonly<Record<string, string>> = {
  "-m": "triton.model",
  "-x": "triton.version",
  "--model-signature-name": "tfserving.signature",
  "-v": "run --verbose",
  "--version": "It prints the version; rampart --version does.",
  "--service-kind": "triton",
  "--endpoint": "openai.path",
  "--concurrency-range": "ramp.step",
  "--request-rate-range": "rate",
  "--request-distribution": "rate.distribution",
  "--request-intervals": "intervals",
  "--fixed-schedule": "fixedSchedule",
  "--periodic-concurrency-range": "periodic.step",
  "--request-period": "periodic.responses",
  "--session-concurrency": "sessions",
  "--sequence-length": "sequences.length",
  "--sequence-length-variation": "sequences.variation",
  "--sequence-id-range": "sequences.ids",
  "--num-of-sequences": "sequences.concurrent",
  "--serial-sequences": "sequences.serial",
  "--measurement-interval": "stability.window",
  "--measurement-mode": "stability.requests",
  "--measurement-request-count": "stability.requests",
  "--request-count": "hold.requests",
  "--warmup-request-count": "defineScenario.warmupRequests",
  "--stability-percentage": "stability.percent",
  "--max-trials": "stability.trials",
  "--percentile": "stability.percentile",
  "--latency-threshold": "defineScenario.latencyLimit",
  "--binary-search": "findMax.over",
  "--async": "The driver is asynchronous where the load or the stream needs it; there is nothing to choose.",
  "--sync": "The driver is asynchronous where the load or the stream needs it; there is nothing to choose.",
  "--max-threads": "It sets the lanes of the original's strides; scenarios send inputs in order.",
  "--enable-mpi": "Ranks of an MPI job run with the flags; scenarios on many hosts are a later issue.",
  "-b": "triton.batchSize",
  "--input-data": "json",
  "--shape": "triton.shapes",
  "--string-length": "random.stringLength",
  "--string-data": "random.stringData",
  "--shared-memory": "triton.sharedMemory",
  "--output-shared-memory-size": "triton.outputSharedMemoryBytes",
  "--input-tensor-format": "triton.inputTensorFormat",
  "--output-tensor-format": "triton.outputTensorFormat",
  "-u": "run --url",
  "-i": "triton.protocol",
  "--triton-server-directory": "tritonInProcess.directory",
  "--model-repository": "tritonInProcess.modelRepository",
  "--streaming": "triton.streaming",
  "-H": "triton.headers",
  "--request-parameter": "triton.parameters",
  "--grpc-compression-algorithm": "triton.compression",
  "--grpc-method": "dynamicGrpc",
  "--bls-composing-models": "triton.composingModels",
  "--ssl-grpc-use-ssl": "triton.tls",
  "--ssl-grpc-root-certifications-file": "tls.ca",
  "--ssl-grpc-private-key-file": "tls.key",
  "--ssl-grpc-certificate-chain-file": "tls.cert",
  "--ssl-https-verify-peer": "tls.verify",
  "--ssl-https-verify-host": "tls.verify",
  "--ssl-https-ca-certificates-file": "tls.ca",
  "--ssl-https-client-certificate-file": "tls.cert",
  "--ssl-https-client-certificate-type": "tls.certType",
  "--ssl-https-private-key-file": "tls.key",
  "--ssl-https-private-key-type": "tls.keyType",
  "--collect-metrics": "defineScenario.metrics",
  "--metrics-url": "metrics.url",
  "--metrics-interval": "metrics.every",
  "--trace-file": "serverTrace.file",
  "--trace-level": "serverTrace.levels",
  "--trace-rate": "serverTrace.rate",
  "--trace-count": "serverTrace.count",
  "--log-frequency": "serverTrace.logFrequency",
  "-f": "run --csv",
  "--verbose-csv": "The JSON report of a scenario has all that these columns have.",
  "--profile-export-file": "run --profile-export-file",
  "-t": "hold",
  "-c": "With -d it sets the end of a range that stops at a latency: ramp and latencyLimit say both.",
  "-d": "defineScenario.latencyLimit",
  "-z": "zero",
  "--data-directory": "dir",
  "--proto": "grpc.proto",
  "--proto-path": "grpc.importPaths",
  "--help": "run --help",
  "--dry-run": "run --dry-run",
  "--client": "defineScenario.client",
  "--stall-timeout": "defineScenario.stallTimeout",
  "--request-timeout": "defineScenario.requestTimeout",
  "--max-response-bytes": "defineScenario.maxResponseBytes",
  "--max-failure-ratio": "defineScenario.maxFailureRatio",
  "--json": "run --json",
  "--report": "run --report",
  "--junit": "run --junit",
  "--markdown": "run --markdown",
  "--live": "run --live",
  "--watch-port": "run --watch-port",
  "--otlp": "run --otlp",
};

const GENAI_PERF: Readonly<Record<string, string>> = {
  "--file": "It names a YAML file of options or of exported results; rampart run takes the scenario itself.",
  "--override-config": "It belongs to files of options; a scenario is changed by run --set.",
  // Of a concurrency or a request rate; other parameters are swept by run --set.
  "--sweep-type": "rate",
  "--sweep-range": "ramp.step",
  "--sweep-list": "steps",
  "-d": "It belongs to the command process-export-files, which merges exports of earlier runs.",
  analyze: "It is a section of files of options.",
  "perf_analyzer.path": "There is no second program to start.",
  "perf_analyzer.verbose": "run --verbose",
  "perf_analyzer.stimulus": "hold",
  "perf_analyzer.measurement.mode": "stability.window",
  "perf_analyzer.measurement.num": "hold.requests",
  "--audio-length-mean": "audio.length",
  "--audio-length-stddev": "audio.length",
  "--audio-format": "audio.format",
  "--audio-depths": "audio.depthsBits",
  "--audio-sample-rates": "audio.sampleRatesHz",
  "--audio-num-channels": "audio.channels",
  "--model": "openai.model",
  "--model-selection-strategy":
    "It puts names of models into the bodies for one server; mix has a target for each, with rows of its own.",
  "--backend": "tritonInProcess",
  "--endpoint": "openai.path",
  "--endpoint-type": "openai.endpoint",
  "--server-metrics-urls": "metrics.url",
  "--streaming": "openai.streaming",
  "--url": "run --url",
  "--image-width-mean": "images.width",
  "--image-width-stddev": "images.width",
  "--image-height-mean": "images.height",
  "--image-height-stddev": "images.height",
  "--image-format": "images.format",
  "--batch-size-audio": "audio.count",
  "--batch-size-image": "images.count",
  "-b": "prompts.batch",
  "--extra-inputs": "prompts.extra",
  "-g": "goodput",
  "-H": "openai.headers",
  "--input-file": "prompts.file",
  "--num-prompts": "prompts.count",
  "--num-prefix-prompts": "prompts.prefix",
  "--osl": "prompts.osl",
  "--output-tokens-mean-deterministic": "prompts.extra",
  "--output-tokens-stddev": "prompts.osl",
  "--random-seed": "prompts.seed",
  "--grpc-method": "dynamicGrpc",
  "--isl": "prompts.isl",
  "--synthetic-input-tokens-stddev": "prompts.isl",
  "--prefix-prompt-length": "prompts.prefix",
  "--num-warmup-requests": "defineScenario.warmupRequests",
  "--verbose": "run --verbose",
  "--artifact-dir": "The reports of a scenario are named one by one, such as run --json.",
  "--checkpoint-dir": "It belongs to the command analyze, whose sweeps of many runs can be continued.",
  "--generate-plots": "It writes GenAI-Perf's plot files; the reports of a scenario have their own.",
  "--enable-checkpointing": "It belongs to the command analyze, whose sweeps of many runs can be continued.",
  "--profile-export-file": "run --profile-export-file",
  "--concurrency": "hold",
  "-p": "stability.window",
  "--num-requests": "hold.requests",
  "--request-rate": "rate",
  "--fixed-schedule": "fixedSchedule",
  "--stability-percentage": "stability.percent",
  "--num-sessions": "prompts.sessions",
  "--session-concurrency": "sessions",
  "--session-delay-ratio":
    "It scales the pauses of a file of conversations; a scenario's synthetic conversations have delay, and generate or payloads files their own.",
  "--session-turn-delay-mean": "prompts.sessions",
  "--session-turn-delay-stddev": "prompts.sessions",
  "--session-turns-mean": "prompts.sessions",
  "--session-turns-stddev": "prompts.sessions",
  "--tokenizer": "openai.tokenizer",
  "--tokenizer-revision": "openai.tokenizerRevision",
  "--tokenizer-trust-remote-code": "No tokenizer runs code of its repository.",
  "--request-rate-mode": "rate.distribution",
  "--vllm-burstiness": "rate.smoothness",
  "--concurrency-limit": "rate.maxOutstanding",
  "--concurrency-ramp-duration": "hold.rampUp",
  "--request-rate-ramp-duration": "rate.rampUp",
  "--benchmark-duration": "hold.for",
  "--benchmark-grace-period":
    "A level with for cuts a window of a continuing load, so that no request has to end in time.",
  "--warmup-duration": "defineScenario.warmupFor",
  "--fixed-schedule-auto-offset": "fixedSchedule.startsAtFirst",
  "--fixed-schedule-start-offset": "fixedSchedule.from",
  "--fixed-schedule-end-offset": "fixedSchedule.to",
  "--fixed-schedule-speed": "fixedSchedule.speed",
  "--request-cancellation-rate": "cancel.percent",
  "--request-cancellation-delay": "cancel.after",
  "--more-urls": "A target takes a list of addresses.",
  "--api-key-env": "openai.apiKeyEnv",
  "--shared-system-prompt-length": "prompts.systemTokens",
  "--seq-dist": "prompts.mix",
  "--custom-dataset-type": "trace",
  "--no-server-usage": "prompts.usage",
  "--failed-request-threshold": "defineScenario.maxFailureRatio",
  "--stall-timeout": "defineScenario.stallTimeout",
  "--request-timeout-seconds": "defineScenario.requestTimeout",
  "--max-response-bytes": "defineScenario.maxResponseBytes",
  "--plot-formats": "It belongs to GenAI-Perf's plot files.",
  "--records-file": "run --records",
  "--live": "run --live",
  "--report": "run --report",
  "--junit": "run --junit",
  "--markdown": "run --markdown",
  "--watch-port": "run --watch-port",
  "--otlp": "run --otlp",
  "--dry-run": "run --dry-run",
  "--search-limits": "findMax.where",
};

const GUIDE = readFileSync(join(import.meta.dirname, "..", "..", "scenarios", "README.md"), "utf8");
const SECTIONS = GUIDE.split(/^### /m).slice(1);

/** Returns what is wrong with a counterpart; undefined when the reference has it, or when it is a reason. */
function explain(counterpart: string): string | undefined {
  const [, flag] = /^run (--[a-z-]+)$/.exec(counterpart) ?? [];
  if (flag !== undefined)
    return sectionsOf("rampart run").some((text) => text.includes(`${flag} `) || text.includes(`${flag}\``))
      ? undefined
      : `rampart run has no ${flag}`;
  const [, builder = "", field] = /^(\w+)(?:\.(\w+))?$/.exec(counterpart) ?? [];
  if (builder === "") return /^[A-Z].* .*\.$/.test(counterpart) ? undefined : "is neither a counterpart nor a sentence";
  if (field === undefined) return builder in api ? undefined : `there is no ${builder}(…)`;
  const sections = sectionsOf(`\`${builder}\``);
  return sections.some((text) => text.includes(`\n| \`${field}\` |`)) ? undefined : `${builder} has no ${field}`;
}

/** Returns the sections of the reference whose heading has this text. */
function sectionsOf(heading: string): string[] {
  return SECTIONS.filter((text) => text.slice(0, text.indexOf("\n")).includes(heading));
}

const MODES: readonly { name: string; options: readonly string[]; table: Readonly<Record<string, string>> }[] = [
  { name: "perf_analyzer", options: OPTIONS.map(({ names }) => names[0] ?? ""), table: PERF_ANALYZER },
  {
    name: "genai-perf",
    options: ALL_OPTIONS.map((option) => ("names" in option ? (option.names.at(-1) ?? "") : (option.key ?? ""))),
    table: GENAI_PERF,
  },
];

describe("what an option says can be said in a scenario", () => {
  for (const { name, options, table } of MODES) {
    test(`each option of ${name} has a counterpart or a reason`, () => {
      assert.deepEqual(
        [...new Set(options)].filter((option) => !(option in table)),
        [],
        "add these to the table",
      );
      assert.deepEqual(
        Object.keys(table).filter((option) => !options.includes(option)),
        [],
        "there are no such options",
      );
    });

    test(`the counterparts of ${name}'s options exist`, () => {
      const wrong = Object.entries(table).flatMap(([option, counterpart]) => {
        const reason = explain(counterpart);
        return reason === undefined ? [] : [`${option}: ${counterpart}: ${reason}`];
      });
      assert.deepEqual(wrong, []);
    });
  }

  test("a counterpart that does not exist is found", () => {
    assert.deepEqual(["hold.nothing", "nothing", "run --nothing", "no reason"].map(explain).includes(undefined), false);
  });
});
