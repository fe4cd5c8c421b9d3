import { msToNs } from "../../../plan/units.ts";
import type { GenaiOutputs } from "../../../report/genai-perf/outputs.ts";
import type { PythonJson } from "../../../report/genai-perf/python-format.ts";
import type { GenAiPerfResult } from "../../../report/genai-perf/result.ts";
import type { PointParameters } from "../../../result/sweep.ts";
import { ENDPOINT_TYPES, type EndpointTypeName } from "../endpoints.ts";
import { type LoadName, loadOf } from "../loads.ts";
import type { ProfilePlan } from "../plan/to-plan.ts";

/** GenAI-Perf's layout of a checkpoint entry, so that scripts for its checkpoints can also read these. */

/** Times are stored in nanoseconds. */

/** Returns the entry's parts except its name. @param parameters the varied parameters */
export function toOriginalEntry(
  { requests, outputs }: ProfilePlan,
  parameters: PointParameters,
  result: GenAiPerfResult,
): Record<string, PythonJson> {
  const { genaiPerf } = outputs;
  const model = requests.layout.models[0] ?? "";
  const { kind, value } = genaiPerf.load;
  return {
    genai_perf_config: { _parameters: configOf(genaiPerf, parameters) },
    perf_analyzer_config: {
      _model_name: model,
      _parameters: value === undefined ? {} : { [kind]: value },
      _cli_args: cliArgs(genaiPerf, model),
    },
    measurement: {
      _gpu_metrics: gpuRecords(result),
      _model_config_measurements: { [model]: { _perf_metrics: perfRecords(result) } },
    },
  };
}

function configOf({ inputConfig }: GenaiOutputs, parameters: PointParameters): PythonJson {
  const { endpoint, input, tokenizer } = inputConfig as Record<string, PythonJson>;
  const { server_metrics_urls: _a, url: _b, ...rest } = endpoint as Record<string, PythonJson>;
  const varied = parameters.filter(([name]) => name === "input_sequence_length" || name === "num_dataset_entries");
  return { endpoint: rest, input, tokenizer, ...Object.fromEntries(varied) } as PythonJson;
}

/** GenAI-Perf reads the load from these arguments. No perf_analyzer was started. Headers are omitted, because they may be secret. */
function cliArgs({ load: { kind, value }, endpointType }: GenaiOutputs, model: string): string[] {
  const { passedFlag } = loadOf(kind as LoadName);
  const load = value === undefined ? [] : [passedFlag, String(value)];
  const { isInProcess, serviceKind } = ENDPOINT_TYPES[endpointType as EndpointTypeName];
  const service = isInProcess ? ["triton_c_api", "--streaming"] : [serviceKind];
  return ["perf_analyzer", "-m", model, ...load, "--service-kind", ...service];
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
