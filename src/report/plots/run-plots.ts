import { joinPlots, type PlotSet } from "./plot.ts";
import type { PlottedRun } from "./plotted-run.ts";
import { standardPlots } from "./standard-plots.ts";
import { distributionPlots, timePlots } from "./time-plots.ts";

/** All plots of one run, or of several over each other. */
export function runPlots(runs: readonly PlottedRun[]): PlotSet {
  return joinPlots([standardPlots(runs), distributionPlots(runs), timePlots(runs)]);
}
