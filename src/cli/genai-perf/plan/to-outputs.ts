import type { OutputsPlan } from "../../../plan/plan.ts";
import { artifactFiles, type GenaiOutputs } from "../../../report/genai-perf/outputs.ts";
import type { PointParameters } from "../../../result/sweep.ts";
import { isPayloadFile } from "../input-format.ts";
import { nameLoad } from "../loads.ts";
import type { Asked } from "../options/asked.ts";
import { passedLoadName } from "../options/passed-flags.ts";
import { toInputConfig } from "./to-input-config.ts";

/** Returns the outputs of a profile. Options add their values later. @param folder folder of its files */
export function toOutputs(asked: Asked, folder: string): OutputsPlan {
  const { plots: _plots, ...files } = artifactFiles(folder, asked.get("output.profile_export_file"));
  const genaiPerf = toGenaiOutputs(asked, folder);
  return { style: "genai-perf", verbosity: 0, files, genaiPerf, isVerboseCsv: false, isLive: false };
}

/** Returns the settings that only GenAI-Perf's outputs need. */
function toGenaiOutputs(asked: Asked, folder: string): GenaiOutputs {
  const { type: endpointType } = asked.endpoint;
  const { title = endpointType, usesTemplate } = asked.type;
  return {
    folder,
    endpointType,
    ...(usesTemplate ? {} : { titledType: title }),
    load: asked.get("perf_analyzer.stimulus"),
    inputConfig: toInputConfig(asked),
    plotFormats: [],
    isVerbose: false,
  };
}

/**
 * Returns the name of a run's folder below `artifacts/`, like GenAI-Perf: `tiny-openai-chat-concurrency2`. For a load
 * that can be set only after `--`, it contains that load's name instead of GenAI-Perf's `concurrency1`.
 * @param point the point of a sweep, which replaces the load in the name
 */
export function nameFolder(asked: Asked, point?: PointParameters): string {
  const models = asked.get("model_names");
  const { type, backend } = asked.endpoint;
  const { serviceKind, isTritonModel, isInProcess } = asked.type;
  const model = `${models[0] ?? ""}${models.length > 1 ? "_multi" : ""}`.replaceAll("/", "_");
  const load = point?.map(([name, value]) => `${name}${value}`) ?? nameLoads(asked);
  const kind = isInProcess ? [] : [isTritonModel ? backend : type];
  return [model, serviceKind, ...kind, ...load].join("-");
}

/** A payload file with timestamps, without a schedule flag, adds no name. */
function nameLoads(asked: Asked): string[] {
  if (!asked.load.sendsOnce) {
    const name = passedLoadName(asked.passed);
    if (name !== undefined) return [name];
    if (isPayloadFile(asked.input)) return [];
  }
  return [nameLoad(asked.get("perf_analyzer.stimulus"))];
}
