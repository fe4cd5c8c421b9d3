import { DEFAULT_WINDOWS } from "../../../plan/defaults.ts";
import type { MeasurementPlan } from "../../../plan/plan.ts";
import type { TokensPlan } from "../../../plan/tokens.ts";
import { secToMs } from "../../../plan/units.ts";
import { parseResponseField } from "../../../service/openai/response-field.ts";
import { formatOf } from "../endpoint-formats.ts";
import { ENDPOINT_TYPES } from "../endpoints.ts";
import { isPayloadFile } from "../input-format.ts";
import { countFor, loadOf } from "../loads.ts";
import type { Asked } from "../options/asked.ts";
import { readTemplateOptions } from "../template-options.ts";

const DEFAULT_INTERVAL_MS = 10_000;

/** Returns how a profile is measured. @throws UserError for an invalid path into responses */
export function toMeasurement(asked: Asked): MeasurementPlan {
  const { durationSec, gracePeriodSec } = asked.settings.rampart;
  const mode: MeasurementPlan["mode"] =
    durationSec === null || isOverridden(asked)
      ? toMode(asked)
      : { kind: "duration", durationMs: secToMs(durationSec), graceMs: secToMs(gracePeriodSec) };
  return {
    mode,
    warmupRequests: 0,
    percentile: null,
    latencyLimitMs: null,
    tokens: toTokens(asked),
  };
}

/** Reports whether a file sets the duration and the command line asks for another measurement. */
function isOverridden({ given }: Asked): boolean {
  const source = given.get("perfAnalyzer.measurement.num")?.source;
  return source === "flag" && given.get("rampart.durationSec")?.source !== "flag";
}

/** Like in GenAI-Perf, a payload file is sent once by default, and sessions always run once. `withEntryCount` completes the former. */
function toMode({ settings: { input, perfAnalyzer } }: Asked): MeasurementPlan["mode"] {
  const { measurement, stimulus, stabilityPct } = perfAnalyzer;
  const { sendsOnce, isInFlight } = loadOf(stimulus.kind);
  if (sendsOnce) return { kind: "requests", count: null };
  if (measurement.mode === "interval") {
    const windowMs = measurement.num ?? DEFAULT_INTERVAL_MS;
    return { kind: "time-windows", windowMs, stabilityPct, maxTrials: DEFAULT_WINDOWS.maxTrials };
  }
  if (measurement.num !== null) return { kind: "requests", count: measurement.num };
  if (isPayloadFile(input)) return { kind: "requests", count: null };
  return { kind: "requests", count: countFor(isInFlight ? (stimulus.value ?? 1) : 0) };
}

/** Returns how responses are measured: single requests, with all windows as one. */
function toTokens(asked: Asked): TokensPlan {
  const { endpoint, layout, output, tokenizer } = asked.settings;
  const field = responseFieldOf(asked);
  return {
    responses: formatOf(endpoint).response,
    isStreamed: layout.isStreaming,
    tokenizer: tokenizer.name === "" ? (layout.models[0] ?? "") : tokenizer.name,
    revision: tokenizer.revision,
    keepsAllWindows: true,
    keepsBunchedRates: true,
    ...(asksLength(asked) ? { isLengthAsked: true } : {}),
    ...(field === undefined ? {} : { field }),
    ...(output.isPlotting ? { wantsGaps: true } : {}),
  };
}

/** Reports whether requests ask for an exact response length, in the settings or in their file. A limit in a body is only a maximum. */
function asksLength({ settings: { input, prompts, rampart } }: Asked): boolean {
  const isAsked = prompts.outputTokens.mean !== null || rampart.sequenceMix !== "";
  return isAsked || isPayloadFile(input);
}

/** Returns the location of the text in responses to a template's requests; undefined if it is detected. */
function responseFieldOf({ settings: { endpoint, input } }: Asked): string | undefined {
  if (!ENDPOINT_TYPES[endpoint.type].usesTemplate) return undefined;
  const { responseField } = readTemplateOptions(input.extra);
  return responseField && parseResponseField(responseField, "--extra-inputs response_field").text;
}
