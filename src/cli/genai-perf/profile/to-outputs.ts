import type { OutputsPlan } from "../../../plan/plan.ts";
import { userError } from "../../../plan/problem.ts";
import { setting } from "../../../plan/setting-names.ts";
import { artifactFiles } from "../../../report/genai-perf/artifacts.ts";
import type { GenaiPerfPlan } from "../../../report/genai-perf/measured.ts";
import { resolveOtlpUrl } from "../../../report/live/otlp/otlp-settings.ts";
import type { PlotFormat } from "../../../report/plot.ts";
import { ENDPOINT_TYPES } from "../endpoints.ts";
import { ownFilesPlan } from "../options/own-files.ts";
import type { GenaiSettings } from "../options/settings.ts";
import type { GivenSettings } from "../options/settings-builder.ts";
import { toInputConfig } from "./to-input-config.ts";

/** Returns what a profile prints and writes. @param folder of its files */
export function toOutputs(settings: GenaiSettings, given: GivenSettings, folder: string): OutputsPlan {
  const { output, perfAnalyzer, rampart } = settings;
  const { plots, ...files } = artifactFiles(folder, output.profileExportFile);
  return {
    style: "genai-perf",
    verbosity: perfAnalyzer.isVerbose ? 1 : 0,
    files: {
      ...files,
      ...(output.isPlotting ? { plots } : {}),
      ...ownFilesPlan(settings),
    },
    genaiPerf: toReportsPlan(settings, given),
    isVerboseCsv: false,
    isLive: rampart.isLive,
    ...(rampart.watchPort === null ? {} : { watchPort: rampart.watchPort }),
    ...(rampart.otlp === "" ? {} : { otlpUrl: toOtlpUrl(rampart.otlp) }),
  };
}

/** @throws UserError */
function toOtlpUrl(text: string): string {
  const resolved = resolveOtlpUrl(text, process.env);
  if ("url" in resolved) return resolved.url;
  throw userError("invalid-value", setting("outputs.otlpUrl"), resolved.message, resolved.hint, text);
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
