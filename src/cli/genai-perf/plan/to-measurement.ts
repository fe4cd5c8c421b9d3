import { DEFAULT_WINDOWS } from "../../../plan/defaults.ts";
import { defined } from "../../../plan/objects.ts";
import type { MeasurementPlan } from "../../../plan/plan.ts";
import type { TokensPlan } from "../../../plan/tokens.ts";
import { secToMs } from "../../../plan/units.ts";
import { parseResponseField } from "../../../service/openai/response-field.ts";
import { formatOf } from "../endpoint-formats.ts";
import { isPayloadFile } from "../input-format.ts";
import { countFor } from "../loads.ts";
import type { Asked } from "../options/asked.ts";
import { readTemplateOptions } from "../template-options.ts";

/** Returns the measurement settings of a profile. Options add their values later. @throws UserError for an invalid path into responses */
export function toMeasurement(asked: Asked): MeasurementPlan {
  const durationSec = asked.get("rampart.duration");
  const mode: MeasurementPlan["mode"] =
    durationSec === null || isOverridden(asked)
      ? toMode(asked)
      : { kind: "duration", durationMs: secToMs(durationSec), graceMs: 0 };
  return { mode, warmupRequests: 0, percentile: null, latencyLimitMs: null, tokens: toTokens(asked) };
}

/** Reports whether a file sets the duration and the command line requests another kind of measurement. */
function isOverridden({ given }: Asked): boolean {
  const source = given.get("perf_analyzer.measurement.num")?.source;
  return source === "flag" && given.get("rampart.duration")?.source !== "flag";
}

/** Like in GenAI-Perf, a payload file is sent once by default, and sessions always. `withEntryCount` adds a file's number of requests. */
function toMode(asked: Asked): MeasurementPlan["mode"] {
  const number = asked.get("perf_analyzer.measurement.num");
  const { sendsOnce, isInFlight } = asked.load;
  if (sendsOnce) return { kind: "requests", count: null };
  if (number !== null)
    return asked.get("perf_analyzer.measurement.mode") === "interval"
      ? { ...DEFAULT_WINDOWS, kind: "time-windows", windowMs: number }
      : { kind: "requests", count: number };
  if (isPayloadFile(asked.input)) return { kind: "requests", count: null };
  const { value = 1 } = asked.get("perf_analyzer.stimulus");
  return { kind: "requests", count: countFor(isInFlight ? value : 0) };
}

/** Returns the settings for measuring responses: single requests, with all windows as one. */
function toTokens(asked: Asked): TokensPlan {
  const [model = ""] = asked.get("model_names");
  const field = responseFieldOf(asked);
  return {
    responses: formatOf(asked.endpoint).response,
    isStreamed: false,
    tokenizer: model,
    revision: "",
    keepsAllWindows: true,
    keepsBunchedRates: true,
    joinsTexts: true,
    omitsToolCalls: true,
    ...(asksLength(asked) ? { isLengthAsked: true } : {}),
    ...defined({ field }),
  };
}

/** Reports whether requests require an exact response length, in the options or in their file. A limit in a body is only a maximum. */
function asksLength(asked: Asked): boolean {
  const isAsked = asked.get("input.output_tokens.mean") !== null || asked.get("rampart.sequence_mix") !== "";
  return isAsked || isPayloadFile(asked.input);
}

/** Returns the place of the text in responses to a template's requests; undefined if it is detected. */
function responseFieldOf(asked: Asked): string | undefined {
  if (!asked.type.usesTemplate) return undefined;
  const { responseField } = readTemplateOptions(asked.get("input.extra"));
  return responseField && parseResponseField(responseField, "--extra-inputs response_field").text;
}
