import type { Plan } from "../plan/plan.ts";
import { RunError } from "../plan/problem.ts";
import { nameSettings, type SettingNames } from "../plan/setting-names.ts";
import type { PreparedRun } from "../result/run-result.ts";

/** What each front door calls the settings that errors of a run speak of. */

const SCENARIO_NAMES: SettingNames = {
  "client.requestTimeoutMs": "requestTimeout",
  "client.stallTimeoutMs": "stallTimeout",
  "failures.maxRatio": "maxFailureRatio",
  "load.periodResponses": "responses of periodic(…)",
  "measurement.mode.windowMs": "stability.window",
  "sequences.idCount": "sequences.ids",
  "target.composingModels": "composingModels",
  "target.inputTensorFormat": "inputTensorFormat",
  "target.isStreaming": 'protocol: "grpc" and streaming: true',
  "target.outputSharedMemoryBytes": "outputSharedMemoryBytes",
  "target.outputTensorFormat": "outputTensorFormat",
  "target.sharedMemory": "sharedMemory",
};

const PERF_ANALYZER_NAMES: SettingNames = {
  "client.requestTimeoutMs": "--request-timeout",
  "client.stallTimeoutMs": "--stall-timeout",
  "failures.maxRatio": "--max-failure-ratio",
  "load.periodResponses": "--request-period",
  "measurement.mode.windowMs": "--measurement-interval",
  "sequences.idCount": "--sequence-id-range",
  "target.composingModels": "--bls-composing-models",
  "target.inputTensorFormat": "--input-tensor-format",
  "target.isStreaming": "-i grpc --streaming",
  "target.outputSharedMemoryBytes": "--output-shared-memory-size",
  "target.outputTensorFormat": "--output-tensor-format",
  "target.sharedMemory": "--shared-memory",
};

/** GenAI-Perf takes perf_analyzer's flags after `--`, and has these names for what both have. */
const NAMES: Readonly<Record<Plan["outputs"]["style"], SettingNames>> = {
  rampart: SCENARIO_NAMES,
  perf_analyzer: PERF_ANALYZER_NAMES,
  "genai-perf": PERF_ANALYZER_NAMES,
};

/** The error in the words of the front door whose plan it is. @param style the plan's; default: a command of Rampart's own */
export function nameSettingsOf(error: RunError, style: Plan["outputs"]["style"] = "rampart"): RunError {
  const names = NAMES[style];
  return new RunError(error.kind, nameSettings(error.message, names), nameSettings(error.hint, names));
}

/** The run's warnings in the words of the front door whose plan it is. */
export function nameSettingsIn(prepared: PreparedRun): PreparedRun {
  const names = NAMES[prepared.plan.outputs.style];
  return { ...prepared, warnings: prepared.warnings.map((warning) => nameSettings(warning, names)) };
}
