import type { MlperfResult } from "../../measure/mlperf/judge-mlperf.ts";
import type { MlperfTokenTime } from "../../measure/mlperf/judge-tokens.ts";
import { MLPERF_PERCENTILES, type MlperfLatency } from "../../measure/mlperf/latency-statistics.ts";
import type { MlperfJson, MlperfLatencyJson, MlperfTimeJson } from "../schema/mlperf.ts";
import { byPercentile } from "./confidence.ts";

/** Converts the result to JSON. Latencies are in nanoseconds, as in LoadGen's logs. */
export function toMlperfJson({ latency, tokens, broken, ...result }: MlperfResult): MlperfJson {
  return {
    ...result,
    broken: [...broken],
    ...(tokens === undefined
      ? {}
      : {
          tokens: {
            timeToFirstToken: toTimeJson(tokens.timeToFirstToken),
            timePerOutputToken: toTimeJson(tokens.timePerOutputToken),
          },
        }),
    ...toLatencyJson(latency),
  };
}

function toTimeJson({ latency, ...time }: MlperfTokenTime): MlperfTimeJson {
  return { ...time, ...toLatencyJson(latency) };
}

function toLatencyJson(latency: MlperfLatency | undefined): MlperfLatencyJson {
  if (latency === undefined) return {};
  const { percentilesNs, ...rest } = latency;
  const ofPercentile = (percentile: (typeof MLPERF_PERCENTILES)[number]): number =>
    percentilesNs[MLPERF_PERCENTILES.indexOf(percentile)] as number;
  return { latencyNs: rest, percentilesNs: byPercentile(MLPERF_PERCENTILES, ofPercentile) };
}
