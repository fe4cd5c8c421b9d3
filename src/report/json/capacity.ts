import { LEVEL_UNITS } from "../../load/level-units.ts";
import { scaleInterval } from "../../measure/intervals/certainty.ts";
import { isKneeReached, kneeOf, type LoadPoint } from "../../measure/knee.ts";
import { defined } from "../../plan/objects.ts";
import type { Plan } from "../../plan/plan.ts";
import { hoursToSec } from "../../plan/units.ts";
import { loadModeOf } from "../../registry/load-modes.ts";
import type { CapacityJson, KneeJson } from "../schema/capacity.ts";
import type { EstimateJson } from "../schema/parts.ts";
import { type ReadEstimate, readMetric } from "../schema/read-metrics.ts";
import type { FindMaxJson, LevelJson } from "../schema/report-schema.ts";

/** Combined result of the levels of a run: the knee, and the capacity of the server with its price. */

/** The data from which the level is chosen. */
interface CapacityBasis {
  readonly levels: readonly LevelJson[];
  readonly findMax?: FindMaxJson | undefined;
}

/** A list of fewer levels is not a sweep. */
const FEWEST_LEVELS = 3;

/** Returns the knee of a sweep, of a list of levels only if they reach it; undefined for other loads, and if nothing finished. */
export function toKneeJson({ load }: Plan, levels: readonly LevelJson[]): KneeJson | undefined {
  const search = loadModeOf(load).levels?.(load).search;
  const knee =
    search === "knee" || (search === "linear" && levels.length >= FEWEST_LEVELS) ? kneeLevel(levels) : undefined;
  if (knee === undefined) return undefined;
  const isReached = isKneeReached(knee.level, pointsOf(levels));
  return isReached || search === "knee" ? { unit: knee.unit, level: knee.level, isReached } : undefined;
}

function pointsOf(levels: readonly LevelJson[]): LoadPoint[] {
  return levels.map(({ level, metrics }) => {
    return { load: level, perSec: readMetric(metrics, "throughput")?.value ?? 0 };
  });
}

function kneeLevel(levels: readonly LevelJson[]): LevelJson | undefined {
  const knee = kneeOf(pointsOf(levels));
  return levels.find(({ level }) => level === knee);
}

/**
 * Returns the capacity of the server: at the highest load that keeps the limits of a search, and for other loads at the knee.
 * Undefined if the plan does not ask for it, or no level shows it.
 */
export function toCapacityJson({ capacity }: Plan, { levels, findMax }: CapacityBasis): CapacityJson | undefined {
  if (capacity === undefined) return undefined;
  const at = findMax === undefined ? kneeLevel(levels) : levels.find(({ level }) => level === findMax.highest);
  const throughput = at && readMetric(at.metrics, "throughput");
  if (at === undefined || throughput === undefined || throughput.value <= 0) return undefined;
  const { gpuCount, gpuHourPrice, targetUsers } = capacity;
  const tokens = readMetric(at.metrics, "outputTokensPerSec");
  const costOf = (rate: ReadEstimate): EstimateJson | undefined =>
    gpuHourPrice === undefined ? undefined : toCost(rate, (gpuCount * gpuHourPrice) / hoursToSec(1));
  const hasUsers = targetUsers !== undefined && !LEVEL_UNITS[at.unit].isScheduled;
  return defined({
    unit: at.unit,
    level: at.level,
    isLowerBound:
      findMax === undefined
        ? levels.every(({ level }) => level <= at.level)
        : findMax.next === null || !findMax.isResolved,
    gpuCount,
    throughputPerGpu: perGpu(throughput, gpuCount),
    outputTokensPerSecPerGpu: tokens && perGpu(tokens, gpuCount),
    gpuHourPrice,
    costPerMillion: costOf(throughput),
    costPerMillionOutputTokens: tokens && costOf(tokens),
    targetUserCount: hasUsers ? targetUsers : undefined,
    targetGpuCount: hasUsers ? Math.ceil(targetUsers / at.level) * gpuCount : undefined,
  });
}

function perGpu(estimate: ReadEstimate, gpuCount: number): EstimateJson {
  return scaled(estimate, "perSec", (value) => value / gpuCount);
}

/** Returns the cost of a million. A lower rate costs more, so the ends of the interval are swapped. */
function toCost({ value, low, high }: ReadEstimate, pricePerSec: number): EstimateJson {
  const of = (rate: number): number => (MILLION * pricePerSec) / rate;
  return scaled({ value, low: high, high: low !== null && low > 0 ? low : null }, "number", of);
}

const MILLION = 1e6;

function scaled({ value, low, high }: ReadEstimate, unit: string, scale: (value: number) => number): EstimateJson {
  return { value: scale(value), unit, ...scaleInterval({ low, high }, scale) };
}
