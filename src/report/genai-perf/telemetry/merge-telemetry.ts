import * as v from "valibot";
import type { StatisticName } from "../../../measure/numpy-statistics.ts";
import { userError } from "../../../plan/problem.ts";
import type { TelemetryStatistics } from "../result.ts";
import { gpuMetricOf } from "./telemetry.ts";

/** Merges GPU metrics of several runs from the statistics in their JSON, which has no samples. */

const TELEMETRY = v.record(
  v.string(),
  v.objectWithRest({ unit: v.optional(v.string(), "") }, v.record(v.string(), v.number())),
);

/** Parses the text of `telemetry_stats`. @param path the file, for errors @throws UserError */
export function parseTelemetry(text: string, path: string): TelemetryStatistics {
  const parsed = v.safeParse(TELEMETRY, JSON.parse(text));
  if (!parsed.success) {
    const hint = "Give the unchanged file that genai-perf or rampart wrote.";
    throw userError("missing", `${path}, telemetry_stats`, "metrics by GPU are missing", hint);
  }
  return new Map(
    Object.entries(parsed.output).map(([name, { unit, ...gpus }]) => [
      name,
      {
        unit: unit as string,
        gpus: new Map(
          Object.entries(gpus as Record<string, Record<string, number>>).map(([gpu, values]) => [
            gpu,
            new Map(Object.entries(values) as [StatisticName, number][]),
          ]),
        ),
      },
    ]),
  );
}

/** Returns all statistics of a single run; for several, like GenAI-Perf, only averages. Undefined without runs. */
export function mergeTelemetry(runs: readonly TelemetryStatistics[]): TelemetryStatistics | undefined {
  const [first] = runs;
  if (first === undefined || runs.length === 1) return first;
  return new Map(
    [...first].map(([name, { unit }]) => {
      const gpuNames = new Set(runs.flatMap((run) => [...(run.get(name)?.gpus.keys() ?? [])]));
      const gpus = [...gpuNames].flatMap((gpu) => {
        const averages = runs
          .map((run) => run.get(name)?.gpus.get(gpu)?.get("avg"))
          .filter((value) => value !== undefined);
        return averages.length === 0 ? [] : [[gpu, new Map([["avg", combine(name, averages)] as const])] as const];
      });
      return [name, { unit, gpus: new Map(gpus) }];
    }),
  );
}

function combine(name: string, values: readonly number[]): number {
  return gpuMetricOf(name)?.isMean
    ? values.reduce((sum, value) => sum + value, 0) / values.length
    : Math.max(...values);
}
