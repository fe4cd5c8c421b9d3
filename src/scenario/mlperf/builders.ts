import type { Load } from "../loads.ts";
import type { LimitedServerOptions, MultiStreamOptions, OfflineOptions, SingleStreamOptions } from "./options.ts";

/**
 * MLPerf's single stream: one request at a time. The result is the 90th percentile of latency.
 * @example
 * singleStream({ for: "1 min" })
 */
export function singleStream(options: SingleStreamOptions = {}): Load<"closed"> {
  return { kind: "single-stream", pacing: "closed", values: [], options };
}

/**
 * MLPerf's multi-stream: queries of 8 requests sent together, one query at a time. The result is the 99th percentile of their latency.
 * @example
 * multiStream()
 */
export function multiStream(options: MultiStreamOptions = {}): Load<"closed"> {
  return { kind: "multi-stream", pacing: "closed", values: [], options };
}

/**
 * MLPerf's server: a Poisson process of requests. The result is the rate, if the 99th percentile of latency, or of the times of streamed
 * tokens, is within its limit.
 * @example
 * server(100, { latency: "15 ms" })
 */
export function server(perSec: number, options: LimitedServerOptions): Load<"scheduled"> {
  return { kind: "server", pacing: "scheduled", values: [perSec], options };
}

/**
 * MLPerf's offline: all requests are available from the start. The result is throughput.
 * @example
 * offline()
 */
export function offline(options: OfflineOptions = {}): Load<"closed"> {
  return { kind: "offline", pacing: "closed", values: [], options };
}
