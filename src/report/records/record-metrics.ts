import { entryOf, isTimeMetric, nameOfMetric, TOKEN_METRICS, type TokenMetric } from "../../measure/tokens/metrics.ts";
import { nsToMs } from "../../plan/units.ts";

/** Metrics of a record, under the names of AIPerf's file of records where it has the same value. */
export type RecordMetrics = Readonly<
  Record<string, { readonly value: number | readonly number[]; readonly unit: string }>
>;

/** Returns a metric by its name. */
export function measure(name: string, value: number | readonly number[], unit: string): RecordMetrics {
  return { [name]: { value, unit } };
}

/**
 * Composes the token metrics of a record. Times are in milliseconds. `inter_chunk_latency` has the gaps between reads with content, so that
 * with the time to first token it gives the time of each.
 * @param read returns the value of a metric in the table's unit; NaN for none
 * @param contentNs arrival of each read with content, after the send
 * @param isComplete whether times without a name in GenAI-Perf and AIPerf are there too, under their own name
 */
export function tokenRecordMetrics(
  read: (metric: TokenMetric) => number,
  contentNs: ArrayLike<number>,
  isComplete: boolean,
): RecordMetrics {
  const metrics: Record<string, RecordMetrics[string]> = {};
  for (const metric of TOKEN_METRICS) {
    const entry = entryOf(metric);
    const own =
      isComplete && isTimeMetric(metric) ? { name: toSnakeCase(nameOfMetric(metric)), unit: "ms" } : undefined;
    const named = entry.record ?? entry.genaiPerf ?? own;
    const value = read(metric);
    if (named === undefined || Number.isNaN(value) || (metric === "reasoningTokens" && value === 0)) continue;
    metrics[named.name] = { value: isTimeMetric(metric) ? nsToMs(value) : value, unit: named.unit };
  }
  if (contentNs.length > 1)
    metrics["inter_chunk_latency"] = {
      value: Array.from({ length: contentNs.length - 1 }, (_, i) =>
        nsToMs((contentNs[i + 1] as number) - (contentNs[i] as number)),
      ),
      unit: "ms",
    };
  return metrics;
}

function toSnakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
