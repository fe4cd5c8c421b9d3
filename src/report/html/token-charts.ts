import { percentileOf } from "../../measure/statistics.ts";
import { entryOf, nameOfMetric, type TokenMetric } from "../../measure/tokens/metrics.ts";
import { tokenSamples } from "../../measure/tokens/token-samples.ts";
import { nsToUs } from "../../plan/units.ts";
import { tokensPlanOf } from "../../registry/mix.ts";
import { joinPlots, type PlotSet, type XySeries } from "../plots/plot.ts";
import { asSet, leaveOut } from "../plots/plotted-run.ts";
import { pickEvenly, roundForPlot } from "../plots/sample.ts";
import { ninesOf } from "./load-charts.ts";
import { type ShownReport, seriesName, timeUnitFor } from "./shown-run.ts";

/** Times of tokens by level and by percentile. */

/** The section of these charts. */
export const TOKEN_GROUP = "Tokens";
const MOST_CURVES = 8;
const PERCENTILES = ["p50", "p90", "p99"] as const;
const SHOWN: readonly TokenMetric[] = ["timeToFirstTokenNs", "interTokenLatencyNs"];

/** Returns the charts of token times; an empty set when tokens are not measured. */
export function tokenPlots(report: ShownReport): PlotSet {
  if (tokensPlanOf(report.plan) === undefined) return { plots: [], leftOut: [] };
  return joinPlots([
    drawRates(report),
    ...SHOWN.flatMap((metric) => [drawLevels(report, metric), drawCurves(report, metric)]),
  ]);
}

function titleOf(metric: TokenMetric): string {
  const { label } = entryOf(metric);
  return `${label.charAt(0).toUpperCase()}${label.slice(1)}`;
}

function drawRates({ runs }: ShownReport): PlotSet {
  const title = "Output Tokens per Second";
  const known = runs.flatMap((run) =>
    run.levels.flatMap(({ name, json }) => {
      const rate = json.tokens?.outputTokensPerSec;
      return rate === undefined ? [] : [{ name: seriesName(run, name), rate }];
    }),
  );
  if (known.length === 0) return leaveOut(title, "output tokens were not counted");
  const frame = { title, xLabel: "Level", yLabel: "Tokens/s", group: TOKEN_GROUP, notes: [] };
  const values = known.map(({ rate }) => roundForPlot(rate));
  const series = [{ name: "output tokens/s", values }];
  return asSet({ kind: "bars", ...frame, categories: known.map(({ name }) => name), series, isStacked: false });
}

function drawLevels({ runs }: ShownReport, metric: TokenMetric): PlotSet {
  const title = titleOf(metric);
  const known = runs.flatMap((run) =>
    run.levels.flatMap(({ name, json }) => {
      const found = json.tokens?.metrics[`${nameOfMetric(metric)}Us`];
      return found === undefined ? [] : [{ name: seriesName(run, name), found }];
    }),
  );
  if (known.length === 0) return leaveOut(title, "it was not measured");
  const time = timeUnitFor(Math.max(...known.map(({ found }) => found.p99)));
  const series = PERCENTILES.map((name) => ({
    name,
    values: known.map(({ found }) => roundForPlot(found[name] / time.us)),
  }));
  const frame = { title, xLabel: "Level", yLabel: `Time (${time.name})`, group: TOKEN_GROUP, notes: [] };
  return asSet({ kind: "bars", ...frame, categories: known.map(({ name }) => name), series, isStacked: false });
}

function drawCurves({ runs, plan }: ShownReport, metric: TokenMetric): PlotSet {
  const title = `${titleOf(metric)} by Percentile`;
  const isStreamed = tokensPlanOf(plan)?.isStreamed === true;
  const samples = runs.flatMap((run) =>
    run.levels.flatMap(({ name, result: { tokens } }) => {
      const values = tokens && tokenSamples(tokens, isStreamed).get(metric);
      return values === undefined ? [] : [{ name: seriesName(run, name), values }];
    }),
  );
  if (samples.length === 0) return { plots: [], leftOut: [] };
  const shown = pickEvenly(samples, MOST_CURVES);
  const time = timeUnitFor(nsToUs(Math.max(...shown.map(({ values }) => values.reduce((a, b) => Math.max(a, b), 0)))));
  const series = shown.map(({ name, values }): XySeries => {
    const sorted = values.toSorted();
    const nines = ninesOf(values.length);
    return {
      name,
      style: "line",
      points: nines.map((nine, index) => {
        const ns = index === nines.length - 1 ? sorted.at(-1) : percentileOf(sorted, 100 * (1 - 10 ** -nine));
        return [roundForPlot(nine), roundForPlot(nsToUs(ns ?? 0) / time.us)];
      }),
    };
  });
  const notes = shown.length < samples.length ? [`${shown.length} of ${samples.length} levels.`] : [];
  const frame = { title, xLabel: "Percentile", yLabel: `Time (${time.name})`, group: TOKEN_GROUP, notes };
  return asSet({ kind: "xy", ...frame, series, isFromZero: true, isPercentile: true });
}
