import type { OutputFilesPlan } from "./output-files-plan.ts";

/**
 * Texts that refer to settings, as plain data. The front door that the user typed into inserts its names of the settings: a
 * field of a scenario, or a flag. This file contains all sentences with such names.
 */

/** A text: words; a setting; a sentence of the table with its values; or a list of parts. */
export type Text =
  | string
  | { readonly setting: SettingPath }
  | Said
  /** Only for front doors that have a name for the setting. */
  | { readonly where: SettingPath; readonly text: Text }
  | readonly Text[];

/** A sentence of the table with its values. `at` is a setting. */
export type Said = {
  [Code in MessageCode]: { readonly say: Code } & ValuesOf<PlacesIn<(typeof MESSAGES)[Code]>>;
}[MessageCode];

/** Code of a sentence. */
export type MessageCode = keyof typeof MESSAGES;

type PlacesIn<Sentence extends string> = Sentence extends `${string}<${infer Place}>${infer Rest}`
  ? Place | PlacesIn<Rest>
  : never;
type ValuesOf<Place extends string> = {
  readonly [Name in Exclude<Place, SettingPath>]: Name extends "at" ? SettingPath : Text | number;
};

/** The sentences by code. `<client.kind>` is the name of a setting, `<model>` a value. */
export const MESSAGES = {
  // campaign/ and report/
  "delete-checkpoint": "Delete it to start again, or give another folder with <checkpoint.folder>.",
  "other-folder": "Give another folder with <at>.",
  "other-file": "Give another path with <at>.",
  "free-space": "Free space there, or give another path with <at>.",
  "room-for-one-run": "Leave it out and read the runs in <outputs.files.json>, or run once.",
  "metrics-slow":
    "WARNING: Triton metrics endpoint latency (<tookMs>ms) is larger than the querying interval (<intervalMs>ms). Please try a larger querying interval via `<telemetry.metrics.intervalMs>`.",
  "network-below-zero":
    "Server average accounted time was larger than client average wait time due to small sample size. Increase the measurement interval with `<measurement.mode.windowMs>`.",
  unstable:
    "Failed to obtain stable measurement within <trials> measurement windows for concurrency <level>. Please try to increase the <at>.",
  "keep-requests": "give <outputs.files.profileExport> to keep the requests",
  "more-lanes": "Give <client.callMode=async>, or raise <client.maxLanes>.",
  "more-sequences": "Raise <sequences.concurrent>, or lower the rate.",
  "more-prompts": "<repeats>; <inputs.count> makes more of them",
  "check-address": "is there a server at <url>? check <target.url>",
  "more-workers": "let more threads send: <client.workers>",
  "measure-for": 'Use <measurement.mode.durationMs> "<time>"',
  "measure-requests": "Use <measurement.mode.count> <needed>",
  "no-request-ends": "Raise <measurement.mode.windowMs>, or find out why no request ends in time.",

  // measure/: ways to make a level stable, without a full stop
  "longer-windows": "Raise <at>",
  "more-trials": "Raise <measurement.mode.maxTrials> or <measurement.warmupRequests>",
  "three-windows": "Raise <measurement.mode.maxTrials> to 3 or more",
  "wider-tolerance": "Raise <measurement.mode.stabilityPct> a little, or <at>",

  // run/
  "look-or-wait": "Look at the server, or raise <client.stallTimeoutMs>.",
  "allow-failures": "Raise <failures.maxRatio> to measure despite failed requests.",
  "allow-all-failures": "Set <failures.maxRatio> to 100 % to measure anyway.",
  "allow-more-failures": "Raise <failures.maxRatio> or look at the server.",
  "too-many-outstanding": "as <client.maxOutstanding> says",
  "allow-outstanding": "Lower the load, or raise <client.maxOutstanding>.",
  "more-ports":
    "Give more of <client.sourceAddresses>, widen the range of ports (sysctl net.ipv4.ip_local_port_range), or lower the load.",
  "allow-more-memory": "Lower the load, or raise <client.maxOutstanding> if this host has the memory.",
  "agents-more-memory":
    "Lower the load, use agents on more hosts, or raise <client.maxOutstanding> if their hosts have the memory.",
  "end-or-no-ids": "Give the concurrency an end, or leave out <sequences.idCount>.",
  "more-ids":
    "<atOnce> sequences are in flight at once: widen <sequences.idCount> to that many ids, or lower the load.",
  "shorter-period": "Lower <load.periodResponses>, or measure a model that sends more responses for each request.",
  "output-bytes": "Set <target.outputSharedMemoryBytes> to the size of the largest output in bytes.",
  "no-shared-memory": "This server has no shared memory for tensors: leave out <target.sharedMemory>.",
  "no-mpirun": "<client.isMpi> has no effect: this process was not started by mpirun.",
  "no-mpi": "<client.isMpi> has no effect, and this rank measures alone: <why>",

  // run/judge/: explanations of a failure
  "check-model": "Correct <target.model>, or load the model on the server.",
  "doubled-path": "Requests went to <path>, which has <doubled> twice: leave /<doubled> out of <target.url>.",
  "no-key": "The server requires a key (<status>), and none was sent: give it with <target.apiKeyEnv>.",
  redirected: "The server redirects to <location>: redirects are not followed, so point <target.url> there.",
  "grpc-port":
    "<address> speaks gRPC, not HTTP. Give its HTTP port<port> in <target.url>, or use <target.protocol=grpc>.",
  "only-http": "<address> speaks gRPC, not HTTP. Give its HTTP port<port> in <target.url>.",
  "http-port":
    "<address> speaks HTTP, not gRPC. Give its gRPC port<port> in <target.url>, or use <target.protocol=http>.",
  "tls-port": "<address> speaks TLS: <at>.",
  "plain-port": "<address> does not speak TLS: <at>.",
  "no-tls": "<address> does not answer a TLS handshake: if it is a plain port, <at>.",
  "other-name": "Give a name of the certificate in <target.url>.",
  "trust-grpc": "Name its authority with <target.tls=trusting-grpc>.",
  "trust-http":
    "Name its authority with <target.tls=trusting-http>, or trust anybody with <target.tls=unverified-http>.",
  "renew-grpc": "The certificate of <address> is not valid now: renew it, or correct this machine's clock.",
  "renew-http":
    "The certificate of <address> is not valid now: renew it, correct this machine's clock, or trust anybody with <target.tls=unverified-http>.",
  "identify-grpc": "If the server requires a client's certificate, give it with <target.tls=identified-grpc>.",
  "identify-http": "If the server requires a client's certificate, give it with <target.tls=identified-http>.",
  "check-bus":
    "Check <client.bus.url> and its login: nats://USER:PASSWORD@HOST:4222, or tls://… and <client.bus.caFile>.",
  "start-agents": "Start more of them: rampart agent <client.bus.url> …",
  "other-server": "The server at <address> speaks <what>: <use>change <target.url>.",
  "use-kind": "use <at>, or ",
  "unknown-server": "A server of another kind answers at <address>: change <target.url>.",

  // scenario/
  "write-parameter": "Write <overrides.set> <assignment>.",
  "give-parameter": "Give it with <overrides.set> <assignment>, or in the environment as <variable>.",

  // inputs/
  "shape-needed": "<problem>. See the <target.shapes> option",
  "add-shape": 'Add "shape" to the tensor, or give <target.shapes>.',
  "give-shape": "Give it a shape with <target.shapes>, for example <shape>.",
  "shape-of-no-input":
    "the shape <shape> that <target.shapes> gives input '<input>' has no effect: model '<model>' has no such input.",
  "shape-fixed":
    "the shape <shape> that <target.shapes> gives input '<input>' has no effect: the model fixes it to <fixed>.",
  "give-data": "Give data for it in <inputs.data>.",
  "give-values": "Give its values in a JSON file, and name that in <inputs.data>.",
  "give-tokenizer": "Give a tokenizer, or give the prompts with <inputs.file>.",
  "no-token-counts":
    "the server reports no numbers of tokens, or not of all responses, so there are no tokens/s: give the model's tokenizer as <inputs.tokenizer>",
  "text-not-counted":
    "the server's only count has reasoning in it, so there are no tokens/s: give the model's tokenizer as <inputs.tokenizer>",
  "approximate-lengths":
    "the server counts tokens, and the lengths of prompts are approximate (<tokenizer>): give the model's tokenizer as <inputs.tokenizer>",
  "give-format": 'Write {"text": "…"} on each line, or give the format with <inputs.format>.',
  "other-format": 'Write {"text": "…"}, or for other formats <inputs.file=other>.',
  "give-rankings": "Give a folder with <missing>, or <inputs.file=rankings>.",
  "use-sessions": "Use <load.kind=sessions>, or omit session_id and delay.",
  "no-sessions": "Give every request a session_id, or do not use <load.kind=sessions>.",
  "encode-messages": "Name the .proto file in <target.protoFiles>, or give encoded messages.",

  // service/
  "describe-method": "Name the .proto file in <target.protoFiles>, or turn on the server's reflection.",
  "unknown-responses":
    "the type of the responses of <method> is not known, so <target.success> and extract cannot read them",
  "import-folder": "Give the folder that <file> starts at as <target.importPaths>.",
  "give-version": "Model '<model>' has the versions <versions>: give one in <target.modelVersion>.<label>",
  "give-signature": "Model '<model>' has the signatures <signatures>: give one in <target.signatureName>.",
  "only-called-models": "Name only models that it calls in <target.composingModels>.",
  "load-called-models": "Correct <target.composingModels>, or load the model on the server.",
  "json-over-grpc": "<at> json has no effect with gRPC, whose tensors are always binary.",
  "json-in-shared-memory": "<at> json has no effect with <target.sharedMemory>, where tensors are always binary.",
  "use-setting": "Use <at>.",
  "binary-input": "Input '<input>' needs <target.inputTensorFormat> binary.",
} as const satisfies Readonly<Record<string, string>>;

