import type { MeasuredValue } from "./measured-run.ts";

/** Names of statistics in reports besides percentiles, and here. */
const STATISTICS: ReadonlyMap<string, string> = new Map([
  ["mean", "average"],
  ["avg", "average"],
  ["average", "average"],
  ["min", "min"],
  ["max", "max"],
]);

type End = number | null | undefined;

/** Statistics by their names, and their 95 % intervals where a file has them. */
export type GivenStatistics = Readonly<Record<string, unknown>> & {
  readonly confidence95?: Readonly<Record<string, { readonly low?: End; readonly high?: End }>> | undefined;
};

/** Adds the average, the minimum, the percentiles and the maximum of a metric. @param scale to the unit of the metric */
export function putStatistics(
  values: Map<string, MeasuredValue>,
  name: string,
  statistics: GivenStatistics,
  scale: number,
): void {
  for (const [key, value] of Object.entries(statistics)) {
    const statistic = STATISTICS.get(key) ?? (/^p\d+(\.\d+)?$/.test(key) ? key : undefined);
    if (statistic === undefined || typeof value !== "number") continue;
    const { low, high } = statistics.confidence95?.[key] ?? {};
    values.set(`${name}.${statistic}`, withBounds(value, low, high, scale));
  }
}

/** Makes a value with its interval, if it has both ends. @param scale to the unit of the metric */
export function withBounds(value: number, low: End, high: End, scale = 1): MeasuredValue {
  const scaled = value * scale;
  const hasBounds = typeof low === "number" && typeof high === "number";
  return hasBounds ? { value: scaled, low: low * scale, high: high * scale } : { value: scaled };
}
