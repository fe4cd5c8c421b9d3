import { type Problem, RunError, UserError } from "../plan/problem.ts";
import { nameSettings, type SettingPath } from "../plan/setting-names.ts";
import type { TextSink } from "../report/report.ts";
import type { RunResult } from "../result/run-result.ts";

/** Names of settings in each front door, for messages about a run. */

/** The interface that the user uses; `scenario` includes Rampart's own commands. */
export type FrontDoor = "scenario" | "perf_analyzer" | "genai-perf";

/** Names in a scenario, in perf_analyzer mode and in genai-perf mode; empty if a front door has no such setting. */
type Names = readonly [scenario: string, perfAnalyzer: string, genaiPerf: string];

const COLUMNS: Readonly<Record<FrontDoor, number>> = { scenario: 0, perf_analyzer: 1, "genai-perf": 2 };

const NAMES: Readonly<Record<SettingPath, Names>> = {
  "checkpoint.folder": ["", "", "--checkpoint-dir"],
  "client.callMode=async": ["", "--async", ""],
  "client.isMpi": ["", "--enable-mpi", ""],
  "client.maxLanes": ["", "--max-threads", "--max-threads after --"],
  "client.requestTimeoutMs": ["requestTimeout", "--request-timeout", "--request-timeout"],
  "client.stallTimeoutMs": ["stallTimeout", "--stall-timeout", "--stall-timeout"],
  "failures.maxRatio": ["maxFailureRatio", "--max-failure-ratio", "--max-failure-ratio"],
  "inputs.data": ["inputs", "--input-data", "--input-file"],
  "inputs.audio.channelCount": ["", "", "--audio-num-channels"],
  "inputs.audio.depthsBits": ["", "", "--audio-depths"],
  "inputs.audio.lengthS": ["", "", "--audio-length-mean"],
  "inputs.audio.sampleRatesHz": ["", "", "--audio-sample-rates"],
  "inputs.count": ["inputs.count", "", "--num-dataset-entries"],
  "inputs.file": ["inputs.file", "", "--input-file"],
  "inputs.file=other": ["use payloads(file)", "", "give --input-file payload:FILE or conversations:FILE"],
  "inputs.file=rankings": ["leave file out", "", "give --input-file synthetic:queries,passages"],
  "inputs.format": ["", "", "--input-format"],
  "inputs.tokenizer": ["target.tokenizer", "", "--tokenizer"],
  "load.concurrency": ["load", "--session-concurrency", "--session-concurrency"],
  "load.kind=sessions": ["sessions(…) as the load", "--session-concurrency", "--session-concurrency"],
  "load.periodResponses": ["responses of periodic(…)", "--request-period", "--request-period after --"],
  "measurement.mode.maxTrials": ["stability.trials", "--max-trials", "--max-trials after --"],
  "measurement.mode.requestsPerWindow": ["", "--measurement-request-count", "--measurement-request-count after --"],
  "measurement.mode.stabilityPct": ["stability.percent", "--stability-percentage", "--stability-percentage"],
  "measurement.mode.windowMs": ["stability.window", "--measurement-interval", "--measurement-interval"],
  "measurement.warmupRequests": ["warmupRequests", "--warmup-request-count", "--warmup-request-count"],
  "merge.folder": ["", "", "--input-directory"],
  "mock.grpcPort": ["--grpc-port", "", ""],
  "mock.httpPort": ["--http-port", "", ""],
  "outputs.files.csv": ["--csv", "-f", "-f after --"],
  "outputs.folder": ["", "", "--artifact-dir"],
  "outputs.files.json": ["--json", "--json", "--json after --"],
  "outputs.files.profileExport": ["--profile-export-file", "--profile-export-file", "--profile-export-file"],
  "outputs.files.records": ["", "", "--records-file"],
  "overrides.client": ["--client", "", ""],
  "overrides.url": ["--url", "", ""],
  "sequences.concurrent": ["sequences.concurrent", "--num-of-sequences", "--num-of-sequences after --"],
  "sequences.idCount": ["sequences.ids", "--sequence-id-range", "--sequence-id-range after --"],
  "target.apiKeyEnv": [
    'apiKeyEnv: "NAME" (the variable of the environment that holds it)',
    '-H "Authorization: Bearer KEY"',
    '--api-key-env NAME (the variable of the environment that holds it) or -H "Authorization: Bearer KEY"',
  ],
  "target.composingModels": ["composingModels", "--bls-composing-models", "--bls-composing-models after --"],
  "target.inputTensorFormat": ["inputTensorFormat", "--input-tensor-format", "--input-tensor-format after --"],
  "target.isStreaming": ['protocol: "grpc" and streaming: true', "-i grpc --streaming", "--streaming"],
  "target.kind=openai": [
    "openai(…)",
    "--service-kind openai --async --endpoint v1/chat/completions",
    "--endpoint-type chat",
  ],
  "target.kind=triton": ["triton(…)", "--service-kind triton", "--endpoint-type kserve"],
  "target.outputSharedMemoryBytes": [
    "outputSharedMemoryBytes",
    "--output-shared-memory-size",
    "--output-shared-memory-size after --",
  ],
  "target.outputTensorFormat": ["outputTensorFormat", "--output-tensor-format", "--output-tensor-format after --"],
  "target.protocol=grpc": ['protocol: "grpc"', "-i grpc", "--endpoint-type kserve"],
  "target.protocol=http": ['protocol: "http"', "-i http", "an --endpoint-type over HTTP, such as chat"],
  "target.shapes": ["shapes", "--shape", "--shape after --"],
  "target.sharedMemory": ["sharedMemory", "--shared-memory", "--shared-memory after --"],
  "target.tls=false": ["leave tls out", "leave --ssl-grpc-use-ssl out", "leave --ssl-grpc-use-ssl out"],
  "target.tls=true": ["give tls: true", "give --ssl-grpc-use-ssl", "give --ssl-grpc-use-ssl after --"],
  "target.url": ["the target's address", "-u", "--url"],
  "target.url=http": [
    "write http:// before the address and leave tls out",
    "write http:// in -u",
    "write http:// in --url",
  ],
  "target.url=https": ["write https:// before the address", "write https:// in -u", "write https:// in --url"],
  "telemetry.metrics.intervalMs": ["metrics.every", "--metrics-interval", "--metrics-interval after --"],
  "telemetry.trace.count": ["", "--trace-count", "--trace-count"],
  "telemetry.trace.file": ["", "--trace-file", "--trace-file"],
  "telemetry.trace.levels": ["", "--trace-level", "--trace-level"],
  "telemetry.trace.logFrequency": ["", "--log-frequency", "--log-frequency"],
  "telemetry.trace.rate": ["", "--trace-rate", "--trace-rate"],
};

