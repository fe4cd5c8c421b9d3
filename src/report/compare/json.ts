import type { Quantity } from "../../measure/metrics/metric.ts";
import { jsonUnitOf } from "../json/metrics.ts";
import type { Comparison, MetricComparison, RunSet, SideValue } from "./comparison.ts";
import { notComparedOf } from "./file-notes.ts";
import type { ChangeLimitVerdict, ComparedSides } from "./limits.ts";
import { buildComparisonModel } from "./model.ts";
import { judgeComparison } from "./verdict.ts";

/** Comparisons for programs. Times are in microseconds, ratios 0 to 1; `null` stands for an end that an interval does not have. */

/** The version of the JSON. */
const VERSION = 2;

/** Converts comparisons of several candidates with one base. @param isStrict whether an unresolved limit fails the command */
export function toComparisonJson(sides: readonly ComparedSides[], isStrict: boolean): object {
  const { notes } = buildComparisonModel(sides, isStrict);
  return {
    version: VERSION,
    verdict: judgeComparison(sides, isStrict),
    notes,
    comparisons: sides.map(({ comparison, limits }) => ({
      base: toRunSetJson(comparison.base),
      new: toRunSetJson(comparison.next),
      differences: comparison.differences.map(({ path, base, next }) => ({ path, base, new: next })),
      levels: toLevelsJson(comparison),
      onlyInBase: comparison.onlyInBase,
      onlyInNew: comparison.onlyInNew,
      limits: limits.map(toLimitJson),
    })),
  };
}

function toRunSetJson(set: RunSet): object {
  const { name, runs } = set;
  return { name, runs: runs.map(({ source, format }) => ({ source, format })), notCompared: notComparedOf(set) };
}

function toLevelsJson({ levels }: Comparison): object[] {
  return levels.map(({ label, metrics, onlyInBase, onlyInNew }) => ({
    level: label,
    metrics: metrics.map(toMetricJson),
    onlyInBase,
    onlyInNew,
  }));
}

function toMetricJson({ metric, base, next, change, verdict, runsNeeded }: MetricComparison): object {
  const { kind, value, low, high, basis } = change;
  return {
    name: metric.name,
    label: metric.label,
    unit: jsonUnitOf(metric),
    better: metric.better ?? null,
    base: toSideJson(base, metric.quantity),
    new: toSideJson(next, metric.quantity),
    [kind]: { value, low, high, basis },
    verdict,
    ...(verdict === "inconclusive" ? { runsNeeded: runsNeeded ?? null } : {}),
  };
}

function toSideJson({ values, mean, low, high }: SideValue, quantity: Quantity): object {
  const scale = (value: number): number => (quantity === "time" ? value / 1000 : value);
  const end = (value: number | null): number | null => (value === null ? null : scale(value));
  return { mean: scale(mean), low: end(low), high: end(high), runs: values.map(scale) };
}

function toLimitJson({
  limit,
  level,
  state,
  change,
  value,
  runsNeeded,
  decidedBy,
  reason,
}: ChangeLimitVerdict): object {
  const { quantity } = limit.metric;
  return {
    text: limit.text,
    metric: limit.metric.name,
    level,
    state,
    ...(change === undefined
      ? {}
      : { [change.kind]: { value: change.value, low: change.low, high: change.high, basis: change.basis } }),
    ...(value === undefined ? {} : { new: toSideJson(value, quantity) }),
    ...(state === "unresolved" ? { runsNeeded: runsNeeded ?? null } : {}),
    ...(decidedBy === undefined ? {} : { decidedBy: decidedBy.name }),
    ...(reason === undefined ? {} : { reason }),
  };
}
