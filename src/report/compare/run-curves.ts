import { noneOf } from "../../measure/compare/verdict.ts";
import { findMetric, type NamedMetric } from "../../measure/metrics/metric-names.ts";
import { timeUnitOf } from "../model/values.ts";
import { type Plot, type PlotPoint, roundForPlot, type XySeries } from "../plot.ts";
import type { MeasuredLevel, MeasuredValue } from "../read/runs/measured-run.ts";
import type { Comparison, LevelComparison, MetricComparison, RunSet } from "./comparison.ts";

/** Charts of a comparison. */

/** The latency that is drawn: the first of these that both sides have. */
const LATENCIES = ["latency.p99", "latency.p50", "latency.mean"] as const;

/** Draws latency against throughput with a line for each run; empty if a side lacks one of the metrics. */
export function runCurves({ base, next, levels }: Comparison): Plot[] {
  const x = findMetric("throughput");
  for (const name of LATENCIES) {
    const y = findMetric(name);
    if (x === undefined || y === undefined) continue;
    const [from, to] = [pointsOf(base, x, y), pointsOf(next, x, y)];
    if (from.length === 0 || to.length === 0) continue;
    const most = Math.max(...[...from, ...to].flatMap((run) => run.map(({ y: { value } }) => value)));
    const time = timeUnitOf([most]);
    const lines = (side: string, meaning: XySeries["meaning"], runs: readonly RunPoint[][]): XySeries[] =>
      runs.map((points, run) => ({
        name: side,
        style: "line",
        meaning,
        isPartOfLast: run > 0,
        isDashed: meaning === "base",
        points: points.map(({ x, y }): PlotPoint => [roundForPlot(x.value), roundForPlot(y.value / time.ns)]),
        uncertain: points.map(({ x, y }) => x.isUncertain === true || y.isUncertain === true),
      }));
    // Axes start at 0 if a curve shows the knee. Points of a single level would all be in a corner.
    const isFromZero = levels.length > 1;
    const notes = ["A line for each run, a point for each level."];
    const frame = {
      title: `${y.label} against ${x.label}`,
      xLabel: "Throughput (per second)",
      yLabel: `${y.label} (${time.name})`,
      group: "",
    };
    const series = [...lines("base", "base", from), ...lines("new", "throughput", to)];
    return [{ kind: "xy", ...frame, notes, series, isFromZero, isXFromZero: isFromZero }];
  }
  return [];
}

interface RunPoint {
  readonly x: MeasuredValue;
  readonly y: MeasuredValue;
}

function pointsOf({ runs }: RunSet, { name: across }: NamedMetric, { name: up }: NamedMetric): RunPoint[][] {
  const pointOf = ({ values }: MeasuredLevel): RunPoint[] => {
    const [x, y] = [values.get(across), values.get(up)];
    return x === undefined || y === undefined ? [] : [{ x, y }];
  };
  return runs.map(({ levels }) => levels.flatMap(pointOf)).filter((points) => points.length > 0);
}

/** Minimum reach of the axis to each side: 5 %. The maximum is 100 %. */
const LEAST_REACH_PCT = 5;
const MOST_REACH_PCT = 100;
const ROW_PX = 26;
const AXIS_PX = 90;

/** Draws the changes of a level; empty if there are none. @param isOnly whether it needs no name, because its table has it */
export function levelChanges(
  { label }: LevelComparison,
  metrics: readonly MetricComparison[],
  isOnly: boolean,
): Plot[] {
  const rows = metrics.map(({ metric, change, verdict }) => {
    const pct = (end: number | null): number | null =>
      end === null ? null : roundForPlot(100 * (end - noneOf(change)));
    // An interval with two null ends is missing.
    const hasNone = change.basis === "none";
    return {
      name: metric.label,
      value: pct(change.value),
      low: hasNone ? null : pct(change.low),
      high: hasNone ? null : pct(change.high),
      ...(verdict === "worse" || verdict === "better" ? { mark: verdict } : {}),
    };
  });
  if (rows.every(({ value }) => value === null)) return [];
  const ends = rows.flatMap(({ value, low, high }) =>
    [value, low, high].flatMap((end) => (end === null ? [] : [Math.abs(end)])),
  );
  const reach = niceReach(Math.min(MOST_REACH_PCT, Math.max(LEAST_REACH_PCT, ...ends)));
  const frame = {
    title: isOnly ? "Changes" : `Changes at ${label}`,
    xLabel: "Change (%), points for ratios",
    yLabel: "",
    group: "",
    notes: [],
  };
  return [{ kind: "changes", ...frame, heightPx: AXIS_PX + ROW_PX * rows.length, reach, rows }];
}

/** Rounds up to a number whose half is short too, because there is a tick at the half. */
function niceReach(pct: number): number {
  return [5, 10, 20, 30, 40, 50, 60, 80, 100].find((reach) => reach >= pct) ?? MOST_REACH_PCT;
}
