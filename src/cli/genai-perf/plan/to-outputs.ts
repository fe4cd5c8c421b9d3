import type { OutputsPlan } from "../../../plan/plan.ts";
import { artifactFiles, type GenaiOutputs } from "../../../report/genai-perf/outputs.ts";
import type { PointParameters } from "../../../result/sweep.ts";
import { ENDPOINT_TYPES } from "../endpoints.ts";
import { isPayloadFile } from "../input-format.ts";
import { loadOf, nameLoad } from "../loads.ts";
import { passedLoadName } from "../options/passed-flags.ts";
import type { GenaiSettings } from "../options/settings.ts";
import type { GivenSettings } from "../options/settings-builder.ts";
import { toInputConfig } from "./to-input-config.ts";

/** Returns what a profile prints and writes. @param folder of its files */
export function toOutputs(settings: GenaiSettings, given: GivenSettings, folder: string): OutputsPlan {
  const { output, perfAnalyzer } = settings;
  const { plots, ...files } = artifactFiles(folder, output.profileExportFile);
  return {
    style: "genai-perf",
    verbosity: perfAnalyzer.isVerbose ? 1 : 0,
    files: {
      ...files,
      ...(output.isPlotting ? { plots } : {}),
    },
    genaiPerf: toGenaiOutputs(settings, given, folder),
    isVerboseCsv: false,
    isLive: false,
  };
}

/** Returns what only the outputs of GenAI-Perf need to know. */
function toGenaiOutputs(settings: GenaiSettings, given: GivenSettings, folder: string): GenaiOutputs {
  const { endpoint, input, isVerbose, perfAnalyzer, rampart } = settings;
  const { title = endpoint.type, usesTemplate } = ENDPOINT_TYPES[endpoint.type];
  return {
    folder,
    endpointType: endpoint.type,
    ...(usesTemplate ? {} : { titledType: title }),
    load: perfAnalyzer.stimulus,
    ...(input.goodput === null ? {} : { goodput: input.goodput }),
    inputConfig: toInputConfig(settings, given),
    plotFormats: rampart.plotFormats,
    isVerbose,
  };
}

/**
 * Returns the name of a run's folder below `artifacts/`, like GenAI-Perf: `tiny-openai-chat-concurrency2`. For a load
 * that only flags after `--` can give, it contains that load's name, where GenAI-Perf writes `concurrency1`.
 * @param point the point of a sweep, which replaces the load in the name
 */
export function nameFolder(settings: GenaiSettings, point?: PointParameters): string {
  const { models } = settings.layout;
  const { endpoint } = settings;
  const { serviceKind, isTritonModel, isInProcess } = ENDPOINT_TYPES[endpoint.type];
  const model = `${models[0] ?? ""}${models.length > 1 ? "_multi" : ""}`.replaceAll("/", "_");
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
    if (isPayloadFile(settings.input)) return [];
  }
  return [nameLoad(stimulus)];
}