/** The settings that texts refer to, by the part of the plan that contains them; with `=`, one value of a setting. */
interface Settings {
  checkpoint: "folder";
  client:
    | "callMode=async"
    | "isMpi"
    | "kind"
    | "maxLanes"
    | "maxOutstanding"
    | "requestTimeoutMs"
    | "sourceAddresses"
    | "stallTimeoutMs"
    | "workers";
  "client.bus": "agentCount" | "allowLost" | "caFile" | "url";
  failures: "maxRatio";
  inputs: "count" | "data" | "entries" | "file" | "file=other" | "file=rankings" | "format" | "tokenizer";
  "inputs.audio": "channelCount" | "depthsBits" | "lengthS" | "sampleRatesHz";
  load: "concurrency" | "kind=sessions" | "periodResponses";
  measurement: "warmupRequests";
  "measurement.mode": "count" | "durationMs" | "maxTrials" | "requestsPerWindow" | "stabilityPct" | "windowMs";
  merge: "folder";
  mock: "grpcPort" | "grpcProto" | "httpPort";
  outputs: "folder" | "otlpUrl" | "verbosity" | "watchPort";
  "outputs.files": keyof OutputFilesPlan;
  /** Options of `rampart run` that change a scenario. */
  overrides: "client" | "set" | "url";
  sequences: "concurrent" | "idCount" | "isSerial" | "length" | "lengthVariationPct";
  target:
    | "apiKeyEnv"
    | "batchSize"
    | "composingModels"
    | "directory"
    | "importPaths"
    | "isStreaming"
    | "isStreaming=in-process"
    | "method"
    | "model"
    | "modelRepository"
    | "modelVersion"
    | "pacing"
    | "protoFiles"
    | "shapes"
    | "signatureName"
    | "success"
    | "url";
  telemetry: "metrics";
  "telemetry.metrics": "intervalMs";
  "telemetry.trace": "count" | "file" | "levels" | "logFrequency" | "rate";
}

