import type { Plan, TlsPlan } from "../plan/plan.ts";
import { DEFAULT_TLS } from "../plan/tls.ts";
import { MetricsPoller, type MetricsWarning } from "../telemetry/metrics-poller.ts";
import { parseMetricsUrl } from "../telemetry/metrics-url.ts";
import { ControlClient } from "../transport/control-client.ts";
import { Http1Client } from "../transport/http1/client.ts";
import type { WireRequest } from "../transport/request.ts";
import { resolveEndpoint } from "./target/endpoint.ts";

/** A page that is not whole by then counts as unreachable; the next reading follows it. */
const FETCH_TIMEOUT_NS = 10e9; // 10 s

/** A page of metrics is read again and again, and every line of it is looked at: a longer one is not read. */
const MAX_PAGE_BYTES = 16 * 1024 * 1024; // 16 MiB

/** The metrics of a plan's server, over a client of their own. */
export interface ServerMetrics {
  readonly poller: MetricsPoller;
  close(): void;
}

/** Prepares to read the metrics a plan asks for; undefined when it asks for none. Throws `UserError` for files of TLS that cannot be read. */
export function openServerMetrics(plan: Plan, warn: (warning: MetricsWarning) => void): ServerMetrics | undefined {
  const { metrics } = plan.telemetry;
  const url = metrics === null ? undefined : parseMetricsUrl(metrics.url);
  if (metrics === null || url === undefined) return undefined;
  const source = openMetricsSource(
    url,
    plan.target.kind === "triton" ? plan.target.tls : DEFAULT_TLS,
    FETCH_TIMEOUT_NS,
  );
  const poller = new MetricsPoller({ url: metrics.url, intervalMs: metrics.intervalMs, fetch: source.fetch, warn });
  return {
    poller,
    close: () => {
      poller.stop();
      source.close();
    },
  };
}

/** Where one server's metrics are read from. */
export interface MetricsSource {
  /** Fetches the text; rejects with the reason why it cannot be had. */
  fetch(): Promise<string>;
  /** From now on no page may take longer than this. */
  lowerTimeout(limitNs: number): void;
  close(): void;
}

/** Prepares to read metrics over a client of their own. @param timeoutNs how long a whole page may take. Throws `UserError` for files of TLS that cannot be read. */
export function openMetricsSource(url: URL, tls: TlsPlan, timeoutNs: number): MetricsSource {
  const address = { url: `${url.protocol}//${url.host}`, wire: "http", defaultPort: 80, headers: [] } as const;
  // Whether the model's port speaks TLS says nothing of this one; the URL does.
  const endpoint = resolveEndpoint(address, { ...tls, isEnabled: false });
  const limits = { limitNs: timeoutNs, maxResponseBytes: MAX_PAGE_BYTES };
  const control = new ControlClient(timeoutNs, (options) => new Http1Client(endpoint, options), limits);
  const request: WireRequest = {
    path: `${url.pathname}${url.search}`,
    method: "GET",
    // A connection that idles between readings may be closed by the server just when the next one is sent.
    headers: [["Connection", "close"]],
    payload: new Uint8Array(0),
  };
  const decoder = new TextDecoder();
  return {
    fetch: async () => decoder.decode(await control.call(request)),
    lowerTimeout: (limitNs) => control.lowerTimeout(limitNs),
    close: () => control.close(),
  };
}
