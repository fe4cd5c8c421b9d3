/**
 * Texts from below the front doors name a setting by its path in the Plan, marked with {@link setting}. The front door that the user typed
 * into puts its own name there: a field of a scenario, or a flag.
 */

/** A setting that texts speak of; with `=`, one value of it. */
export type SettingPath =
  | "client.callMode=async"
  | "client.isMpi"
  | "client.maxLanes"
  | "client.requestTimeoutMs"
  | "client.stallTimeoutMs"
  | "failures.maxRatio"
  | "inputs"
  | "inputs.audio.channelCount"
  | "inputs.audio.depthsBits"
  | "inputs.audio.lengthS"
  | "inputs.audio.sampleRatesHz"
  | "inputs.count"
  | "inputs.file"
  | "inputs.format"
  | "inputs.tokenizer"
  | "load.levels=concurrency"
  | "load.levels=request-rate"
  | "load.periodResponses"
  | "measurement.mode.maxTrials"
  | "measurement.mode.requestsPerWindow"
  | "measurement.mode.stabilityPct"
  | "measurement.mode.windowMs"
  | "measurement.warmupRequests"
  | "mock.grpcPort"
  | "mock.httpPort"
  | "outputs.csvFile"
  | "outputs.folder"
  | "outputs.jsonFile"
  | "outputs.profileExportFile"
  | "outputs.recordsFile"
  | "overrides.client"
  | "overrides.url"
  | "sequences.concurrent"
  | "sequences.idCount"
  | "target.apiKeyEnv"
  | "target.composingModels"
  | "target.inputTensorFormat"
  | "target.isStreaming"
  | "target.kind=openai"
  | "target.kind=triton"
  | "target.outputSharedMemoryBytes"
  | "target.outputTensorFormat"
  | "target.protocol=grpc"
  | "target.protocol=http"
  | "target.responseField"
  | "target.shapes"
  | "target.sharedMemory"
  | "target.tls=false"
  | "target.tls=true"
  | "target.url"
  | "target.url=http"
  | "target.url=https"
  | "telemetry.metrics.intervalMs"
  | "telemetry.trace.count"
  | "telemetry.trace.file"
  | "telemetry.trace.levels"
  | "telemetry.trace.logFrequency"
  | "telemetry.trace.rate";

/** Stands for a setting's name in a text for users. */
export function setting(path: SettingPath): string {
  return `{setting:${path}}`;
}

/** The text with names in place of the marks. @param nameOf what a front door calls a setting */
export function nameSettings(text: string, nameOf: (path: SettingPath) => string): string {
  if (!text.includes("{setting:")) return text;
  return text.replace(/\{setting:([\w.=-]+)\}/g, (_mark, path: string) => nameOf(path as SettingPath));
}
