/** The settings that texts speak of, by the part of the Plan that they are in; with `=`, one value of a setting. */
interface Settings {
  checkpoint: "folder";
  client: "callMode=async" | "isMpi" | "kind" | "maxLanes" | "maxOutstanding" | "requestTimeoutMs" | "stallTimeoutMs";
  failures: "maxRatio";
  inputs: "count" | "data" | "entries" | "file" | "file=other" | "file=rankings" | "format" | "tokenizer";
  "inputs.audio": "channelCount" | "depthsBits" | "lengthS" | "sampleRatesHz";
  load: "concurrency" | "kind=sessions" | "periodResponses";
  measurement: "warmupRequests";
  "measurement.mode": "maxTrials" | "requestsPerWindow" | "stabilityPct" | "windowMs";
  merge: "folder";
  mock: "grpcPort" | "grpcProto" | "httpPort";
  outputs: "folder" | "otlpUrl" | "verbosity" | "watchPort";
  "outputs.files": "csv" | "html" | "json" | "junit" | "markdown" | "perfAnalyzerCsv" | "profileExport" | "records";
  /** What `rampart run` may change about a scenario. */
  overrides: "client" | "set" | "url";
  sequences: "concurrent" | "idCount" | "isSerial" | "length" | "lengthVariationPct";
  target:
    | "apiKeyEnv"
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
  "telemetry.metrics": "intervalMs";
  "telemetry.trace": "count" | "file" | "levels" | "logFrequency" | "rate";
}

type TensorSetting = "inputTensorFormat" | "outputSharedMemoryBytes" | "outputTensorFormat" | "sharedMemory";
type TargetKindValue = `kind=${"dynamic-grpc" | "openai" | "tfserving" | "torchserve" | "triton"}`;
type TlsValue = "tls=false" | "tls=true" | "tls=trusting-grpc" | "tls=trusting-http" | "tls=unverified-http";
type TargetValue = TargetKindValue | "protocol=grpc" | "protocol=http" | TlsValue;

/** A setting's path: `client.stallTimeoutMs`, `target.protocol=grpc`. */
export type SettingPath =
  | { [Part in keyof Settings]: `${Part}.${Settings[Part]}` }[keyof Settings]
  | `target.${TensorSetting | TargetValue | "url=http" | "url=https"}`;

/**
 * A front door's name of a setting: how its user gives it, or one value of it. Undefined if a user of this front door cannot set it. The
 * compatible modes derive theirs from their option tables.
 */
export type NameOf = (path: SettingPath) => string | undefined;
