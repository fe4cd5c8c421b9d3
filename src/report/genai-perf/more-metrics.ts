import { summarize } from "../../measure/statistics.ts";
import type { TokenMetric } from "../../measure/tokens/token-metrics.ts";
import { formatTwoDecimals } from "./python-format.ts";
import { formatRichTable } from "./rich-table.ts";
import type { RunSummary } from "./run-summary.ts";

/** Rampart's table below GenAI-Perf's: what that has no place for. */

const STATISTICS = ["avg", "min", "max", "p99", "p90", "p75"] as const;
const NS_TO_MS = 1 / 1e6;

interface Row {
  readonly label: string;
  readonly metric: TokenMetric;
  /** What a value is multiplied with. Default 1. */
  readonly scale?: number;
  /** Shown only beside this one, and where they differ: otherwise it would repeat GenAI-Perf's table. */
  readonly beside?: TokenMetric;
}

const ROWS: readonly Row[] = [
  { label: "Time To First Output Token (ms)", metric: "timeToFirstOutputTokenNs", scale: NS_TO_MS },
  { label: "Time To First Reasoning Token (ms)", metric: "timeToFirstReasoningTokenNs", scale: NS_TO_MS },
  { label: "Time Per Output Token, Normalized (ms)", metric: "normalizedTimePerOutputTokenNs", scale: NS_TO_MS },
  { label: "Tokens Bunched (%)", metric: "bunchedRatio", scale: 100 },
  { label: "Input Tokens, Client's Count", metric: "inputTokens", beside: "serverInputTokens" },
  { label: "Input Tokens, Server's Count", metric: "serverInputTokens" },
  { label: "Output Tokens, Client's Count", metric: "outputTokens", beside: "serverOutputTokens" },
  { label: "Output Tokens, Server's Count", metric: "serverOutputTokens" },
  { label: "Reasoning Tokens, Client's Count", metric: "reasoningTokens" },
  { label: "Reasoning Tokens, Server's Count", metric: "serverReasoningTokens" },
];

/** The table. Rows without data are left out; it is empty when there is none. */
export function formatMoreMetrics({ samples, system, errorRatio, goodRatio }: RunSummary): string {
  const ofRequests = ROWS.flatMap(({ label, metric, scale = 1, beside = metric }) => {
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
