import { type Problem, RunError, UserError } from "../plan/problem.ts";
import { nameSettings, type SettingPath } from "../plan/setting-names.ts";
import type { TextSink } from "../report/report.ts";
import type { RunResult } from "../result/run-result.ts";
import { sharedNameOf } from "./options/shared-options.ts";

/** Rewrites messages about a run in the words of a front door. */

/**
 * A front door's name of a setting: how its user gives it, or one value of it. Undefined if a user of this front door cannot set it. The
 * compatible modes derive theirs from their option tables.
 */
export type FrontDoor = (path: SettingPath) => string | undefined;

/** Names of fields in a scenario, and of flags of `rampart run` and `rampart mock`. */
const SCENARIO_NAMES: Readonly<Partial<Record<SettingPath, string>>> = {
  "client.kind": "client",
  "client.maxOutstanding": "maxOutstanding (--max-outstanding)",
  "client.requestTimeoutMs": "requestTimeout",
  "client.stallTimeoutMs": "stallTimeout",
  "failures.maxRatio": "maxFailureRatio",
  "inputs.audio.channelCount": "inputs.audio.channels",
  "inputs.audio.depthsBits": "inputs.audio.depthsBits",
  "inputs.audio.lengthS": "inputs.audio.length",
  "inputs.audio.sampleRatesHz": "inputs.audio.sampleRatesHz",
  "inputs.count": "inputs.count",
  "inputs.data": "inputs",
  "inputs.entries": "target",
  "inputs.file": "inputs.file",
  "inputs.file=other": "use payloads(file)",
  "inputs.file=rankings": "leave file out",
  "inputs.tokenizer": "target.tokenizer",
  "load.concurrency": "load",
  "load.kind=sessions": "sessions(…) as the load",
  "load.periodResponses": "responses of periodic(…)",
  "measurement.mode.maxTrials": "stability.trials",
  "measurement.mode.stabilityPct": "stability.percent",
  "measurement.mode.windowMs": "stability.window",
  "measurement.warmupRequests": "warmupRequests",
  "mock.grpcPort": "--grpc-port",
  "mock.grpcProto": "--grpc-proto",
  "mock.httpPort": "--http-port",
  "outputs.verbosity": "-v",
  "overrides.client": "--client",
  "overrides.set": "--set",
  "overrides.url": "--url",
  "sequences.concurrent": "sequences.concurrent",
  "sequences.idCount": "sequences.ids",
  "sequences.isSerial": "sequences.serial",
  "sequences.length": "sequences.length",
  "sequences.lengthVariationPct": "sequences.variation",
  "target.apiKeyEnv": 'apiKeyEnv: "NAME" (the environment variable that holds it)',
  "target.composingModels": "composingModels",
  "target.importPaths": "importPaths",
  "target.directory": "directory",
  "target.inputTensorFormat": "inputTensorFormat",
  "target.isStreaming": 'protocol: "grpc" and streaming: true',
  "target.isStreaming=in-process": "streaming: true",
  "target.kind=dynamic-grpc": "grpc(…)",
  "target.kind=openai": "openai(…)",
  "target.kind=tfserving": "tfserving(…)",
  "target.kind=torchserve": "torchserve(…)",
  "target.kind=triton": "triton(…)",
  "target.method": "target.method",
  "target.model": "model",
  "target.modelRepository": "modelRepository",
  "target.modelVersion": "version",
  "target.outputSharedMemoryBytes": "outputSharedMemoryBytes",
  "target.outputTensorFormat": "outputTensorFormat",
  "target.pacing": "target.pacing",
  "target.protoFiles": "proto",
  "target.protocol=grpc": 'protocol: "grpc"',
  "target.protocol=http": 'protocol: "http"',
  "target.shapes": "shapes",
  "target.sharedMemory": "sharedMemory",
  "target.success": "target.success.where",
  "target.signatureName": "signature",
  "target.tls=false": "leave tls out",
  "target.tls=true": "give tls: true",
  "target.tls=trusting-grpc": 'tls: { ca: "FILE" }',
  "target.tls=trusting-http": 'tls: { ca: "FILE" }',
  "target.tls=unverified-http": "tls: { verify: false }",
  "target.url": "the target's address",
  "target.url=http": "write http:// before the address and leave tls out",
  "target.url=https": "write https:// before the address",
};

/** The front door of scenarios and of Rampart's own commands. */
export const inScenario: FrontDoor = (path) => SCENARIO_NAMES[path] ?? sharedNameOf("run", path);

/** Rewrites a text in the words of a front door. A setting that it lacks keeps its path in the Plan. */
export function wordFor(door: FrontDoor, text: string): string {
  return nameSettings(text, (path) => door(path) ?? path);
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
  const { error, prepared, hint } = result;
  const warnings = prepared.warnings.map((warning) => wordFor(door, warning));
  return {
    ...result,
    prepared: { ...prepared, warnings },
    ...(hint === undefined ? {} : { hint: wordFor(door, hint) }),
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
