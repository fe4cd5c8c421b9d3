/**
 * Settings that errors of a run refer to. An error names a setting by its path in the Plan, in braces; each front end replaces it with its
 * own name: a field of a scenario, or a flag.
 */
export type SettingPath =
  | "client.requestTimeoutMs"
  | "client.stallTimeoutMs"
  | "failures.maxRatio"
  | "load.periodResponses"
  | "measurement.mode.windowMs"
  | "sequences.idCount"
  | "target.composingModels"
  | "target.inputTensorFormat"
  | "target.isStreaming"
  | "target.outputSharedMemoryBytes"
  | "target.outputTensorFormat"
  | "target.sharedMemory";

/** A front end's names for the settings. */
export type SettingNames = Readonly<Record<SettingPath, string>>;

/** Returns the placeholder of a setting for an error text. */
export function setting(path: SettingPath): string {
  return `{${path}}`;
}

/** Replaces the placeholders in a text with the front end's names. */
export function nameSettings(text: string, names: SettingNames): string {
  return text.replace(/\{([a-zA-Z.]+)\}/g, (whole, path: string) => names[path as SettingPath] ?? whole);
}
