import { artifactFolder, type Stimulus } from "../../../report/genai-perf/artifacts.ts";
import { ENDPOINT_TYPES } from "../endpoints.ts";
import { isPayloadFile } from "../input-format.ts";
import { intervalsFileOf } from "../lift-load.ts";
import type { GenaiSettings } from "../options/settings.ts";

/**
 * Returns the name of a run's folder, like GenAI-Perf. For intervals from a file it contains the flag's name, where GenAI-Perf writes
 * `concurrency1`.
 * @param stimulus replaces the settings' load
 */
export function nameFolder(settings: GenaiSettings, stimulus: Stimulus = stimulusOf(settings)): string {
  const { endpoint, modelNames } = settings;
  const { serviceKind } = ENDPOINT_TYPES[endpoint.type];
  const endpointType = serviceKind === "triton" ? endpoint.backend : endpoint.type;
  return artifactFolder({ models: modelNames, serviceKind, endpointType, stimulus });
}

function stimulusOf(settings: GenaiSettings): Stimulus {
  const { stimulus } = settings.perfAnalyzer;
  if (stimulus.kind === "session_concurrency") return { kind: "session_concurrency", value: stimulus.sessions };
  if (stimulus.kind === "fixed_schedule") return stimulus;
  if (intervalsFileOf(settings.passThrough) !== undefined) return { kind: "request_intervals" };
  if (isPayloadFile(settings)) return { kind: "none" };
  if (stimulus.kind === "request_rate") return { kind: "request_rate", value: stimulus.ratePerSec };
  return { kind: "concurrency", value: stimulus.requests };
}
