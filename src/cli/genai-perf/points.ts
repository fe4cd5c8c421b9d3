import type { SweepAxis } from "../../campaign/sweep.ts";
import type { PointParameters } from "../../result/sweep.ts";
import { putValue } from "../options/place.ts";
import { ENDPOINT_TYPES } from "./endpoints.ts";
import { isLoadName, type LoadName, loadOf } from "./loads.ts";
import type { GenaiSettings, SettingPath, Sweep, SweepType } from "./options/settings.ts";
import { sweepValues } from "./options/sweeps.ts";

/** The points of a sweep. */

/** Returns the parameters that a sweep varies. */
export function axesOf(sweeps: readonly Sweep[]): SweepAxis[] {
  return sweeps.map((sweep) => ({ name: sweep.type, values: sweepValues(sweep) }));
}

const MIN_REQUESTS = 10;

/** Returns the settings of one point: the sweep's settings with the point's values. */
export function applyPoint(settings: GenaiSettings, parameters: PointParameters): GenaiSettings {
  const point = { ...settings };
  for (const [type, value] of parameters)
    if (isLoadName(type)) putValue(point, "perfAnalyzer.stimulus", { kind: type, value });
    else putValue(point, placeOf(type as Exclude<SweepType, LoadName>, settings), value);
  const { stimulus, measurement } = point.perfAnalyzer;
  // Ten requests, a profile's default, are too few for a high rate.
  const isCounted =
    measurement.mode === "request_count" && measurement.num === null && settings.rampart.durationSec === null;
  const { isInFlight, sendsOnce } = loadOf(stimulus.kind);
  if (!isInFlight && !sendsOnce && isCounted)
    putValue(point, NUMBER, Math.max(MIN_REQUESTS, Math.ceil(2 * (stimulus.value ?? 1))));
  return point;
}

const NUMBER: SettingPath = "perfAnalyzer.measurement.num";

/** Returns the path of the setting that a sweep varies. */
function placeOf(type: Exclude<SweepType, LoadName>, { endpoint }: GenaiSettings): SettingPath {
  switch (type) {
    case "input_sequence_length":
      return "prompts.inputTokens.mean";
    case "num_dataset_entries":
      return "prompts.entryCount";
    case "runtime_batch_size":
      return ENDPOINT_TYPES[endpoint.type].isTextless ? "prompts.imagesPerRequest" : "prompts.textsPerRequest";
  }
}

/** Returns the sweep that varies the load; undefined when the load is the same for all points. */
export function findLoadSweep(sweeps: readonly Sweep[]): (Sweep & { readonly type: LoadName }) | undefined {
  return sweeps.find((sweep): sweep is Sweep & { readonly type: SweepType & LoadName } => isLoadName(sweep.type));
}
