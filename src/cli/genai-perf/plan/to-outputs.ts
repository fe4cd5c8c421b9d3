import type { OutputsPlan } from "../../../plan/plan.ts";
import { artifactFiles, type GenaiOutputs } from "../../../report/genai-perf/outputs.ts";
import type { PointParameters } from "../../../result/sweep.ts";
import { ENDPOINT_TYPES } from "../endpoints.ts";
import { isPayloadFile } from "../input-format.ts";
import { loadOf, nameLoad } from "../loads.ts";
import type { Asked } from "../options/asked.ts";
import { passedLoadName } from "../options/passed-flags.ts";
import { toInputConfig } from "./to-input-config.ts";

/** Returns what a profile prints and writes. @param folder of its files */
export function toOutputs(asked: Asked, folder: string): OutputsPlan {
  const { output } = asked.settings;
  const { plots, ...files } = artifactFiles(folder, output.profileExportFile);
  return {
    style: "genai-perf",
    verbosity: 0,
    files: {
      ...files,
      ...(output.isPlotting ? { plots } : {}),
    },
    genaiPerf: toGenaiOutputs(asked, folder),
    isVerboseCsv: false,
    isLive: false,
  };
}

/** Returns what only the outputs of GenAI-Perf need to know. */
function toGenaiOutputs(asked: Asked, folder: string): GenaiOutputs {
  const { endpoint, input, perfAnalyzer, rampart } = asked.settings;
  const { title = endpoint.type, usesTemplate } = ENDPOINT_TYPES[endpoint.type];
  return {
    folder,
    endpointType: endpoint.type,
    ...(usesTemplate ? {} : { titledType: title }),
    load: perfAnalyzer.stimulus,
    ...(input.goodput === null ? {} : { goodput: input.goodput }),
    inputConfig: toInputConfig(asked),
    plotFormats: rampart.plotFormats,
    isVerbose: false,
  };
}

/**
 * Returns the name of a run's folder below `artifacts/`, like GenAI-Perf: `tiny-openai-chat-concurrency2`. For a load
 * that only flags after `--` can give, it contains that load's name, where GenAI-Perf writes `concurrency1`.
 * @param point the point of a sweep, which replaces the load in the name
 */
export function nameFolder(asked: Asked, point?: PointParameters): string {
  const { endpoint, layout } = asked.settings;
  const { models } = layout;
  const { serviceKind, isTritonModel, isInProcess } = ENDPOINT_TYPES[endpoint.type];
  const model = `${models[0] ?? ""}${models.length > 1 ? "_multi" : ""}`.replaceAll("/", "_");
  const load = point?.map(([name, value]) => `${name}${value}`) ?? nameLoads(asked);
  const kind = isInProcess ? [] : [isTritonModel ? endpoint.backend : endpoint.type];
  return [model, serviceKind, ...kind, ...load].join("-");
}

/** A payload file with its own times, without a schedule flag, has no name. */
function nameLoads({ settings: { input, passed, perfAnalyzer } }: Asked): string[] {
  const { stimulus } = perfAnalyzer;
  if (!loadOf(stimulus.kind).sendsOnce) {
    const name = passedLoadName(passed);
    if (name !== undefined) return [name];
    if (isPayloadFile(input)) return [];
  }
  return [nameLoad(stimulus)];
}
