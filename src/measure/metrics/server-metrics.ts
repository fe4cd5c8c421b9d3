import { type PageMetric, seriesOf } from "../page-readings.ts";
import type { ServerDelta } from "../server-delta.ts";
import { factsOf, type MeasuredPart, type Metric, ratioOf } from "./metric.ts";
import { type Sample, sampleOfReadings, sampleOfSum } from "./sample.ts";

/** Bytes of a megabyte, the unit of memory. */
const MEGABYTES = 1e-6;

const NOT_ON_PAGE = "the server's page of metrics does not have it";

/** What the server counts with its time: `queue`, `computeInfer`. */
type Stage = { [K in keyof ServerDelta]: K extends `${infer S}Ns` ? S : never }[keyof ServerDelta];

const SERVER = {
  /** Mean time of a request in the server's queue. */
  serverQueue: { label: "server queue", ...timeOf("queue") },
  serverComputeInput: { label: "server compute input", ...timeOf("computeInput") },
  serverComputeInfer: { label: "server compute infer", ...timeOf("computeInfer") },
  serverComputeOutput: { label: "server compute output", ...timeOf("computeOutput") },
  /** Share of requests that the server's response cache answered. */
  serverCacheHits: {
    label: "server cache hits",
    better: "higher",
    needs: "statistics",
    ...ratioOf(countHits),
    explain: ({ window }) => (window.server === undefined ? undefined : "the server cached no response"),
  },
  /** Share of an engine's KV cache in use: vLLM, SGLang, TensorRT-LLM. */
  kvCacheUsage: { label: "KV cache usage", quantity: "ratio", ...readingsOf("kvCacheRatio") },
  /** Share of the time in which a GPU was busy. */
  gpuUtilization: { label: "GPU utilization", quantity: "ratio", ...readingsOf("utilizationRatio") },
  gpuPower: { label: "GPU power", quantity: "number", unit: "W", better: "lower", ...readingsOf("powerWatts") },
  gpuMemoryUsed: {
    label: "GPU memory used",
    quantity: "number",
    unit: "MB",
    better: "lower",
    ...readingsOf("memoryUsedBytes", MEGABYTES),
  },
  /** Of all GPUs, from the first reading to the last. */
  gpuEnergy: {
    label: "GPU energy",
    quantity: "number",
    unit: "J",
    better: "lower",
    needs: "page",
    value: ({ window }) => {
      const spent = (window.gpu === undefined ? [] : seriesOf(window.gpu, "energyJoules")).map(
        ([, { count, first, last }]) =>
          // A single reading spans no time. A counter that decreased was restarted with the server.
          count < 2 || last < first ? Number.NaN : last - first,
      );
      const sum = spent.reduce((all, one) => all + one, 0);
      return spent.length === 0 || Number.isNaN(sum) ? undefined : sum;
    },
    explain: () => NOT_ON_PAGE,
  },
} as const satisfies Readonly<Record<string, Metric>>;

/** Metrics of the server: its own times and caches, and its GPUs. */
export const SERVER_METRICS = factsOf(SERVER);

/** Only sums are counted, so there is an average and nothing else. */
function timeOf(stage: Stage) {
  return {
    quantity: "time",
    better: "lower",
    needs: "statistics",
    statistics: ["average"],
    sample: ({ window: { server } }: MeasuredPart): Sample | undefined =>
      server && sampleOfSum(...sumOf(server, stage)),
  } as const;
}

function sumOf(server: ServerDelta, stage: Stage): [sumNs: number, count: number] {
  return [server[`${stage}Ns`], server[`${stage}Count`]];
}

function countHits({ window: { server } }: MeasuredPart): { readonly count: number; readonly total: number } {
  const { cacheHitCount = 0, cacheMissCount = 0 } = server ?? {};
  return { count: cacheHitCount, total: cacheHitCount + cacheMissCount };
}

function readingsOf(metric: PageMetric, scale = 1) {
  return {
    needs: "page",
    statistics: ["average", "max"],
    sample: ({ window }: MeasuredPart): Sample | undefined => sampleOfReadings(window.gpu, metric, scale),
    explain: () => NOT_ON_PAGE,
  } as const;
}
