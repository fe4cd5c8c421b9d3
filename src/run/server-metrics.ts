import { fieldOf } from "../plan/objects.ts";
import type { Plan } from "../plan/plan.ts";
import { messageOf, RunError } from "../plan/problem.ts";
import { DEFAULT_TLS, type TlsPlan } from "../plan/tls.ts";
import { urlsOf } from "../registry/service-kinds.ts";
import { GaugePoller, type GaugePollerOptions } from "../telemetry/gauge-poller.ts";
import { parseMetricsUrl } from "../telemetry/metrics-url.ts";
import { ControlClient } from "../transport/control-client.ts";
import { Http1Client } from "../transport/http1/client.ts";
import type { WireRequest } from "../transport/request.ts";
import type { SourceTurns } from "../transport/source-addresses.ts";
import { parseUrl, resolveEndpoint, sourcesOf } from "./open/endpoint.ts";

/** Timeout of a scrape. */
const FETCH_TIMEOUT_NS = 10e9; // 10 s

/** Maximum size of a metrics page. There is a limit because every scrape parses every line. */
const MAX_PAGE_BYTES = 16 * 1024 * 1024; // 16 MiB

/** The metrics of a plan's server, over a separate client. */
export interface ServerMetrics {
  readonly poller: GaugePoller;
  close(): void;
}

/**
 * Prepares scraping of the plan's metrics; undefined when the plan requests none.
 * @throws UserError when a TLS file cannot be read, RunError when the plan's metrics address has no metrics
 */
export async function openServerMetrics(
  plan: Plan,
  listener: Pick<GaugePollerOptions, "warn" | "onReading">,
): Promise<ServerMetrics | undefined> {
  const { metrics } = plan.telemetry;
  const url = metrics === null ? undefined : parseMetricsUrl(metrics.url);
  if (metrics === null || url === undefined) return undefined;
  const tls = fieldOf(plan.target, "tls") ?? DEFAULT_TLS;
  const source = openMetricsSource(url, tls, FETCH_TIMEOUT_NS, sourcesToPage(plan, url));
  const { url: address, intervalMs, isAsked } = metrics;
  if (isAsked === true) await requireMetrics(address, source);
  const needsGpus = plan.behaviour?.needsCounters === true;
  const poller = new GaugePoller({ url: address, intervalMs, needsGpus, fetch: source.fetch, ...listener });
  return {
    poller,
    close: () => {
      poller.stop();
      source.close();
    },
  };
}

/** Without this check, a long run would end without the requested metrics. */
async function requireMetrics(address: string, source: MetricsSource): Promise<void> {
  try {
    await source.fetch();
  } catch (error) {
    source.close();
    const hint = "Is this the server's page of metrics? Correct the address, or leave it out.";
    throw new RunError("unreachable", `no metrics from ${address}: ${messageOf(error)}`, hint);
  }
}

/** Fetches one server's metrics. */
export interface MetricsSource {
  /** Fetches the metrics as text; rejects with the reason for a failure. */
  fetch(): Promise<string>;
  /** Lowers the timeout of all fetches. */
  lowerTimeout(limitNs: number): void;
  close(): void;
}

/** Returns the source addresses of connections to a page: at the host of a server of the plan, the plan's addresses. */
export function sourcesToPage({ target, client }: Pick<Plan, "target" | "client">, url: URL): SourceTurns | undefined {
  const host = parseUrl(url.host, url.protocol === "https:" ? 443 : 80).host;
  return urlsOf(target).some((server) => parseUrl(server, 0).host === host) ? sourcesOf(client) : undefined;
}

/**
 * Opens a client for metrics.
 * @param timeoutNs timeout of a fetch @param sources default: the system's choice
 * @throws UserError when a TLS file cannot be read
 */
export function openMetricsSource(url: URL, tls: TlsPlan, timeoutNs: number, sources?: SourceTurns): MetricsSource {
  const address = { url: `${url.protocol}//${url.host}`, wire: "http", defaultPort: 80, headers: [] } as const;
  // The URL determines whether to use TLS, not the model's port.
  const endpoint = resolveEndpoint(address, { ...tls, isEnabled: false }, sources);
  const limits = { limitNs: timeoutNs, maxResponseBytes: MAX_PAGE_BYTES };
  const control = new ControlClient(timeoutNs, (options) => new Http1Client(endpoint, options), limits);
  const request: WireRequest = {
    path: `${url.pathname}${url.search}`,
    method: "GET",
    // The server may close an idle connection just when the next request is sent.
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
