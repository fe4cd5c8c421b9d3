import type { ScrapePlan } from "../plan/telemetry.ts";
import { DEFAULT_TLS } from "../plan/tls.ts";
import { broadcast, type RunObserver } from "../result/observer.ts";
import type { RunResult } from "../result/run-result.ts";
import { parseMetricsUrl } from "../telemetry/metrics-url.ts";
import { Scraper } from "../telemetry/scraper.ts";
import type { SourceTurns } from "../transport/source-addresses.ts";
import { INTERRUPTED_LIMIT_NS, type RunSignal } from "./interrupt.ts";
import { type MetricsSource, openMetricsSource } from "./server-metrics.ts";

/** Timeout of a scrape. */
const TIMEOUT_NS = 2e9; // 2 s

/** Scrapes of the metrics of a plan's servers, over separate clients. */
export interface Scrapes {
  /** Executes a run and scrapes while it lasts. The run must use the given observer. */
  around(execute: (observer: RunObserver) => Promise<RunResult>): Promise<RunResult>;
}

interface Source {
  readonly scraper: Scraper;
  readonly connection: MetricsSource;
}

/**
 * Prepares scraping.
 * @param observer the run's observer; receives a warning for each address from the user that cannot be scraped
 * @param signal shortens timeouts when interrupted
 * @param sourcesTo source addresses of connections to an address. Default: the system's choice
 */
export function openScrapes(
  plan: ScrapePlan,
  observer: RunObserver,
  signal: RunSignal,
  sourcesTo: (url: URL) => SourceTurns | undefined = () => undefined,
): Scrapes {
  const sources = plan.urls.flatMap((text) => openSource(text, plan, observer, sourcesTo));
  void signal.interrupted.then(() => {
    for (const { connection } of sources) connection.lowerTimeout(INTERRUPTED_LIMIT_NS);
  });
  return {
    around: async (execute) => {
      try {
        return await readAround(sources, observer, execute);
      } finally {
        for (const { scraper, connection } of sources) {
          scraper.stop();
          connection.close();
        }
      }
    },
  };
}

async function readAround(
  sources: readonly Source[],
  observer: RunObserver,
  execute: (observer: RunObserver) => Promise<RunResult>,
): Promise<RunResult> {
  const found = await Promise.all(sources.map(async ({ scraper }) => ((await scraper.probe()) ? [scraper] : [])));
  // Failed sources are also in the result, with the reason.
  const scrapers = found.flat();
  if (scrapers.length === 0) return execute(observer);
  let hasSent = false;
  let isMeasuring = false;
  const begin: RunObserver = {
    onLevelStart: (_unit, _level, isWarmup) => {
      if (!isWarmup && !isMeasuring) {
        for (const scraper of scrapers) scraper.begin(hasSent);
        isMeasuring = true;
      }
      hasSent = true;
    },
  };
  const result = await execute(broadcast([observer, begin]));
  return { ...result, scrape: { endpoints: await Promise.all(sources.map(({ scraper }) => scraper.finish())) } };
}

function openSource(
  text: string,
  { intervalMs, isAsked }: ScrapePlan,
  observer: RunObserver,
  sourcesTo: (url: URL) => SourceTurns | undefined,
): Source[] {
  const url = parseMetricsUrl(text);
  if (url === undefined) return [];
  const connection = openMetricsSource(url, DEFAULT_TLS, TIMEOUT_NS, sourcesTo(url));
  const scraper = new Scraper({
    url: text,
    intervalMs,
    fetch: connection.fetch,
    onFailure: (reason, isFirst) => {
      if (isAsked || !isFirst) observer.onWarning?.({ kind: "metrics-unreachable", url: text, reason });
    },
  });
  return [{ scraper, connection }];
}
