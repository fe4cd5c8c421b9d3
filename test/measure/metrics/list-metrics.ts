import { findEntry, METRIC_KEYS } from "../../../src/measure/metrics/catalogue.ts";
import type { Metric } from "../../../src/measure/metrics/metric.ts";
import type { MetricPlan, Statistic } from "../../../src/plan/assertions.ts";

/** Percentiles of metrics that are listed one by one. */
const LISTED_PERCENTILES = [50, 90, 99];

/** Lists the metrics of the catalogue, with all statistics that they have. Of those that need more than a key, none. */
export function listMetrics(): MetricPlan[] {
  return METRIC_KEYS.flatMap((key): MetricPlan[] => {
    const entry = findEntry(key) as Metric;
    if (entry.isOfReports === true || entry.definedIn !== undefined || entry.needsLimits === true) return [];
    if (entry.statistics === undefined) return [{ key }];
    const statistics = entry.statistics.flatMap((one): readonly Statistic[] =>
      one === "percentiles" ? LISTED_PERCENTILES : [one],
    );
    return statistics.map((statistic) => ({ key, statistic }));
  });
}
