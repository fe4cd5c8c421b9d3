import { readdir, rm } from "node:fs/promises";
import { basename, join } from "node:path";
import type { TokenGaps } from "../../../measure/token-gaps.ts";
import type { TokenColumns } from "../../../measure/token-metrics.ts";
import { metricLabel } from "../../../report/genai-perf/layout.ts";
import type { GenAiPerfResult } from "../../../report/genai-perf/result.ts";
import type { PageText } from "../../../report/plots/page.ts";
import { joinPlots, PLOT_PAGE_FILE, type PlotFormat } from "../../../report/plots/plot.ts";
import type { RunResult } from "../../../run/observer.ts";
import type { TelemetryMetric } from "../../../telemetry/series.ts";
import type { CommandIo } from "../../execute.ts";
import type { GenaiSettings } from "../settings.ts";
import type { ProfilePlace } from "./run-profile.ts";

/** The plots of a profile, which `--generate-plots` asks for. */

const PLOTS_FOLDER = "plots";

export interface PlotParts {
  readonly settings: GenaiSettings;
  readonly place: ProfilePlace;
  readonly run: RunResult;
  readonly columns: TokenColumns;
  readonly result: GenAiPerfResult;
  readonly gaps: TokenGaps;
  /** What the server told of itself. Default nothing. */
  readonly telemetry?: readonly TelemetryMetric[] | undefined;
  readonly io: CommandIo;
}

/** Draws everything there is and says what could not be drawn. @throws RunError when a file cannot be written */
export async function drawProfile(parts: PlotParts): Promise<void> {
  const { settings, place, columns, result, gaps, telemetry = [], io } = parts;
  const [{ runPlots }, { telemetryPlots }, { writePlots }] = await Promise.all([
    import("../../../report/plots/run-plots.ts"),
    import("../../../report/plots/telemetry-plots.ts"),
    import("../../../report/plots/write-plots.ts"),
  ]);
  const name = place.files.profileExport.replace(/\.json$/, "");
  const drawn = { name, columns, gaps, isStreaming: result.isStreaming };
  const set = joinPlots([runPlots([drawn]), telemetryPlots(telemetry)]);
  const formats = settings.rampart.plotFormats as readonly PlotFormat[];
  const paths = await writePlots(toPageText(parts), set, join(place.folder, PLOTS_FOLDER), formats);
  const reasons = Map.groupBy(set.leftOut, ({ reason }) => reason);
  for (const [reason, plots] of reasons)
    io.err(`rampart: not drawn: ${plots.map(({ title }) => title).join("; ")}: ${reason}.\n`);
  const [first] = paths;
  if (first !== undefined)
    io.err(`rampart: ${paths.length === 1 ? "plots" : `${paths.length} files of plots`}: ${first}\n`);
}

/** Removes what an earlier run left, so that it does not pass for a later one's. Other files in the folder stay. */
export async function removePlots(folder: string): Promise<void> {
  const plots = join(folder, PLOTS_FOLDER);
  const names = await readdir(plots).catch(() => []);
  for (const name of names)
    if (name === PLOT_PAGE_FILE || name.endsWith(".svg")) await rm(join(plots, name), { force: true });
}

/** Metrics at the head of the page, and which of their statistics. */
const FACTS: readonly (readonly [metric: string, statistics: readonly ("avg" | "p99")[]])[] = [
  ["request_throughput", ["avg"]],
  ["output_token_throughput", ["avg"]],
  ["time_to_first_token", ["avg", "p99"]],
  ["inter_token_latency", ["avg", "p99"]],
  ["request_latency", ["avg", "p99"]],
];

function toPageText({ settings, place, run, columns, result }: PlotParts): PageText {
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
  const { failedCount, sentCount } = run;
  const failed = failedCount > 0 ? [{ label: "Failed", value: `${failedCount} of ${sentCount}` }] : [];
  return {
    title: basename(place.folder),
    subtitle: `${settings.modelNames.join(", ")}, ${settings.endpoint.type}, drawn by Rampart`,
    facts: [{ label: "Requests", value: String(columns.count) }, ...failed, ...facts],
  };
}
