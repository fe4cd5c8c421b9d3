import type { Stage } from "../server-delta.ts";
import { factsOf, type MeasuredPart, type Metric, ratioOf } from "./metric.ts";
import { type Sample, sampleOfSum } from "./sample.ts";

const SERVER = {
  /** Mean time of a request in the server, from its arrival to its response. */
  serverLatency: { label: "server latency", ...timeOf("success") },
  /** Mean time of a request in the server's queue. */
  serverQueue: { label: "server queue", partOf: "serverLatency", ...timeOf("queue") },
  serverComputeInput: { label: "server compute input", partOf: "serverLatency", ...timeOf("computeInput") },
  serverComputeInfer: { label: "server compute infer", partOf: "serverLatency", ...timeOf("computeInfer") },
  serverComputeOutput: { label: "server compute output", partOf: "serverLatency", ...timeOf("computeOutput") },
  /** Ratio of requests answered by the server's response cache. */
  serverCacheHits: {
    label: "server cache hits",
    better: "higher",
    needs: "statistics",
    ...ratioOf(countHits),
    explain: ({ window }) => (window.server === undefined ? undefined : "the server cached no response"),
  },
} as const satisfies Readonly<Record<string, Metric>>;

/** Metrics of the server: its times, and its response cache. */
export const SERVER_METRICS = factsOf(SERVER);

/** Only sums are counted, so the mean is the only statistic. */
function timeOf(stage: Stage) {
  return {
    quantity: "time",
    better: "lower",
    needs: "statistics",
    statistics: ["mean"],
    sample: ({ window: { server } }: MeasuredPart): Sample | undefined =>
      server && sampleOfSum(server[`${stage}Ns`], server[`${stage}Count`]),
  } as const;
}

function countHits({ window: { server } }: MeasuredPart): { readonly count: number; readonly total: number } {
  const { cacheHitCount = 0, cacheMissCount = 0 } = server ?? {};
  return { count: cacheHitCount, total: cacheHitCount + cacheMissCount };
}
