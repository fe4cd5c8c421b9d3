import { summarize } from "../../measure/statistics.ts";
import { entryOf, TOKEN_METRICS, type TokenMetric } from "../../measure/tokens/metrics.ts";
import { formatTwoDecimals } from "./python-format.ts";
import { formatRichTable } from "./rich-table.ts";
import type { RunSummary } from "./run-summary.ts";

/** Rampart's table below GenAI-Perf's, for metrics that GenAI-Perf's table does not have. */

const STATISTICS = ["avg", "min", "max", "p99", "p90", "p75"] as const;
/** Formats the table without rows that have no data; empty if no row has data. */
export function formatMoreMetrics({ samples, system, errorRatio, goodRatio }: RunSummary): string {
  const ofRequests = TOKEN_METRICS.flatMap((metric) => {
    const { more } = entryOf(metric);
    if (more === undefined) return [];
    const { label, scale = 1 } = more;
    const beside = (more.beside ?? metric) as TokenMetric;
    const values = samples.get(metric) ?? new Float64Array();
    const others = samples.get(beside);
    const isRepeated = beside !== metric && values.every((value, i) => value === others?.[i]);
    const summary = others === undefined || isRepeated ? undefined : summarize(values);
    if (summary === undefined) return [];
    return [[label, ...STATISTICS.map((statistic) => formatTwoDecimals(summary[statistic] * scale))]];
  });
  const ofRun = [
    ["Total Token Throughput (tokens/sec)", system.totalTokensPerSec],
    ["Total Token Throughput, Server's Count", system.serverTokensPerSec],
    ["Effective Concurrency (requests)", system.requestCount === 0 ? undefined : system.effectiveConcurrency],
    ["Error Rate (%)", errorRatio && errorRatio * 100],
    ["Good Requests (%)", goodRatio && goodRatio * 100],
  ] as const;
  const rows = [
    ...ofRequests,
    ...ofRun.flatMap(([label, value]) =>
      value === undefined ? [] : [[label, formatTwoDecimals(value), ...STATISTICS.slice(1).map(() => "N/A")]],
    ),
  ];
  return rows.length === 0 ? "" : formatRichTable("Rampart | More Metrics", ["Statistic", ...STATISTICS], rows);
}
