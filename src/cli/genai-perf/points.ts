import type { SweepAxis } from "../../campaign/sweep.ts";
import type { PointParameters } from "../../result/sweep.ts";
import { putValue } from "../options/place.ts";
import { ENDPOINT_TYPES } from "./endpoints.ts";
import { countFor, isLoadName, type LoadName, loadOf } from "./loads.ts";
import type { Asked } from "./options/asked.ts";
import type { SettingPath, Sweep, SweepType } from "./options/settings.ts";
import { SWEEPS, type SweepKind, sweepValues } from "./options/sweeps.ts";

/** The points of a sweep. */

/** Returns the parameters that a sweep varies. */
export function axesOf(sweeps: readonly Sweep[]): SweepAxis[] {
  return sweeps.map((sweep) => ({ name: sweep.type, values: sweepValues(sweep) }));
}

/** Returns what one point asks for: the same as the sweep, with the values of the point. */
export function applyPoint(sweep: Asked, parameters: PointParameters): Asked {
  const { isTextless } = ENDPOINT_TYPES[sweep.settings.endpoint.type];
  const point = { ...sweep.settings };
  for (const [type, value] of parameters) {
    const { at }: SweepKind = SWEEPS[type as SweepType];
    if (at === undefined) putValue(point, "perfAnalyzer.stimulus", { kind: type, value });
    else putValue(point, at === TEXTS && isTextless ? IMAGES : at, value);
  }
  const { stimulus, measurement } = point.perfAnalyzer;
  // Ten requests, a profile's default, are too few for a high rate.
  const isCounted =
    measurement.mode === "request_count" && measurement.num === null && point.rampart.durationSec === null;
  const { isInFlight, sendsOnce } = loadOf(stimulus.kind);
  if (!isInFlight && !sendsOnce && isCounted) putValue(point, NUMBER, countFor(stimulus.value ?? 1));
  return sweep.with(point);
}

const NUMBER: SettingPath = "perfAnalyzer.measurement.num";
const TEXTS: SettingPath = "prompts.textsPerRequest";
const IMAGES: SettingPath = "prompts.imagesPerRequest";

/** Returns the sweep that varies the load; undefined when the load is the same for all points. */
export function findLoadSweep(sweeps: readonly Sweep[]): (Sweep & { readonly type: LoadName }) | undefined {
  return sweeps.find((sweep): sweep is Sweep & { readonly type: SweepType & LoadName } => isLoadName(sweep.type));
}
