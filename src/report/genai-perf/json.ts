import { formatPythonJson, PythonFloat, type PythonJson } from "./python-format.ts";
import type { GenAiPerfResult, Statistics, TelemetryStatistics } from "./result.ts";

/**
 * Formats GenAI-Perf's JSON, `profile_export_genai_perf.json`, without a final newline.
 *
 * @param inputConfig the whole configuration, in GenAI-Perf's order; integers that are floats there are {@link PythonFloat}
 */
export function formatGenAiPerfJson(result: GenAiPerfResult, inputConfig: PythonJson): string {
  const { statistics, sessions, telemetry } = result;
  const document = new Map<string, PythonJson>(toJson(statistics));
  const measured = telemetry === undefined ? new Map<string, PythonJson>() : telemetryToJson(telemetry);
  if (measured.size > 0) document.set("telemetry_stats", measured);
  document.set("input_config", inputConfig);
  if (sessions.size > 0)
    document.set("sessions", new Map([...sessions].map(([id, values]) => [id, toJson(values)] as const)));
  return formatPythonJson(document);
}

function toJson(statistics: Statistics): Map<string, PythonJson> {
  return new Map(
    [...statistics].map(([name, { unit, values }]) => [
      name,
      new Map<string, PythonJson>([["unit", unit], ...floats(values)]),
    ]),
  );
}

function telemetryToJson(telemetry: TelemetryStatistics): Map<string, PythonJson> {
  const measured = [...telemetry].filter(([, { gpus }]) => gpus.size > 0);
  return new Map(
    measured.map(([name, { unit, gpus }]) => {
      const byGpu = [...gpus].map(([gpu, values]) => [gpu, new Map<string, PythonJson>(floats(values))] as const);
      return [name, new Map<string, PythonJson>([["unit", unit], ...byGpu])];
    }),
  );
}

function floats(values: ReadonlyMap<string, number>): [string, PythonJson][] {
  return [...values].map(([name, value]) => [name, new PythonFloat(value)]);
}