/** Rewrites a text in the words of a front door. A setting that it lacks keeps its path in the Plan. */
export function wordFor(door: FrontDoor, text: string): string {
  return nameSettings(text, (path) => NAMES[path]?.[COLUMNS[door]] || path);
}

/** Rewrites a problem in the words of a front door. */
export function wordProblem(door: FrontDoor, { path, message, hint, ...rest }: Problem): Problem {
  return { ...rest, path: wordFor(door, path), message: wordFor(door, message), hint: wordFor(door, hint) };
}

/** Rewrites an error in the words of a front door. Returns errors that are not for users unchanged. */
export function wordError<E>(door: FrontDoor, error: E): E | RunError | UserError {
  if (error instanceof RunError) return error.reword(wordFor(door, error.message), wordFor(door, error.hint));
  if (error instanceof UserError) return new UserError(error.problems.map((problem) => wordProblem(door, problem)));
  return error;
}

/** Rewrites the result of a run in the words of a front door, because parts of it are written to files. */
export function wordResult(door: FrontDoor, result: RunResult): RunResult {
  const { error, prepared } = result;
  const warnings = prepared.warnings.map((warning) => wordFor(door, warning));
  return {
    ...result,
    prepared: { ...prepared, warnings },
    error: error?.reword(wordFor(door, error.message), wordFor(door, error.hint)),
  };
}

/** Wraps a front door's standard output and error, so that all text is in its words. */
export function wordingIo<T extends TextSink>(door: FrontDoor, io: T): T {
  const word = (text: string): string => wordFor(door, text);
  return Object.assign(Object.create(io) as T, {
    word,
    out: (text: string) => io.out(word(text)),
    err: (text: string) => io.err(word(text)),
  });
}
