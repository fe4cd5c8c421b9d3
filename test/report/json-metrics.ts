import type { MetricsJson, SpreadJson } from "../../src/report/schema/metrics.ts";

/** Metrics of JSON reports by their names there, for tests. */

interface Part {
  readonly metrics: MetricsJson;
}

/** Returns the value of a metric that has one; NaN when it was not measured. */
export function valueIn({ metrics }: Part, name: string): number {
  const found = metrics[name];
  return found !== undefined && "value" in found ? found.value : Number.NaN;
}

/** Returns the statistics of a metric; undefined when it was not measured. */
export function spreadIn({ metrics }: Part, name: string): SpreadJson | undefined {
  const found = metrics[name];
  return found !== undefined && "mean" in found ? found : undefined;
}
