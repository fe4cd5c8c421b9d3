import type { OutputsPlan } from "../../../plan/plan.ts";
import { artifactFiles } from "../../../report/genai-perf/artifacts.ts";
import type { GenaiPerfPlan } from "../../../report/genai-perf/measured.ts";
import type { PlotFormat } from "../../../report/plot.ts";
import { ENDPOINT_TYPES } from "../endpoints.ts";
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
    genaiPerf: toReportsPlan(settings, given),
    isVerboseCsv: false,
    isLive: false,
  };
}

/** Returns what the reports say about a run besides its results. */
export function toReportsPlan(settings: GenaiSettings, given: GivenSettings): GenaiPerfPlan {
  const { endpoint, input, isVerbose, modelNames, rampart } = settings;
  const { title = endpoint.type, usesTemplate } = ENDPOINT_TYPES[endpoint.type];
  return {
    models: modelNames,
    endpointType: endpoint.type,
    ...(usesTemplate ? {} : { titledType: title }),
    isStreaming: endpoint.isStreaming,
    ...(input.goodput === null ? {} : { goodput: input.goodput }),
    inputConfig: toInputConfig(settings, given),
    plotFormats: rampart.plotFormats as PlotFormat[],
    isSynthetic: input.file === "",
    isVerbose,
  };
}
