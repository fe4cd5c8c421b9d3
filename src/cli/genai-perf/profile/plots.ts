import { readdir, rm } from "node:fs/promises";
import { basename, join } from "node:path";
import { metricLabel } from "../../../report/genai-perf/layout.ts";
import type { GenAiPerfResult } from "../../../report/genai-perf/result.ts";
import type { SweepPoint } from "../../../report/genai-perf/sweep/sweep.ts";
import type { PageText } from "../../../report/plots/page.ts";
import { joinPlots, PLOT_PAGE_FILE, type PlotFormat, type PlotSet } from "../../../report/plots/plot.ts";
import type { PlottedRun } from "../../../report/plots/plotted-run.ts";
import type { RunResult } from "../../../result/run-result.ts";
import type { TelemetryMetric } from "../../../telemetry/series.ts";
import type { CommandIo } from "../../execute.ts";
import type { GenaiSettings } from "../options/settings.ts";

/** Plots of profiles, merged runs and sweeps, for `--generate-plots`. */

const PLOTS_FOLDER = "plots";

export interface PlotParts {
  readonly settings: GenaiSettings;
  /** Folder of the results. Plots are written to a folder inside it. */
  readonly folder: string;
  /** One run, or several overlaid runs. */
  readonly runs: readonly PlottedRun[];
  readonly result: GenAiPerfResult;
  /** Undefined for recorded runs. */
  readonly run?: RunResult | undefined;
  /** Metrics of the server. Default: none. */
  readonly telemetry?: readonly TelemetryMetric[] | undefined;
  readonly formats: readonly string[];
  readonly io: CommandIo;
}

/** Draws all plots and reports those that could not be drawn. @throws RunError when a file cannot be written */
export async function drawProfile(parts: PlotParts): Promise<void> {
  const { folder, runs, telemetry = [], formats, io } = parts;
  const { runPlots } = await import("../../../report/plots/run-plots.ts");
  const { telemetryPlots } = await import("../../../report/plots/telemetry-plots.ts");
  await write(toPageText(parts), joinPlots([runPlots(runs), telemetryPlots(telemetry)]), folder, formats, io);
}

/**
 * Draws a sweep's plots into the folder of all its points.
 * @param what the varied parameters, in words
 * @throws RunError when a file cannot be written
 */
export async function drawSweep(
  settings: GenaiSettings,
  points: readonly SweepPoint[],
  what: string,
  io: CommandIo,
): Promise<void> {
  const { sweepPlots } = await import("../../../report/plots/sweep-plots.ts");
  const { output, rampart, modelNames, endpoint } = settings;
  const text = {
    title: `${modelNames.join(", ")}: ${what}`,
    subtitle: `${endpoint.type}, drawn by Rampart`,
    facts: [{ label: "Points", value: String(points.length) }],
  };
  await write(text, sweepPlots(points), output.artifactDir, rampart.plotFormats, io);
}

async function write(
  text: PageText,
  set: PlotSet,
  folder: string,
  formats: readonly string[],
  io: CommandIo,
): Promise<void> {
  const { writePlots } = await import("../../../report/plots/write-plots.ts");
  const paths = await writePlots(text, set, join(folder, PLOTS_FOLDER), formats as readonly PlotFormat[]);
  for (const [reason, plots] of Map.groupBy(set.leftOut, ({ reason }) => reason))
    io.err(`rampart: not drawn: ${plots.map(({ title }) => title).join("; ")}: ${reason}.\n`);
  const [first] = paths;
  if (first !== undefined)
    io.err(`rampart: ${paths.length === 1 ? "plots" : `${paths.length} files of plots`}: ${first}\n`);
}

/** Removes the plots of an earlier run, so that they are not taken for those of a later one. Keeps other files in the folder. */
export async function removePlots(folder: string): Promise<void> {
  const plots = join(folder, PLOTS_FOLDER);
  const names = await readdir(plots).catch(() => []);
  for (const name of names)
    if (name === PLOT_PAGE_FILE || name.endsWith(".svg")) await rm(join(plots, name), { force: true });
}

/** Metrics at the top of the page, with the statistics to show. */
const FACTS: readonly (readonly [metric: string, statistics: readonly ("avg" | "p99")[]])[] = [
  ["request_throughput", ["avg"]],
  ["output_token_throughput", ["avg"]],
  ["time_to_first_token", ["avg", "p99"]],
  ["inter_token_latency", ["avg", "p99"]],
  ["request_latency", ["avg", "p99"]],
];

function toPageText({ settings, folder, run, runs, result }: PlotParts): PageText {
  const facts = FACTS.flatMap(([metric, statistics]) => {
    const found = result.statistics.get(metric);
    if (found === undefined || (metric === "time_to_first_token" && !result.isStreaming)) return [];
    return statistics.flatMap((statistic) => {
      const value = found.values.get(statistic);
      const label = metricLabel({ name: metric, unit: found.unit });
      return value === undefined
        ? []
        : [{ label: statistics.length > 1 ? `${label}, ${statistic}` : label, value: value.toFixed(2) }];
    });
  });
  const { failedCount, sentCount } = run ?? { failedCount: 0, sentCount: 0 };
  const failed = failedCount > 0 ? [{ label: "Failed", value: `${failedCount} of ${sentCount}` }] : [];
  const count = runs.reduce((sum, { columns }) => sum + columns.count, 0);
  return {
    title: basename(folder),
    subtitle: `${settings.modelNames.join(", ")}, ${settings.endpoint.type}, drawn by Rampart`,
    facts: [{ label: "Requests", value: String(count) }, ...failed, ...facts],
  };
}
