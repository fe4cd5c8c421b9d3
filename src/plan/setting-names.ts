/**
 * Errors of a run say which setting to change. They name it by its path in the Plan, in braces, and the front door that the user typed
 * into puts its own name there: a field of a scenario, or a flag.
 */

/** Settings that errors of a run speak of. */
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

/** What a front door calls each of them. */
export type SettingNames = Readonly<Record<SettingPath, string>>;

/** Stands for a setting's name in the text of an error. */
export function setting(path: SettingPath): string {
  return `{${path}}`;
}

/** The text with the front door's names in place of the paths. */
export function nameSettings(text: string, names: SettingNames): string {
  return text.replace(/\{([a-zA-Z.]+)\}/g, (whole, path: string) => names[path as SettingPath] ?? whole);
}
