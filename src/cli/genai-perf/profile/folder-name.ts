import type { PointParameters } from "../../../result/sweep.ts";
import { ENDPOINT_TYPES } from "../endpoints.ts";
import { isPayloadFile } from "../input-format.ts";
import { loadOf, nameLoad } from "../loads.ts";
import { passedLoadName } from "../options/passed-flags.ts";
import type { GenaiSettings } from "../options/settings.ts";

/**
 * Returns the name of a run's folder below `artifacts/`, like GenAI-Perf: `tiny-openai-chat-concurrency2`. For a load
 * that only flags after `--` can give, it contains that load's name, where GenAI-Perf writes `concurrency1`.
 * @param point the point of a sweep, which replaces the load in the name
 */
export function nameFolder(settings: GenaiSettings, point?: PointParameters): string {
  const { endpoint, modelNames } = settings;
  const { serviceKind, isTritonModel, isInProcess } = ENDPOINT_TYPES[endpoint.type];
  const model = `${modelNames[0] ?? ""}${modelNames.length > 1 ? "_multi" : ""}`.replaceAll("/", "_");
  const load = point?.map(([name, value]) => `${name}${value}`) ?? nameLoads(settings);
  const kind = isInProcess ? [] : [isTritonModel ? endpoint.backend : endpoint.type];
  return [model, serviceKind, ...kind, ...load].join("-");
}

/** A payload file with its own times, without a schedule flag, has no name. */
function nameLoads(settings: GenaiSettings): string[] {
  const { stimulus } = settings.perfAnalyzer;
  if (!loadOf(stimulus.kind).sendsOnce) {
    const passed = passedLoadName(settings.passed);
    if (passed !== undefined) return [passed];
    if (isPayloadFile(settings)) return [];
  }
  return [nameLoad(stimulus)];
}
