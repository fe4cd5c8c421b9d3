import { joinPlots, type PlotSet } from "../plot.ts";
import type { PlottedRun } from "./plotted-run.ts";
import { standardPlots } from "./standard-plots.ts";
import { distributionPlots, timePlots } from "./time-plots.ts";

/** Returns all plots of one run, or of several overlaid runs. */
export function runPlots(runs: readonly PlottedRun[]): PlotSet {
  return joinPlots([standardPlots(runs), distributionPlots(runs), timePlots(runs)]);
}
