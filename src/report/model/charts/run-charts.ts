import type { Plot } from "../../plots/plot.ts";
import type { ChartSource } from "./chart-source.ts";
import { groupCharts } from "./group-charts.ts";
import { heatMap } from "./heat-map.ts";
import { latencyCurves, loadCharts, tokenCurves } from "./load-charts.ts";
import { runsCharts } from "./runs-charts.ts";
import { searchCharts } from "./search-charts.ts";
import { serverCharts } from "./server-charts.ts";
import { timeLine, windowCharts } from "./time-charts.ts";

/** The charts of a report by section. Each chart is in one of them. */
export interface RunCharts {
  /** What answers the question that was asked; at most three, side by side, or a wide one. */
  readonly summary: readonly Plot[];
  readonly search: readonly Plot[];
  readonly runs: readonly Plot[];
  readonly latency: readonly Plot[];
  readonly tokens: readonly Plot[];
  readonly groups: readonly Plot[];
  readonly time: readonly Plot[];
  readonly server: readonly Plot[];
}

const MOST_IN_SUMMARY = 3;

/**
 * Draws all charts. The summary has the tried loads of a search against its limits; the times and rates of tokens over the load; throughput and
 * latency over the load; or for one level and for phases the time line.
 */
export function runCharts(source: ChartSource): RunCharts {
  const { throughput, latency, knee, tokens } = loadCharts(source);
  const search = searchCharts(source);
  const runs = runsCharts(source);
  const overLoad = tokens.length > 0 ? tokens : [...throughput, ...latency, ...knee];
  const line = timeLine(source);
  const answers = [search, overLoad, runs, line].find((plots) => plots.length > 0) ?? [];
  const summary = answers.slice(0, MOST_IN_SUMMARY);
  const rest = (plots: readonly Plot[]): readonly Plot[] => plots.filter((plot) => !summary.includes(plot));
  return {
    summary,
    search: rest(search),
    runs: rest(runs),
    latency: rest([...throughput, ...latency, ...knee, ...latencyCurves(source)]),
    tokens: rest([...tokens, ...tokenCurves(source)]),
    groups: groupCharts(source),
    time: rest([...line, ...heatMap(source), ...windowCharts(source)]),
    server: serverCharts(source),
  };
}