type TensorSetting = "inputTensorFormat" | "outputSharedMemoryBytes" | "outputTensorFormat" | "sharedMemory";
type TlsValue =
  | "tls=false"
  | "tls=true"
  | "tls=trusting-grpc"
  | "tls=trusting-http"
  | "tls=identified-grpc"
  | "tls=identified-http"
  | "tls=unverified-http";
type TargetValue = "protocol=grpc" | "protocol=http" | TlsValue;

/** A setting's path: `client.stallTimeoutMs`, `target.protocol=grpc`. */
export type SettingPath =
  | { [Part in keyof Settings]: `${Part}.${Settings[Part]}` }[keyof Settings]
  | `target.${TensorSetting | TargetValue | "url=http" | "url=https"}`
  | `${typeof TARGET_KIND}${string}`;

/** Prefix of a kind of targets: `target.kind=triton`. */
export const TARGET_KIND = "target.kind=";

/**
 * Returns a front door's name of a setting, or of one of its values, as its user gives it. Undefined if a user of this front
 * door cannot set it. The compatible modes derive the names from their option tables.
 */
export type NameOf = (path: SettingPath) => string | undefined;

/** Formats a text in words. @param nameOf the names of the user's front door; default: settings keep their paths in the plan */
export function word(text: Text, nameOf?: NameOf): string {
  if (typeof text === "string") return text;
  const name = (path: SettingPath): string => nameOf?.(path) ?? path;
  if ("setting" in text) return name(text.setting);
  if ("where" in text) return nameOf?.(text.where) === undefined ? "" : word(text.text, nameOf);
  if (!("say" in text)) return text.map((part) => word(part, nameOf)).join("");
  const values: Readonly<Record<string, Text | number>> = text;
  return MESSAGES[text.say].replace(/<([\w.=-]+)>/g, (_place, key: string) => {
    const value = values[key];
    if (value === undefined) return name(key as SettingPath);
    return key === "at" ? name(value as SettingPath) : typeof value === "number" ? `${value}` : word(value, nameOf);
  });
}
