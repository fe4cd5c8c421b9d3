import { ENDPOINT_TYPES } from "../endpoints.ts";
import { isLoadName, type LoadName, loadOf } from "../loads.ts";
import type { GenaiSettings, Sweep, SweepType } from "../options/settings.ts";
import { sweepValues } from "../options/sweeps.ts";

/** The points of a sweep. */

/** One point: a value for each varied parameter, in the sweeps' order. */
export type PointParameters = readonly (readonly [type: SweepType, value: number])[];

/** Returns all combinations of the sweeps' values. The last sweep changes fastest, like in GenAI-Perf. */
export function combineSweeps(sweeps: readonly Sweep[]): PointParameters[] {
  return sweeps.reduce<PointParameters[]>(
    (points, sweep) =>
      points.flatMap((point) => sweepValues(sweep).map((value) => [...point, [sweep.type, value] as const])),
    [[]],
  );
}

const MIN_REQUESTS = 10;

/** Returns the settings of one point: the sweep's settings with the point's values. */
export function applyPoint(settings: GenaiSettings, parameters: PointParameters): GenaiSettings {
  const point = structuredClone(settings);
  for (const [type, value] of parameters) applyValue(point, type, value);
  const { stimulus, measurement } = point.perfAnalyzer;
  // Ten requests, a profile's default, are too few for a high rate.
  const isCounted =
    measurement.mode === "request_count" && measurement.num === null && settings.rampart.durationSec === null;
  const { isInFlight, sendsOnce } = loadOf(stimulus.kind);
  if (!isInFlight && !sendsOnce && isCounted)
    measurement.num = Math.max(MIN_REQUESTS, Math.ceil(2 * (stimulus.value ?? 1)));
  return point;
}

function applyValue(point: GenaiSettings, type: SweepType, value: number): void {
  if (isLoadName(type)) {
    point.perfAnalyzer.stimulus = { kind: type, value };
    return;
  }
  switch (type) {
    case "input_sequence_length":
      point.input.syntheticTokens.mean = value;
      return;
    case "num_dataset_entries":
      point.input.datasetEntries = value;
      return;
    case "runtime_batch_size":
      if (ENDPOINT_TYPES[point.endpoint.type].isTextless) point.input.image.batchSize = value;
      else point.input.textBatchSize = value;
  }
}

/** Formats a point: `concurrency 4, input_sequence_length 128`. */
export function formatPoint(parameters: readonly (readonly [name: string, value: number])[]): string {
  return parameters.map(([name, value]) => `${name} ${value}`).join(", ");
}

/** Returns the sweep that varies the load; undefined when the load is the same for all points. */
export function findLoadSweep(sweeps: readonly Sweep[]): (Sweep & { readonly type: LoadName }) | undefined {
  return sweeps.find((sweep): sweep is Sweep & { readonly type: SweepType & LoadName } => isLoadName(sweep.type));
}
