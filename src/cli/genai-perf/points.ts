import type { SweepAxis } from "../../campaign/sweep.ts";
import type { PointParameters } from "../../result/sweep.ts";
import { countFor, isLoadName, type LoadName } from "./loads.ts";
import type { Asked } from "./options/asked.ts";
import { SWEEPS, type Sweep, type SweepKind, type SweepType, sweepValues } from "./options/sweeps.ts";

/** The points of a sweep. */

/** Returns the parameters that a sweep varies. */
export function axesOf(sweeps: readonly Sweep[]): SweepAxis[] {
  return sweeps.map((sweep) => ({ name: sweep.type, values: sweepValues(sweep) }));
}

/** Returns the settings of one point: those of the sweep, with the point's values. */
export function applyPoint(sweep: Asked, parameters: PointParameters): Asked {
  const point = sweep.with(
    Object.fromEntries(
      parameters.map(([type, value]) => {
        const { of }: SweepKind = SWEEPS[type as SweepType];
        if (of === undefined) return ["perf_analyzer.stimulus", { kind: type, value }];
        return [of === TEXTS && sweep.type.isTextless ? IMAGES : of, value];
      }),
    ),
  );
  // Ten requests, a profile's default, are too few for a high rate.
  const isCounted =
    point.get("perf_analyzer.measurement.mode") === "request_count" &&
    point.get("perf_analyzer.measurement.num") === null &&
    point.get("rampart.duration") === null;
  const { isInFlight, sendsOnce } = point.load;
  if (isInFlight || sendsOnce || !isCounted) return point;
  const { value = 1 } = point.get("perf_analyzer.stimulus");
  return point.with({ "perf_analyzer.measurement.num": countFor(value) });
}

const TEXTS = "input.batch_size";
const IMAGES = "input.image.batch_size";

/** Returns the sweep that varies the load; undefined if all points have the same load. */
export function findLoadSweep(sweeps: readonly Sweep[]): (Sweep & { readonly type: LoadName }) | undefined {
  return sweeps.find((sweep): sweep is Sweep & { readonly type: SweepType & LoadName } => isLoadName(sweep.type));
}
