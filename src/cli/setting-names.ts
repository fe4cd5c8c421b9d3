import { type NameOf, type SettingPath, TARGET_KIND } from "../plan/messages.ts";
import type { CommandIo } from "./execute.ts";
import { changedIo } from "./guarded-io.ts";
import { sharedNameOf } from "./options/shared-options.ts";

/** Names of settings as fields in a scenario, and as flags of `rampart run` and `rampart mock`. */
const SCENARIO_NAMES: Readonly<Partial<Record<SettingPath, string>>> = {
  "client.bus.agentCount": "--agents",
  "client.bus.allowLost": "--allow-lost",
  "client.bus.caFile": "--bus-ca",
  "client.bus.url": "--bus",
  "client.kind": "client",
  "client.maxOutstanding": "maxInFlight (--max-in-flight)",
  "client.requestTimeoutMs": "timeout",
  "client.sourceAddresses": "sourceAddresses (--source-address)",
  "client.stallTimeoutMs": "stallTimeout",
  "client.workers": "workers (--workers)",
  "failures.maxRatio": "maxErrorRate",
  "inputs.audio.channelCount": "inputs.audio.channels",
  "inputs.audio.depthsBits": "inputs.audio.depthsBits",
  "inputs.audio.lengthS": "inputs.audio.length",
  "inputs.audio.sampleRatesHz": "inputs.audio.sampleRatesHz",
  "inputs.count": "inputs.count",
  "inputs.data": "inputs",
  "inputs.entries": "target",
  "inputs.file": "inputs.file",
  "inputs.file=other": "use input.payloads(file)",
  "inputs.file=rankings": "leave file out",
  "inputs.tokenizer": "target.tokenizer",
  "load.concurrency": "load",
  "load.kind=sessions": "sessions(…) as the load",
  "load.periodResponses": "responses of periodic(…)",
  "measurement.mode.count": "requests:",
  "measurement.mode.durationMs": "for:",
  "measurement.mode.maxTrials": "stability.trials",
  "measurement.mode.stabilityPct": "stability.within",
  "measurement.mode.windowMs": "stability.window",
  "measurement.warmupRequests": "warmupRequests",
  "mock.grpcPort": "--grpc-port",
  "mock.grpcProto": "--proto",
  "mock.httpPort": "--http-port",
  "overrides.client": "--client",
  "overrides.set": "--set",
  "overrides.url": "--url",
  "sequences.concurrent": "sequences.concurrent",
  "sequences.idCount": "sequences.ids",
  "sequences.isSerial": "sequences.serial",
  "sequences.length": "sequences.length",
  "sequences.lengthVariationPct": "sequences.variation",
  "target.apiKeyEnv": 'apiKeyEnv: "NAME" (the environment variable that holds it)',
  "target.batchSize": "batchSize",
  "target.composingModels": "composingModels",
  "target.importPaths": "importPaths",
  "target.directory": "directory",
  "target.inputTensorFormat": "inputTensorFormat",
  "target.isStreaming": 'protocol: "grpc" and streaming: true',
  "target.isStreaming=in-process": "streaming: true",
  "target.kind=dynamic-grpc": "grpc(…)",
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
  "target.tls=identified-grpc": 'tls: { cert: "FILE", key: "FILE" }',
  "target.tls=identified-http": 'tls: { cert: "FILE", key: "FILE" }',
  "target.tls=trusting-grpc": 'tls: { ca: "FILE" }',
  "target.tls=trusting-http": 'tls: { ca: "FILE" }',
  "target.tls=unverified-http": "tls: { verify: false }",
  "target.url": "the target's address",
  "target.url=http": "write http:// before the address and leave tls out",
  "target.url=https": "write https:// before the address",
  "telemetry.metrics": "metrics: {}",
};

/** The same for commands whose argument is the address of the server. */
export const NAMES_AT_URL = {
  "measurement.mode.count": "--requests",
  "measurement.mode.durationMs": "--for",
  "target.kind=triton": "rampart triton",
  "target.tls=true": "write https:// before the address",
  "target.tls=unverified-http": "--insecure",
  "target.url": "the URL",
  "target.url=http": "write http:// before the address",
  "target.url=https": "write https:// before the address",
} as const satisfies Partial<Record<SettingPath, string>>;

/** Makes a command's output use the names of its front door. */
export function withNames(io: CommandIo, nameOf: NameOf): CommandIo {
  return changedIo(io, { nameOf });
}

/** Names for scenarios and for Rampart's own commands. */
export const inScenario: NameOf = (path) => SCENARIO_NAMES[path] ?? builderOf(path) ?? sharedNameOf("run", path);

/** Most builders have the name of their kind. */
function builderOf(path: SettingPath): string | undefined {
  return path.startsWith(TARGET_KIND) ? `${path.slice(TARGET_KIND.length)}(…)` : undefined;
}

/** Names for the commands that measure a model. */
const NAMES_OF_MODELS: Readonly<Partial<Record<SettingPath, string>>> = {
  ...NAMES_AT_URL,
  "inputs.tokenizer": "--tokenizer",
  "target.apiKeyEnv": "--api-key-env NAME (the environment variable that holds it)",
  "target.model": "--model",
  "target.shapes": "--shapes",
  "target.tls=identified-grpc": 'tls: { cert: "FILE", key: "FILE" } in a scenario',
  "target.tls=identified-http": 'tls: { cert: "FILE", key: "FILE" } in a scenario',
  "target.tls=trusting-grpc": 'tls: { ca: "FILE" } in a scenario',
  "target.tls=trusting-http": 'tls: { ca: "FILE" } in a scenario',
  "telemetry.metrics": "metrics: {} to the scenario that --save writes",
};

/** Returns the names of a command that measures a model at an address. */
export function namesAtUrl(door: "chat" | "llm" | "triton"): NameOf {
  return (path) => NAMES_OF_MODELS[path] ?? sharedNameOf(door, path) ?? inScenario(path);
}
