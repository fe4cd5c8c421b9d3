import { readFileSync } from "node:fs";
import { createServer, type RequestListener } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { AddressInfo } from "node:net";

/** Options of {@link startMetricsStub}. */
export interface MetricsStubOptions {
  /** The metrics' text at a scrape, 0 for the first; default: {@link twoGpus}. */
  readonly text?: (scrape: number) => string;
  /** How long an answer takes, in milliseconds; Infinity: for ever. Default: 0. */
  readonly delayMs?: (scrape: number) => number;
  /** Default: 200. */
  readonly status?: number;
  /** PEM files: it speaks TLS. */
  readonly tls?: { readonly certFile: string; readonly keyFile: string };
}

/** A server of metrics in Prometheus' text format. */
export interface MetricsStub extends AsyncDisposable {
  readonly port: number;
  /** `127.0.0.1:PORT/metrics` */
  readonly url: string;
  /** What was asked so far: when, on which path. */
  readonly scrapes: readonly { readonly atMs: number; readonly path: string }[];
  stop(): Promise<void>;
}

/** GPU metrics of Triton for two GPUs; those of the first change a little from scrape to scrape, its energy by 10 J. */
export function twoGpus(scrape: number): string {
  const families: readonly (readonly [name: string, first: number, second: number])[] = [
    ["nv_gpu_utilization", 0.25 + 0.01 * (scrape % 3), 0.5],
    ["nv_gpu_power_usage", 50.5 + (scrape % 3), 60],
    ["nv_gpu_power_limit", 300, 250],
    ["nv_energy_consumption", 1000 + 10 * scrape, 500],
    ["nv_gpu_memory_total_bytes", 17179869184, 17179869184],
    ["nv_gpu_memory_used_bytes", 1000000000 + scrape, 2000000000],
  ];
  const lines = families.flatMap(([name, first, second]) => [
    `# HELP ${name} x`,
    `# TYPE ${name} gauge`,
    `${name}{gpu_uuid="GPU-aaa"} ${first}`,
    `${name}{gpu_uuid="GPU-bbb"} ${second}`,
  ]);
  return `${lines.join("\n")}\n`;
}

/** Starts a server of metrics on loopback. */
export async function startMetricsStub(options: MetricsStubOptions = {}): Promise<MetricsStub> {
  const scrapes: { atMs: number; path: string }[] = [];
  const listener: RequestListener = (request, response) => {
    const scrape = scrapes.length;
    scrapes.push({ atMs: performance.now(), path: request.url ?? "" });
    const body = (options.text ?? twoGpus)(scrape);
    const answer = (): void => {
      response.writeHead(options.status ?? 200, { "Content-Type": "text/plain" });
      response.end(body);
    };
    const delayMs = options.delayMs?.(scrape) ?? 0;
    if (delayMs === 0) answer();
    else if (Number.isFinite(delayMs)) setTimeout(answer, delayMs);
  };
  const { tls } = options;
  const server =
    tls === undefined
      ? createServer(listener)
      : createTlsServer({ cert: readFileSync(tls.certFile), key: readFileSync(tls.keyFile) }, listener);
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(0, "127.0.0.1", resolve);
  });
  const { port } = server.address() as AddressInfo;
  const stop = async (): Promise<void> => {
    server.closeAllConnections?.();
    await new Promise<void>((resolve) => server.close(() => resolve()));
  };
  return { port, url: `127.0.0.1:${port}/metrics`, scrapes, stop, [Symbol.asyncDispose]: stop };
}
