import type { SweepAxis } from "../../../campaign/sweep.ts";
import { createLadder, type Ladder } from "../../../load/search.ts";
import { parseLimit, type ResultLimit } from "../../../report/genai-perf/limits.ts";
import type { SweptRuns } from "../../../report/genai-perf/plots.ts";
import type { PointParameters } from "../../../result/sweep.ts";
import { seedOfNumber } from "../../../runtime/random.ts";
import { type GenaiLoad, loadOf } from "../loads.ts";
import type { Asked } from "../options/asked.ts";
import { isDecimal } from "../options/sweeps.ts";
import { applyPoint, axesOf, findLoadSweep } from "../points.ts";
import { planProfile, planRun } from "./plan-profile.ts";
import type { ProfilePlan } from "./to-plan.ts";

/** The points of a sweep, or a search along the load. */
export interface SweepPlan {
  readonly axes: readonly SweepAxis[];
  /** Absent: every point is measured. */
  readonly search?: { readonly parameter: string; readonly ladder: Ladder; readonly limits: readonly ResultLimit[] };
  /** Folder of the files about the whole sweep. */
  readonly folder: string;
  /** Name of the load's number in GenAI-Perf's table. */
  readonly loadTitle: GenaiLoad["title"];
  /** Description of the runs for plots. Absent: no plots. */
  readonly plots?: SweptRuns;
  /** Returns the plan of a point as `--dry-run` shows it. */
  planPoint(point: PointParameters): ProfilePlan;
  /** Returns the plan of a point that will run, in its own folder. @param repeat number of earlier measurements @throws UserError */
  planRun(point: PointParameters, repeat: number): ProfilePlan;
}

/** Returns the sweep that the settings request. */
export function planSweep(asked: Asked): SweepPlan {
  const sweeps = asked.get("analyze");
  const search = toSearch(asked);
  const { type: endpointType } = asked.endpoint;
  const plots = { models: asked.get("model_names"), endpointType, plotFormats: asked.get("rampart.plot_formats") };
  return {
    axes: axesOf(sweeps),
    ...(search && { search }),
    folder: asked.get("output.artifact_directory"),
    loadTitle: loadOf(findLoadSweep(sweeps)?.type ?? asked.get("perf_analyzer.stimulus").kind).title,
    ...(asked.get("output.generate_plots") && { plots }),
    planPoint: (point) => planProfile(applyPoint(asked, point), { point }),
    planRun: (point, repeat) => {
      const suffix = repeat === 0 ? "" : `-repeat${repeat}`;
      return planRun(drawAgain(applyPoint(asked, point), repeat), { point, suffix });
    },
  };
}

/** Gives a repeated measurement other arrivals and data. The first measurements of all points share the seed, as in GenAI-Perf. */
function drawAgain(asked: Asked, repeat: number): Asked {
  return asked.with({ "input.random_seed": seedOfNumber(asked.get("input.random_seed"), "repeat", repeat) });
}

function toSearch(asked: Asked): SweepPlan["search"] {
  const load = findLoadSweep(asked.get("analyze"));
  const given = asked.get("rampart.search_limits");
  if (given === null || load === undefined) return undefined;
  // The rules between settings reject values that are not limits.
  const limits = Object.entries(given)
    .map(([name, value]) => parseLimit(name, value))
    .filter((limit) => typeof limit !== "string");
  return { parameter: load.type, ladder: createLadder(load, !isDecimal(load.type)), limits };
}
