import type { Change } from "../../measure/compare/change.ts";
import { scaleInterval } from "../../measure/intervals/certainty.ts";
import type { Quantity } from "../../measure/metrics/metric.ts";
import { defined } from "../../plan/objects.ts";
import { nsToUs } from "../../plan/units.ts";
import { jsonUnitOf } from "../json/metrics.ts";
import {
  COMPARISON_VERSION,
  type ComparedJson,
  type ComparisonJson,
  type MetricChangeJson,
} from "../schema/comparison.ts";
import type { Comparison, MetricComparison, RunSet, SideValue } from "./comparison.ts";
import { notComparedOf } from "./file-notes.ts";
import type { ChangeLimitVerdict, ComparedSides } from "./limits.ts";
import { notesOfSides } from "./model.ts";
import { judgeComparison } from "./verdict.ts";

/** Comparisons in JSON. Times are in microseconds, ratios 0 to 1; `null` means that an interval has no such end. */

/** Converts comparisons of several candidates with one base. @param isStrict whether an unresolved limit fails the command */
export function toComparisonJson(sides: readonly ComparedSides[], isStrict: boolean): ComparisonJson {
  const verdict = judgeComparison(sides, isStrict);
  return {
    version: COMPARISON_VERSION,
    verdict: { ...verdict, reasons: [...verdict.reasons] },
    notes: notesOfSides(sides),
    comparisons: sides.map(
      ({ comparison, limits }): ComparedJson => ({
        base: toRunSetJson(comparison.base),
        new: toRunSetJson(comparison.next),
        differences: comparison.differences.map(({ path, base, next }) => ({ path, base, new: next })),
        levels: toLevelsJson(comparison),
        onlyInBase: [...comparison.onlyInBase],
        onlyInNew: [...comparison.onlyInNew],
        limits: limits.map(toLimitJson),
      }),
    ),
  };
}

function toRunSetJson(set: RunSet): ComparedJson["base"] {
  const { name, runs } = set;
  return { name, runs: runs.map(({ source, format }) => ({ source, format })), notCompared: notComparedOf(set) };
}

function toLevelsJson({ levels }: Comparison): ComparedJson["levels"] {
  return levels.map(({ label, metrics, onlyInBase, onlyInNew }) => ({
    level: label,
    metrics: metrics.map(toMetricJson),
    onlyInBase: [...onlyInBase],
    onlyInNew: [...onlyInNew],
  }));
}

function toMetricJson({ metric, base, next, change, verdict, runsNeeded }: MetricComparison): MetricChangeJson {
  return {
    name: metric.name,
    label: metric.label,
    unit: jsonUnitOf(metric),
    better: metric.better ?? null,
    base: toSideJson(base, metric.quantity),
    new: toSideJson(next, metric.quantity),
    ...toChangeJson(change),
    verdict,
    ...(verdict === "inconclusive" ? { runsNeeded: runsNeeded ?? null } : {}),
  };
}

function toSideJson(side: SideValue, quantity: Quantity): MetricChangeJson["base"] {
  const scale = (value: number): number => (quantity === "time" ? nsToUs(value) : value);
  return { mean: scale(side.mean), ...scaleInterval(side, scale), runs: side.values.map(scale) };
}

/** Converts a change to a field whose name shows the kind of change. */
function toChangeJson({ kind, value, low, high, basis }: Change): Pick<MetricChangeJson, "ratio" | "difference"> {
  return { [kind]: { value, low, high, basis } };
}

function toLimitJson(verdict: ChangeLimitVerdict): ComparedJson["limits"][number] {
  const { limit, level, state, change, value, runsNeeded = null, decidedBy, reason } = verdict;
  const { name: metric, quantity } = limit.metric;
  return defined({
    ...{ text: limit.text, metric, level, state, unit: jsonUnitOf(limit.metric) },
    ...(change === undefined ? {} : toChangeJson(change)),
    new: value && toSideJson(value, quantity),
    runsNeeded: state === "unresolved" ? runsNeeded : undefined,
    decidedBy: decidedBy?.name,
    reason,
  });
}
