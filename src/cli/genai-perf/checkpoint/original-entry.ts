import { msToNs } from "../../../plan/units.ts";
import type { PythonJson } from "../../../report/genai-perf/python-format.ts";
import type { GenAiPerfResult } from "../../../report/genai-perf/result.ts";
import { ENDPOINT_TYPES } from "../endpoints.ts";
import { loadOf } from "../loads.ts";
import type { GenaiSettings } from "../options/settings.ts";
import type { GivenSettings } from "../options/settings-builder.ts";
import { toInputConfig } from "../profile/to-input-config.ts";

/** GenAI-Perf's layout of a checkpoint entry, so that scripts for its checkpoints can read these too. */

/** Times are stored in nanoseconds. */

/** Returns the entry's parts except its name. @param parameters the varied parameters */
export function toOriginalEntry(
  settings: GenaiSettings,
  given: GivenSettings,
  parameters: readonly (readonly [name: string, value: number])[],
  result: GenAiPerfResult,
): Record<string, PythonJson> {
  const model = settings.modelNames[0] ?? "";
  const { kind, value } = settings.perfAnalyzer.stimulus;
  return {
    genai_perf_config: { _parameters: configOf(settings, given, parameters) },
    perf_analyzer_config: {
      _model_name: model,
      _parameters: value === undefined ? {} : { [kind]: value },
      _cli_args: cliArgs(settings, model),
    },
    measurement: {
      _gpu_metrics: gpuRecords(result),
      _model_config_measurements: { [model]: { _perf_metrics: perfRecords(result) } },
    },
  };
}

function configOf(
  settings: GenaiSettings,
  given: GivenSettings,
  parameters: readonly (readonly [name: string, value: number])[],
): PythonJson {
  const { endpoint, input, tokenizer } = toInputConfig(settings, given) as Record<string, PythonJson>;
  const { server_metrics_urls: _a, url: _b, ...rest } = endpoint as Record<string, PythonJson>;
  const varied = parameters.filter(([name]) => name === "input_sequence_length" || name === "num_dataset_entries");
  return { endpoint: rest, input, tokenizer, ...Object.fromEntries(varied) } as PythonJson;
}

/** GenAI-Perf reads the load from these arguments. No perf_analyzer was started. Headers are left out, because they can be secret. */
function cliArgs({ perfAnalyzer: { stimulus }, endpoint }: GenaiSettings, model: string): string[] {
  const { passedFlag } = loadOf(stimulus.kind);
  const load = stimulus.value === undefined ? [] : [passedFlag, String(stimulus.value)];
  const { isInProcess, serviceKind } = ENDPOINT_TYPES[endpoint.type];
  const kind = isInProcess ? ["triton_c_api", "--streaming"] : [serviceKind];
  return ["perf_analyzer", "-m", model, ...load, "--service-kind", ...kind];
}

function perfRecords({ statistics }: GenAiPerfResult): PythonJson {
  const records = [...statistics].flatMap(([metric, { unit, values }]) =>
    [...values].map(([statistic, value]) => {
      const tag = `${metric}_${statistic}`;
      return [tag, [tag, { _value: unit === "ms" ? msToNs(value) : value, _timestamp: 0 }]] as const;
    }),
  );
  return Object.fromEntries(records) as PythonJson;
}

function gpuRecords({ telemetry }: GenAiPerfResult): PythonJson {
  const records = new Map<string, Record<string, PythonJson>>();
  for (const [metric, { gpus }] of telemetry ?? [])
    for (const [gpu, values] of gpus)
      for (const [statistic, value] of values) {
        const tag = `${metric}_${statistic}`;
        records.set(gpu, { ...records.get(gpu), [tag]: [tag, { _value: value, _timestamp: 0, _device: gpu }] });
      }
  return Object.fromEntries(records);
}
