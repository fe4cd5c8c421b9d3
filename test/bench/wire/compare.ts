import type { MeasuredStream } from "../generative/read-streams.ts";
import type { Exchange } from "./capture.ts";

/** What a client said of its streams, beside what passed on the wire. Means, unless the name says otherwise. */
export interface WireComparison {
  readonly requests: number;
  /** Time to first token, as the client reports it, and from the request's first byte to the first token on the wire. */
  readonly ttftMs: number;
  readonly wireTtftMs: number;
  /** How much later the client read a request's first token than it came, by the one wall clock of the machine. */
  readonly firstLateMs: number;
  readonly firstLateP99Ms: number;
  /** The same of its last token. */
  readonly lastLateMs: number;
  /** Time between tokens. */
  readonly itlMs: number;
  readonly wireItlMs: number;
}

/**
 * Matches requests in the order in which they were sent.
 * @param tokens of each response
 * @throws when the client recorded other requests than passed
 */
export function compareWithWire(
  measured: readonly MeasuredStream[],
  exchanges: readonly Exchange[],
  tokens: number,
): WireComparison {
  if (measured.length !== exchanges.length)
    throw new Error(`the client recorded ${measured.length} requests, ${exchanges.length} passed`);
  const rows = measured.map(({ sentNs, firstMs, lastMs }, i) => {
    const { sentNs: passedNs, tokenNs } = exchanges[i] as Exchange;
    const [firstNs, lastNs] = [tokenNs[0] as bigint, tokenNs.at(-1) as bigint];
    return {
      ttftMs: firstMs,
      wireTtftMs: toMs(firstNs - passedNs),
      firstLateMs: toMs(sentNs - firstNs) + firstMs,
      lastLateMs: toMs(sentNs - lastNs) + lastMs,
      itlMs: (lastMs - firstMs) / (tokens - 1),
      wireItlMs: toMs(lastNs - firstNs) / (tokens - 1),
    };
  });
  const meanOf = (name: keyof (typeof rows)[number]): number =>
    rows.reduce((sum, row) => sum + row[name], 0) / rows.length;
  const late = rows.map(({ firstLateMs }) => firstLateMs).sort((a, b) => a - b);
  return {
    requests: rows.length,
    ttftMs: meanOf("ttftMs"),
    wireTtftMs: meanOf("wireTtftMs"),
    firstLateMs: meanOf("firstLateMs"),
    firstLateP99Ms: late[Math.ceil(late.length * 0.99) - 1] ?? Number.NaN,
    lastLateMs: meanOf("lastLateMs"),
    itlMs: meanOf("itlMs"),
    wireItlMs: meanOf("wireItlMs"),
  };
}

function toMs(ns: bigint): number {
  return Number(ns) / 1e6;
}
